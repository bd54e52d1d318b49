//! The evaluator's computation on tables, step 7 of Fig. 3. From the labels and masked values of an AND's two
//! inputs it computes those of the result, and collects the differences between the garblers' MACs and what
//! they must be.

use crate::hash::Named;
use crate::masks::Garbling;
use crate::share::spread;
use crate::table::{GarblingForm, Layout, Product, word};
use divisi_core::{Difference, wipe};
use divisi_ot::Delta;
use std::ops::Range;
use zeroize::Zeroize;

#[cfg(test)]
#[cfg(feature = "testing")]
mod differences;

/// Blocks that the evaluator hashes in one call; at least the blocks of one garbler.
const AT_ONCE: usize = 1 << 12;

/// A garbler's table as it was received.
#[derive(Clone, Copy)]
pub(crate) struct Received<'a> {
    pub layout: Layout,
    /// Our place among the garbler's peers.
    pub evaluator: usize,
    /// The bytes of all ANDs, then their bits.
    gates: &'a [u8],
    bits: &'a [u8],
}

impl<'a> Received<'a> {
    /// Splits a received body into the bytes and the bits of `ands` ANDs.
    pub fn new(layout: Layout, evaluator: usize, ands: usize, body: &'a [u8]) -> Received<'a> {
        let (gates, bits) = body.split_at((layout.bytes() * ands).min(body.len()));
        Received { layout, evaluator, gates, bits }
    }

    /// The `bytes` bytes of AND number `t`.
    #[inline(always)]
    fn gate(self, t: usize, bytes: usize) -> &'a [u8] {
        &self.gates[t * bytes..][..bytes]
    }

    /// The `each` bits (at most eight) of AND number `t`, the first one lowest. Higher bits of the byte are
    /// not cleared.
    #[inline(always)]
    fn bits(self, t: usize, each: usize) -> u8 {
        let at = t * each;
        let next = self.bits.get(at / 8 + 1).copied().unwrap_or(0);
        (u16::from_le_bytes([self.bits[at / 8], next]) >> (at % 8)) as u8
    }
}

/// The masked values of an AND's two inputs.
#[derive(Clone, Copy)]
pub(crate) struct Masked {
    pub a: u8,
    pub b: u8,
}

/// Labels and masked values of the inputs of consecutive ANDs.
pub(crate) struct Operands {
    /// Each garbler's labels of both inputs: all ANDs of the first garbler, then those of the next.
    pub labels: Vec<(u128, u128)>,
    pub masked: Vec<Masked>,
}

impl Drop for Operands {
    fn drop(&mut self) {
        // the whole allocation: a shorter group may leave labels of an earlier one behind its end
        wipe::whole(&mut self.labels);
    }
}

/// The state of the evaluation of one instance.
pub(crate) struct Reader<'a> {
    pub layout: Layout,
    pub delta: &'a Delta,
    /// The hashes of each garbler's labels, for the ANDs that come next.
    pub calls: Vec<Named<'a>>,
    /// The inputs of the ANDs that come next.
    pub operands: Operands,
    pub pads: Vec<u128>,
    pub inputs: Vec<u128>,
    /// All differences between a MAC and its right value so far. The evaluation stops only at its end \[W22,
    /// W23\].
    pub difference: Difference,
}

/// The sizes of a garbler's table. For two and three parties they are constants, so that the compiler makes
/// faster code.
#[derive(Clone, Copy)]
struct Shape {
    garblers: usize,
    /// Bytes of an AND's table entry; `width` is the bytes of the MAC in it.
    bytes: usize,
    width: usize,
}

impl Reader<'_> {
    /// Empty vectors for hashes and for labels, with the capacity that groups of `gates` ANDs need, so that
    /// neither ever grows.
    pub fn reserve(layout: Layout, garblers: usize, gates: usize) -> (Vec<u128>, Vec<u128>) {
        let (labels, blocks) = (2 * gates, layout.blocks());
        // labels of all garblers, or of as many as fit AT_ONCE blocks, but at least of one
        let labels = (garblers * labels).min((AT_ONCE / blocks).max(labels));
        (Vec::with_capacity(labels * blocks), Vec::with_capacity(labels))
    }

    /// Evaluates the ANDs from `first` on, as many as there are operands, and wipes our shares of their
    /// masks. Writes the results' masked values to `values` and their labels to `labels`, AND by AND.
    pub fn evaluate(
        &mut self,
        product: &mut Garbling,
        tables: &[Received<'_>],
        first: usize,
        values: &mut [u8],
        labels: &mut [u128],
    ) {
        let (gates, garblers) = (self.operands.masked.len(), tables.len());
        // how many garblers' labels are hashed in one call: with one AND at a time the cipher would wait
        // between blocks
        let blocks = self.layout.blocks();
        let together = (AT_ONCE / (2 * gates * blocks)).max(1);
        for from in (0..garblers).step_by(together) {
            let places = from..garblers.min(from + together);
            self.hash(&places);
            let all = (&product.product(), &tables[places.clone()], places.start, first);
            match (self.layout.form, garblers, self.layout.mac_bytes) {
                (GarblingForm::Improved, 1, 8) => {
                    self.half_gates(Shape { garblers: 1, bytes: 56, width: 8 }, all, values, labels)
                }
                (GarblingForm::Improved, 2, 8) => {
                    self.half_gates(Shape { garblers: 2, bytes: 104, width: 8 }, all, values, labels)
                }
                (GarblingForm::Improved, garblers, width) => self.half_gates(
                    Shape { garblers, bytes: self.layout.bytes(), width },
                    all,
                    values,
                    labels,
                ),
                (GarblingForm::Paper, ..) => self.rows(all, values, labels),
            }
        }
        self.calls.iter_mut().for_each(|calls| calls.advance(gates));
        product.wipe_rows(first..first + gates);
    }

    /// Hashes the labels of all operands of the garblers at these places.
    fn hash(&mut self, places: &Range<usize>) {
        let Operands { labels, masked } = &self.operands;
        self.inputs.clear();
        let operands = &labels[places.start * masked.len()..places.end * masked.len()];
        self.inputs.extend(operands.iter().flat_map(|&(a, b)| [a, b]));
        let (each, blocks) = (2 * masked.len(), self.layout.blocks());
        // every word is overwritten below
        self.pads.resize(self.inputs.len() * blocks, 0);
        let row = |i: usize| usize::from(2 * masked[i / 2].a + masked[i / 2].b);
        let inputs = self.inputs.chunks_exact(each).zip(self.pads.chunks_exact_mut(each * blocks));
        for (calls, (inputs, pads)) in self.calls[places.clone()].iter_mut().zip(inputs) {
            match self.layout.form {
                GarblingForm::Paper => calls.expand(inputs, blocks, |i| (i / 2, 2 * row(i) + i % 2), pads),
                GarblingForm::Improved => calls.expand(inputs, blocks, |i| (i / 2, i % 2), pads),
            }
        }
    }

    /// Evaluates the half-gates of the garblers from place `start` on, for the ANDs of a batch from `first`
    /// on.
    #[inline(always)]
    fn half_gates(
        &mut self,
        shape: Shape,
        (product, tables, start, first): (&Product<'_>, &[Received<'_>], usize, usize),
        values: &mut [u8],
        labels: &mut [u128],
    ) {
        let Shape { garblers, bytes, .. } = shape;
        let Operands { labels: operands, masked } = &self.operands;
        let (gates, blocks, delta) = (masked.len(), garblers + 1, self.delta.get());
        let mask = self.layout.mac_mask();
        for (i, m) in masked.iter().enumerate() {
            let labels = &mut labels[i * garblers..][..garblers];
            let mine = Mine::new(product, first + i, garblers, *m);
            if start == 0 {
                mine.begin(&mut values[i], labels);
            }
            for (p, table) in tables.iter().enumerate() {
                let place = start + p;
                let pads = &self.pads[2 * (p * gates + i) * blocks..][..2 * blocks];
                let alpha = operands[place * gates + i].0;
                let gate = table.gate(first + i, bytes);
                let (bit, mac) =
                    half_gate(shape, gate, table.bits(first + i, 3), place, *m, pads, alpha, labels);
                values[i] ^= bit;
                self.difference.add_masked(mac ^ mine.key(place) ^ spread(bit) & delta, mask);
            }
        }
    }

    /// The same for tables of four rows.
    fn rows(
        &mut self,
        (product, tables, start, first): (&Product<'_>, &[Received<'_>], usize, usize),
        values: &mut [u8],
        labels: &mut [u128],
    ) {
        let (masked, delta) = (&self.operands.masked, self.delta.get());
        let (gates, blocks, garblers) = (masked.len(), self.layout.blocks(), self.layout.n - 1);
        for (i, m) in masked.iter().enumerate() {
            let labels = &mut labels[i * garblers..][..garblers];
            let mine = Mine::new(product, first + i, garblers, *m);
            if start == 0 {
                mine.begin(&mut values[i], labels);
            }
            for (p, table) in tables.iter().enumerate() {
                let place = start + p;
                let pads = &self.pads[2 * (p * gates + i) * blocks..][..2 * blocks];
                let (bit, mac) = row(*table, first + i, place, *m, pads, labels);
                values[i] ^= bit;
                self.difference.add(mac ^ mine.key(place) ^ spread(bit) & delta);
            }
        }
    }
}

/// The evaluator's own shares for one AND: its bit of the row, and its rows of sigma, beta and alpha.
struct Mine<'a> {
    bit: u8,
    rows: [&'a [u128]; 3],
    masks: [u128; 2],
}

impl<'a> Mine<'a> {
    #[inline(always)]
    fn new(product: &Product<'a>, t: usize, garblers: usize, m: Masked) -> Mine<'a> {
        let (s, b, a) = (product.sigma, product.beta, product.alpha);
        let bit = m.a & m.b ^ s.bits[t] ^ m.a & b.bits[t] ^ m.b & a.bits[t];
        let rows = [s, b, a].map(
            #[inline(always)]
            |rows| &rows.words[2 * t * garblers..][..2 * garblers],
        );
        Mine { bit, rows, masks: [spread(m.a), spread(m.b)] }
    }

    #[inline(always)]
    fn word(&self, k: usize) -> u128 {
        let [s, b, a] = self.rows;
        s[k] ^ self.masks[0] & b[k] ^ self.masks[1] & a[k]
    }

    /// Starts with our own share of the row's bit, and with our MACs: in the labels they cancel the other
    /// garblers' keys.
    #[inline(always)]
    fn begin(&self, value: &mut u8, labels: &mut [u128]) {
        *value = self.bit;
        for (place, label) in labels.iter_mut().enumerate() {
            *label = self.word(place);
        }
    }

    /// Our key of a garbler's share.
    #[inline(always)]
    fn key(&self, place: usize) -> u128 {
        self.word(self.rows[0].len() / 2 + place)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.pads.zeroize();
        self.inputs.zeroize();
    }
}

/// Evaluates one garbler's half-gate: adds its contribution to the labels, and returns its bit and the bit's
/// MAC.
#[inline(always)]
fn half_gate(
    shape: Shape,
    gate: &[u8],
    bits: u8,
    place: usize,
    m: Masked,
    pads: &[u128],
    alpha: u128,
    labels: &mut [u128],
) -> (u8, u128) {
    let n = shape.garblers + 1;
    let (of_a, of_b) = pads.split_at(n);
    let (am, bm) = (spread(m.a), spread(m.b));
    labels[place] ^= of_a[0] ^ of_b[0] ^ am & word(gate, 0) ^ bm & (word(gate, 16) ^ alpha);
    // the garbler's table has no entry for the garbler itself
    for k in 0..n - 2 {
        let at = 32 + 48 * k;
        let c = word(gate, at) ^ am & word(gate, at + 16) ^ bm & word(gate, at + 32);
        labels[k + usize::from(k >= place)] ^= of_a[k + 1] ^ of_b[k + 1] ^ c;
    }
    let (at, width) = (32 + 48 * (n - 2), shape.width);
    let high = |at: usize| {
        let mut word = [0; 16];
        word[16 - width..].copy_from_slice(&gate[at..at + width]);
        u128::from_le_bytes(word)
    };
    let mac = of_a[n - 1] ^ of_b[n - 1] ^ high(at) ^ am & high(at + width) ^ bm & high(at + 2 * width);
    let bit = (bits ^ m.a & bits >> 1 ^ m.b & bits >> 2) & 1;
    (bit ^ (of_a[n - 1] ^ of_b[n - 1]) as u8 & 1, mac)
}

/// Decrypts one garbler's row of the four: adds its contribution to the labels, and returns its bit and the
/// bit's MAC.
fn row(
    table: Received<'_>,
    t: usize,
    place: usize,
    m: Masked,
    pads: &[u128],
    labels: &mut [u128],
) -> (u8, u128) {
    let n = table.layout.n;
    let (of_a, of_b) = pads.split_at(n + 1);
    let l = usize::from(2 * m.a + m.b);
    let row = &table.gate(t, table.layout.bytes())[16 * n * l..16 * n * (l + 1)];
    let clear = |k: usize| word(row, 16 * k) ^ of_a[k] ^ of_b[k];
    // the garbler numbers its peers without itself, and we number ours without us: its MACs belong to the
    // other parties in the order of their indices
    labels[place] ^= clear(n - 1);
    let mut mac = 0;
    let mut others = (0..labels.len()).filter(|other| *other != place);
    for k in 0..n - 1 {
        if k == table.evaluator {
            mac = clear(k);
        } else if let Some(other) = others.next() {
            labels[other] ^= clear(k);
        }
    }
    ((table.bits(t, 4) >> l ^ (of_a[n] ^ of_b[n]) as u8) & 1, mac)
}
