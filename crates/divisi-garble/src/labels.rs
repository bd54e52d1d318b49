//! A circuit evaluated on labels: by a garbler, which makes tables, and by the evaluator, which reads them.

use crate::batch::{Batch, Op};
use crate::evaluate::{Masked, Operands, Reader, Received};
use crate::hash::Named;
use crate::masks::Garbling;
use crate::purposes;
use crate::share::{Seats, xor};
use crate::table::{GROUP, GarblingForm, Layout, Product, Writer};
use divisi_core::{Difference, Prg, wipe};
use divisi_ot::Delta;

/// A garbler's labels for zero of the wires that exist at the current point of the circuit.
pub(crate) struct Labels {
    pub slots: Vec<u128>,
    queue: Vec<u128>,
    taken: usize,
}

impl Drop for Labels {
    fn drop(&mut self) {
        // [Q17] the whole allocations, with the words that the queue no longer counts as its own
        wipe::whole(&mut self.slots);
        wipe::whole(&mut self.queue);
    }
}

impl Labels {
    /// The state at the beginning: slot `i` has the label of input wire `i`.
    pub fn new(slots: usize, inputs: &[u128]) -> Labels {
        let slots = slots.max(inputs.len());
        let mut held = Vec::with_capacity(slots);
        held.extend_from_slice(inputs);
        held.resize(slots, 0);
        Labels { slots: held, queue: Vec::new(), taken: 0 }
    }

    /// Garbles a batch and returns its table: the bytes of all ANDs, then their bits.
    pub fn garble(
        &mut self,
        layout: Layout,
        delta: &Delta,
        evaluator: usize,
        calls: Named<'_>,
        fresh: &mut Prg,
        batch: &Batch,
        product: Product<'_>,
    ) -> Vec<u8> {
        // all vectors get their full capacity at once: a vector that grows leaves a copy of its labels
        // behind, and two labels of one wire side by side would give Delta away
        let hashed = layout.hashed() * GROUP.min(batch.ands);
        let mut writer = Writer {
            layout,
            delta,
            evaluator,
            calls,
            body: Vec::with_capacity(layout.table(batch.ands)),
            bits: Vec::with_capacity(layout.bits() * batch.ands),
            pads: Vec::with_capacity(hashed * layout.blocks()),
            inputs: Vec::with_capacity(hashed),
        };
        let mut group: Vec<(u128, u128)> = Vec::with_capacity(GROUP);
        let mut done = 0;
        for op in &batch.ops {
            match *op {
                Op::Xor { out, x, y } => {
                    self.slots[out as usize] = self.slots[x as usize] ^ self.slots[y as usize];
                }
                Op::Not { out, x } => self.slots[out as usize] = self.slots[x as usize],
                Op::And { x, y } => {
                    group.push((self.slots[x as usize], self.slots[y as usize]));
                    if group.len() == GROUP {
                        self.flush(&mut writer, fresh, product, &mut done, &mut group);
                    }
                }
                Op::Sum { out, terms } => {
                    self.flush(&mut writer, fresh, product, &mut done, &mut group);
                    let range = self.taken..self.taken + terms as usize;
                    self.taken = range.end;
                    self.slots[out as usize] = self.queue[range].iter().fold(0, |sum, label| sum ^ label);
                    if self.taken == self.queue.len() {
                        self.queue.clear();
                        self.taken = 0;
                    }
                }
            }
        }
        self.flush(&mut writer, fresh, product, &mut done, &mut group);
        wipe::whole(&mut group);
        let mut table = std::mem::take(&mut writer.body);
        crate::bits::pack(&writer.bits, &mut table);
        table
    }

    #[cfg_attr(feature = "testing", track_caller)]
    fn flush(
        &mut self,
        writer: &mut Writer<'_>,
        fresh: &mut Prg,
        product: Product<'_>,
        done: &mut usize,
        group: &mut Vec<(u128, u128)>,
    ) {
        if group.is_empty() {
            return;
        }
        let first = self.queue.len();
        wipe::reserve(&mut self.queue, group.len());
        self.queue.resize(first + group.len(), 0);
        if writer.layout.form == GarblingForm::Paper {
            // step 2: the labels of the results of ANDs are random
            random_words(fresh, &mut self.queue[first..]);
            purposes::LABELS.drawn(|| {
                self.queue[first..].iter().flat_map(|label| label.to_le_bytes()).collect::<Vec<u8>>()
            });
        }
        writer.garble(product, *done, group, &mut self.queue[first..]);
        *done += group.len();
        group.clear();
    }
}

/// Fills `out` with the next words of the generator.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn random_words(prg: &mut Prg, out: &mut [u128]) {
    for word in out {
        let mut bytes = [0; 16];
        prg.fill(&mut bytes);
        *word = u128::from_le_bytes(bytes);
    }
}

/// The evaluator's masked values and labels of the wires that exist at the current point of the circuit: all
/// garblers' labels of one wire, then those of the next wire.
pub(crate) struct Values {
    seats: Seats,
    pub bits: Vec<u8>,
    pub labels: Vec<u128>,
    queue_bits: Vec<u8>,
    queue: Vec<u128>,
    taken: usize,
    /// All differences between MACs and their right values, over all batches \[W22\].
    pub difference: Difference,
}

impl Drop for Values {
    fn drop(&mut self) {
        // [Q17] the whole allocations, with the words that the queue no longer counts as its own
        wipe::whole(&mut self.labels);
        wipe::whole(&mut self.queue);
    }
}

impl Values {
    /// The state at the beginning: slot `i` has the masked value and the labels of input wire `i`.
    pub fn new(seats: Seats, slots: usize, bits: &[u8], labels: &[u128]) -> Values {
        let slots = slots.max(bits.len());
        let mut bits = bits.to_vec();
        bits.resize(slots, 0);
        let mut held = Vec::with_capacity(slots * seats.peers());
        held.extend_from_slice(labels);
        held.resize(slots * seats.peers(), 0);
        Values {
            seats,
            bits,
            labels: held,
            queue_bits: Vec::new(),
            queue: Vec::new(),
            taken: 0,
            difference: Difference::default(),
        }
    }

    /// Evaluates a batch, given each garbler's table of it.
    pub fn evaluate(
        &mut self,
        layout: Layout,
        delta: &Delta,
        calls: Vec<Named<'_>>,
        batch: &Batch,
        product: &mut Garbling,
        tables: &[Received<'_>],
    ) {
        let garblers = self.seats.peers();
        let gates = GROUP.min(batch.ands);
        let (pads, inputs) = Reader::reserve(layout, garblers, gates);
        let mut reader = Reader {
            layout,
            delta,
            calls,
            operands: Operands {
                labels: Vec::with_capacity(garblers * gates),
                masked: Vec::with_capacity(gates),
            },
            pads,
            inputs,
            difference: Difference::default(),
        };
        let mut group: Vec<(u32, u32)> = Vec::with_capacity(GROUP);
        let mut done = 0;
        for op in &batch.ops {
            match *op {
                Op::Xor { out, x, y } => {
                    let [out, x, y] = [out, x, y].map(|slot| slot as usize);
                    self.bits[out] = self.bits[x] ^ self.bits[y];
                    match garblers {
                        1 => self.labels[out] = self.labels[x] ^ self.labels[y],
                        2 => xor::<2>(&mut self.labels, out, x, y),
                        4 => xor::<4>(&mut self.labels, out, x, y),
                        _ => {
                            for k in 0..garblers {
                                self.labels[out * garblers + k] =
                                    self.labels[x * garblers + k] ^ self.labels[y * garblers + k];
                            }
                        }
                    }
                }
                Op::Not { out, x } => {
                    let (out, x) = (out as usize, x as usize);
                    self.bits[out] = self.bits[x];
                    self.labels.copy_within(x * garblers..(x + 1) * garblers, out * garblers);
                }
                Op::And { x, y } => {
                    group.push((x, y));
                    if group.len() == GROUP {
                        self.flush(&mut reader, product, tables, &mut done, &mut group);
                    }
                }
                Op::Sum { out, terms } => {
                    self.flush(&mut reader, product, tables, &mut done, &mut group);
                    let (out, range) = (out as usize, self.taken..self.taken + terms as usize);
                    self.taken = range.end;
                    self.bits[out] = self.queue_bits[range.clone()].iter().fold(0, |sum, bit| sum ^ bit);
                    let labels = &mut self.labels[out * garblers..(out + 1) * garblers];
                    labels.fill(0);
                    for term in self.queue[range.start * garblers..range.end * garblers].chunks(garblers) {
                        labels.iter_mut().zip(term).for_each(|(sum, label)| *sum ^= label);
                    }
                    if self.taken == self.queue_bits.len() {
                        self.queue_bits.clear();
                        self.queue.clear();
                        self.taken = 0;
                    }
                }
            }
        }
        self.flush(&mut reader, product, tables, &mut done, &mut group);
        self.difference.add_all(&reader.difference);
    }

    fn flush(
        &mut self,
        reader: &mut Reader<'_>,
        product: &mut Garbling,
        tables: &[Received<'_>],
        done: &mut usize,
        group: &mut Vec<(u32, u32)>,
    ) {
        if group.is_empty() {
            return;
        }
        let garblers = self.seats.peers();
        let label = |slot: u32, place: usize| self.labels[slot as usize * garblers + place];
        let operands = &mut reader.operands;
        operands.labels.clear();
        for place in 0..garblers {
            operands.labels.extend(group.iter().map(|&(x, y)| (label(x, place), label(y, place))));
        }
        let bit = |slot: u32| self.bits[slot as usize];
        operands.masked.clear();
        operands.masked.extend(group.iter().map(|&(x, y)| Masked { a: bit(x), b: bit(y) }));
        let first = self.queue_bits.len();
        self.queue_bits.resize(first + group.len(), 0);
        wipe::reserve(&mut self.queue, group.len() * garblers);
        self.queue.resize((first + group.len()) * garblers, 0);
        let (values, labels) = (&mut self.queue_bits[first..], &mut self.queue[first * garblers..]);
        reader.evaluate(product, tables, *done, values, labels);
        *done += group.len();
        group.clear();
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::hash::{Call, Name, Oracle};
    use crate::masks;
    use crate::share::{Rows, Shares};
    use divisi_core::testing::memory::{Needle, alone};
    use divisi_core::testing::run;
    use divisi_core::wipe::WipedVec;
    use divisi_core::{PartyId, PublicParameters, Session};

    /// Whether a word that `work` got is nowhere in memory after it.
    fn is_gone(seed: u8, work: impl FnOnce(u128)) -> bool {
        let _alone = alone();
        let needle = Needle::new(seed, true);
        wipe::stack(|| {
            let mut bytes = [0; 16];
            needle.plant(&mut bytes);
            work(u128::from_le_bytes(bytes));
        });
        needle.copies().unwrap().is_empty()
    }

    fn shares(word: u128) -> Shares {
        let words = || vec![WipedVec::from(&[word; 64][..])];
        Shares { bits: WipedVec::zeros(64), macs: words(), keys: words() }
    }

    /// \[Q17\] Memory that held labels, masks or shares is wiped before it is freed: also the part that a
    /// queue no longer counts as its own, and the old copy of a vector that grew.
    #[test]
    fn nothing_is_left_of_what_grew_or_was_forgotten() {
        // several, because the search itself may take the memory of one again
        let inputs = |label| drop([(); 32].map(|()| Labels::new(64, &[label; 64])));
        let forgotten = |label| {
            let mut labels = Labels::new(1, &[]);
            labels.queue.extend([label; 64]);
            labels.queue.clear();
        };
        let known = |label| {
            let seats = Seats { me: 0, n: 2 };
            drop([(); 32].map(|()| Values::new(seats, 64, &[0; 64], &[label; 64])));
            let mut values = Values::new(seats, 1000, &[0; 64], &[]);
            values.queue.extend([label; 64]);
            values.queue.clear();
        };
        let appended = |mac| {
            let mut all = shares(mac);
            all.append(shares(mac));
            all.append(shares(mac));
        };
        let pushed = |mac| {
            let (from, mut rows) = (shares(mac), Rows::with_capacity(1, 0));
            (0..64).for_each(|t| rows.push_share(&from, t));
            drop(rows.into_shares());
        };
        let masks = |mac| {
            let (from, mut rows) = (shares(mac), Rows::with_capacity(1, 0));
            (0..64).for_each(|t| rows.push_share(&from, t));
            rows.clear();
            rows.wipe();
            // freed memory may be overwritten by other threads before the test looks at it
            std::mem::forget(rows);
        };
        let moved = |label| {
            let mut labels = vec![label; 64];
            wipe::reserve(&mut labels, 1);
            labels.push(label);
            wipe::whole(&mut labels);
        };
        let gone = [
            ("labels of inputs", is_gone(1, inputs)),
            ("labels of products", is_gone(2, forgotten)),
            ("labels of the evaluator", is_gone(3, known)),
            ("shares behind others", is_gone(4, appended)),
            ("rows", is_gone(5, pushed)),
            ("rows that were forgotten", is_gone(6, masks)),
            ("a vector that grew", is_gone(7, moved)),
        ];
        let left: Vec<_> = gone.iter().filter(|(_, gone)| !gone).map(|(what, _)| what).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    fn no_operand_is_left(session: &Session) {
        const ANDS: usize = GROUP + 8;
        let mut ops = vec![Op::And { x: 0, y: 1 }; ANDS];
        ops.push(Op::Sum { out: 2, terms: ANDS as u32 });
        let batch = Batch { ops, ands: ANDS };
        let (oracle, delta) = (Oracle::new(session), Delta::drawn(PartyId::P1, |bytes| bytes.fill(3)));
        let rows = || Rows::zero(1, ANDS);
        let zero = || Garbling { operands: masks::Operands { alpha: rows(), beta: rows() }, sigma: rows() };
        for (seed, form) in (20..).step_by(2).zip(GarblingForm::ALL) {
            let layout = Layout::new(form, 2, 40);
            let name = Name { call: Call::Rows, from: PartyId::P1, to: PartyId::P2, gate: 0 };
            let calls = || oracle.named(session, name, layout.targets());
            let garbled = |label| {
                let (mut labels, prg) = (Labels::new(3, &[label; 2]), &mut Prg::new(&[1; 16]));
                labels.garble(layout, &delta, 0, calls(), prg, &batch, zero().product());
            };
            assert!(is_gone(seed, garbled), "{form:?}, garbler");
            let table = vec![0; layout.table(ANDS)];
            let evaluated = |label| {
                let mut values = Values::new(Seats { me: 1, n: 2 }, 3, &[0, 1], &[label; 2]);
                let tables = [Received::new(layout, 0, ANDS, &table)];
                values.evaluate(layout, &delta, vec![calls()], &batch, &mut zero(), &tables);
            };
            assert!(is_gone(seed + 1, evaluated), "{form:?}, evaluator");
        }
    }

    /// \[Q17\] Nothing is left of the labels of products' operands, which both sides collect in groups. One
    /// party alone looks: a search reads all memory.
    #[test]
    fn nothing_is_left_of_operands() {
        let ends = run(2, &PublicParameters::new("tests of operands"), |session| {
            if session.me() == PartyId::P1 {
                no_operand_is_left(&session);
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok));
    }
}
