//! What the parties of a garbling tell in the open is uniform.

use crate::circuits::{adder, agreed, hops};
use divisi_circuit::Build;
use divisi_core::Abort;
use divisi_core::testing::{Harness, MessageDirection, Recording};
use divisi_mixed::{Gmw, GmwBit};
use divisi_mpgc::{Garbler, LookupMethod, Wiring};
use divisi_ot::SetupConfig;

/// What each of two parties sends in a step of this, in a row.
fn told<R: Send>(
    way: &LookupMethod,
    step: &'static str,
    act: impl Fn(&mut Garbler) -> Result<R, Abort> + Sync,
) -> [Vec<u8>; 2] {
    let harness = Harness::new(2, &agreed(way)).patient();
    let seen = harness.recordings();
    let ends = harness.act(|session| {
        act(&mut Garbler::new(Gmw::new(session, SetupConfig::default())?, way.clone())?).map(drop)
    });
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    let sent = |seen: &Recording| seen.of(MessageDirection::Out, step).into_iter();
    [&seen[0], &seen[1]].map(|seen| sent(seen).flat_map(|seen| seen.frame.body).collect())
}

/// Demands that each of sixteen values occurs equally often: of fifteen degrees of freedom, 2^-20 at 57.
fn uniform(values: impl Iterator<Item = usize>) {
    let mut bins = [0_i64; 16];
    values.for_each(|value| bins[value] += 1);
    let mean = bins.iter().sum::<i64>() / 16;
    let square: i64 = bins.iter().map(|bin| (bin - mean).pow(2)).sum::<i64>() / mean;
    assert!(square < 57, "{bins:?}");
}

/// The masked inputs e = x + lambda, which the evaluator learns, are uniform whatever the inputs are, and
/// independent for different instances and wires.
#[test]
fn masked_inputs_are_uniform() {
    let mut g = Build::new();
    let x = g.input(4);
    g.output(&x);
    let program = g.finish();
    let lanes = 4096;
    let [ours, theirs] = told(&LookupMethod::Transfers, "divisi_mixed::gmw/output", |garbler| {
        let garbled = garbler.garble(&Wiring::new(&program), lanes)?;
        garbler.evaluate(garbled, &[(); 4].map(|()| GmwBit::zero(lanes)))
    });
    let e: Vec<u8> = ours.iter().zip(&theirs).map(|(x, y)| x ^ y).collect();
    assert_eq!(e.len(), 4 * lanes / 8);
    let bit = |w: usize, lane: usize| e[w * lanes / 8 + lane / 8] >> (lane % 8) & 1;
    uniform((0..lanes).map(|lane| (0..4).map(|w| usize::from(bit(w, lane)) << w).sum()));
    let alike = (1..lanes).filter(|lane| bit(0, *lane) == bit(0, lane - 1)).count();
    assert!((lanes / 2 - 240..lanes / 2 + 240).contains(&alike));
}

/// The masked indices u = e + r that lookups by ciphertexts open are uniform, though one e chooses all
/// coefficients of a key.
#[test]
fn opened_indices_are_uniform() {
    let wiring = Wiring::new(&adder(3));
    let all = told(&hops(2), "divisi_mixed::open/open.tell", |garbler| garbler.garble(&wiring, 1)).concat();
    // four lookups an AND, a bit a coefficient
    assert_eq!(all.len(), wiring.ands() * 4 * 1024 / 8);
    uniform(all.iter().flat_map(|byte| [byte & 15, byte >> 4]).map(usize::from));
}
