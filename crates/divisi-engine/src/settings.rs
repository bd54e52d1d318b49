//! The settings of engines: those that all engines know, and those of one engine alone.

use crate::Unsupported;
use divisi_core::Security;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The settings of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// The number of parties, if given.
    pub parties: Option<usize>,
    /// The adversary against which it is secure.
    pub security: Security,
    /// The statistical security in bits, if given: a lie passes with probability at most 2 to the minus this.
    pub statistical: Option<u32>,
    /// The number of threads of a party that run at the same time.
    pub threads: usize,
    /// The options of one engine alone, by their names on the command line ([`super::Profile::options`]); the
    /// value is empty for a switch.
    pub own: BTreeMap<String, String>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        EngineSettings {
            parties: None,
            security: Security::Malicious,
            statistical: None,
            threads: 1,
            own: BTreeMap::new(),
        }
    }
}

impl EngineSettings {
    /// These settings with an option of one engine, by its name on the command line.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.own.insert(name.to_owned(), value.to_string());
        self
    }

    /// These settings with this number of parties.
    #[must_use]
    pub fn among(mut self, parties: usize) -> Self {
        self.parties = Some(parties);
        self
    }

    /// The value of an option that is a number in this range; `None` if it was not given.
    ///
    /// # Errors
    /// [`Unsupported`] if it is no such number.
    pub fn number<T: FromStr + PartialOrd + fmt::Display>(
        &self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Unsupported> {
        let Some(text) = self.own.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (first, last) = (range.start(), range.end());
        let wrong = || Unsupported::new(format!("--{name} is {text}: give {first} to {last}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// The value of an option that is one of these, each with its name; `None` if it was not given.
    ///
    /// # Errors
    /// [`Unsupported`] if it is none of them.
    pub fn one_of<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, Unsupported> {
        let Some(text) = self.own.get(name) else { return Ok(None) };
        let value = all.iter().copied().find(|value| named(*value) == text);
        value.map(Some).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|value| named(*value)).collect();
            let names = match names.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            };
            Unsupported::new(format!("--{name} is {text}: give {names}"))
        })
    }

    /// Check that the settings ask for malicious security, and for one thread: what many engines have.
    ///
    /// # Errors
    /// [`Unsupported`] if they ask for something else.
    pub fn malicious_with_one_thread(&self, engine: &str) -> Result<(), Unsupported> {
        if self.security == Security::SemiHonest {
            return Err(Unsupported::new(format!(
                "the engine {engine} is secure against malicious parties only: leave --security out, or give malicious"
            )));
        }
        self.one_thread(engine)
    }

    /// Check that the settings ask for one thread.
    ///
    /// # Errors
    /// [`Unsupported`] if they ask for more.
    pub fn one_thread(&self, engine: &str) -> Result<(), Unsupported> {
        if self.threads == 1 {
            return Ok(());
        }
        Err(Unsupported::new(format!("the engine {engine} has one thread a party: leave --threads out")))
    }

    /// The statistical security in bits, which is one of two numbers: the first one if it was not given.
    ///
    /// # Errors
    /// [`Unsupported`] if it is neither.
    pub fn statistical_of(&self, engine: &str, choice: [u32; 2]) -> Result<u32, Unsupported> {
        let [least, most] = choice;
        let bits = self.statistical.unwrap_or(least);
        if !choice.contains(&bits) {
            let error = format!("--statistical is {bits}: the engine {engine} has {least} and {most}");
            return Err(Unsupported::new(error));
        }
        Ok(bits)
    }

    /// Whether circuits stay in their files.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        self.own.contains_key(STREAMED)
    }
}

/// The help of the option for SoftSpokenOT's parameter, which several engines have.
pub const SOFT_SPOKEN_K: &str =
    "the parameter of SoftSpokenOT, 1 to 8; a larger one sends less and computes more";

/// The name of the option by which a circuit stays in its file, of engines that have it.
pub const STREAMED: &str = "streamed";

/// [`EngineSettings`] as a message between processes of one program.
#[derive(Clone, Serialize, Deserialize)]
pub struct SettingsMessage {
    parties: Option<u32>,
    security: String,
    statistical: Option<u32>,
    threads: u32,
    own: BTreeMap<String, String>,
}

impl From<&EngineSettings> for SettingsMessage {
    fn from(settings: &EngineSettings) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SettingsMessage {
            parties: settings.parties.map(number),
            security: settings.security.name().to_owned(),
            statistical: settings.statistical,
            threads: number(settings.threads),
            own: settings.own.clone(),
        }
    }
}

impl TryFrom<SettingsMessage> for EngineSettings {
    type Error = String;

    fn try_from(message: SettingsMessage) -> Result<Self, String> {
        Ok(EngineSettings {
            parties: message.parties.map(|parties| parties as usize),
            security: message.security.parse()?,
            statistical: message.statistical,
            threads: message.threads as usize,
            own: message.own,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_range_and_threads_are_one() {
        let settings = EngineSettings::default().with("size", 7).with("other", "x");
        let number =
            |name: &str, range| settings.number::<u8>(name, range).map_err(|error| error.to_string());
        assert_eq!(number("none", 1..=9), Ok(None));
        assert_eq!(settings.clone().among(5).parties, Some(5));
        for (range, fits) in [(7..=7, true), (1..=9, true), (1..=6, false), (8..=9, false)] {
            let found = number("size", range.clone());
            assert!(if fits { found == Ok(Some(7)) } else { found.is_err() }, "{range:?}");
        }
        assert_eq!(number("other", 1..=9), Err("--other is x: give 1 to 9".into()));
        for threads in [1, 2, 257] {
            let settings = EngineSettings { threads, ..EngineSettings::default() };
            assert_eq!(settings.one_thread("e").is_ok(), threads == 1, "{threads}");
        }
    }

    /// A value is one of the names, whole, and what it can be is told.
    #[test]
    fn values_are_among_their_names() {
        let of = |value: &str, all: &[u8]| {
            let named = |value: u8| ["one", "two", "three"][usize::from(value)];
            let settings = EngineSettings::default().with("size", value);
            settings.one_of("size", all, named).map_err(|error| error.to_string())
        };
        for (place, name) in (0..).zip(["one", "two", "three"]) {
            assert_eq!(of(name, &[0, 1, 2]), Ok(Some(place)));
        }
        assert_eq!(EngineSettings::default().one_of("size", &[0], |_| "one"), Ok(None));
        for (value, all, text) in [
            ("four", &[0, 1, 2][..], "one, two or three"),
            ("on", &[0, 1, 2], "one, two or three"),
            ("three", &[0, 1], "one or two"),
            ("ones", &[0], "one"),
        ] {
            assert_eq!(of(value, all), Err(format!("--size is {value}: give {text}")));
        }
    }

    #[test]
    fn what_is_told_is_what_was_meant() {
        let default = EngineSettings::default();
        let meant = [
            EngineSettings { statistical: Some(64), ..default.clone() },
            EngineSettings { security: Security::SemiHonest, threads: 7, ..default.clone() },
            default.clone().among(5).with("form", "paper").with(STREAMED, ""),
            default.clone().with("protocol", "lut16").with("priority", "low-latency"),
            default,
        ];
        for meant in meant {
            assert_eq!(EngineSettings::try_from(SettingsMessage::from(&meant)).unwrap(), meant);
        }
    }
}
