//! What garblers refuse.

use crate::circuits::{adder, agreed, parties};
use divisi_bgv::Ring;
use divisi_bgv::parameters::{Form, Operation, Parameters as Lattice};
use divisi_core::testing::in_another;
use divisi_core::{Abort, Misuse, Session};
use divisi_field::zp::P16;
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::SetupConfig;
use std::sync::Arc;

/// What was garbled in another session is refused, whose id may begin alike; alone, and behind what fits.
#[test]
fn what_another_session_garbled_is_refused() {
    let wiring = Wiring::new(&adder(1));
    let make = |session: &mut Session| {
        let gmw = Gmw::new(session.strand()?, SetupConfig::default())?;
        let mut garbler = Garbler::new(gmw, LookupMethod::Transfers)?;
        garbler.garble(&wiring, 1).map(|garbled| (garbler, garbled))
    };
    for behind in [false, true] {
        let ends = in_another(2, &agreed(&LookupMethod::Transfers), make, |session, (_, foreign)| {
            let (mut garbler, own) = make(session)?;
            let mut all = vec![(foreign, vec![GmwBit::zero(1); 2])];
            if behind {
                all.insert(0, (own, vec![GmwBit::zero(1); 2]));
            }
            divisi_mpgc::evaluate::evaluate(garbler.gmw(), all).map(drop)
        });
        let refused =
            |end: &Result<(), Abort>| matches!(end, Err(Abort::Misuse { what: Misuse::OtherSession, .. }));
        assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{ends:?}");
    }
}

/// Calls and rings that do not fit are refused.
#[test]
fn what_does_not_fit_is_refused() {
    let wiring = Wiring::new(&adder(2));
    // the first party to refuse ends the session for the other one, too
    let refused_as = |ends: Vec<Result<(), Abort>>, of_kind: fn(&Misuse) -> bool| {
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
        let right = |end: &_| matches!(end, Err(Abort::Misuse { what, .. }) if of_kind(what));
        assert!(ends.iter().any(right), "{ends:?}");
    };
    let refused = |ends| refused_as(ends, |_| true);
    let counts_differ = |what: &Misuse| matches!(what, Misuse::CountsDiffer);
    // the last input may have other lanes than the others
    for (count, lanes, last) in [(3, 2, 2), (4, 1, 1), (4, 3, 3), (4 + 256, 2, 2), (4, 2, 1)] {
        let ends = parties(2, &LookupMethod::Transfers, |garbler| {
            let garbled = garbler.garble(&wiring, 2)?;
            let mut inputs = vec![GmwBit::zero(lanes); count - 1];
            inputs.push(GmwBit::zero(last));
            garbler.evaluate(garbled, &inputs).map(drop)
        });
        refused_as(ends, counts_differ);
    }
    // of circuits that are evaluated together, the second one
    let ends = parties(2, &LookupMethod::Transfers, |garbler| {
        let both = [4, 5].map(|count| (garbler.garble(&wiring, 1), vec![GmwBit::zero(1); count]));
        let both: Result<Vec<_>, Abort> =
            both.into_iter().map(|(garbled, inputs)| garbled.map(|garbled| (garbled, inputs))).collect();
        divisi_mpgc::evaluate::evaluate(garbler.gmw(), both?).map(drop)
    });
    refused_as(ends, counts_differ);
    let unfit = Lattice::danger_insecure(Operation::Bits, Form::LeanRing, 2, P16).unwrap();
    refused(parties(2, &LookupMethod::Ciphertexts(Arc::new(Ring::new(unfit).unwrap())), |_| Ok(())));
    let other = Lattice::danger_insecure(Operation::PrivateTables, Form::LeanRing, 2, (3 << 30) + 1).unwrap();
    refused(parties(2, &LookupMethod::Ciphertexts(Arc::new(Ring::new(other).unwrap())), |_| Ok(())));
}
