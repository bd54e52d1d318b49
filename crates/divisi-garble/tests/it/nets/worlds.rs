//! The two worlds of what one party gives to a circuit and alone learns the results of; all others are
//! corrupt.

use super::program;
use divisi_core::testing::nets::worlds::{WorldNet, WorldRun, WorldShape};
use divisi_core::testing::party;
use divisi_core::{Abort, Session};
use divisi_garble::lab::{BitSource, GarbleLab};
use divisi_garble::{GarblingForm, Plan};
use divisi_ot::SetupConfig;

/// Instances: everybody garbles and evaluates.
const COUNT: usize = 4;

fn play(mut session: Session, run: WorldRun, form: GarblingForm, streamed: bool) -> Result<Vec<u8>, Abort> {
    let config = SetupConfig { k: 4, rho: 8, ..SetupConfig::default() };
    let lab =
        GarbleLab { bits: BitSource::Dealer, seed: run.seed as u8, config, ..GarbleLab::of(form, streamed) };
    let (program, owner) = (program(), party(1));
    let receivers = vec![vec![owner]; program.outputs().len()];
    let owners = [owner, owner];
    let plan = if streamed {
        Plan::for_all(&program, session.parties(), &owners)
    } else {
        Plan::new(&program, session.parties(), &owners, &receivers)
    };
    let secret =
        |i: usize| (0..6).map(|wire| [(i + wire) % 3 % 2, (i * wire) % 2][run.world] as u8).collect();
    let is_mine = session.me() == owner;
    let mine: Vec<Vec<u8>> = (0..COUNT).map(|i| if is_mine { secret(i) } else { Vec::new() }).collect();
    let (learned, _) = lab.play(&mut session, &plan.unwrap(), &mine)?;
    Ok(if is_mine { Vec::new() } else { learned.concat() })
}

#[test]
fn the_others_cannot_tell_two_worlds_apart() {
    let mut shapes = Vec::new();
    for (parties, corrupt) in [(2, &[2][..]), (3, &[2, 3])] {
        for form in [GarblingForm::Improved, GarblingForm::Paper] {
            let lab = GarbleLab::of(form, false);
            let config = SetupConfig { k: 4, rho: 8, ..SetupConfig::default() };
            let parameters = GarbleLab { config, ..lab }.parameters();
            let name = format!("{form:?} form of {parties}");
            let shape =
                WorldShape::new(name, parties, corrupt, move |session, run| play(session, run, form, false));
            shapes.push(shape.agreeing(parameters));
        }
    }
    let net = WorldNet { folder: env!("CARGO_MANIFEST_DIR"), shapes };
    assert_eq!(net.judge(), [] as [String; 0]);
}
