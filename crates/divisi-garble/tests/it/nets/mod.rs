//! The nets of authenticated garbling (docs/nets.md): shapes of everything that the engine computes, and the
//! censuses over them.

mod draws;
mod worlds;

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity, varied};
use divisi_core::testing::party;
use divisi_core::{Abort, Session};
use divisi_garble::lab::{BitSource, GarbleLab, of_party};
use divisi_garble::{Garble, GarblingForm, Plan};
use divisi_ot::{Base, SetupConfig, testing};

/// Chooses what default tests change.
const SEED: u64 = 1;

/// Two values of three bits: their products, sums of these, and the first value itself.
fn program() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(3), g.input(3));
    let mut out = Vec::new();
    for i in 0..3 {
        let xy = g.and(x[i], y[i]);
        let more = g.and(xy, x[(i + 1) % 3]);
        out.push(g.xor(more, y[(i + 2) % 3]));
    }
    g.output(&out);
    g.output(&x);
    g.finish()
}

fn shape(name: &'static str, n: usize, form: GarblingForm, streamed: bool, bits: BitSource) -> NetShape {
    of(name, n, n + 2, form, streamed, bits)
}

/// So many instances in the first call.
fn of(
    name: &'static str,
    n: usize,
    count: usize,
    form: GarblingForm,
    streamed: bool,
    bits: BitSource,
) -> NetShape {
    let mut lab = GarbleLab { bits, ..GarbleLab::of(form, streamed) };
    // several batches, the last one of another length
    lab.options.batch = 9;
    let run =
        move |session: Session, seed: u64, out: &mut ShapeOutcome| play(&lab, count, session, seed, out);
    NetShape::new(name, n, ShapeSecurity::AllButOne, run).releases(&["divisi_garble::online/8.result"])
}

fn shapes() -> Vec<NetShape> {
    use BitSource::{Dealer, Protocol};
    use GarblingForm::{Improved, Paper};
    vec![
        shape("improved form", 3, Improved, false, Dealer),
        shape("improved form of two", 2, Improved, false, Dealer),
        shape("the paper's form", 3, Paper, false, Dealer),
        shape("streamed", 3, Improved, true, Dealer),
        shape("streamed in the paper's form", 2, Paper, true, Dealer),
        shape("real bits", 3, Improved, false, Protocol),
        of("130 instances", 3, 130, Improved, false, Dealer),
    ]
}

/// Each form among five.
fn crowds() -> Vec<NetShape> {
    use BitSource::{Dealer, Protocol};
    use GarblingForm::{Improved, Paper};
    vec![
        shape("improved form", 5, Improved, false, Dealer),
        shape("the paper's form", 5, Paper, false, Dealer),
        shape("streamed", 5, Improved, true, Dealer),
        shape("real bits", 5, Improved, false, Protocol),
    ]
}

/// An AND of two bits, and nothing else.
fn one_and() -> Program {
    let mut g = Build::new();
    let (x, y) = (g.input(1), g.input(1));
    let xy = g.and(x[0], y[0]);
    g.output(&[xy]);
    g.finish()
}

/// Two calls on one set-up, of more instances than parties: everybody garbles and evaluates, unevenly. Then
/// one in which everything is a single bit.
fn play(
    lab: &GarbleLab,
    count: usize,
    mut session: Session,
    seed: u64,
    out: &mut ShapeOutcome,
) -> Result<(), Abort> {
    let n = session.parties();
    let (program, least) = (program(), one_and());
    let owners = [party(1), party(n as u8)];
    let [plan, least] = [&program, &least].map(|program| Plan::for_all(program, n, &owners).unwrap());
    let setup = match lab.bits {
        BitSource::Dealer => {
            // other masks in each session
            let seed = lab.seed ^ session.id().as_bytes()[0];
            testing::deal(&mut session, lab.config, seed)?
        }
        BitSource::Protocol => {
            let config = SetupConfig { k: 4, rho: 8, base: Base::Both };
            testing::unsound(&mut session, config)?
        }
    };
    let mut garble = Garble::new(&session, setup, lab.options);
    for (plan, count) in [(&plan, out.lanes(count)), (&plan, 1), (&least, 1)] {
        let bit = |i: usize, wire: usize| ((varied(seed, (i * 5 + wire * 3) as u64) + seed) % 7 % 2) as u8;
        let wires = |i: usize| (0..plan.input_bits()).map(|wire| bit(i, wire)).collect();
        let all: Vec<Vec<u8>> = (0..count).map(wires).collect();
        let inputs = of_party(plan, session.me(), &all);
        let outputs = if lab.streamed {
            garble.streamed(&mut session, plan, &inputs)?
        } else {
            let wires = plan.input_bits() + plan.and_count();
            let (ands, wires) = (count * plan.and_count(), count * wires);
            let mut made = garble.function_independent(&mut session, ands, wires)?;
            let garbled = garble.function_dependent(&mut session, &mut made, plan, count)?;
            garble.online(&mut session, garbled, &inputs)?
        };
        out.put("outputs", outputs.iter().flat_map(|bits| bits.to_vec()).collect::<Vec<u8>>());
    }
    Ok(())
}

fn net() -> MessageNet<'static> {
    let (shapes, crowds, silent) = (shapes(), crowds(), &[]);
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes,
        crowds,
        silent,
        checks: divisi_garble::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    let [tried, noticed] = net().demand(Extent::sample(SEED, 2));
    assert!(noticed > tried * 3 / 4, "{noticed} of {tried}");
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
