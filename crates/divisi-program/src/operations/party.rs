//! One party of an operation: first the preprocessing, which depends on no input, then the operation on
//! shares.
//!
//! Adversary: that of [`divisi_mixed`]: all parties but one, semi-honest.

use super::jobs::Op;
use super::operation::{Operations, bytes, entry, table, words};
use super::{ONLINE, PREPROCESSING};
use divisi_bgv::hidden::Hidden;
use divisi_bgv::{Ciphertext, Keys, Sampler};
use divisi_core::{Abort, Convert, Counts, PartyId, Session, Step, step};
use divisi_engine::Own;
use divisi_engine::{EngineParty, Watch, members, timed};
use divisi_mixed::arithmetic::{self, NumberTriples};
use divisi_mixed::private::Masked;
use divisi_mixed::{GmwBit, Mixed, Num};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

const INPUT: Step = step!("input");

/// The state of a party: that for all operations, or for those on ciphertexts alone, which need no transfers.
pub(super) enum Run {
    Mixed(Box<Mixed>),
    Ciphertexts(Box<(Sampler, Keys, Session)>),
}

impl Run {
    fn session(&mut self) -> &mut Session {
        match self {
            Run::Mixed(mixed) => mixed.session(),
            Run::Ciphertexts(all) => &mut all.2,
        }
    }
}

/// One party, with its set-up.
pub(super) struct Member<'p> {
    pub of: &'p Operations,
    pub run: Run,
}

impl EngineParty for Member<'_> {
    fn batch(&mut self, count: usize, own: &Own, watch: &mut dyn Watch) -> Result<Own, Abort> {
        let (of, inputs) = (self.of, Zeroizing::new(words(own)));
        let wanted = if of.job.op.is_random() { 0 } else { count };
        if inputs.len() != wanted {
            return Err(self.run.session().misuse(INPUT, "inputs of another length than declared"));
        }
        match &mut self.run {
            Run::Mixed(mixed) => convert_all(of, mixed, count, &inputs, watch),
            Run::Ciphertexts(all) => {
                let (sampler, keys, session) = &mut **all;
                ciphertexts(of, session, keys, sampler, count, &inputs, watch)
            }
        }
    }

    fn meter(&mut self) -> Counts {
        self.run.session().meter().read()
    }

    fn facts(&self) -> Map<String, Value> {
        let made = match &self.run {
            Run::Mixed(mixed) => mixed.decryptions(),
            Run::Ciphertexts(all) => all.1.decryptions(),
        };
        members(json!({ "partial_decryptions": made }))
    }
}

/// Operations that need transfers, or random bits of any form.
fn convert_all(
    of: &Operations,
    mixed: &mut Mixed,
    count: usize,
    inputs: &[u64],
    watch: &mut dyn Watch,
) -> Result<Own, Abort> {
    let preprocessing = |mixed: &mut Mixed| mixed.session().phase(PREPROCESSING);
    let online = |mixed: &mut Mixed| mixed.session().phase(ONLINE);
    match of.job.op {
        Op::TripleBool => {
            let words = count.div_ceil(64);
            timed(watch, PREPROCESSING, || {
                preprocessing(mixed);
                mixed.gmw().prepare(64 * words)
            })?;
            let [a, b, c] = mixed.gmw().take_triples(words)?.open();
            Ok(bytes(a.iter().chain(b.iter()).chain(c.iter()).copied()))
        }
        Op::Dabit => {
            timed(watch, PREPROCESSING, || {
                preprocessing(mixed);
                mixed.prepare_bits(count)
            })?;
            let (modulo_2, modulo_p) = mixed.take_bits(count)?.open();
            Ok(bytes(modulo_2.iter().chain(modulo_p.iter()).copied()))
        }
        Op::Lookup2 => {
            timed(watch, PREPROCESSING, || {
                preprocessing(mixed);
                mixed.prepare_bits(count)
            })?;
            let tables: Vec<[u64; 2]> = (0..count).map(table).collect();
            timed(watch, ONLINE, || {
                online(mixed);
                let out = mixed.look_up_pairs(&tables, GmwBit::of(inputs.iter().copied()))?;
                Ok(bytes(out.shares().iter().copied()))
            })
        }
        Op::Lookup => look_up(of, mixed, count, inputs, watch),
        Op::B2a => {
            timed(watch, PREPROCESSING, || {
                preprocessing(mixed);
                mixed.prepare_bits(count * of.job.bits)
            })?;
            timed(watch, ONLINE, || {
                online(mixed);
                let out: Num = mixed.convert(GmwBit::of_words(inputs, of.job.bits))?;
                Ok(bytes(out.shares().iter().copied()))
            })
        }
        _ => {
            timed(watch, PREPROCESSING, || {
                preprocessing(mixed);
                mixed.prepare_to_bits(count)
            })?;
            timed(watch, ONLINE, || {
                online(mixed);
                let out: Vec<GmwBit> = mixed.convert(Num::new(Hidden::from(inputs)))?;
                Ok(bytes(GmwBit::to_words(&out).iter().copied()))
            })
        }
    }
}

/// Lookups in one public table, or each lookup in a private table of its own.
fn look_up(
    of: &Operations,
    mixed: &mut Mixed,
    count: usize,
    inputs: &[u64],
    watch: &mut dyn Watch,
) -> Result<Own, Abort> {
    let (entries, width) = (of.job.entries, of.job.entries.ilog2() as usize);
    let signs = timed(watch, PREPROCESSING, || {
        mixed.session().phase(PREPROCESSING);
        let signs = mixed.signs(width, count)?;
        if of.job.private {
            mixed.prepare_products((entries - 1) * count)?;
        }
        Ok(signs)
    })?;
    let first = mixed.session().me().index() == 0;
    let items = if of.job.private { count } else { 1 };
    let all = (0..items).flat_map(|item| (0..entries).map(move |at| (item, at)));
    let table: Vec<u64> = all.map(|(item, at)| entry(of.job, item, at)).collect();
    timed(watch, ONLINE, || {
        mixed.session().phase(ONLINE);
        let x = GmwBit::of_words(inputs, width);
        let out = if of.job.private {
            // the tables belong to the first party, whose share they are; the shares of others are zero
            let shares: Vec<u64> = table.iter().map(|entry| if first { *entry } else { 0 }).collect();
            mixed.look_up_private(&Num::new(Hidden::from(&*shares)), &x, signs)?
        } else {
            mixed.look_up(&[&table], &x, signs)?.pop().unwrap_or_else(|| Num::zero(0))
        };
        Ok(bytes(out.shares().iter().copied()))
    })
}

/// Lookups, each in a private table of its own, which ciphertexts that pass from party to party mask.
fn look_up_by_hops(
    of: &Operations,
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
    inputs: &[u64],
    watch: &mut dyn Watch,
) -> Result<Own, Abort> {
    let (entries, width) = (of.job.entries, of.job.entries.ilog2() as usize);
    // the tables belong to the first party, whose share they are; the shares of others are zero
    let first = session.me().index() == 0;
    let all = (0..count).flat_map(|item| (0..entries).map(move |at| (item, at)));
    let mut table = Hidden::zeros(count * entries);
    table
        .iter_mut()
        .zip(all)
        .for_each(|(own, (item, at))| *own = if first { entry(of.job, item, at) } else { 0 });
    let table = Num::new(table);
    let tables = timed(watch, PREPROCESSING, || {
        session.phase(PREPROCESSING);
        Masked::new(session, keys, sampler, width, &table)
    })?;
    drop(table);
    timed(watch, ONLINE, || {
        session.phase(ONLINE);
        let x = GmwBit::of_words(inputs, width);
        Ok(bytes(tables.look_up(session, &x)?.shares().iter().copied()))
    })
}

/// Operations on ciphertexts alone, as many items at once as the ring has slots.
fn ciphertexts(
    of: &Operations,
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    count: usize,
    inputs: &[u64],
    watch: &mut dyn Watch,
) -> Result<Own, Abort> {
    let (ring, slots) = (keys.ring(), keys.ring().dimension());
    let batches = count.div_ceil(slots);
    if of.job.op == Op::Lookup {
        return look_up_by_hops(of, session, keys, sampler, count, inputs, watch);
    }
    if of.job.op == Op::TripleArith {
        let made = timed(watch, PREPROCESSING, || {
            session.phase(PREPROCESSING);
            let made = arithmetic::batches(session, keys, sampler, batches)?;
            Ok(made.into_iter().map(NumberTriples::open).collect::<Vec<_>>())
        })?;
        let column = |part: usize| {
            made.iter().flat_map(move |triple| triple[part].shares().iter().copied()).take(count)
        };
        return Ok(bytes((0..3).flat_map(column)));
    }
    // the part that is not measured has a phase of its own
    const CHECK: &str = "check";
    let top = ring.parameters().top();
    let factor = Ciphertext::factor_after(ring, 1, top, 0);
    let parties: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let holders: Vec<PartyId> = parties.into_iter().cycle().take(batches).collect();
    let give = |session: &mut Session, sampler: &mut Sampler, phase: &'static str| {
        let mut all = Vec::with_capacity(batches);
        for (holder, inputs) in holders.iter().zip(inputs.chunks(slots)) {
            session.phase(phase);
            let mut share = Hidden::zeros(slots);
            share.iter_mut().zip(inputs).for_each(|(share, x)| *share = *x);
            all.push(keys.from_shares(session, sampler, *holder, &share)?);
        }
        Ok::<_, Abort>(all)
    };
    let back = |session: &mut Session, sampler: &mut Sampler, all: Vec<Option<Ciphertext>>, phase| {
        let mut out = Vec::with_capacity(count);
        for (holder, x) in holders.iter().zip(all) {
            session.phase(phase);
            let x = x.map(|x| x.switch(ring, 0));
            let share = keys.to_shares(session, sampler, *holder, x.as_ref(), factor)?;
            out.extend_from_slice(&share);
        }
        out.truncate(count);
        Ok::<_, Abort>(bytes(out))
    };
    if of.job.op == Op::A2e {
        let all = timed(watch, ONLINE, || give(session, sampler, ONLINE))?;
        back(session, sampler, all, CHECK)
    } else {
        let all = give(session, sampler, CHECK)?;
        timed(watch, ONLINE, || back(session, sampler, all, ONLINE))
    }
}
