//! The algorithms that encrypt messages, and the ones that a key serves.

use crate::{KeyName, KeyType, Mode, Purpose};
use divisi_engine::failure::Failure;

/// The algorithm that encrypts a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Using {
    /// AES-GCM.
    Gcm,
    /// A mode other than GCM.
    Mode(Mode),
}

impl Using {
    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Using::Gcm => "gcm",
            Using::Mode(mode) => mode.name(),
        }
    }

    /// The algorithms that keys of this type serve, the default first; none if such keys do not encrypt.
    #[must_use]
    pub fn of_type(kind: KeyType) -> &'static [Using] {
        match kind.purpose() {
            Purpose::Gcm => &[Using::Gcm],
            Purpose::Cbc => &[Using::Mode(Mode::Cbc)],
            Purpose::Siv => &[Using::Mode(Mode::Siv)],
            Purpose::Wrap => &[Using::Mode(Mode::Kw), Using::Mode(Mode::Kwp)],
            _ => &[],
        }
    }

    /// The algorithm to use with a key of this type: the one asked for, or the default.
    ///
    /// # Errors
    /// [`Failure`] if such a key cannot be used for it.
    pub fn choose(asked: Option<Using>, key: &KeyName, kind: KeyType) -> Result<Using, Failure> {
        let serves = Using::of_type(kind);
        let Some(default) = serves.first() else {
            return Err(Failure::usage(format!(
                "key {key} is of type {kind}, which does not encrypt: use a key of type aes-256 or the like"
            )));
        };
        match asked {
            None => Ok(*default),
            Some(using) if serves.contains(&using) => Ok(using),
            Some(using) => {
                let names: Vec<&str> = serves.iter().map(|using| using.name()).collect();
                Err(Failure::usage(format!(
                    "key {key} is of type {kind}, which serves {} and not {}: use a key of another type",
                    names.join(" and "),
                    using.name()
                )))
            }
        }
    }
}

impl std::str::FromStr for Using {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let modes = [Mode::Cbc, Mode::Siv, Mode::Kw, Mode::Kwp].map(Using::Mode);
        let all = || [Using::Gcm].into_iter().chain(modes);
        all().find(|using| using.name() == name).ok_or_else(|| {
            let names: Vec<&str> = all().map(Using::name).collect();
            format!("unknown algorithm {name:?}: choose one of {}", names.join(", "))
        })
    }
}
