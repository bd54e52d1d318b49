//! The form of the help texts.

use clap::Command;

/// Lines of examples are broken at this width, so that no terminal of 80 columns breaks them elsewhere.
const WIDTH: usize = 79;

/// The command, and all below it, with required arguments before all others, and examples that can be copied
/// from a narrow terminal.
pub fn arranged(command: Command) -> Command {
    let mut place = 0;
    let command = command.mut_args(|argument| {
        place += 1;
        let after = match (argument.is_global_set(), argument.is_required_set()) {
            (true, _) => 500,
            (_, true) => 0,
            _ => 250,
        };
        argument.display_order(after + place)
    });
    let below = command.get_after_help().map(|below| broken(&below.to_string()));
    let command = match below {
        Some(below) => command.after_help(below),
        None => command,
    };
    command.mut_subcommands(arranged)
}

/// The text with its example commands broken as a shell reads them.
fn broken(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn line(line: &str) -> String {
    let example = line.split_once("divisi ").is_some_and(|(before, _)| before.trim_end().ends_with(':'));
    if !example || line.chars().count() <= WIDTH {
        return line.into();
    }
    let (mut out, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        let width = word.chars().count();
        // room for the backslash
        if column > 0 && column + width + 3 > WIDTH {
            out += " \\\n    ";
            column = 4;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        // an empty word is the second of two spaces
        column += width.max(usize::from(column == 0));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn a_long_example_is_one_command_of_a_shell() {
        let long = "Example: divisi key new --key files --type aes-256 --clients anna,ben --config mesh.toml --identity me.key";
        let text = format!("{long}\nShort:   divisi demo");
        let shown = broken(&text);
        assert!(shown.lines().all(|line| line.chars().count() <= super::WIDTH), "{shown}");
        assert!(shown.lines().count() > 2 && shown.ends_with("Short:   divisi demo"));
        assert_eq!(shown.replace(" \\\n   ", ""), text);
    }
}
