//! The figures that the papers print, to compare with those measured here: the only ones in the report that
//! were not measured in this run.

use divisi_rep3::{Protocol, Security};
use serde_json::{Value, json};

use Protocol::{Gf4Circuit, Gf8Circuit, Lut16, Lut256, Lut256Additive};
use Security::{Malicious, SemiHonest};

/// A remark for comparisons between different machines.
pub const REMARK: &str = "The machines differ, and so do the settings: read these columns for the shape, not for a race. The papers ran \
    each party on a machine of its own; here three parties share one. Their figures leave out the key schedule, as the figures of \
    ours do, which stands under setup.";

/// A network of MAESTRO's Table 5, and the machines behind it.
pub struct Setting {
    /// Rate and round-trip time.
    pub network: &'static str,
    /// The type of each of the three machines.
    pub machines: &'static str,
}

const CORE_I9: &str = "3 x 16-core Intel Core i9-9900 3.10 GHz, 128 GB; 16 threads";
const XEON: &str = "3 x 16-core Intel Xeon E5-2650v2 2.60 GHz, 128 GB; 16 threads";

/// Section 4.1 and the last row of Table 5.
pub const SETTINGS: [Setting; 5] = [
    Setting { network: "10 Gbit/s, RTT at most 1 ms", machines: CORE_I9 },
    Setting { network: "1 Gbit/s, RTT at most 1 ms", machines: XEON },
    Setting { network: "200 Mbit/s, RTT 15 ms", machines: XEON },
    Setting { network: "100 Mbit/s, RTT 30 ms", machines: XEON },
    Setting { network: "50 Mbit/s, RTT 100 ms", machines: XEON },
];

/// A row of MAESTRO's Table 5: blocks a second, online and total, in each of [`SETTINGS`].
pub struct Throughput {
    /// The name in the table.
    pub name: &'static str,
    /// The name in this project; `None` for a protocol that it does not have.
    pub protocol: Option<Protocol>,
    /// The adversary.
    pub security: Security,
    /// Online and in all.
    pub per_second: [(u32, u32); 5],
}

/// The source of [`TABLE_5`].
pub const TABLE_5_SOURCE: &str = "MAESTRO (USENIX Security 2025), Table 5";

/// MAESTRO, Table 5. It does not contain replicated lut256 with active security.
pub const TABLE_5: [Throughput; 10] = [
    Throughput {
        name: "GF(2^8)-Circuit [21]",
        protocol: Some(Gf8Circuit),
        security: SemiHonest,
        per_second: [
            (568_504, 568_504),
            (124_290, 124_290),
            (24_917, 24_917),
            (13_392, 13_392),
            (6_743, 6_743),
        ],
    },
    Throughput {
        name: "LUT-16",
        protocol: Some(Lut16),
        security: SemiHonest,
        per_second: [
            (775_697, 320_622),
            (180_606, 101_036),
            (35_063, 20_174),
            (16_617, 10_840),
            (11_052, 6_739),
        ],
    },
    Throughput {
        name: "GF(2^4)-Circuit",
        protocol: Some(Gf4Circuit),
        security: SemiHonest,
        per_second: [
            (729_822, 729_822),
            (179_369, 179_369),
            (32_866, 32_866),
            (18_497, 18_497),
            (11_590, 11_590),
        ],
    },
    Throughput {
        name: "(2,3) LUT-256",
        protocol: Some(Lut256),
        security: SemiHonest,
        per_second: [(382_618, 41_507), (117_704, 9_979), (17_410, 2_025), (14_583, 1_379), (7_513, 970)],
    },
    Throughput {
        name: "(3,3) LUT-256",
        protocol: Some(Lut256Additive),
        security: SemiHonest,
        per_second: [(641_302, 108_114), (148_917, 39_156), (25_756, 6_844), (16_574, 5_216), (9_358, 4_676)],
    },
    Throughput {
        name: "GF(2^8)-Circuit ([21] + [31], bucket cut-and-choose)",
        protocol: None,
        security: Malicious,
        per_second: [(152_127, 10_100), (33_646, 4_490), (7_889, 1_481), (4_707, 1_039), (2_832, 743)],
    },
    Throughput {
        name: "GF(2^8)-Circuit ([21] + Protocol 2)",
        protocol: Some(Gf8Circuit),
        security: Malicious,
        per_second: [(46_081, 46_081), (17_559, 17_559), (5_696, 5_696), (4_694, 4_694), (4_716, 4_716)],
    },
    Throughput {
        name: "LUT-16 + Protocol 2",
        protocol: Some(Lut16),
        security: Malicious,
        per_second: [(50_189, 44_883), (19_113, 17_344), (6_472, 5_707), (5_273, 4_481), (5_844, 4_365)],
    },
    Throughput {
        name: "GF(2^4)-Circuit + Protocol 2",
        protocol: Some(Gf4Circuit),
        security: Malicious,
        per_second: [(48_924, 48_924), (18_829, 18_829), (6_429, 6_429), (5_396, 5_396), (6_073, 6_073)],
    },
    Throughput {
        name: "(3,3) LUT-256 + Protocol 7",
        protocol: Some(Lut256Additive),
        security: Malicious,
        per_second: [(32_508, 25_409), (13_547, 10_560), (3_732, 2_652), (3_370, 2_345), (5_056, 3_289)],
    },
];

/// A row of the slide "Benchmark from [MPS+25] (1)" of Symphony: 100,000 blocks, active security.
pub struct Slide {
    /// The name on the slide.
    pub name: &'static str,
    /// The name in this project.
    pub protocol: Protocol,
    /// Seconds and megabytes of preprocessing.
    pub preprocessing: Option<(f64, u32)>,
    /// Seconds and megabytes online.
    pub online: (f64, u32),
    /// Blocks a second online and in all.
    pub per_second: (u32, u32),
}

/// The source of [`SLIDES`].
pub const SLIDES_SOURCE: &str =
    "Symphony slides, \"Benchmark from [MPS+25] (1)\", 100,000 blocks, active security";
/// The machines of [`SLIDES`].
pub const SLIDES_MACHINES: &str = "3 x 16-core Intel Core i9-9900 3.10 GHz, 128 GB; LAN of 9.47 Gbit/s";
/// The slides' statement about latency.
pub const SLIDES_LATENCY: &str = "The slide \"Benchmark from [MPS+25] (2)\" draws this figure for the authors' code on the machines named above, \
    the network altered with tc, at round-trip times of 1, 15, 30, 50 and 100 ms on an axis that reaches past 4,000 ms; it prints no \
    values, so none are repeated here.";

/// The slide's three modes.
pub const SLIDES: [Slide; 3] = [
    Slide {
        name: "online tp.",
        protocol: Lut16,
        preprocessing: Some((0.23, 22)),
        online: (2.24, 32),
        per_second: (44_624, 40_533),
    },
    Slide {
        name: "total tp.",
        protocol: Gf4Circuit,
        preprocessing: None,
        online: (2.34, 40),
        per_second: (42_799, 42_799),
    },
    Slide {
        name: "low latency",
        protocol: Lut256Additive,
        preprocessing: Some((0.84, 44)),
        online: (3.65, 32),
        per_second: (27_373, 22_280),
    },
];

/// MAESTRO, Table 1: bits that a party sends for a block of AES-128, made ahead and online.
const TABLE_1: [(Protocol, u64, u64); 5] = [
    (Gf8Circuit, 0, 5120),
    (Gf4Circuit, 0, 3200),
    (Lut16, 1760, 2560),
    (Lut256, 39_520, 1280),
    (Lut256Additive, 3520, 2560),
];

/// The bits of Table 1: preprocessing and online.
#[must_use]
pub fn bits(protocol: Protocol) -> Option<(u64, u64)> {
    TABLE_1.iter().find(|(p, ..)| *p == protocol).map(|(_, ahead, online)| (*ahead, *online))
}

/// MAESTRO, Table 1: rounds of preprocessing, if there is any, and online. Verification is left out there.
const ROUNDS: [(Protocol, Option<u32>, u32); 5] = [
    (Gf8Circuit, None, 30),
    (Gf4Circuit, None, 30),
    (Lut16, Some(2), 20),
    (Lut256, Some(6), 10),
    (Lut256Additive, Some(2), 10),
];

/// The rounds of Table 1: preprocessing and online.
#[must_use]
pub fn rounds(protocol: Protocol) -> Option<(Option<u32>, u32)> {
    ROUNDS.iter().find(|(p, ..)| *p == protocol).map(|(_, ahead, online)| (*ahead, *online))
}

/// The row of Table 5 to compare with.
#[must_use]
pub fn throughput(protocol: Protocol, security: Security) -> Option<&'static Throughput> {
    TABLE_5.iter().find(|row| row.protocol == Some(protocol) && row.security == security)
}

/// All figures, for the report's JSON.
#[must_use]
pub fn to_json() -> Value {
    let of_table = |row: &'static Throughput| {
        SETTINGS.iter().zip(row.per_second).map(|(setting, (online, total))| {
            json!({
                "source": TABLE_5_SOURCE,
                "name": row.name,
                "protocol": row.protocol.map(Protocol::name),
                "security": row.security.name(),
                "network": setting.network,
                "machines": setting.machines,
                "online_per_second": online,
                "total_per_second": total,
            })
        })
    };
    let of_slide = |row: &Slide| {
        json!({
            "source": SLIDES_SOURCE,
            "name": row.name,
            "protocol": row.protocol.name(),
            "security": Malicious.name(),
            "network": "9.47 Gbit/s LAN",
            "machines": SLIDES_MACHINES,
            "online_per_second": row.per_second.0,
            "total_per_second": row.per_second.1,
        })
    };
    TABLE_5.iter().flat_map(of_table).chain(SLIDES.iter().map(of_slide)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_has_its_row_but_the_one_that_was_not_built() {
        for protocol in Protocol::ALL.iter().copied() {
            assert!(throughput(protocol, SemiHonest).is_some() && bits(protocol).is_some());
            assert_eq!(
                rounds(protocol).map(|(ahead, _)| ahead.is_some()),
                bits(protocol).map(|(bits, _)| bits > 0)
            );
            assert_eq!(throughput(protocol, Malicious).is_some(), protocol != Lut256);
        }
        for row in &TABLE_5 {
            assert!(row.per_second.iter().all(|(online, total)| total <= online), "{}", row.name);
        }
        assert_eq!(to_json().as_array().unwrap().len(), 5 * TABLE_5.len() + SLIDES.len());
    }

    /// The slide's throughputs follow from its seconds, as far as those are printed.
    #[test]
    fn the_slide_agrees_with_itself() {
        for row in &SLIDES {
            let (ahead, _) = row.preprocessing.unwrap_or_default();
            for (seconds, printed) in
                [(row.online.0, row.per_second.0), (row.online.0 + ahead, row.per_second.1)]
            {
                let computed = 100_000.0 / seconds;
                assert!(
                    (computed / f64::from(printed) - 1.0).abs() < 0.005,
                    "{}: {computed} {printed}",
                    row.name
                );
            }
        }
    }
}
