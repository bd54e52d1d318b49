//! Evaluations of a circuit, with the owners of inputs and the receivers of outputs.

use super::own::Own;
use crate::circuit::HeldCircuit;
use crate::engine::{Differ, Rows};
use divisi_core::PartyId;
use divisi_symmetric::gates::Adder;
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

/// The owners of inputs and the receivers of outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Between {
    /// Parties, with inputs of their own.
    Parties {
        /// The owner of each input value, in the circuit's order.
        owners: Vec<PartyId>,
        /// The parties that learn all outputs.
        receivers: Vec<PartyId>,
    },
    /// A client, which deals the inputs and reconstructs the outputs, and is trusted with both.
    Client,
}

impl CircuitJob {
    /// The numbers of a party's input wires.
    #[must_use]
    pub fn wires_of(&self, party: PartyId) -> Vec<usize> {
        let owners = match &self.between {
            Between::Parties { owners, .. } => owners.as_slice(),
            Between::Client => &[],
        };
        let mut next = 0;
        let places = self.circuit.inputs().iter().map(|width| {
            next += width;
            next - width..next
        });
        places.zip(owners).filter(|(_, owner)| **owner == party).flat_map(|(place, _)| place).collect()
    }

    /// Whether a party learns the outputs.
    #[must_use]
    pub fn tells(&self, party: PartyId) -> bool {
        matches!(&self.between, Between::Parties { receivers, .. } if receivers.contains(&party))
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

    /// The rows of outputs that the receivers learned, one wire to a byte. All receivers must have learned
    /// the same, and other parties nothing.
    ///
    /// # Errors
    /// [`Differ`] names a party whose outputs have a wrong length, or are not those of another receiver.
    pub fn learned(&self, count: usize, outputs: &[Own]) -> Result<Vec<u8>, Differ> {
        let width: usize = self.circuit.outputs().iter().sum();
        let mut first: Option<&Own> = None;
        for (party, output) in PartyId::all(outputs.len()).zip(outputs) {
            let want = if self.tells(party) { width * count } else { 0 };
            if output.len() != want {
                return Err(Differ { party: Some(party), what: "gave outputs of a wrong form" });
            }
            match first {
                _ if !self.tells(party) => {}
                None => first = Some(output),
                Some(first) if first == output => {}
                Some(_) => {
                    return Err(Differ {
                        party: Some(party),
                        what: "learned other outputs than another party",
                    });
                }
            }
        }
        let bits = first.map_or(&[][..], |bits| bits.as_slice());
        let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1);
        Ok(bits.chunks(width.max(1)).flat_map(|row| row.chunks(8).map(byte)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::hold;

    #[test]
    fn bits_are_those_of_their_owner_and_their_lane() {
        let circuit = Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap());
        let [one, two] = [1, 2].map(|number| PartyId::new(number).unwrap());
        let between = Between::Parties { owners: vec![two, one], receivers: vec![two] };
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
}
