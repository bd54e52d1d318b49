//! A circuit by authenticated garbling, among any number of parties.
//!
//! Adversary: that of [`divisi_garble`]: all parties but one, malicious, security with abort. Before any secret exists the parties compare
//! what they are about to run, in a session of its own, so that a difference is told with both digests; the session that computes has the
//! same digests among its parameters \[M0.4\], so that whoever lied in the first one is found out by the second.

use super::protocol::Outcome;
use crate::failure::Failure;
use crate::garbling::Garbling;
use divisi_core::{Abort, Parameters, Session, Step, step};
use divisi_garble::{Garble, Plan, SETUP_PHASE};
use divisi_net::Mesh;
use divisi_ot::Setup;
use std::sync::Arc;
use zeroize::Zeroizing;

const AGREE: Step = step!("run.garble.agree");

/// What all parties must agree on.
pub struct Task<'p> {
    /// The circuit, whose each input is and who learns the outputs.
    pub plan: Plan<'p>,
    /// How it is garbled.
    pub garbling: Garbling,
}

impl Task<'_> {
    /// Whether it is streamed, what is computed, and how: three digests. Streamed or not comes first: a circuit that stays in its file
    /// has another digest than the same one in memory.
    fn digests(&self) -> [[u8; 32]; 3] {
        let streamed =
            Parameters::new("run.garble.streamed").with("streamed", &[u8::from(self.garbling.streamed)]);
        let how = self.garbling.describe(Parameters::new("run.garble.how"));
        [streamed.digest(), self.plan.digest(), how.digest()]
    }

    fn parameters(&self) -> Parameters {
        self.garbling.describe(Parameters::new("run.garble").with("plan", &self.plan.digest()))
    }
}

/// Run the circuit, in two sessions of the mesh. `own` has this party's input wires, value after value.
///
/// # Errors
/// What the parties do not agree on, with both digests; whatever ends the session.
pub fn run(mesh: &Arc<Mesh>, task: &Task<'_>, own: &[bool]) -> Result<Outcome, Failure> {
    agree(mesh, 1, task)?;
    Ok(compute(mesh, 2, task, own)?)
}

/// Nothing secret yet: tell the others what we are about to run, and compare.
fn agree(mesh: &Arc<Mesh>, number: u32, task: &Task<'_>) -> Result<(), Failure> {
    let mut session = Session::start(mesh, number, &Parameters::new("run.garble.agree"))?;
    let ours = task.digests();
    for peer in session.peers() {
        session.send(AGREE, peer, ours.as_flattened(), 0)?;
    }
    let mut differs = None;
    // from all of them before anybody leaves: each is to learn with whom it disagrees
    for peer in session.peers() {
        let mut theirs = [[0; 32]; 3];
        session.recv(AGREE, peer, theirs.as_flattened_mut())?;
        differs = differs.or((ours != theirs).then_some((peer, theirs)));
    }
    let Some((peer, theirs)) = differs else { return Ok(()) };
    let named = [
        "the circuit in another way (--streamed)",
        "another circuit, or the same with other owners or receivers",
        "the circuit in another way (--form, --k, --base-ot or --statistical)",
    ];
    let all = named.into_iter().zip(ours.iter().zip(&theirs));
    let Some((what, (ours, theirs))) = all.into_iter().find(|(_, (ours, theirs))| ours != theirs) else {
        return Ok(());
    };
    let (ours, theirs) = (hex::encode(ours), hex::encode(theirs));
    let error = format!(
        "{peer} runs {what}: digest {theirs} there, {ours} here; give all parties the same arguments and files"
    );
    Err(Failure::usage(error).with_peer(peer).at(AGREE.to_string()))
}

/// The four phases, or the streamed mode.
fn compute(mesh: &Arc<Mesh>, number: u32, task: &Task<'_>, own: &[bool]) -> Result<Outcome, Abort> {
    let mut session = Session::start(mesh, number, &task.parameters())?;
    session.phase(SETUP_PHASE);
    let setup = Setup::new(&mut session, task.garbling.config)?;
    let mut garble = Garble::new(&session, setup, task.garbling.options);
    let own = Zeroizing::new([own.iter().map(|bit| u8::from(*bit)).collect::<Vec<u8>>()]);
    let plan = &task.plan;
    let outputs = if task.garbling.streamed {
        garble.streamed(&mut session, plan, own.as_slice())?
    } else {
        let mut made = garble.function_independent(&mut session, plan.and_count(), plan.wires())?;
        let garbled = garble.function_dependent(&mut session, &mut made, plan, 1)?;
        garble.online(&mut session, garbled, own.as_slice())?
    };
    let mine = plan.values_of(session.me()).next().is_some();
    let learned = outputs.first().filter(|_| mine);
    let outputs = learned.map(|bits| Zeroizing::new(bits.iter().map(|bit| *bit == 1).collect()));
    Ok(Outcome { outputs, counts: session.meter().read() })
}
