//! The performance modes: what a user wants most, and the protocol that gives it.

use divisi_rep3::Protocol;
use divisi_symmetric::gates::Adder;
use std::fmt;
use std::str::FromStr;

/// What matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The most blocks a second once what can be made ahead is there.
    OnlineThroughput,
    /// The most blocks a second, all work counted.
    TotalThroughput,
    /// The fewest rounds with the least to make ahead of them.
    LowLatency,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::OnlineThroughput, Mode::TotalThroughput, Mode::LowLatency];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::OnlineThroughput => "online-throughput",
            Mode::TotalThroughput => "total-throughput",
            Mode::LowLatency => "low-latency",
        }
    }

    /// The protocol that it stands for.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        match self {
            Mode::OnlineThroughput => Protocol::Lut16,
            Mode::TotalThroughput => Protocol::Gf4Circuit,
            Mode::LowLatency => Protocol::Lut256Additive,
        }
    }

    /// How words are added, where something adds: the fewest products, or the fewest rounds.
    #[must_use]
    pub fn adder(self) -> Adder {
        match self {
            Mode::OnlineThroughput | Mode::TotalThroughput => Adder::FewestAnds,
            Mode::LowLatency => Adder::LowDepth,
        }
    }

    /// What it does and what that is good for, in one sentence of which it is the subject.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        match self {
            Mode::OnlineThroughput => {
                "makes one-hot vectors ahead, so that less work and half the rounds are left once the data is there (lut16)"
            }
            Mode::TotalThroughput => {
                "makes nothing ahead, and has the least work and traffic in all (gf4-circuit)"
            }
            Mode::LowLatency => {
                "makes twice as much ahead, so that about a quarter of the rounds is left once the data is there \
                 (lut256-additive)"
            }
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Mode::ALL.map(Mode::name).join(", ");
        Mode::ALL
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| format!("unknown mode {name:?}: there are {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_each_mode_is_one_sentence_with_its_protocol() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            assert!(
                mode.purpose().ends_with(&format!("({})", mode.protocol())) && !mode.purpose().contains('.')
            );
        }
        assert!("fast".parse::<Mode>().is_err_and(|e| e.contains("low-latency")));
    }
}
