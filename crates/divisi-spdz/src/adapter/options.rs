//! The options of the engine.

use super::how::{FIELD, K, PREP, PROTOCOL};
use crate::Preparation;
use crate::protocol::NAMED;
use divisi_engine::settings::SOFT_SPOKEN_K;
use divisi_engine::stock::{KEY_FILE, PEERS, PREP_FROM};
use divisi_engine::{EngineOption, OptionScope};

const STATISTICAL: &str = "statistical";

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    use OptionScope::{Blocks, Circuits, Demonstration, KnownAnswers, Macs, Run, Stocks};
    const OF_STOCKS: &[OptionScope] = &[Run, KnownAnswers, Demonstration, Blocks, Circuits, Stocks];
    let protocols = NAMED.map(|named| (named.name, ""));
    let about = |prep: Preparation| match prep {
        Preparation::Bucketed => "products of bits and vectors, combined in buckets",
        Preparation::Mascot => "MASCOT, which the paper measures",
    };
    let preparations = Preparation::ALL.map(|prep| (prep.name(), about(prep)));
    vec![
        EngineOption::one_of(PROTOCOL, protocols, "how S-boxes are computed")
            .usually("aes-lt and 3des-lt")
            .at(&[KnownAnswers, Demonstration, Blocks, Macs]),
        EngineOption::number(K, "K", SOFT_SPOKEN_K).usually("4").at(OF_STOCKS),
        EngineOption::number(FIELD, "BITS", "the bits of the MACs' field, 40 or 48, for triple DES also 42")
            .usually("48; with --statistical 64 it is 72")
            .at(OF_STOCKS),
        EngineOption::one_of(PREP, preparations, "how preprocessing is made")
            .usually("bucketed")
            .at(OF_STOCKS),
        EngineOption::path(PREP_FROM, "DIR", "the stock to take preprocessing from, which `prep make` wrote"),
        EngineOption::path(KEY_FILE, "FILE", "the key file of the stock")
            .usually("seal.key in its directory")
            .with(PREP_FROM),
        EngineOption::declared(STATISTICAL),
        EngineOption::declared(PEERS),
    ]
}
