//! Known answers of modes that process a text as a whole, with AES: key wrapping, SIV, CCM, XTS, ciphertext
//! stealing, CFB of bits.
//!
//! Blocks go through tables or products on shares. Where a mode doubles a block or cuts a byte, bytes are
//! taken apart into bits (BitDec). Of a tag that is compared, or an integrity value, all parties learn only
//! whether it is right, and nothing of a text is opened before that \[A23\].

use super::begin::engine;
use super::how::How;
use crate::ciphers::run::{EngineSlot, ONLINE};
use crate::ciphers::{OnSpdz, ahead_both_ways, announced, brought};
use crate::protocol::NamedProtocol;
use crate::stock::Needs;
use crate::{AuthByte, Host};
use divisi_core::{Abort, Counts, PartyId, Session};
use divisi_engine::job::{Own, TextsJob};
use divisi_engine::known::whole::{self, WithoutBlocks};
use divisi_engine::{EngineParty, StartedParty, Unsupported, Watch};
use divisi_symmetric::aes::RoundKeys;

/// Check that the engine can process these texts.
///
/// # Errors
/// [`Unsupported`] for a cipher other than AES, for a protocol of another task, and for a protocol that runs
/// over masks first.
pub(super) fn check(texts: &TextsJob, how: &How) -> Result<(), Unsupported> {
    if texts.cipher.aes().is_none() {
        return Err(Unsupported::new("a mode that exists for AES only"));
    }
    if how.protocol(texts.cipher)?.tiny {
        return Err(Unsupported::new(
            "a mode that takes bytes apart into bits, which aes-tinytable cannot do: give --protocol aes-lt",
        ));
    }
    Ok(())
}

/// One party of such texts, on a session.
///
/// # Errors
/// The abort that ends the session.
pub(super) fn begin<'p, F: Host + 'p>(
    texts: &'p TextsJob,
    how: &How,
    named: NamedProtocol,
    session: Session,
) -> StartedParty<'p> {
    let mut needs = Needs::default();
    // what a mode takes to take bytes apart and to compare is not named
    let key_bytes = texts.cipher.key_bytes();
    for batch in whole::batches(texts) {
        let lanes = batch.count();
        let bytes = [texts.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * lanes);
        needs = needs.known(PartyId::P1, bytes[0]).known(PartyId::P2, bytes[1]);
        let (keys, calls) = (texts.key_bytes() / key_bytes.max(1), batch.calls().into_iter().sum::<usize>());
        needs = needs.cipher(named, key_bytes, keys * lanes, calls * lanes);
    }
    let e = engine::<F>(session, how, named.protocol, &needs.plan())?;
    Ok(Box::new(Holder::<F> { texts, named, slot: EngineSlot::new(e, how.stock.is_some()) }))
}

type Key<F> = RoundKeys<AuthByte<F>>;

struct Holder<'p, F: Host> {
    texts: &'p TextsJob,
    named: NamedProtocol,
    slot: EngineSlot<F>,
}

impl<F: Host> EngineParty for Holder<'_, F> {
    fn batch(&mut self, _: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let mut rows = whole::rejected(self.texts);
        let mut rest = own.as_slice();
        let e = self.slot.get()?;
        let key_bytes = self.texts.cipher.key_bytes();
        let of_all = |batch: &whole::Batch<'_>| {
            [self.texts.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * batch.count())
        };
        let bytes = whole::batches(self.texts).into_iter().map(|batch| of_all(&batch));
        announced(e, bytes.fold([0, 0], |all, more| [all[0] + more[0], all[1] + more[1]]))?;
        for batch in whole::batches(self.texts) {
            let lanes = batch.count();
            let key = brought::<F, Key<F>>(e, PartyId::P1, &vec![lanes; self.texts.key_bytes()], &mut rest)?;
            let text = brought::<F, Key<F>>(e, PartyId::P2, &vec![lanes; batch.secret_bytes()], &mut rest)?;
            let keys = batch.ready(e, <Key<F> as OnSpdz<F>>::schedule, &key)?;
            ahead_both_ways(e, self.named, key_bytes, batch.calls().map(|calls| calls * lanes))?;
            e.session().phase(ONLINE);
            whole::put(&mut rows, batch.run(e, WithoutBlocks, keys, &text)?);
        }
        e.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.meter()
    }
}
