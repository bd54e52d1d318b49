//! Who is sent what at the end of a run: outputs go to their receivers, and to nobody else.

use crate::parties;
use divisi_circuit::{Build, Gates};
use divisi_core::testing::{Harness, MessageDirection};
use divisi_core::{Abort, Misuse, PartyId, PublicParameters, Security, local};
use divisi_engine::job::CircuitJob;
use divisi_engine::{Between, Engine, EngineSettings, Unwatched};
use divisi_program::adapter::MixedEngine;
use divisi_program::adapter::manner::Manner;
use divisi_program::plain::Entries;
use divisi_program::text;
use std::sync::Arc;

const PARTIES: u8 = 3;

/// All sets of receivers.
fn sets() -> impl Iterator<Item = Vec<u8>> {
    (1..1_u8 << PARTIES).map(|set| (1..=PARTIES).filter(|party| set >> (party - 1) & 1 == 1).collect())
}

/// How many of these are not the party: as many get what it sends.
fn others(receivers: &[u8], party: u8) -> u64 {
    receivers.iter().filter(|receiver| **receiver != party).count() as u64
}

/// A program that opens nothing else sends shares of its outputs to each receiver once.
#[test]
fn outputs_of_programs_are_sent_to_their_receivers_alone() {
    for (kind, entries, bits) in [
        ("num 5", Entries::Num(vec![3; 5]), 5 * 32),
        ("bits 9 5", Entries::Bits(vec![vec![true; 9]; 5]), 5 * 9),
    ] {
        for receivers in sets() {
            let list: Vec<String> = receivers.iter().map(u8::to_string).collect();
            let body = format!("divisi program 1\ninput x 2 {kind}\noutput x {}\n", list.join(","));
            let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
            let counts = parties::compare(PARTIES.into(), &program, std::slice::from_ref(&entries));
            for (party, counts) in (1..).zip(counts) {
                let sent = counts.phases.get("online").map_or(0, |phase| phase.bits);
                assert_eq!(sent, bits * others(&receivers, party), "{body}: party {party}");
            }
        }
    }
}

/// What goes to a party that is not there goes to nobody.
#[test]
fn receivers_that_do_not_take_part_are_misuse() {
    let program =
        text::read("divisi program 1\ninput x 1 num\noutput x 1,3\n", &|_| Err("none".into())).unwrap();
    let end = parties::try_run(2, &program, &[Entries::Num(vec![3])]).map(drop);
    assert!(matches!(end, Err(Abort::Misuse { what: Misuse::PartyUnknown, .. })), "{end:?}");
}

/// Of many outputs, too, each goes to its own receivers.
#[test]
fn each_of_many_outputs_has_its_own_receivers() {
    const OUTPUTS: usize = 300;
    let sets: Vec<Vec<u8>> = sets().collect();
    let of = |i: usize| &sets[i * 5 % sets.len()];
    let mut body = format!("divisi program 1\ninput x 2 num {OUTPUTS}\n");
    for i in 0..OUTPUTS {
        let list: Vec<String> = of(i).iter().map(u8::to_string).collect();
        body.push_str(&format!("y{i} = gather x {i}\noutput y{i} {}\n", list.join(",")));
    }
    let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
    let counts = parties::compare(PARTIES.into(), &program, &[Entries::Num((0..OUTPUTS as i64).collect())]);
    for (party, counts) in (1..).zip(counts) {
        let sent = counts.phases.get("online").map_or(0, |phase| phase.bits);
        let wanted: u64 = (0..OUTPUTS).map(|i| 32 * others(of(i), party)).sum();
        assert_eq!(sent, wanted, "party {party}");
    }
}

/// The same for a single circuit, whose values go to different parties.
#[test]
fn outputs_of_circuits_are_sent_to_their_receivers_alone() {
    let mut g = Build::new();
    let (x, y) = (g.input(20), g.input(20));
    let sums: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.xor(*x, *y)).collect();
    g.output(&sums[..8]);
    g.output(&sums[8..]);
    let circuit = crate::agreement::held(g.finish());
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    let settings = settings.among(PARTIES.into());
    let party = |number: &u8| PartyId::new(*number).unwrap();
    for receivers in sets() {
        let each: Vec<PartyId> = receivers.iter().map(party).collect();
        let between = Between::Parties {
            owners: vec![PartyId::P1, PartyId::P2],
            receivers: vec![vec![PartyId::P1], each],
        };
        let job =
            CircuitJob { circuit: Arc::clone(&circuit), adder: crate::agreement::ADDER, between, count: 3 };
        let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, &settings).unwrap();
        let sent = local::run(PARTIES.into(), &PublicParameters::new("receivers"), |session| {
            let me = session.me();
            let mut member = prepared.start(session, job.count, &Default::default())?;
            let own = vec![1; job.wires_of(me).len() * job.count];
            let learned = member.batch(job.count, &own.into(), &mut Unwatched)?;
            assert_eq!(learned.len(), job.results_of(me).len() * job.count);
            Ok(member.meter().phases.get("online").map_or(0, |phase| phase.bits))
        });
        let (first, second) = (3 * 8, 3 * 12_u64);
        for (party, sent) in (1..).zip(sent.unwrap()) {
            let groups = if receivers == [1] {
                vec![(first + second, &[1][..])]
            } else {
                vec![(first, &[1][..]), (second, &receivers[..])]
            };
            let wanted: u64 = groups.iter().map(|(bits, to)| bits * others(to, party)).sum();
            assert_eq!(sent, wanted, "{receivers:?}: party {party}");
        }
    }
}

/// Of a circuit that is garbled, nothing else is opened as outputs are: each value goes to its receivers, in
/// as many bits as it has, and to nobody else.
#[test]
fn outputs_of_garbled_circuits_are_sent_to_their_receivers_alone() {
    let mut g = Build::new();
    let (x, y) = (g.input(9), g.input(9));
    let both: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&both[..2]);
    g.output(&both[2..]);
    let circuit = crate::agreement::held(g.finish());
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    let settings = settings.among(2).with(Manner::PROTOCOL, "mpgc").with(Manner::FORM, "cot");
    let (one, two) = (PartyId::P1, PartyId::P2);
    for (receivers, opened) in
        [(vec![vec![one], vec![one]], [0, 27]), (vec![vec![one], vec![one, two]], [21, 27])]
    {
        let between = Between::Parties { owners: vec![one, two], receivers };
        let job =
            CircuitJob { circuit: Arc::clone(&circuit), adder: crate::agreement::ADDER, between, count: 24 };
        let prepared = MixedEngine.jobs().circuits.unwrap().prepare(&job, &settings).unwrap();
        let harness = Harness::new(2, &PublicParameters::new("receivers")).patient();
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let me = session.me();
            let mut member = prepared.start(session, job.count, &Default::default())?;
            let own = vec![1; job.wires_of(me).len() * job.count];
            member.batch(job.count, &own.into(), &mut Unwatched)
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let sent = recordings.iter().map(|seen| {
            let sent = seen.of(MessageDirection::Out, "divisi_mixed::gmw/output");
            sent.iter().map(|seen| seen.frame.body.len()).sum::<usize>()
        });
        // before that, all 18 masked inputs are opened to all, of which 24 instances have three bytes each
        assert_eq!(sent.collect::<Vec<_>>(), opened.map(|bytes| bytes + 18 * 3));
    }
}
