//! Costs against formulas: every byte of every phase, rounds, and how often each check ran.

use divisi_circuit::Program;
use divisi_core::{Check, Counts, PartyId};
use divisi_garble::checks;
use divisi_garble::lab::{BitSource, GarbleLab, in_turn};
use divisi_garble::{GarblingForm, Plan};
use divisi_net::wire_bytes;
use divisi_ot::hash::COMPUTATIONAL_BITS;
use divisi_ot::{Base, bucket};
use divisi_symmetric::circuits;
use divisi_symmetric::gates::Adder;

fn named(name: &str) -> Program {
    circuits::named(name, Adder::FewestAnds).unwrap().unwrap()
}

fn aes() -> Program {
    named("aes128")
}

/// The most rounds that a party took in a phase.
fn rounds(all: &[Counts], phase: &str) -> u32 {
    all.iter().map(|counts| counts.phases[phase].rounds).max().unwrap()
}

fn plan(program: &Program, n: usize, receivers: impl Fn(PartyId) -> bool) -> Plan<'_> {
    let list: Vec<PartyId> = PartyId::all(n).filter(|p| receivers(*p)).collect();
    let owners = in_turn(program.inputs().len(), n);
    Plan::new(program, n, &owners, &vec![list; program.outputs().len()]).unwrap()
}

/// Every party's counts of a run of this many instances.
fn counts(lab: &GarbleLab, plan: &Plan<'_>, count: usize) -> Vec<Counts> {
    let inputs = vec![vec![0; plan.input_bits()]; count];
    lab.run(plan, &inputs).unwrap().into_iter().map(|(_, counts)| counts).collect()
}

fn packed(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Whole bytes and bits of a table for each AND.
fn table(form: GarblingForm, n: usize, rho: usize) -> (usize, usize) {
    match form {
        GarblingForm::Paper => (64 * n, 4),
        GarblingForm::Improved => (16 * (3 * n - 4) + 3 * (rho + 24) / 8, 3),
        other => panic!("{other:?}"),
    }
}

#[derive(Clone, Copy)]
struct Case {
    form: GarblingForm,
    n: usize,
    rho: usize,
    count: usize,
}

/// Bytes of party `me` in each phase but setup, authenticated bits apart.
fn formula(case: Case, plan: &Plan<'_>, me: PartyId) -> [u64; 3] {
    let Case { form, n, rho, count } = case;
    let (ands, echo) = (plan.and_count(), n > 2);
    let wires = |p: PartyId| plan.wires_of(p).count() * count;
    let learnt = |p: PartyId| plan.results_of(p).count();
    let evaluates = |p: PartyId| (0..count).filter(|i| i % n == p.index()).count();
    let l = ands * count;
    let m = l * bucket::size(l, rho as u32);
    let mut bytes = [0; 3];
    for peer in PartyId::all(n).filter(|p| *p != me) {
        // two parties open a digest; more parties open a share of a product, which takes a message of its own
        let mut independent =
            vec![16 * m, packed(m), 32, 32, if n == 2 { 64 } else { 48 }, packed(m - l) + 32];
        independent.extend((n > 2).then_some(16 * 129));
        independent.extend((form == GarblingForm::Paper).then_some(packed(2 * m)));
        independent.extend(echo.then_some(32));
        let (whole, bits) = table(form, n, rho);
        let opening = |bits: usize| if bits == 0 { 0 } else { packed(bits) + 32 };
        let mut dependent = vec![32 + opening(2 * l) + opening(wires(peer))];
        dependent.extend(std::iter::repeat_n(whole * ands + packed(bits * ands), evaluates(peer)));
        let labels = 16 * plan.input_bits() * evaluates(peer);
        let mut online = Vec::new();
        let masks = labels + opening(count * learnt(peer));
        online.extend((masks > 0).then_some(masks));
        online.extend((wires(me) > 0).then(|| packed(wires(me))));
        online.extend(echo.then_some(32));
        online.extend(
            (evaluates(me) > 0 && learnt(peer) > 0).then(|| packed(evaluates(me) * learnt(peer)) + 32),
        );
        for (sum, phase) in bytes.iter_mut().zip([independent, dependent, online]) {
            *sum += phase.into_iter().map(wire_bytes).sum::<u64>();
        }
    }
    bytes
}

#[test]
fn every_byte_is_accounted_for() {
    let program = aes();
    for form in [GarblingForm::Improved, GarblingForm::Paper] {
        for (n, rho, count) in [(2, 40, 1), (3, 40, 1), (5, 40, 1), (3, 64, 1), (3, 40, 4)] {
            let case = Case { form, n, rho, count };
            let plan = plan(&program, n, |p| p.index() != 1);
            let mut lab = GarbleLab::of(form, false);
            lab.options.memory = 1 << 30;
            lab.config.rho = rho as u32;
            for (me, counts) in PartyId::all(n).zip(counts(&lab, &plan, count)) {
                let of = |phase: &str| counts.phases.get(phase).map_or(0, |p| p.bytes);
                let bytes = ["function-independent", "function-dependent", "online"].map(of);
                assert_eq!(bytes, formula(case, &plan, me), "{me} {form:?} {n} {rho} {count}");
            }
        }
    }
}

/// The paper's Table 11, function-dependent column, of SHA-256 with its 90,825 ANDs: what a garbler sends for
/// an AND.
#[test]
fn tables_of_the_papers_form_are_those_of_its_table_11() {
    for (n, megabytes) in [(2, 11.4), (3, 17.4), (4, 23.4), (5, 29.4), (6, 35.4), (8, 47.4), (16, 95.4)] {
        let (bytes, bits) = table(GarblingForm::Paper, n, 40);
        let ours = bytes as f64 + f64::from(bits as u32) / 8.0;
        let theirs = megabytes * 1e6 / 90_825.0;
        assert!((ours / theirs - 1.0).abs() < 0.03, "{n}: {ours} and {theirs}");
    }
}

/// The same as measured: all that a party which sends tables sends in the function-dependent phase of AES.
#[test]
fn what_garblers_send_in_the_papers_form_is_what_table_11_says() {
    let program = aes();
    for (n, megabytes) in [(2, 11.4), (3, 17.4), (5, 29.4)] {
        let plan = plan(&program, n, |p| p.index() == 0);
        for counts in counts(&GarbleLab::of(GarblingForm::Paper, false), &plan, 1).iter().skip(1) {
            let ours = counts.phases["function-dependent"].bytes as f64 / plan.and_count() as f64;
            let theirs = megabytes * 1e6 / 90_825.0;
            assert!((ours / theirs - 1.0).abs() < 0.03, "{n}: {ours} and {theirs}");
        }
    }
}

#[test]
fn online_bytes_of_aes_with_three_parties_are_below_those_of_table_11() {
    let program = aes();
    let plan = plan(&program, 3, |p| p.index() == 0);
    for form in [GarblingForm::Paper, GarblingForm::Improved] {
        for counts in counts(&GarbleLab::of(form, false), &plan, 1) {
            assert!(counts.phases["online"].bytes <= 4_500, "{form:?}: {}", counts.phases["online"].bytes);
        }
    }
}

#[test]
fn rounds_do_not_depend_on_depth_size_or_count() {
    for program in [aes(), named("sha256")] {
        for (n, count) in [(2, 1), (3, 1), (5, 1), (3, 2)] {
            for others in [false, true] {
                let plan = plan(&program, n, |p| others || p.index() == 0);
                let all = counts(&GarbleLab::default(), &plan, count);
                assert_eq!(rounds(&all, "function-dependent"), 2);
                // with several evaluators, one of them is not P_1
                let more = u32::from(others || count > 1);
                assert_eq!(rounds(&all, "online"), if n == 2 { 2 } else { 3 } + more);
            }
        }
    }
}

/// The rounds of triples do not depend on their number either, as long as they are made together.
#[test]
fn rounds_of_triples_do_not_depend_on_their_number() {
    for (n, most) in [(2, 9), (3, 13)] {
        let rounds = [("aes128", 1), ("aes128", 3), ("sha256", 1)].map(|(name, count)| {
            let mut lab = GarbleLab { bits: BitSource::Protocol, ..GarbleLab::default() };
            lab.options.memory = 1 << 30;
            let program = named(name);
            rounds(&counts(&lab, &plan(&program, n, |_| true), count), "function-independent")
        });
        assert!(rounds.iter().all(|r| *r == rounds[0]) && rounds[0] <= most, "{n}: {rounds:?}");
    }
}

/// How often each check runs at one party in one AES.
#[test]
fn the_census_of_checks() {
    let program = aes();
    for n in [2, 3, 5] {
        let plan = plan(&program, n, |_| true);
        let all = counts(&GarbleLab::default(), &plan, 1);
        let peers = n as u64 - 1;
        let echoes = if n > 2 { peers } else { 0 };
        for (i, counts) in all.iter().enumerate() {
            let of = |check: Check| counts.checks.get(&check).copied().unwrap_or(0);
            assert_eq!(of(checks::W13), echoes, "the echo of e");
            assert_eq!((of(checks::W14), of(checks::W15)), (peers, 1));
            assert_eq!((of(checks::W17), of(checks::W18)), (peers, 1));
            assert_eq!((of(checks::W26), of(checks::W27)), (peers, peers));
            // the openings of our own masks by each peer
            let owner = plan.wires_of(PartyId::all(n).nth(i).unwrap()).count() > 0;
            assert_eq!((of(checks::W20), of(checks::W28)), (if owner { peers } else { 0 }, echoes));
            assert!(counts.computational_bits.unwrap() >= f64::from(COMPUTATIONAL_BITS));
            assert_eq!((of(checks::W19), of(checks::W21)), if i == 0 { (0, 0) } else { (1, 1) });
            assert_eq!((of(checks::W16), of(checks::W29)), (1, 1));
            assert_eq!(of(checks::W24), peers);
            let evaluator = i == 0;
            assert_eq!((of(checks::W22), of(checks::W23)), (u64::from(evaluator), u64::from(evaluator)));
            assert_eq!(of(checks::M0_7), u64::from(evaluator));
            assert_eq!(of(checks::W25), if evaluator { 0 } else { 1 });
        }
    }
}

/// With authenticated bits from the protocols: constant rounds, and 16/k bytes for each bit and peer.
#[test]
fn rounds_and_bytes_of_everything() {
    let program = aes();
    for (n, most) in [(2, 9), (3, 13), (5, 13)] {
        for base in [Base::Both, Base::Half] {
            let plan = plan(&program, n, |p| p.index() == 0);
            let mut lab = GarbleLab { bits: BitSource::Protocol, ..GarbleLab::default() };
            lab.config.base = base;
            let all = counts(&lab, &plan, 1);
            let [setup, independent, dependent, online] =
                ["setup", "function-independent", "function-dependent", "online"].map(|of| rounds(&all, of));
            assert!(setup <= if base == Base::Both { 4 } else { 8 }, "{setup}");
            assert!(if n == 2 { independent == most } else { independent <= most }, "{n}: {independent}");
            assert_eq!((dependent, online), (2, if n == 2 { 2 } else { 3 }));
            let case = Case { form: GarblingForm::Improved, n, rho: 40, count: 1 };
            for (me, counts) in PartyId::all(n).zip(&all) {
                let bytes = counts.phases["function-independent"].bytes - formula(case, &plan, me)[0];
                let bits = 3 * 6400 * bucket::size(6400, 40)
                    + plan.input_bits()
                    + 6400
                    + if n > 2 { 128 } else { 0 };
                let each = 16 / u64::from(lab.config.k) * bits as u64 * (n as u64 - 1);
                // what is more: the last batch is filled up, the check has bits of its own, and messages have
                // frames
                assert!(bytes >= each && bytes <= each + each / 20 + 20_000, "{n} {bytes} {each}");
            }
        }
    }
}
