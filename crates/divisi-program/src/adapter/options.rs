//! The options of the engine. `divisi bench mixed` has more, and declares them itself.

use super::manner::{CircuitProtocol, INSECURE, Manner};
use crate::form::BitForm;
use divisi_bgv::parameters::Form;
use divisi_engine::settings::SOFT_SPOKEN_K;
use divisi_engine::{EngineOption, OptionScope};

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    let about_form = |form: BitForm| match form {
        BitForm::Cot => "random bits by correlated transfers",
        BitForm::Ciphertexts(Form::LeanTree) => "random bits by products of ciphertexts along a tree",
        BitForm::Ciphertexts(Form::LeanRing) => {
            "random bits by a ciphertext that is passed from party to party"
        }
        BitForm::Ciphertexts(_) => "as in the paper's figures",
    };
    let about_protocol = |protocol: CircuitProtocol| match protocol {
        CircuitProtocol::Gmw => "one round for each level",
        CircuitProtocol::Mpgc => {
            "garbled ahead: three rounds at any depth, and a number of bytes a party that does not grow with the \
             parties"
        }
    };
    let forms = BitForm::ALL.map(|form| (form.name(), about_form(form)));
    let protocols = CircuitProtocol::ALL.map(|protocol| (protocol.name(), about_protocol(protocol)));
    vec![
        EngineOption::one_of(
            Manner::FORM,
            forms,
            "how random bits are made, and with --protocol mpgc how keys are looked up",
        )
        .at(&[OptionScope::Run, OptionScope::Circuits]),
        EngineOption::number(Manner::K, "K", SOFT_SPOKEN_K).with_default("4"),
        EngineOption::one_of(Manner::PROTOCOL, protocols, "how circuits are evaluated")
            .with_default("gmw")
            .at(&[OptionScope::Run, OptionScope::Circuits]),
        EngineOption::declared(Manner::ADDER),
        EngineOption::declared(INSECURE),
    ]
}
