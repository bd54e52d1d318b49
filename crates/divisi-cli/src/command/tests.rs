//! Tests of the command line's grammar.

#![allow(clippy::panic)]
use super::*;
use clap::CommandFactory;

#[test]
fn the_grammar_is_sound_and_every_command_explains_itself() {
    let command = Cli::command();
    command.clone().debug_assert();
    fn all(command: &clap::Command) {
        assert!(command.get_about().is_some(), "{} says nothing", command.get_name());
        for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
            assert!(
                argument.get_help().is_some(),
                "{} of {} says nothing",
                argument.get_id(),
                command.get_name()
            );
        }
        let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let leaf = command.get_subcommands().next().is_none();
        assert!(
            !leaf || command.is_hide_set() || example.contains("Example: divisi "),
            "{} shows no example",
            command.get_name()
        );
        command.get_subcommands().for_each(all);
    }
    all(&command);
}
