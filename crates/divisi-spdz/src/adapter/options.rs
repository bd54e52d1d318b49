//! The options of the engine.

use super::how::{FIELD, K, PREP, PROTOCOL};
use crate::Preparation;
use crate::protocol::{NAMED, NamedProtocol, Task};
use divisi_engine::settings::SOFT_SPOKEN_K;
use divisi_engine::stock::{KEY_FILE, PEERS, PREP_FROM};
use divisi_engine::{EngineOption, OptionScope};

const STATISTICAL: &str = "statistical";

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    use OptionScope::{Blocks, Circuits, Demonstration, KnownAnswers, Run, Stocks, TripleDes};
    const OF_STOCKS: &[OptionScope] =
        &[Run, KnownAnswers, Demonstration, Blocks, TripleDes, Circuits, Stocks];
    let protocols = NAMED.map(|named| (named.shown(), ""));
    // `prep make` declares it by itself, with all names: it cannot be left out there
    let limited = |option: EngineOption, named: NamedProtocol| {
        let option = option.limited(
            named.shown(),
            match named.task {
                Task::Aes if named.tiny => &[KnownAnswers, Blocks],
                Task::Aes => &[KnownAnswers, Demonstration, Blocks],
                Task::TripleDes if named.tiny => &[KnownAnswers, TripleDes],
                Task::TripleDes => &[KnownAnswers, Demonstration, TripleDes],
                Task::Circuits => &[],
            },
        );
        if named.name == named.shown() {
            option
        } else {
            option.formerly(PROTOCOL, named.name, named.shown())
        }
    };
    let protocol = EngineOption::one_of(PROTOCOL, protocols, "how S-boxes are computed");
    let about = |prep: Preparation| match prep {
        Preparation::Bucketed => "products of bits and vectors, combined in buckets",
        Preparation::Mascot => "MASCOT, which the paper measures",
    };
    let preparations = Preparation::ALL.map(|prep| (prep.name(), about(prep)));
    vec![
        NAMED.into_iter().fold(protocol, limited).with_default("aes-lt and 3des-lt").at(&[
            KnownAnswers,
            Demonstration,
            Blocks,
            TripleDes,
        ]),
        EngineOption::number(K, "K", SOFT_SPOKEN_K).with_default("4").at(OF_STOCKS),
        EngineOption::number(FIELD, "BITS", "the bits of the MACs' field, 40 or 48, for triple DES also 42")
            .with_default("48; with --statistical 64 it is 72")
            .at(OF_STOCKS),
        EngineOption::one_of(PREP, preparations, "how preprocessing is made")
            .with_default("bucketed")
            .at(OF_STOCKS),
        EngineOption::path(PREP_FROM, "DIR", "the stock to take preprocessing from, which `prep make` wrote"),
        EngineOption::path(KEY_FILE, "FILE", "the key file of the stock")
            .with_default("seal.key in its directory")
            .with(PREP_FROM),
        EngineOption::declared(STATISTICAL),
        EngineOption::declared(PEERS),
    ]
}
