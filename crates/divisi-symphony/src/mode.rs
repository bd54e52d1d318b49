//! The performance modes: what a user wants most, and the protocol for it.

use divisi_rep3::Protocol;
use divisi_symmetric::gates::Adder;
use std::fmt;
use std::str::FromStr;

/// What a user wants most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// The most blocks a second online, once the preprocessing is there.
    OnlineThroughput,
    /// The most blocks a second, all work counted.
    TotalThroughput,
    /// Few rounds online, without the much larger preprocessing with which lut256 saves one round more.
    LowLatency,
}

impl Priority {
    /// Every mode.
    pub const ALL: [Priority; 3] =
        [Priority::OnlineThroughput, Priority::TotalThroughput, Priority::LowLatency];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Priority::OnlineThroughput => "online-throughput",
            Priority::TotalThroughput => "total-throughput",
            Priority::LowLatency => "low-latency",
        }
    }

    /// The protocol that it stands for.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        match self {
            Priority::OnlineThroughput => Protocol::Lut16,
            Priority::TotalThroughput => Protocol::Gf4Circuit,
            Priority::LowLatency => Protocol::Lut256Additive,
        }
    }

    /// How words are added in functions that add: with the fewest products, or in the fewest rounds.
    #[must_use]
    pub fn adder(self) -> Adder {
        match self {
            Priority::OnlineThroughput | Priority::TotalThroughput => Adder::FewestAnds,
            Priority::LowLatency => Adder::LowDepth,
        }
    }

    /// What it does and what that is good for, in one sentence of which it is the subject.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        match self {
            Priority::OnlineThroughput => {
                "makes one-hot vectors ahead of the data, so that less work and half the rounds remain online (lut16)"
            }
            Priority::TotalThroughput => {
                "makes nothing ahead, and needs the least work and traffic in all (gf4-circuit)"
            }
            Priority::LowLatency => {
                "makes twice as much ahead, so that about a quarter of the rounds is left once the data is there \
                 (lut256-additive)"
            }
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Priority {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Priority::ALL.map(Priority::name).join(", ");
        Priority::ALL
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| format!("unknown mode {name:?}: choose one of {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_each_mode_is_one_sentence_with_its_protocol() {
        for mode in Priority::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            assert!(
                mode.purpose().ends_with(&format!("({})", mode.protocol())) && !mode.purpose().contains('.')
            );
        }
        assert!("fast".parse::<Priority>().is_err_and(|e| e.contains("low-latency")));
    }
}
