//! A party that computes its lies about S-boxes from the coins it has seen.
//!
//! Its errors are in the products a'_h and a'_l of gf4-circuit, on which no other product depends: each adds
//! to the difference of one relation a word that the first coin gives, whatever the secrets are. Errors of
//! other products would add words times secrets, which the adversary does not know.

use crate::coin::Coin;
use crate::record::{Record, Records};
use crate::sbox::gf4_circuit::{self, GF4_PLANES};
use crate::verify::planes::fault;
use crate::wire::Shape;
use divisi_core::wipe::Pool;
use divisi_field::{Field, Gf64};

/// The step of the products a'_h and a'_l.
pub const OUTER: &str = "divisi_rep3::sbox::gf4_circuit/outer";
/// The values of h.
pub const H: &str = "divisi_rep3::verify::planes/planes.h";

/// Their planes: the last of a record, and all of the message.
const PLANES: usize = 8;

/// A layer of gf4-circuit of this many bytes of up to 512 lanes.
#[derive(Clone, Copy, Debug)]
pub struct SboxLayer {
    /// Bytes.
    pub bytes: usize,
    /// Lanes of each.
    pub lanes: usize,
}

/// A flipped bit of a product.
#[derive(Clone, Copy, Debug)]
pub struct BitFlip {
    /// The S-box that has the bit.
    pub byte: usize,
    /// Which bit: first those of a'_h, then those of a'_l.
    pub plane: usize,
    /// In which lane.
    pub lane: usize,
}

impl SboxLayer {
    /// Tell these lies in the message of the products.
    pub fn lie(self, share: &mut [u8], errors: &[BitFlip]) {
        for error in errors {
            let plane = PLANES * error.byte + error.plane;
            if let Some(byte) = share.get_mut(plane * self.lanes.div_ceil(8) + error.lane / 8) {
                *byte ^= 1 << (error.lane % 8);
            }
        }
    }

    /// By how much these errors make the claim at each corner of the grid wrong, by the first coin of the
    /// layer's verification.
    pub(crate) fn errors(self, errors: &[BitFlip], coin: &Coin) -> [Gf64; 8] {
        let mut records = Records::<GF4_PLANES>::new(&Pool::default(), &Shape(vec![self.lanes; self.bytes]));
        for error in errors {
            if let Some(record) = records.get_mut(error.byte) {
                let plane = &mut record[0][GF4_PLANES - PLANES + error.plane];
                plane.set_lane(error.lane, plane.lane(error.lane) ^ 1);
            }
        }
        fault::claims(&[Record::new(&gf4_circuit::KIND, records)], coin)
    }

    /// With the first coin and the one that the point is made of, change a share of h so that these errors
    /// are missed.
    pub fn hide(self, h: &mut [u8], errors: &[BitFlip], [first, point]: [[u8; 16]; 2]) {
        let claims = self.errors(errors, &Coin::seen(first));
        let change = fault::hidden_by(&claims, &Coin::seen(point));
        h.iter_mut().zip(change.to_le_bytes()).for_each(|(h, change)| *h ^= change);
    }

    /// Errors of the first byte that cancel under the coefficients of this coin: their words are dependent
    /// over GF(2), as any 65 words of 64 bits are. The list is empty if the layer has fewer lanes than 9.
    #[must_use]
    pub fn cancelling(self, coin: [u8; 16]) -> Vec<BitFlip> {
        let coin = Coin::seen(coin);
        let bits = (0..self.lanes).flat_map(|lane| (0..PLANES).map(move |plane| (lane, plane)));
        let bits: Vec<BitFlip> =
            bits.take(65).map(|(lane, plane)| BitFlip { byte: 0, plane, lane }).collect();
        // independent words by their highest bit, and of which errors each is the sum
        let mut basis = [(0_u64, 0_u128); 64];
        for (i, error) in bits.iter().enumerate() {
            let (mut word, mut set) = (self.errors(&[*error], &coin)[0].0, 1 << i);
            while word != 0 {
                let known = &mut basis[word.ilog2() as usize];
                if known.0 == 0 {
                    *known = (word, set);
                    break;
                }
                (word, set) = (word ^ known.0, set ^ known.1);
            }
            if word == 0 {
                return (0..=i).filter(|i| set >> i & 1 == 1).map(|i| bits[i]).collect();
            }
        }
        Vec::new()
    }
}
