//! When garbling is faster than evaluation level by level, judged by round-trip time and number of lanes.

use super::Rounds;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The shortest round trip at which a program on one lane is garbled: from there on the levels of a hash wait
/// longer than the garblers compute (Keccak, 24 rounds and 38,400 ANDs, gains least).
pub const FAR: Duration = Duration::from_millis(1);
/// The most lanes that are garbled, for each millisecond of a round trip: level by level all lanes wait
/// together.
pub const LANES_EACH: u32 = 3;

/// How the operators of servers let programs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoundsChoice {
    /// Level by level.
    #[default]
    Levels,
    /// By garbling.
    Constant,
    /// By garbling where it is faster: few lanes among servers far from each other.
    Auto,
}

impl RoundsChoice {
    /// Every choice.
    pub const ALL: [RoundsChoice; 3] = [RoundsChoice::Levels, RoundsChoice::Constant, RoundsChoice::Auto];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RoundsChoice::Levels => "levels",
            RoundsChoice::Constant => "constant-round",
            RoundsChoice::Auto => "auto",
        }
    }

    /// What to propose to the other parties for a program on `lanes` lanes with this round-trip time; `None`
    /// as time if it is not known yet. The parties must agree on it: no party runs a program by a time that
    /// it alone measured ([`crate::Rep3::use_rounds`]).
    #[must_use]
    pub fn proposes(self, round_trip: Option<Duration>, lanes: u32) -> Rounds {
        let gains = round_trip.is_some_and(|time| time >= FAR && time * LANES_EACH >= FAR * lanes);
        match self {
            RoundsChoice::Levels => Rounds::OfLevels,
            RoundsChoice::Constant => Rounds::Constant,
            RoundsChoice::Auto if gains => Rounds::Constant,
            RoundsChoice::Auto => Rounds::OfLevels,
        }
    }
}

impl fmt::Display for RoundsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RoundsChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let known = Self::ALL.into_iter().find(|choice| choice.name() == name);
        known.ok_or_else(|| format!("unknown mode {name:?}: choose one of {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_few_lanes_far_apart() {
        let auto = |micros, lanes| RoundsChoice::Auto.proposes(Some(Duration::from_micros(micros)), lanes);
        assert_eq!(auto(999, 1), Rounds::OfLevels);
        assert_eq!(
            (auto(1000, 1), auto(1000, 3), auto(1000, 4)),
            (Rounds::Constant, Rounds::Constant, Rounds::OfLevels)
        );
        assert_eq!((auto(100_000, 300), auto(100_000, 301)), (Rounds::Constant, Rounds::OfLevels));
        assert_eq!(RoundsChoice::Auto.proposes(None, 1), Rounds::OfLevels);
        assert_eq!(RoundsChoice::Constant.proposes(None, 1000), Rounds::Constant);
        assert_eq!(RoundsChoice::Levels.proposes(Some(Duration::from_secs(1)), 1), Rounds::OfLevels);
    }

    #[test]
    fn names_are_names() {
        assert!(RoundsChoice::ALL.iter().all(|choice| choice.name().parse() == Ok(*choice)));
        assert!("never".parse::<RoundsChoice>().is_err());
    }
}
