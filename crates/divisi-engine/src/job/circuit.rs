//! Evaluations of a circuit, with the owners of inputs and the receivers of outputs.

use super::own::Own;
use crate::circuit::HeldCircuit;
use crate::{Differ, Rows, Unsupported};
use divisi_core::{PartyId, PublicParameters};
use divisi_symmetric::gates::Adder;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Evaluations of a circuit.
#[derive(Clone)]
pub struct CircuitJob {
    /// The circuit.
    pub circuit: Arc<HeldCircuit>,
    /// How words are added in it, if it is a built-in circuit.
    pub adder: Adder,
    /// The owners of inputs and the receivers of outputs.
    pub between: Between,
    /// The number of evaluations.
    pub count: usize,
}

impl fmt::Debug for CircuitJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} evaluations of the circuit {} between {:?}",
            self.count,
            self.circuit.name(),
            self.between
        )
    }
}

/// The owners of inputs and the receivers of outputs.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Parties, with inputs of their own.
    Parties {
        /// The owner of each input value, in the circuit's order.
        owners: Vec<PartyId>,
        /// The parties that learn each output value, in the circuit's order; others learn nothing of it.
        receivers: Vec<Vec<PartyId>>,
    },
    /// A client, which deals the inputs and reconstructs the outputs, and is trusted with both.
    Client,
}

impl Between {
    /// The owners of inputs, and the parties that learn all output values, of which there are `values`.
    #[must_use]
    pub fn with_all_to(owners: Vec<PartyId>, receivers: &[PartyId], values: usize) -> Between {
        Between::Parties { owners, receivers: vec![receivers.to_vec(); values] }
    }
}

/// The numbers of the wires of each value, from the widths of the values.
fn places(widths: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = 0;
    widths.iter().map(move |width| {
        next += width;
        next - width..next
    })
}

/// Output values that go to the same parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputGroup {
    /// The parties that learn them, in order.
    pub receivers: Vec<PartyId>,
    /// The numbers of their wires.
    pub wires: Vec<usize>,
}

/// The numbers of parties, as they stand in parameters that parties compare.
#[must_use]
pub fn numbers(parties: &[PartyId]) -> Vec<u8> {
    parties.iter().map(|party| party.number()).collect()
}

impl CircuitJob {
    /// The bytes of an evaluation's inputs.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.circuit.inputs().iter().sum::<usize>().div_ceil(8)
    }

    /// The owner of each input value.
    #[must_use]
    pub fn owners(&self) -> &[PartyId] {
        match &self.between {
            Between::Parties { owners, .. } => owners,
            Between::Client => &[],
        }
    }

    /// The numbers of a party's input wires.
    #[must_use]
    pub fn wires_of(&self, party: PartyId) -> Vec<usize> {
        let places = places(self.circuit.inputs());
        places.zip(self.owners()).filter(|(_, owner)| **owner == party).flat_map(|(place, _)| place).collect()
    }

    /// The receivers of each output value.
    #[must_use]
    pub fn receivers(&self) -> &[Vec<PartyId>] {
        match &self.between {
            Between::Parties { receivers, .. } => receivers,
            Between::Client => &[],
        }
    }

    /// The output wires of the values that a party learns, in order: the form of its outputs, one wire to a
    /// byte, evaluation after evaluation.
    #[must_use]
    pub fn results_of(&self, party: PartyId) -> Vec<usize> {
        let values = places(self.circuit.outputs()).zip(self.receivers());
        values.filter(|(_, receivers)| receivers.contains(&party)).flat_map(|(wires, _)| wires).collect()
    }

    /// The output values in groups that go to the same parties, in the order of their first values. The same
    /// at all parties.
    #[must_use]
    pub fn output_groups(&self) -> Vec<OutputGroup> {
        let mut groups: Vec<OutputGroup> = Vec::new();
        for (wires, receivers) in places(self.circuit.outputs()).zip(self.receivers()) {
            let mut receivers = receivers.clone();
            receivers.sort_unstable();
            receivers.dedup();
            match groups.iter_mut().find(|group| group.receivers == receivers) {
                Some(group) => group.wires.extend(wires),
                None => groups.push(OutputGroup { receivers, wires: wires.collect() }),
            }
        }
        groups
    }

    /// Check that each output value has receivers, and that these are among `parties` parties, as are the
    /// owners of inputs, of which there is one for each value.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn check_parties(&self, parties: usize) -> Result<(), Unsupported> {
        let Between::Parties { owners, receivers } = &self.between else { return Ok(()) };
        let [inputs, outputs] = [self.circuit.inputs().len(), self.circuit.outputs().len()];
        if owners.len() != inputs || receivers.len() != outputs {
            return Err(Unsupported::new(format!(
                "owners are named for {} of {inputs} input values, and receivers for {} of {outputs} output values: \
                 name them for each",
                owners.len(),
                receivers.len()
            )));
        }
        if owners.iter().chain(receivers.iter().flatten()).any(|party| party.index() >= parties) {
            return Err(Unsupported::new("an owner or a receiver that is not a party: give another number"));
        }
        Ok(())
    }

    /// Add the circuit, the owners of its inputs and the receivers of its outputs to the parameters that the
    /// parties compare.
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("circuit", &self.circuit.digest());
        self.describe_receivers(parameters.with("owners", &numbers(self.owners())))
    }

    /// Add the receivers of each value to the parameters that the parties compare. If all values have the
    /// same ones, these stand there once, as they did before values could have receivers of their own.
    #[must_use]
    pub fn describe_receivers(&self, parameters: PublicParameters) -> PublicParameters {
        match &self.receivers() {
            [] => parameters.with("receivers", &[]),
            [first, others @ ..] if others.iter().all(|other| other == first) => {
                parameters.with("receivers", &numbers(first))
            }
            lists => {
                let mut all = Vec::new();
                for list in *lists {
                    all.extend_from_slice(&(list.len() as u64).to_le_bytes());
                    all.extend(numbers(list));
                }
                parameters.with("receivers of each value", &all)
            }
        }
    }

    /// A party's outputs from the wires of the groups of which it is a receiver: of each such group all
    /// wires, one to a byte, evaluation after evaluation.
    #[must_use]
    pub fn join_groups(&self, party: PartyId, count: usize, mut learned: Vec<(OutputGroup, Own)>) -> Own {
        let results = self.results_of(party);
        // all values of this party go to the same parties, as in most runs
        if learned.len() == 1
            && let Some((_, own)) = learned.pop_if(|(group, _)| group.wires == results)
        {
            return own;
        }
        let mut place = vec![None; self.circuit.outputs().iter().sum()];
        for (group, (of, _)) in learned.iter().enumerate() {
            for (at, wire) in of.wires.iter().enumerate() {
                if let Some(place) = place.get_mut(*wire) {
                    *place = Some((group, at));
                }
            }
        }
        let mut out = Own::new(Vec::with_capacity(results.len() * count));
        for lane in 0..count {
            for wire in &results {
                let bit = place.get(*wire).copied().flatten().and_then(|(group, at)| {
                    let (of, bits) = learned.get(group)?;
                    bits.get(lane * of.wires.len() + at)
                });
                out.extend(bit);
            }
        }
        out
    }

    /// Each party's inputs to evaluations on these rows: its input wires, one to a byte, evaluation after
    /// evaluation.
    #[must_use]
    pub fn owned(&self, parties: usize, rows: &Rows) -> Vec<Own> {
        let of = |party| {
            let wires = self.wires_of(party);
            let bit = |row: &[u8], wire: usize| row.get(wire / 8).map_or(0, |byte| byte >> (wire % 8) & 1);
            Zeroizing::new(rows.iter().flat_map(|row| wires.iter().map(move |w| bit(row, *w))).collect())
        };
        PartyId::all(parties).map(of).collect()
    }

    /// The rows of outputs that the receivers learned, one wire to a byte; zeros for what nobody learned. All
    /// receivers of a value must have learned the same, and other parties nothing of it.
    ///
    /// # Errors
    /// [`Differ`] names a party whose outputs have a wrong length, or are not those of another receiver.
    pub fn learned(&self, count: usize, outputs: &[Own]) -> Result<Vec<u8>, Differ> {
        let width: usize = self.circuit.outputs().iter().sum();
        let mut rows: Zeroizing<Vec<Option<u8>>> = Zeroizing::new(vec![None; width * count]);
        for (party, output) in PartyId::all(outputs.len()).zip(outputs) {
            let wires = self.results_of(party);
            if output.len() != wires.len() * count {
                return Err(Differ { party: Some(party), what: "gave outputs of a wrong form" });
            }
            let places = (0..count).flat_map(|lane| wires.iter().map(move |wire| lane * width + wire));
            for (place, bit) in places.zip(output.iter()) {
                match rows.get_mut(place) {
                    Some(known @ None) => *known = Some(*bit),
                    Some(Some(known)) if known == bit => {}
                    _ => {
                        return Err(Differ {
                            party: Some(party),
                            what: "learned other outputs than another party",
                        });
                    }
                }
            }
        }
        let byte =
            |bits: &[Option<u8>]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit.unwrap_or(0) & 1);
        Ok(rows.chunks(width.max(1)).flat_map(|row| row.chunks(8).map(byte)).collect())
    }
}

#[cfg(test)]
mod many;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::hold;

    #[test]
    fn bits_are_those_of_their_owner_and_their_lane() {
        let circuit = Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap());
        let [one, two] = [1, 2].map(|number| PartyId::new(number).unwrap());
        let between = Between::Parties { owners: vec![two, one], receivers: vec![vec![two]] };
        let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 2 };
        let mut rows = Rows::default();
        rows.push(&[&[0x01; 16], &[0x02; 16]]);
        rows.push(&[&[0xfe; 16], &[0x03; 16]]);
        let own = job.owned(3, &rows);
        assert_eq!(own.iter().map(|own| own.len()).collect::<Vec<_>>(), [256, 256, 0]);
        assert_eq!((&own[1][..9], &own[0][..3]), (&[1, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0, 1, 0][..]));
        assert_eq!((&own[1][128..131], &own[0][128..131]), (&[0, 1, 1][..], &[1, 1, 0][..]));
        let bits = |bit: u8| Zeroizing::new(vec![bit; 256]);
        let none = || Zeroizing::new(Vec::new());
        assert_eq!(job.learned(2, &[none(), bits(1), none()]).unwrap(), [0xff; 32]);
        assert_eq!(job.learned(2, &[bits(1), bits(1), none()]).unwrap_err().party, Some(one));
        assert_eq!(job.learned(2, &[none(), none(), none()]).unwrap_err().party, Some(two));
    }

    /// Parties that hold other circuits, or other owners of the inputs, compare other parameters.
    #[test]
    fn parties_compare_circuits_and_owners() {
        let [one, two] = [1, 2].map(|number| PartyId::new(number).unwrap());
        let digest = |name: &str, owners: [PartyId; 2]| {
            let circuit = Arc::new(hold(name, Adder::FewestAnds, false).unwrap());
            let between = Between::Parties { owners: owners.to_vec(), receivers: vec![vec![one]] };
            let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 1 };
            job.describe(PublicParameters::new("t")).digest()
        };
        let all = [
            digest("aes128", [one, two]),
            digest("aes256", [one, two]),
            digest("sha256", [one, two]),
            digest("aes128", [one, one]),
            digest("aes128", [two, two]),
        ];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }

    /// Values of 10, 11 and 2 bits: the first for parties 1 and 3, the second for party 2, the third for 3
    /// and 1.
    #[test]
    fn each_value_has_its_own_receivers() {
        let mut g = divisi_circuit::Build::new();
        let input = divisi_circuit::Build::input(&mut g, 23);
        for (from, to) in [(0, 10), (10, 21), (21, 23)] {
            g.output(&input[from..to]);
        }
        let circuit = crate::circuit::NamedCircuit { name: "c".into(), program: g.finish(), file: None };
        let circuit = Arc::new(HeldCircuit::Program(circuit));
        let [one, two, three] = [1, 2, 3].map(|number| PartyId::new(number).unwrap());
        let job = |receivers: [Vec<PartyId>; 3]| CircuitJob {
            circuit: Arc::clone(&circuit),
            adder: Adder::FewestAnds,
            between: Between::Parties { owners: vec![one], receivers: receivers.to_vec() },
            count: 2,
        };
        let split = job([vec![one, three], vec![two], vec![three, one]]);
        assert_eq!(split.results_of(two), (10..21).collect::<Vec<usize>>());
        assert_eq!(split.results_of(three), (0..10).chain(21..23).collect::<Vec<usize>>());
        let groups = split.output_groups();
        let [outer, inner] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!((&outer.receivers, &inner.wires), (&vec![one, three], &split.results_of(two)));
        // each lane of wire i has i modulo 2 or its complement
        let of = |wires: &[usize]| {
            Zeroizing::new(
                (0..2).flat_map(|lane| wires.iter().map(move |w| ((w + lane) % 2) as u8)).collect(),
            )
        };
        let mine = split.join_groups(three, 2, vec![(outer.clone(), of(&outer.wires))]);
        assert_eq!(mine, of(&split.results_of(three)));
        // a party of two groups gets the values in their order
        let both = job([vec![one, three], vec![two, one], vec![three, one]]);
        let groups = both.output_groups().into_iter().map(|group| (group.clone(), of(&group.wires)));
        assert_eq!(both.join_groups(one, 2, groups.collect()), of(&(0..23).collect::<Vec<usize>>()));
        let all = [one, two, three].map(|party| of(&split.results_of(party)));
        assert_eq!(split.learned(2, &all).unwrap(), [0xaa, 0xaa, 0x2a, 0x55, 0x55, 0x55]);
        let mut lie = all.clone();
        lie[2][11] ^= 1;
        assert_eq!(split.learned(2, &lie).unwrap_err().party, Some(three));
        lie = all;
        lie[1].push(0);
        assert_eq!(split.learned(2, &lie).unwrap_err().party, Some(two));
        // what the parties compare is another thing for each assignment
        let digest = |job: &CircuitJob| job.describe_receivers(PublicParameters::new("t")).digest();
        let every = [
            job([vec![one], vec![one], vec![one]]),
            job([vec![two], vec![two], vec![two]]),
            job([vec![one], vec![two], vec![one]]),
            job([vec![one], vec![one, two], vec![one]]),
            job([vec![one], vec![one], vec![two, one]]),
            job([vec![one, two], vec![one], vec![one]]),
            split.clone(),
        ];
        let digests: std::collections::BTreeSet<[u8; 32]> = every.iter().map(digest).collect();
        assert_eq!(digests.len(), every.len());
        // also where nobody of the parties is one
        let dealt = CircuitJob { between: Between::Client, ..split.clone() };
        assert!(!digests.contains(&digest(&dealt)));
        assert_ne!(dealt.describe_receivers(PublicParameters::new("other")).digest(), digest(&dealt));
        // as it was for all values at once
        let old = PublicParameters::new("t").with("receivers", &[2]).digest();
        assert_eq!(digest(&every[1]), old);
        assert!(split.check_parties(3).is_ok() && split.check_parties(2).is_err());
        let mut short = split;
        short.between = Between::with_all_to(vec![one], &[one], 2);
        assert!(short.check_parties(3).is_err());
    }
}
