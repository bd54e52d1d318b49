//! The table that a garbler sends for each AND, in two forms.
//!
//! *Paper* (Fig. 2, step 4(d)): four rows. Each has a MAC for each other party, the share of the label, and a
//! bit: together 64 n bytes and four bits.
//!
//! *Improved*: half-gates. All contents of a row are affine in the masked inputs a, b: the garbler's share of
//! the row's bit is s + a beta + b alpha, and so are its MACs. There are two ciphertexts for the garbler's
//! own label; three, instead of four, for each other garbler's MAC; and three for the evaluator's MAC, of
//! which rho + 24 bits are enough. Together 16 (3n - 4) + 3 (rho + 24) / 8 bytes and three bits.
//! docs/garbling.md, 13, derives it.

use crate::bits;
use crate::hash::Named;
use crate::share::{Rows, spread};
use divisi_core::{Step, step, taint};
use divisi_ot::Delta;
use zeroize::Zeroize;

#[cfg(test)]
#[cfg(feature = "testing")]
mod pads;

/// The step under which tests follow labels that are hashed and hidden.
const LABELS: Step = step!("labels");

/// The form of tables, and the way leaky triples are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GarblingForm {
    /// As in the paper's figures: tables of four rows, and HaAND within LaAND.
    Paper,
    /// Tables of half-gates; the third bit of a leaky triple is the lowest bit of LaAND's sum.
    #[default]
    Improved,
}

impl GarblingForm {
    /// All values, the default first.
    pub const ALL: [GarblingForm; 2] = [GarblingForm::Improved, GarblingForm::Paper];

    /// The form's name in parameters and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GarblingForm::Paper => "paper",
            GarblingForm::Improved => "improved",
        }
    }
}

/// How many ANDs are hashed together.
pub(crate) const GROUP: usize = 32;

/// The sizes of tables and of their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub form: GarblingForm,
    pub n: usize,
    /// Bytes of the evaluator's MAC in the improved form: rho + 24 bits.
    pub mac_bytes: usize,
}

impl Layout {
    pub fn new(form: GarblingForm, n: usize, statistical_bits: usize) -> Layout {
        Layout { form, n, mac_bytes: (statistical_bits + 24).div_ceil(8) }
    }

    /// Bytes of an AND's table, without its bits.
    pub fn bytes(self) -> usize {
        match self.form {
            GarblingForm::Paper => 64 * self.n,
            GarblingForm::Improved => 16 * (3 * self.n - 4) + 3 * self.mac_bytes,
        }
    }

    /// Bits of an AND's table, beside its bytes.
    pub fn bits(self) -> usize {
        match self.form {
            GarblingForm::Paper => 4,
            GarblingForm::Improved => 3,
        }
    }

    /// Bytes of the table of `ands` ANDs.
    pub fn table(self, ands: usize) -> usize {
        self.bytes() * ands + bits::packed(self.bits() * ands)
    }

    /// How many blocks are hashed from each label: one for each 16 bytes that it encrypts, and one for the
    /// bits.
    pub fn blocks(self) -> usize {
        match self.form {
            GarblingForm::Paper => self.n + 1,
            GarblingForm::Improved => self.n,
        }
    }

    /// How many labels a garbler hashes for each AND: in the improved form both labels of two wires; in the
    /// paper's form each of them twice.
    pub fn hashed(self) -> usize {
        match self.form {
            GarblingForm::Paper => 8,
            GarblingForm::Improved => 4,
        }
    }

    /// How many hashes of one AND the evaluator may know without knowing their inputs. It has one label of
    /// each of two wires; in the paper's form the other labels are hashed in four rows, under a tweak for
    /// each row.
    pub fn targets(self) -> usize {
        match self.form {
            GarblingForm::Paper => 4 * self.blocks(),
            GarblingForm::Improved => 2 * self.blocks(),
        }
    }

    /// The number of bits that are sent of the MAC which the evaluator compares.
    pub fn mac_bits(self) -> usize {
        match self.form {
            GarblingForm::Paper => 128,
            GarblingForm::Improved => 8 * self.mac_bytes,
        }
    }

    /// A mask that selects the bits of the evaluator's MAC that are sent.
    pub fn mac_mask(self) -> u128 {
        u128::MAX << (128 - 8 * self.mac_bytes)
    }
}

/// Our shares of the masks of ANDs: of lambda_alpha, of lambda_beta, and of lambda_alpha lambda_beta +
/// lambda_gamma.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    pub alpha: &'a Rows,
    pub beta: &'a Rows,
    pub sigma: &'a Rows,
}

/// Our share, as garbler, of lambda times our Delta: our bit times Delta, plus all our keys.
#[inline]
fn own(rows: &Rows, t: usize, delta: u128) -> u128 {
    let row = rows.row(t);
    row[row.len() / 2..].iter().fold(spread(rows.bits[t]) & delta, |sum, key| sum ^ key)
}

#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> u128 {
    let mut word = [0; 16];
    word.copy_from_slice(&bytes[at..at + 16]);
    u128::from_le_bytes(word)
}

/// The state of a garbler that makes tables.
pub(crate) struct Writer<'a> {
    pub layout: Layout,
    pub delta: &'a Delta,
    /// The evaluator's place among our peers.
    pub evaluator: usize,
    pub calls: Named<'a>,
    /// The bytes of all ANDs made so far. Their bits are in `bits`, one in each byte.
    pub body: Vec<u8>,
    pub bits: Vec<u8>,
    pub pads: Vec<u128>,
    pub inputs: Vec<u128>,
}

impl Writer<'_> {
    /// Garbles the ANDs from `first` on, given their inputs' labels for zero. In the paper's form `labels`
    /// has the results' labels for zero; in the improved form they are computed and written there.
    pub fn garble(
        &mut self,
        product: Product<'_>,
        first: usize,
        operands: &[(u128, u128)],
        labels: &mut [u128],
    ) {
        operands.first().into_iter().for_each(|(label, _)| taint::leak(LABELS, *label as u8));
        match self.layout.form {
            GarblingForm::Paper => self.four_rows(product, first, operands, labels),
            GarblingForm::Improved => self.half_gates(product, first, operands, labels),
        }
        self.calls.advance(operands.len());
    }

    fn half_gates(&mut self, p: Product<'_>, first: usize, operands: &[(u128, u128)], labels: &mut [u128]) {
        let (layout, delta) = (self.layout, self.delta.get());
        let n = layout.blocks();
        self.inputs.clear();
        self.inputs.extend(operands.iter().flat_map(|&(a, b)| [a, a ^ delta, b, b ^ delta]));
        // every word is overwritten below
        self.pads.resize(self.inputs.len() * n, 0);
        self.calls.expand(&self.inputs, n, |i| (i / 4, i / 2 % 2), &mut self.pads);
        let gates = self.pads.chunks_exact(4 * n).zip(operands).zip(labels).enumerate();
        for (t, ((pads, &(alpha, _)), label)) in gates.map(|(i, gate)| (first + i, gate)) {
            let (a0, a1, b0, b1) = (&pads[..n], &pads[n..2 * n], &pads[2 * n..3 * n], &pads[3 * n..]);
            // the garbler's own label
            let g0 = a0[0] ^ a1[0] ^ own(p.beta, t, delta);
            let g1 = b0[0] ^ b1[0] ^ own(p.alpha, t, delta) ^ alpha;
            *label = a0[0] ^ b0[0] ^ own(p.sigma, t, delta);
            self.body.extend_from_slice(&g0.to_le_bytes());
            self.body.extend_from_slice(&g1.to_le_bytes());
            // the MACs for the other garblers
            let (sigma, alpha, beta) = (p.sigma.row(t), p.alpha.row(t), p.beta.row(t));
            let three = |k: usize, s: u128, of_a: u128, of_b: u128| {
                [s ^ a0[k] ^ b0[k], of_a ^ a0[k] ^ a1[k], of_b ^ b0[k] ^ b1[k]]
            };
            let others = (0..n - 1).filter(|place| *place != self.evaluator);
            for (k, place) in others.enumerate() {
                for c in three(k + 1, sigma[place], beta[place], alpha[place]) {
                    self.body.extend_from_slice(&c.to_le_bytes());
                }
            }
            // the bit and its MAC for the evaluator, in one word
            let mask = layout.mac_mask();
            let both = |rows: &Rows, row: &[u128]| row[self.evaluator] & mask | u128::from(rows.bits[t]);
            let c = three(n - 1, both(p.sigma, sigma), both(p.beta, beta), both(p.alpha, alpha));
            for c in c {
                self.body.extend_from_slice(&c.to_le_bytes()[16 - layout.mac_bytes..]);
            }
            self.bits.extend(c.map(|c| (c & 1) as u8));
        }
    }

    fn four_rows(&mut self, p: Product<'_>, first: usize, operands: &[(u128, u128)], labels: &mut [u128]) {
        let (layout, delta) = (self.layout, self.delta.get());
        let (n, blocks) = (layout.n, layout.blocks());
        self.inputs.clear();
        for &(a, b) in operands {
            self.inputs.extend([a, b, a, b ^ delta, a ^ delta, b, a ^ delta, b ^ delta]);
        }
        self.pads.resize(self.inputs.len() * blocks, 0);
        self.calls.expand(&self.inputs, blocks, |i| (i / 8, i % 8), &mut self.pads);
        for (i, (pads, label)) in self.pads.chunks_exact(8 * blocks).zip(labels).enumerate() {
            let t = first + i;
            for (l, pads) in pads.chunks_exact(2 * blocks).enumerate() {
                let (of_a, of_b) = pads.split_at(blocks);
                let (am, bm) = (spread((l >> 1) as u8), spread((l & 1) as u8));
                // step 4(b): our share of the row's bit. P_1 flips its share in the last row, so our key for
                // it changes there
                let share = |k: usize| p.sigma.row(t)[k] ^ am & p.beta.row(t)[k] ^ bm & p.alpha.row(t)[k];
                let bit = p.sigma.bits[t] ^ am as u8 & p.beta.bits[t] ^ bm as u8 & p.alpha.bits[t];
                let keys = (n - 1..2 * (n - 1)).fold(am & bm & delta, |sum, k| sum ^ share(k));
                for k in 0..n - 1 {
                    self.body.extend_from_slice(&(share(k) ^ of_a[k] ^ of_b[k]).to_le_bytes());
                }
                let row = *label ^ keys ^ spread(bit) & delta ^ of_a[n - 1] ^ of_b[n - 1];
                self.body.extend_from_slice(&row.to_le_bytes());
                self.bits.push(bit ^ (of_a[n] ^ of_b[n]) as u8 & 1);
            }
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.pads.zeroize();
        self.inputs.zeroize();
    }
}
