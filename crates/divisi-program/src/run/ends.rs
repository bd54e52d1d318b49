//! The beginning and the end of a run: inputs become shares, and outputs are opened to their receivers.

use super::{Held, NODE, Run, unfit};
use crate::node::Id;
use crate::plain::Entries;
use crate::program::{Input, Script, ValueKind};
use crate::purposes;
use crate::valid::in_range;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};
use divisi_field::zp::Modulus;
use divisi_mixed::gmw::SentBits;
use divisi_mixed::num::{self, SentNumbers};
use divisi_mixed::{GmwBit, Num};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

const INPUT: Step = step!("program.input");

impl Run<'_> {
    pub(super) fn input_numbers(&mut self, place: usize, own: &[Option<Entries>]) -> Result<Held, Abort> {
        let input = self.program.inputs().get(place).ok_or_else(unfit)?;
        let (lanes, plain) = (input.value.shape().entries(), self.plain);
        let session = self.mixed.session();
        let owner = PartyId::new(input.owner).filter(|owner| owner.index() < session.parties());
        let owner = owner.ok_or_else(|| session.misuse(INPUT, Misuse::PartyUnknown))?;
        let mut shares = WipedVec::zeros(lanes);
        if owner == session.me() {
            within(session, self.program, input, own.get(place))?;
            match own.get(place) {
                Some(Some(Entries::Num(numbers))) if numbers.len() == lanes => {
                    shares.iter_mut().zip(numbers).for_each(|(share, x)| *share = plain.of_signed(*x));
                }
                _ => return Err(session.misuse(INPUT, Misuse::LengthDiffers)),
            }
            for peer in session.peers() {
                plain.sub_assign(&mut shares, &masks(session, plain, peer, lanes));
            }
        } else {
            shares = masks(session, plain, owner, lanes);
        }
        Ok(Held::Num(Num::new(shares)))
    }

    pub(super) fn input_bits(&mut self, place: usize, own: &[Option<Entries>]) -> Result<Held, Abort> {
        let input = self.program.inputs().get(place).ok_or_else(unfit)?;
        let (lanes, ValueKind::Bits(width)) = (input.value.shape().entries(), input.value.kind()) else {
            return Err(unfit());
        };
        let session = self.mixed.session();
        let owner = PartyId::new(input.owner).filter(|owner| owner.index() < session.parties());
        let owner = owner.ok_or_else(|| session.misuse(INPUT, Misuse::PartyUnknown))?;
        let mut values = None;
        if owner == session.me() {
            within(session, self.program, input, own.get(place))?;
            match own.get(place) {
                Some(Some(Entries::Bits(bits)))
                    if bits.len() == lanes && bits.iter().all(|b| b.len() == width) =>
                {
                    let bit = |i: usize| GmwBit::of(bits.iter().map(move |word| u64::from(word[i])));
                    values = Some((0..width).map(bit).collect::<Vec<GmwBit>>());
                }
                _ => return Err(session.misuse(INPUT, Misuse::LengthDiffers)),
            }
        }
        let gmw = self.mixed.gmw();
        let bit = |i: usize| gmw.input(owner, lanes, values.as_ref().map(|values| &values[i]));
        (0..width).map(bit).collect::<Result<_, Abort>>().map(Held::Word)
    }

    /// Opens the outputs to their receivers \[G11\]: those of one kind with the same receivers together, and
    /// all in one round, because every party sends all groups before it receives one.
    pub(super) fn outputs(self) -> Result<Vec<Option<Entries>>, Abort> {
        let outputs = self.program.outputs();
        let mut groups: BTreeMap<(&[u8], bool), Vec<usize>> = BTreeMap::new();
        for (place, output) in outputs.iter().enumerate() {
            let number = output.value.kind() == ValueKind::Num;
            groups.entry((&output.receivers, number)).or_default().push(place);
        }
        let mut sent = Vec::with_capacity(groups.len());
        for ((receivers, number), places) in groups {
            let session = self.mixed.session();
            let all = |number: &u8| PartyId::new(*number).filter(|party| party.index() < session.parties());
            let receivers: Option<Vec<PartyId>> = receivers.iter().map(all).collect();
            let Some(receivers) = receivers else {
                return Err(session.misuse(NODE, Misuse::PartyUnknown));
            };
            let ids: Vec<Id> = places.iter().map(|place| self.code.outputs[*place]).collect();
            let group = if number {
                let parts = ids.iter().map(|id| self.num(*id)).collect::<Result<Vec<_>, _>>()?;
                let x = Num::join(&parts);
                SentOutputs::Numbers(num::send_to(self.mixed.session(), self.plain, &receivers, &x)?)
            } else {
                let mut bits = Vec::new();
                for id in &ids {
                    bits.extend_from_slice(self.word(*id)?);
                }
                SentOutputs::Bits(self.mixed.gmw().send_to(&receivers, &bits)?)
            };
            sent.push((places, group));
        }
        let mut out: Vec<Option<Entries>> = vec![None; outputs.len()];
        for (places, group) in sent {
            let session = self.mixed.session();
            match group {
                SentOutputs::Numbers(group) => {
                    let Some(opened) = group.receive(session)? else { continue };
                    let mut rest = opened.as_slice();
                    for place in places {
                        let lanes = self.code.nodes[self.code.outputs[place]].lanes;
                        let (own, others) = rest.split_at(lanes.min(rest.len()));
                        rest = others;
                        let own = own.iter().map(|x| self.plain.centred(*x)).collect();
                        out[place] = Some(Entries::Num(own));
                    }
                }
                SentOutputs::Bits(group) => {
                    let Some(opened) = group.receive(session)? else { continue };
                    let mut rest = opened.as_slice();
                    for place in places {
                        let node = &self.code.nodes[self.code.outputs[place]];
                        let (own, others) = rest.split_at(node.width.min(rest.len()));
                        rest = others;
                        let lane = |lane: usize| own.iter().map(|bit| bit.lane(lane) == 1).collect();
                        out[place] = Some(Entries::Bits((0..node.lanes).map(lane).collect()));
                    }
                }
            }
        }
        Ok(out)
    }
}

/// A group of outputs whose shares were sent.
enum SentOutputs {
    Numbers(SentNumbers),
    Bits(SentBits),
}

/// Checks that an input of this party is in its range before it is shared.
fn within(
    session: &Session,
    program: &Script,
    input: &Input,
    entries: Option<&Option<Entries>>,
) -> Result<(), Abort> {
    match entries {
        Some(Some(entries)) if in_range(program, input, entries).is_err() => {
            Err(session.misuse(INPUT, Misuse::OutOfRange))
        }
        _ => Ok(()),
    }
}

/// Uniform numbers that only this party and one peer know, to mask an input. The residue of 128 random bits
/// is within 2^-96 of uniform for p below 2^32; for a larger one it is that of 192 bits, within 2^-128.
fn masks(session: &mut Session, plain: Modulus, peer: PartyId, lanes: usize) -> WipedVec<u64> {
    let mut stream = session.prg(peer, purposes::INPUT);
    let each = if plain.bits() > 32 { 3 } else { 2 };
    let mut words = Zeroizing::new(vec![0; each * lanes]);
    stream.words(&mut words);
    let mut out = WipedVec::zeros(lanes);
    if each == 3 {
        let all = out.iter_mut().zip(words.as_chunks::<3>().0);
        all.for_each(|(out, words)| *out = plain.reduce_words(*words));
        return out;
    }
    for (out, pair) in out.iter_mut().zip(words.chunks_exact(2)) {
        *out = plain.reduce_wide(u128::from(pair[0]) << 64 | u128::from(pair[1]));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::code::Code;
    use crate::run::PreprocessedRun;
    use crate::{lower, text};
    use divisi_core::{PublicParameters, local};
    use divisi_field::zp::{P16, P32, P62};
    use divisi_mixed::{Gmw, Mixed};
    use divisi_ot::SetupConfig;
    use std::collections::{BTreeSet, VecDeque};

    /// A mask is the residue of all 128 or 192 bits that a pair draws for it, and of no others.
    #[test]
    fn masks_take_all_that_is_drawn_for_them() {
        const LANES: usize = 70_000;
        for (p, words) in [(P16, 2), (P32, 2), (P62, 3)] {
            let ends = local::run(2, &PublicParameters::new("masks"), |mut session| {
                let peer = session.peers()[0];
                if session.me().index() == 0 {
                    return Ok(masks(&mut session, Modulus::new(p).unwrap(), peer, LANES).to_vec());
                }
                let mut drawn = vec![0; words * LANES];
                session.prg(peer, purposes::INPUT).words(&mut drawn);
                let digit = |rest: u128, word: &u64| (rest << 64 | u128::from(*word)) % u128::from(p);
                Ok(drawn.chunks(words).map(|words| words.iter().fold(0, digit) as u64).collect())
            });
            let ends = ends.unwrap();
            assert_eq!(ends[0], ends[1], "{p}");
        }
    }

    /// All shares of inputs that a party has, in two runs of one session: the numbers, and of each bit of the
    /// words the first 64 lanes.
    fn shares(session: Session, program: &Script, code: &Code) -> Result<[Vec<u64>; 2], Abort> {
        let me = session.me();
        let plain = Modulus::new(program.numbers().modulus()).unwrap();
        let mut mixed = Mixed::new(Gmw::deferred(session, SetupConfig::default()), plain, None, None)?;
        let own = |input: &Input| {
            let entries = input.value.shape().entries();
            (PartyId::new(input.owner) == Some(me)).then(|| match input.value.kind() {
                ValueKind::Num => Entries::Num(vec![5; entries]),
                ValueKind::Bits(width) => Entries::Bits(vec![vec![true; width]; entries]),
            })
        };
        let own: Vec<Option<Entries>> = program.inputs().iter().map(own).collect();
        let (mut numbers, mut words) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let ahead = PreprocessedRun { signs: VecDeque::new(), garbled: VecDeque::new() };
            let (first, held, left) = (me.index() == 0, Vec::new(), Vec::new());
            let mut run = Run { program, code, mixed: &mut mixed, plain, first, left, held, ahead };
            for (place, input) in program.inputs().iter().enumerate() {
                let held = match input.value.kind() {
                    ValueKind::Num => run.input_numbers(place, &own)?,
                    ValueKind::Bits(_) => run.input_bits(place, &own)?,
                };
                match held {
                    Held::Num(num) => numbers.extend_from_slice(num.shares()),
                    Held::Word(bits) => words.extend(
                        bits.iter().map(|bit| (0..64).fold(0, |word, lane| word | bit.lane(lane) << lane)),
                    ),
                }
            }
        }
        Ok([numbers, words])
    }

    /// Equal inputs have shares that are alike nowhere: not in two lanes, bits, inputs, runs or parties,
    /// however many there are.
    #[test]
    fn no_two_inputs_have_the_same_share() {
        let inputs = "input x 2 num 300\ninput y 2 num 300\ninput z 5 num 300\ninput u 1 num\n\
                      input a 2 bits 70 130\ninput b 2 bits 70 130\ninput c 5 bits 3 130\n";
        let body = format!("divisi program 1\nnumbers 61\n{inputs}output x 1\noutput a 1\n");
        let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
        let code = lower(&program).unwrap();
        for n in [5, 6] {
            let parameters = PublicParameters::new("shares of inputs");
            let ends = local::run(n, &parameters, |session| shares(session, &program, &code)).unwrap();
            for (kind, each) in [2 * 901, 2 * 143].into_iter().enumerate() {
                let all = ends.iter().flat_map(|lists| lists[kind].iter().copied());
                assert_eq!(all.collect::<BTreeSet<u64>>().len(), n * each, "{n} parties, kind {kind}");
            }
        }
    }

    /// The end of a run without preprocessing among `n` parties, each of which gives `own` for its inputs.
    fn ends(n: usize, (body, p): (&str, u64), own: &[Entries]) -> Result<Vec<Vec<Option<Entries>>>, Abort> {
        let body = format!("divisi program 1\n{body}");
        let program = text::read(&body, &|_| Err("no circuits".into())).unwrap();
        let code = lower(&program).unwrap();
        local::run(n, &PublicParameters::new("ends"), |session| {
            let me = session.me();
            let gmw = Gmw::deferred(session, SetupConfig::default());
            let mut mixed = Mixed::new(gmw, Modulus::new(p).unwrap(), None, None)?;
            let mine = |(input, own): (&Input, &Entries)| {
                (PartyId::new(input.owner) == Some(me)).then(|| own.clone())
            };
            let own: Vec<_> = program.inputs().iter().zip(own).map(mine).collect();
            let ahead = PreprocessedRun { signs: VecDeque::new(), garbled: VecDeque::new() };
            crate::run::run(&program, &code, &mut mixed, &own, ahead)
        })
    }

    /// Receivers that differ in the last one alone are others: each output goes to its own.
    #[test]
    fn the_last_of_many_receivers_counts() {
        let body = "input x 1 num\ninput y 2 num\ninput b 1 bits 3\ninput c 2 bits 3\n\
                    output x 1,2,3,4\noutput y 1,2,3,5\noutput b 1,2,3,5\noutput c 1,2,3,4\n";
        let word = |first: bool| Entries::Bits(vec![vec![first, true, !first]]);
        let given = [Entries::Num(vec![5]), Entries::Num(vec![-6]), word(true), word(false)];
        for (party, learned) in (1..).zip(ends(5, (body, P32), &given).unwrap()) {
            let told = [party != 5, party != 4, party != 4, party != 5];
            let right: Vec<_> = given.iter().zip(told).map(|(given, told)| told.then_some(given)).collect();
            assert!(learned.iter().map(Option::as_ref).eq(right), "party {party}");
        }
    }

    /// Both parties of a pair draw the same masks, and all of them are uniform, however many there are: each
    /// eighth of the numbers and each of three low bits is met as often as it should be.
    #[test]
    fn masks_are_uniform() {
        for p in [P16, P32, P62] {
            let ends = local::run(2, &PublicParameters::new("masks"), |mut session| {
                let peer = session.peers()[0];
                Ok(masks(&mut session, Modulus::new(p).unwrap(), peer, 2000))
            });
            let ends = ends.unwrap();
            assert!(ends[0][..] == ends[1][..]);
            for masks in ends[0].chunks(250) {
                let eighth = |x: u64| (u128::from(x) * 8 / u128::from(p)) as u64;
                for part in 0..8 {
                    let high = masks.iter().filter(|x| eighth(**x) == part).count();
                    let low = masks.iter().filter(|x| **x % 8 == part).count();
                    // 31 are expected, and the deviation is 5.2
                    assert!(
                        (1..=73).contains(&high) && (1..=73).contains(&low),
                        "{p}: {high}, {low} of {part}"
                    );
                }
            }
        }
    }
}
