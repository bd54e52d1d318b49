//! Where the configuration of a mesh and one's own identity are: where the arguments say; else where
//! variables of the environment say; else in a directory of the user. Commands that run everything on one
//! machine look at none of these.

use clap::Args;
use divisi::failure::Failure;
use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Which mesh, and who we are in it.
#[derive(Args, Clone)]
pub(super) struct Places {
    /// The configuration that `mesh new` wrote [default: that which DIVISI_CONFIG names, or
    /// ~/.config/divisi/mesh.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Your own identity: the file of a client, or that of a party for its server or an operator's order
    /// [default: that which DIVISI_IDENTITY names, or ~/.config/divisi/identity.key]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// A file that can be named in three places.
struct NamedFile {
    what: &'static str,
    argument: &'static str,
    variable: &'static str,
    /// Its name in the user's directory.
    name: &'static str,
}

const CONFIG: NamedFile = NamedFile {
    what: "the configuration",
    argument: "--config",
    variable: "DIVISI_CONFIG",
    name: "mesh.toml",
};
const IDENTITY: NamedFile = NamedFile {
    what: "the identity",
    argument: "--identity",
    variable: "DIVISI_IDENTITY",
    name: "identity.key",
};

impl Places {
    /// The files of the configuration and of the identity.
    ///
    /// # Errors
    /// [`Failure`] with all three places of a file that is in none of them, or with what is wrong with a
    /// variable of the environment.
    pub(super) fn find(&self) -> Result<(PathBuf, PathBuf), Failure> {
        let config = CONFIG.find(self.config.as_deref(), &|name| env::var_os(name))?;
        let identity = IDENTITY.find(self.identity.as_deref(), &|name| env::var_os(name))?;
        Ok((config, identity))
    }
}

/// The variables of the environment.
type Variables<'v> = &'v dyn Fn(&str) -> Option<OsString>;

impl NamedFile {
    fn find(&self, given: Option<&Path>, variables: Variables<'_>) -> Result<PathBuf, Failure> {
        // what is wrong with a file that was given is said when it is read
        if let Some(given) = given {
            return Ok(given.to_owned());
        }
        let NamedFile { what, argument, variable, name } = self;
        if let Some(path) = set(variables, variable) {
            return self.checked(absolute(variable, path)?, variable);
        }
        let Some(dir) = own_directory(variables)? else {
            return Err(Failure::usage(format!(
                "{argument} is missing, {variable} is not set, and without HOME there is no ~/.config/divisi/{name}: \
                 give {what} in one of them"
            )));
        };
        let path = dir.join(name);
        // whatever else is wrong with it is said as of a file that is there
        let there = path.symlink_metadata();
        if there.is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            return Err(Failure::usage(format!(
                "{argument} is missing, {variable} is not set, and {} does not exist: give {what} in one of them",
                path.display()
            )));
        }
        self.checked(path, "the user's directory")
    }

    /// The file. Nobody sees its name on the command line: so the failure also says where it comes from.
    fn checked(&self, path: PathBuf, from: &str) -> Result<PathBuf, Failure> {
        let NamedFile { what, argument, .. } = self;
        let wrong = match path.metadata() {
            Ok(there) if there.is_dir() => "is a directory".to_owned(),
            Ok(_) => return Ok(path),
            Err(e) => format!("cannot be read ({e})"),
        };
        let shown = path.display();
        Err(Failure::usage(format!("{what} {shown}, of {from}, {wrong}: correct it, or give {argument}")))
    }
}

/// The path in a variable.
fn absolute(variable: &str, path: OsString) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(path);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Failure::usage(format!(
        "{variable} is {:?}, which is no absolute path: set it to one, or unset it",
        path.display().to_string()
    )))
}

/// The value of a variable. One that is empty counts as unset, as the XDG specification says of its own.
fn set(variables: Variables<'_>, name: &str) -> Option<OsString> {
    variables(name).filter(|value| !value.is_empty())
}

/// The directory of this user's files.
fn own_directory(variables: Variables<'_>) -> Result<Option<PathBuf>, Failure> {
    let config = match (set(variables, "XDG_CONFIG_HOME"), set(variables, "HOME")) {
        (Some(config), _) => absolute("XDG_CONFIG_HOME", config)?,
        (None, Some(home)) => absolute("HOME", home)?.join(".config"),
        (None, None) => return Ok(None),
    };
    Ok(Some(config.join("divisi")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    #[test]
    fn arguments_come_before_variables_and_these_before_the_users_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let (xdg, env) = (home.join("xdg"), home.join("env.toml"));
        let at_home = home.join(".config/divisi/mesh.toml");
        let at_xdg = xdg.join("divisi/mesh.toml");
        for file in [&env, &at_home, &at_xdg] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let find = |given: Option<&str>, set: &[(&str, &Path)]| {
            CONFIG.find(given.map(Path::new), &|name| {
                let (_, value) = set.iter().find(|(set, _)| *set == name)?;
                Some(value.as_os_str().to_owned())
            })
        };
        let (home, xdg) = (("HOME", home), ("XDG_CONFIG_HOME", xdg.as_path()));
        let (env, empty) = (("DIVISI_CONFIG", env.as_path()), Path::new(""));
        for (given, set, found) in [
            (Some("given"), &[env, xdg, home][..], Path::new("given")),
            (None, &[home, xdg, env], env.1),
            (None, &[home, xdg], &at_xdg),
            (None, &[home, ("XDG_CONFIG_HOME", empty)], &at_home),
            (None, &[home], &at_home),
            (None, &[home, ("DIVISI_CONFIG", empty)], &at_home),
            // what is given is read elsewhere, and nothing else is looked at
            (Some("given"), &[("DIVISI_CONFIG", Path::new("mesh.toml"))], Path::new("given")),
        ] {
            assert_eq!(find(given, set).unwrap(), found, "{given:?} {set:?}");
        }
        let missing = home.1.join("missing");
        let relative = Path::new("mesh.toml");
        for (set, why) in [
            (&[("DIVISI_CONFIG", relative), home][..], "DIVISI_CONFIG is \"mesh.toml\", which is no"),
            (&[("DIVISI_CONFIG", &missing), home], "missing, of DIVISI_CONFIG, cannot be read"),
            (&[("DIVISI_CONFIG", home.1), home], ", of DIVISI_CONFIG, is a directory: correct it, or give"),
            (&[("XDG_CONFIG_HOME", relative), home], "XDG_CONFIG_HOME is \"mesh.toml\""),
            (&[("HOME", relative)], "HOME is \"mesh.toml\""),
            (&[("XDG_CONFIG_HOME", missing.as_path()), home], "missing/divisi/mesh.toml does not exist"),
            // a file in the place of a directory
            (&[("HOME", env.1)], "divisi/mesh.toml, of the user's directory, cannot be read (Not a"),
            (&[("HOME", empty)], "--config is missing, DIVISI_CONFIG is not set, and without HOME"),
        ] {
            let failure = find(None, set).unwrap_err();
            assert!(failure.error.contains(why) && failure.kind.exit_code() == 2, "{why}: {failure}");
        }
        fs::remove_file(&at_home).unwrap();
        fs::create_dir(&at_home).unwrap();
        assert!(find(None, &[home]).unwrap_err().error.contains("user's directory, is a directory"));
        let error = IDENTITY.find(None, &|name| (name == "HOME").then(|| home.1.into())).unwrap_err().error;
        for place in ["--identity", "DIVISI_IDENTITY", "/.config/divisi/identity.key"] {
            assert!(error.contains(place), "{place}: {error}");
        }
    }
}
