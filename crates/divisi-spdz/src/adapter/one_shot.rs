//! Known answers of modes that process a message as a whole, with AES: key wrapping, SIV, CCM, XTS,
//! ciphertext stealing, CFB of bits.
//!
//! Blocks go through tables or products on shares. Where a mode doubles a block or cuts a byte, bytes are
//! taken apart into bits (BitDec). Of a tag that is compared, or an integrity value, all parties learn only
//! whether it is right, and nothing of a message is opened before that \[A23\].

use super::begin::engine;
use super::how::How;
use crate::ciphers::run::{EngineSlot, ONLINE};
use crate::ciphers::{OnSpdz, ahead_both_ways, announced, brought};
use crate::protocol::NamedProtocol;
use crate::stock::Needs;
use crate::{AuthByte, Host};
use divisi_core::{Abort, Counts, PartyId, Session};
use divisi_engine::job::{ModesJob, Own};
use divisi_engine::known::one_shot::{self, WithoutBlocks};
use divisi_engine::{EngineParty, StartedParty, Unsupported, Watch};
use divisi_symmetric::aes::RoundKeys;

/// Check that the engine can process these messages.
///
/// # Errors
/// [`Unsupported`] for a cipher other than AES, for a protocol of another task, and for a protocol that runs
/// over masks first.
pub(super) fn check(messages: &ModesJob, how: &How) -> Result<(), Unsupported> {
    if messages.cipher.aes().is_none() {
        return Err(Unsupported::new("a mode that exists for AES only"));
    }
    if how.protocol(messages.cipher)?.tiny {
        return Err(Unsupported::new(
            "a mode that takes bytes apart into bits, which aes-tinytable cannot do: give --protocol aes-lt",
        ));
    }
    Ok(())
}

/// One party of such messages, on a session.
///
/// # Errors
/// The abort that ends the session.
pub(super) fn begin<'p, F: Host + 'p>(
    messages: &'p ModesJob,
    how: &How,
    named: NamedProtocol,
    session: Session,
) -> StartedParty<'p> {
    let mut needs = Needs::default();
    // what a mode takes to take bytes apart and to compare is not named
    let key_bytes = messages.cipher.key_bytes();
    for batch in one_shot::batches(messages) {
        let lanes = batch.count();
        let bytes = [messages.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * lanes);
        needs = needs.known(PartyId::P1, bytes[0]).known(PartyId::P2, bytes[1]);
        let (keys, calls) =
            (messages.key_bytes() / key_bytes.max(1), batch.calls().into_iter().sum::<usize>());
        needs = needs.cipher(named, key_bytes, keys * lanes, calls * lanes);
    }
    let e = engine::<F>(session, how, named.protocol, &needs.plan())?;
    Ok(Box::new(Holder::<F> { messages, named, slot: EngineSlot::new(e, how.stock.is_some()) }))
}

type Key<F> = RoundKeys<AuthByte<F>>;

struct Holder<'p, F: Host> {
    messages: &'p ModesJob,
    named: NamedProtocol,
    slot: EngineSlot<F>,
}

impl<F: Host> EngineParty for Holder<'_, F> {
    fn batch(&mut self, _: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let mut rows = one_shot::rejected(self.messages);
        let mut rest = own.as_slice();
        let e = self.slot.get()?;
        let key_bytes = self.messages.cipher.key_bytes();
        let of_all = |batch: &one_shot::Batch<'_>| {
            [self.messages.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * batch.count())
        };
        let bytes = one_shot::batches(self.messages).into_iter().map(|batch| of_all(&batch));
        announced(e, bytes.fold([0, 0], |all, more| [all[0] + more[0], all[1] + more[1]]))?;
        for batch in one_shot::batches(self.messages) {
            let lanes = batch.count();
            let key =
                brought::<F, Key<F>>(e, PartyId::P1, &vec![lanes; self.messages.key_bytes()], &mut rest)?;
            let message =
                brought::<F, Key<F>>(e, PartyId::P2, &vec![lanes; batch.secret_bytes()], &mut rest)?;
            let keys = batch.ready(e, <Key<F> as OnSpdz<F>>::schedule, &key)?;
            ahead_both_ways(e, self.named, key_bytes, batch.calls().map(|calls| calls * lanes))?;
            e.session().phase(ONLINE);
            one_shot::put(&mut rows, batch.run(e, WithoutBlocks, keys, &message)?);
        }
        e.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.meter()
    }
}
