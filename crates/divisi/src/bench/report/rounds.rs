//! The rounds of MAESTRO's Table 1 beside the metered ones, with the reason where they differ.

use super::papers;
use crate::bench::BenchReport;
use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};

/// Why rounds differ.
const FOUR_PRODUCTS: &str = "online: the S-box of gf4-circuit has four products one after the other (one before the inversion in GF(2^4), two in it, \
    one after it), as the paper's Table 3 counts them: 4 rounds for each of ten S-boxes. Table 1 counts 3; a form with 30 rounds sends \
    3,840 bits instead of 3,200";
const RESHARED: &str =
    "online: the last layer is reshared (Protocol 7, step 8), one round that Table 1 does not count";
const AGREED: &str = "preprocessing: one round compares what was agreed on inputs";
const VERIFIED: &str = "preprocessing: the vectors are verified before they are used, in a number of rounds that grows with the logarithm of \
    theirs, which Table 1 leaves out";
const SUBSETS: &str = "preprocessing: vectors by products of subsets take 3 rounds (docs/lookups.md, 2); bit by bit, as in Protocol 5, they take \
    7, and Table 1 counts 6";
const UNKNOWN: &str = "no reason is known: report this";

/// The rounds of one protocol.
pub struct Rounds {
    /// The protocol.
    pub protocol: Protocol,
    /// The adversary.
    pub security: Security,
    /// Those that the meter counted: preprocessing, online, verification.
    pub here: [u32; 3],
    /// Those of Table 1: preprocessing, if there is any, and online.
    pub paper: Option<(Option<u32>, u32)>,
}

impl Rounds {
    /// The rounds of a run of AES.
    pub fn of(report: &BenchReport) -> Rounds {
        let protocol = report.options.choice.protocol();
        let here = ["preprocessing", "online", "verification"].map(|name| report.measured.phase(name).rounds);
        Rounds { protocol, security: report.options.security, here, paper: papers::rounds(protocol) }
    }

    /// The reasons for each difference.
    pub fn reasons(&self) -> Vec<&'static str> {
        let ([ahead, online, _], Some((printed_ahead, printed_online))) = (self.here, self.paper) else {
            return Vec::new();
        };
        let mut reasons = Vec::new();
        if online != printed_online {
            reasons.push(match self.protocol {
                Protocol::Gf4Circuit => FOUR_PRODUCTS,
                Protocol::Lut256Additive => RESHARED,
                _ => UNKNOWN,
            });
        }
        if ahead != printed_ahead.unwrap_or(0) {
            reasons.extend((self.protocol == Protocol::Lut256).then_some(SUBSETS));
            reasons.push(match self.security {
                _ if printed_ahead.is_none() => UNKNOWN,
                Security::Malicious => VERIFIED,
                Security::SemiHonest => AGREED,
            });
        }
        reasons
    }

    /// The members `protocol`, `security`; `preprocessing`, `online` and `verification` as metered;
    /// `paper_preprocessing` and `paper_online`, null where the paper has none; `reasons` where they differ.
    pub fn to_json(&self) -> Value {
        let [ahead, online, verification] = self.here;
        let (printed_ahead, printed_online) = self.paper.unzip();
        json!({
            "protocol": self.protocol.name(),
            "security": self.security.name(),
            "preprocessing": ahead,
            "online": online,
            "verification": verification,
            "paper_preprocessing": printed_ahead.flatten(),
            "paper_online": printed_online,
            "reasons": self.reasons(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Protocol::{Gf4Circuit, Gf8Circuit, Lut16, Lut256, Lut256Additive};
    use Security::{Malicious, SemiHonest};

    fn rounds(protocol: Protocol, security: Security, here: [u32; 3]) -> Rounds {
        Rounds { protocol, security, here, paper: papers::rounds(protocol) }
    }

    /// The rounds are those of BENCHMARKS.md; each that is not the paper's has its reason, and no other.
    #[test]
    fn each_difference_has_its_reason() {
        for (protocol, security, here, reasons) in [
            (Gf8Circuit, SemiHonest, [0, 30, 1], &[][..]),
            (Gf8Circuit, Malicious, [0, 30, 46], &[]),
            (Gf4Circuit, SemiHonest, [0, 40, 1], &[FOUR_PRODUCTS]),
            (Gf4Circuit, Malicious, [0, 40, 46], &[FOUR_PRODUCTS]),
            (Lut16, SemiHonest, [3, 20, 0], &[AGREED]),
            (Lut16, Malicious, [46, 20, 44], &[VERIFIED]),
            (Lut256Additive, SemiHonest, [3, 11, 0], &[RESHARED, AGREED]),
            (Lut256Additive, Malicious, [48, 11, 44], &[RESHARED, VERIFIED]),
            (Lut256, SemiHonest, [4, 10, 0], &[SUBSETS, AGREED]),
            (Lut256, Malicious, [47, 10, 1], &[SUBSETS, VERIFIED]),
        ] {
            assert_eq!(rounds(protocol, security, here).reasons(), reasons, "{protocol} {security}");
        }
        // what nobody has explained is not explained away
        assert_eq!(rounds(Gf8Circuit, SemiHonest, [1, 31, 1]).reasons(), [UNKNOWN, UNKNOWN]);
        assert_eq!(rounds(Lut16, SemiHonest, [2, 20, 0]).reasons(), [""; 0]);
    }

    #[test]
    fn the_papers_rounds_are_members_beside_ours() {
        let json = rounds(Gf4Circuit, Malicious, [0, 40, 46]).to_json();
        assert!(json["paper_preprocessing"].is_null() && json["paper_online"] == 30 && json["online"] == 40);
        assert_eq!(json["reasons"], json!([FOUR_PRODUCTS]));
    }
}
