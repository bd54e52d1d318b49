//! The online phase, steps 5 to 8 of Fig. 3, with outputs to any set of parties.
//!
//! First each owner sends its masked inputs to all parties, and three or more parties compare what they
//! received \[W20, W28\]. Then the garblers send the labels of these masked inputs to the evaluator \[W21\],
//! and every party sends its shares of output masks, with MACs, to the outputs' receivers \[W24, W28\]. The
//! evaluator evaluates \[W22, W23\]. To each other receiver it sends the masked outputs, with a digest of
//! their labels; the receiver accepts only a digest of the labels that it made itself \[W25\].

use crate::batch::Batch;
use crate::bits;
use crate::checks;
use crate::circuit::Result as Output;
use crate::held::{InstanceState, Role, of_results};
use crate::labels::Values;
use crate::masks::Garbling;
use crate::open::{DIGEST, Opening};
use crate::plan::Plan;
use crate::run::Run;
use crate::share::{Rows, Shares, spread};
use divisi_core::{Abort, ComparedDigest, Echo, Misuse, PartyId, Session, Step, step, taint};
use zeroize::Zeroizing;

const MASKED: Step = step!("5.masked");
const ECHO: Step = step!("5.echo");
const LABELS: Step = step!("6.labels");
const EVALUATE: Step = step!("7b");
const RESULT: Step = step!("8.result");

/// The evaluator's results for the output bits of one instance: their masked values, and each garbler's
/// labels of them, bit by bit.
pub(crate) struct Found {
    pub bits: Vec<u8>,
    pub labels: Zeroizing<Vec<u128>>,
}

pub(crate) fn online(
    run: &Run<'_>,
    session: &mut Session,
    plan: &Plan<'_>,
    batch: &Batch,
    held: &mut [InstanceState],
    inputs: &[Vec<u8>],
) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
    let owned: Vec<&[u8]> = held.iter().map(|held| held.owned.as_slice()).collect();
    let masked = masked_inputs(session, plan, &owned, inputs)?;
    // 6., and the masks of step 8
    let outputs: Vec<&Rows> = held.iter().map(|held| &held.outputs).collect();
    let private = receivers(run, session, plan, &outputs);
    let opening = Opening::new(session, run.seats, LABELS);
    for (place, peer) in session.peers().into_iter().enumerate() {
        let theirs = held.iter().filter(|held| held.evaluator == peer.index()).count();
        let told = 16 * theirs * plan.input_bits() + Opening::len(private.theirs[place].len());
        let mut body = Zeroizing::new(Vec::with_capacity(told));
        for (held, masked) in held.iter().zip(&masked) {
            if let Role::Garbler { inputs, .. } = &held.role
                && held.evaluator == peer.index()
            {
                labels_for(session, inputs, masked, run.delta.get(), &mut body);
            }
        }
        opening.append(session, place, &[&private.theirs[place]], &mut body);
        if !body.is_empty() {
            session.send(LABELS, peer, &body, 8 * body.len() as u64)?;
        }
    }
    let mine = held.iter().filter(|held| held.evaluator == run.seats.me).count();
    let width = 16 * plan.input_bits();
    let mut labels = vec![Zeroizing::new(vec![0; plan.input_bits() * run.seats.peers()]); mine];
    let mut lambda = private.ours.bits.clone();
    for (place, peer) in session.peers().into_iter().enumerate() {
        let mut body = Zeroizing::new(vec![0; mine * width + Opening::len(private.ours.len())]);
        if !body.is_empty() {
            session.recv(LABELS, peer, &mut body)?;
        }
        let (theirs, rest) = body.split_at(mine * width);
        for (instance, labels) in labels.iter_mut().enumerate() {
            let theirs = theirs[instance * width..(instance + 1) * width].as_chunks::<16>().0;
            let own = labels.iter_mut().skip(place).step_by(run.seats.peers());
            own.zip(theirs).for_each(|(label, bytes)| *label = u128::from_le_bytes(*bytes));
        }
        // [W24]
        let told = opening.read(session, checks::W24, place, &[&private.ours], run.delta.get(), rest)?;
        lambda.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
    }
    // 7.
    let mut found = Vec::with_capacity(held.len());
    let mut labels = labels.into_iter();
    for (held, masked) in held.iter_mut().zip(&masked) {
        found.push(match &mut held.role {
            Role::Garbler { .. } => None,
            Role::Evaluator { gate, garbling, tables } => {
                let labels = labels.next().unwrap_or_default();
                let values = Values::new(run.seats, plan.program().slots(), masked, &labels);
                Some(evaluate(run, session, plan, batch, values, *gate, garbling, tables)?)
            }
        });
    }
    let own_labels: Vec<&[u128]> = held.iter().map(InstanceState::output_labels).collect();
    let evaluators: Vec<usize> = held.iter().map(|held| held.evaluator).collect();
    results(run, session, plan, &evaluators, found, &own_labels, &lambda)
}

/// Step 5: we send our masked inputs to all and receive everybody's, for all instances. All parties compare
/// what they received before any label is sent \[W20, W28\].
pub(crate) fn masked_inputs(
    session: &mut Session,
    plan: &Plan<'_>,
    owned: &[&[u8]],
    inputs: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Abort> {
    let me = session.me();
    let count = owned.len();
    let width = plan.wires_of(me).count();
    inputs.iter().flatten().take(1).for_each(|bit| taint::leak(MASKED, *bit));
    // every bit is looked at, whatever it is, so that the time does not depend on inputs
    let high = inputs.iter().flatten().fold(0, |sum, bit| sum | bit >> 1);
    let fits = inputs.len() == count && inputs.iter().all(|bits| bits.len() == width);
    if !fits || !taint::verdict(MASKED, high == 0) {
        return Err(session.misuse(MASKED, Misuse::LengthDiffers));
    }
    let ours = inputs.iter().zip(owned).flat_map(|(x, lambda)| x.iter().zip(*lambda).map(|(x, l)| x ^ l));
    let ours: Vec<u8> = ours.collect();
    let mut packed = Vec::new();
    bits::pack(&ours, &mut packed);
    if width > 0 {
        for peer in session.peers() {
            session.send(MASKED, peer, &packed, ours.len() as u64)?;
        }
    }
    let mut masked = vec![vec![0; plan.input_bits()]; count];
    let mut echo = Echo::new(session, ECHO);
    for party in PartyId::all(session.parties()) {
        let wires: Vec<usize> = plan.wires_of(party).collect();
        if wires.is_empty() {
            echo.absorb(party, &[]);
            continue;
        }
        let (body, values) = if party == me {
            (packed.clone(), ours.clone())
        } else {
            // [W28] only the owner's message counts for these wires
            let mut body = vec![0; bits::packed(count * wires.len())];
            session.recv(MASKED, party, &mut body)?;
            let values = bits::unpack(&body, count * wires.len());
            session.well_formed(MASKED, party, body.len(), values.is_some())?;
            (body, values.unwrap_or_default())
        };
        echo.absorb(party, &body);
        for (masked, values) in masked.iter_mut().zip(values.chunks_exact(wires.len())) {
            wires.iter().zip(values).for_each(|(wire, value)| masked[*wire] = *value);
        }
    }
    echo.send(session)?.compare(session, checks::W28)?; // [W28]
    Ok(masked)
}

/// Step 6: our labels for these masked values \[W21\].
pub(crate) fn labels_for(session: &Session, zeros: &[u128], masked: &[u8], delta: u128, body: &mut Vec<u8>) {
    session.observe(checks::W21); // [W21]
    for (zero, bit) in zeros.iter().zip(masked) {
        body.extend_from_slice(&(zero ^ spread(*bit) & delta).to_le_bytes());
    }
}

/// For each peer, our shares of the masks of the output bits that it receives \[W28\].
pub(crate) fn receivers(
    run: &Run<'_>,
    session: &Session,
    plan: &Plan<'_>,
    outputs: &[&Rows],
) -> crate::run::Private {
    let of = |party: PartyId| -> Shares {
        let told = outputs.len() * plan.results_of(party).count();
        let mut rows = Rows::with_capacity(run.seats.peers(), told);
        for outputs in outputs {
            plan.results_of(party).for_each(|bit| rows.push(outputs, bit));
        }
        rows.into_shares()
    };
    crate::run::Private { theirs: session.peers().into_iter().map(of).collect(), ours: of(session.me()) }
}

/// Step 7: evaluates the whole circuit and demands that every MAC was right \[W22\]. The abort names nobody,
/// because a wrong label of one garbler may be the work of another. The evaluation never stops early \[W23\].
fn evaluate(
    run: &Run<'_>,
    session: &Session,
    plan: &Plan<'_>,
    batch: &Batch,
    mut values: Values,
    gate: u64,
    garbling: &mut Garbling,
    tables: &[Vec<u8>],
) -> Result<Found, Abort> {
    run.evaluate(session, gate, &mut values, batch, garbling, tables);
    accept(run, session, &values)?;
    Ok(found(run, plan, &values))
}

/// Demands that every MAC so far was right \[W22, W23\].
pub(crate) fn accept(run: &Run<'_>, session: &Session, values: &Values) -> Result<(), Abort> {
    session.observe(checks::M0_7); // [M0.7] what was evaluated goes nowhere before
    session.observe(checks::W23); // [W23]
    let right = taint::verdict(EVALUATE, values.difference.is_zero());
    // a garbler that flips a row's bit must also change the bit's MAC: it has to guess as many bits of Delta
    // as are compared
    session.meter().verification_error((-(run.layout.mac_bits() as f64)).exp2());
    session.require(checks::W22, EVALUATE, right, None) // [W22]
}

/// What the evaluator knows of the output bits.
pub(crate) fn found(run: &Run<'_>, plan: &Plan<'_>, values: &Values) -> Found {
    let garblers = run.seats.peers();
    let mut labels = Zeroizing::new(vec![0; plan.results.len() * garblers]);
    for place in 0..garblers {
        let slots: Zeroizing<Vec<u128>> =
            Zeroizing::new(values.labels.iter().skip(place).step_by(garblers).copied().collect());
        let of_place = labels.iter_mut().skip(place).step_by(garblers);
        of_place.zip(of_results(plan, &slots).iter()).for_each(|(label, of)| *label = *of);
    }
    let bit = |result: &Output| match *result {
        Output::Wire(slot) => values.bits[slot],
        Output::Constant(value) => value,
    };
    Found { bits: plan.results.iter().map(bit).collect(), labels }
}

/// Step 8 at the evaluator, and its messages to the other receivers: the masked outputs and a digest of the
/// labels that the receiver made \[W25\].
pub(crate) fn results(
    run: &Run<'_>,
    session: &mut Session,
    plan: &Plan<'_>,
    evaluators: &[usize],
    found: Vec<Option<Found>>,
    own_labels: &[&[u128]],
    lambda: &[u8],
) -> Result<Vec<Zeroizing<Vec<u8>>>, Abort> {
    let seats = run.seats;
    let me = session.me();
    let wires = |party: PartyId| -> Vec<usize> { plan.results_of(party).collect() };
    let is_wire = |bit: usize| matches!(plan.results[bit], Output::Wire(_));
    let number = session.count(RESULT.name);
    for (place, peer) in session.peers().into_iter().enumerate() {
        let theirs = wires(peer);
        if !theirs.iter().any(|bit| is_wire(*bit)) || !evaluators.contains(&seats.me) {
            continue;
        }
        let mut values = Vec::new();
        let mut tags = tags(session, number, me, peer);
        for found in found.iter().flatten() {
            for &bit in theirs.iter().filter(|bit| is_wire(**bit)) {
                values.push(found.bits[bit]);
                tags.update(&found.labels[bit * seats.peers() + place].to_le_bytes());
            }
        }
        let mut body = Vec::new();
        bits::pack(&values, &mut body);
        body.extend_from_slice(tags.finalize().as_bytes());
        session.send(RESULT, peer, &body, values.len() as u64)?;
    }
    // masked outputs of each instance, as we know them
    let ours = wires(me);
    let sent: Vec<usize> = ours.iter().copied().filter(|bit| is_wire(*bit)).collect();
    let mut masked: Vec<Vec<u8>> = found.into_iter().map(|f| f.map(|f| f.bits).unwrap_or_default()).collect();
    for (place, peer) in session.peers().into_iter().enumerate() {
        let evaluated: Vec<usize> =
            (0..evaluators.len()).filter(|i| evaluators[*i] == seats.party(place)).collect();
        if sent.is_empty() || evaluated.is_empty() {
            continue;
        }
        let len = evaluated.len() * sent.len();
        let mut body = vec![0; bits::packed(len) + DIGEST];
        session.recv(RESULT, peer, &mut body)?;
        let (packed, digest) = body.split_at(bits::packed(len));
        let values = bits::unpack(packed, len);
        session.well_formed(RESULT, peer, packed.len(), values.is_some())?;
        let values = values.unwrap_or_default();
        let mut tags = tags(session, number, peer, me);
        for (instance, values) in evaluated.iter().zip(values.chunks_exact(sent.len().max(1))) {
            let known = &mut masked[*instance];
            known.resize(plan.results.len(), 0);
            for (&bit, value) in sent.iter().zip(values) {
                known[bit] = *value;
                let label = own_labels[*instance][bit] ^ spread(*value) & run.delta.get();
                tags.update(&label.to_le_bytes());
            }
        }
        let mut theirs = [0; DIGEST];
        theirs.copy_from_slice(digest);
        let same = session.same_digest(&tags.to_compare(), &theirs);
        // a garbler may have misled the evaluator: nobody can be named
        session.require(checks::W25, RESULT, same, None)?; // [W25]
    }
    // 8. the output is z = masked value + lambda
    let masks = lambda.chunks(ours.len().max(1));
    let open = |(masked, lambda): (&Vec<u8>, &[u8])| {
        let value = |(&bit, lambda): (&usize, &u8)| match plan.results[bit] {
            Output::Wire(_) => masked[bit] ^ lambda,
            Output::Constant(value) => value,
        };
        Zeroizing::new(ours.iter().zip(lambda).map(value).collect())
    };
    if ours.is_empty() {
        return Ok(vec![Zeroizing::new(Vec::new()); evaluators.len()]);
    }
    Ok(masked.iter().zip(masks).map(open).collect())
}

fn tags(session: &Session, run: u64, from: PartyId, to: PartyId) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble result v1");
    hasher.update(session.id().as_bytes()).update(&session.number().to_le_bytes());
    hasher.update(&run.to_le_bytes()).update(&[from.number(), to.number()]);
    hasher
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::tags;
    use divisi_core::testing::run;
    use divisi_core::{PartyId, PublicParameters};
    use std::collections::HashSet;

    /// \[W25\] The digest of a result differs by session, strand, run, sender and receiver.
    #[test]
    fn tags_are_of_one_run_and_link() {
        let mut seen = HashSet::new();
        for _ in 0..2 {
            let ends = run(3, &PublicParameters::new("tests of results"), |session| {
                let strand = session.strand()?;
                let mut made = Vec::new();
                for session in [&session, &strand] {
                    for run in [0, 1, 1 << 40] {
                        for (from, to) in [(1, 2), (2, 1), (1, 3), (3, 2)] {
                            let [from, to] = [from, to].map(PartyId::new).map(Option::unwrap);
                            made.push(tags(session, run, from, to).finalize());
                        }
                    }
                }
                Ok(made)
            });
            // the digests of one party: all of them are made in the same way
            let made = ends.into_iter().next().unwrap().unwrap();
            assert!(made.iter().all(|tag| seen.insert(*tag.as_bytes())));
        }
        assert_eq!(seen.len(), 2 * 2 * 3 * 4);
    }
}
