//! Known answers of modes that process a text as a whole, with AES: key wrapping, SIV, CCM, XTS, ciphertext
//! stealing, CFB of bits.
//!
//! Blocks go through tables or products on shares. Where a mode doubles a block or cuts a byte, bytes are
//! taken apart into bits (BitDec). Of a tag that is compared, or an integrity value, all parties learn only
//! whether it is right, and nothing of a text is opened before that \[A23\].

use super::begin::{ONLINE, engine};
use super::cipher::{OnSpdz, announced, brought};
use super::evaluate::EngineSlot;
use super::how::{How, Named};
use super::needs::{self, Needs};
use crate::{AuthByte, Host, Spdz, SpdzProtocol};
use divisi_core::{Abort, Counts, Direction, Session};
use divisi_engine::job::{Own, TextsJob};
use divisi_engine::known::whole::{self, WithoutBlocks};
use divisi_engine::{EngineParty, Unsupported, Watch};
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
    named: Named,
    session: Session,
) -> Result<Box<dyn EngineParty + 'p>, Abort> {
    let mut needs = Needs::default();
    // what a mode takes to take bytes apart and to compare is not named
    let key_bytes = texts.cipher.key_bytes();
    for batch in whole::batches(texts) {
        let lanes = batch.count();
        let bytes = [texts.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * lanes);
        needs = needs.known(needs::party(0), bytes[0]).known(needs::party(1), bytes[1]);
        let (keys, calls) = (texts.key_bytes() / key_bytes.max(1), batch.calls().into_iter().sum::<usize>());
        needs = needs.cipher(named, key_bytes, keys * lanes, calls * lanes);
    }
    let e = engine::<F>(session, how, named.protocol, &needs.plan())?;
    Ok(Box::new(Holder::<F> { texts, named, slot: EngineSlot::new(e, how) }))
}

type Key<F> = RoundKeys<AuthByte<F>>;

struct Holder<'p, F: Host> {
    texts: &'p TextsJob,
    named: Named,
    slot: EngineSlot<F>,
}

impl<F: Host> EngineParty for Holder<'_, F> {
    fn batch(&mut self, _: usize, own: &Own, _: &mut dyn Watch) -> Result<Own, Abort> {
        let mut rows = whole::rejected(self.texts);
        let mut rest = own.as_slice();
        let e = self.slot.get()?;
        let of_all = |batch: &whole::Batch<'_>| {
            [self.texts.key_bytes(), batch.secret_bytes()].map(|bytes| bytes * batch.count())
        };
        let bytes = whole::batches(self.texts).into_iter().map(|batch| of_all(&batch));
        announced(e, bytes.fold([0, 0], |all, more| [all[0] + more[0], all[1] + more[1]]))?;
        for batch in whole::batches(self.texts) {
            let lanes = batch.count();
            let key = brought::<F, Key<F>>(e, 0, &vec![lanes; self.texts.key_bytes()], &mut rest)?;
            let text = brought::<F, Key<F>>(e, 1, &vec![lanes; batch.secret_bytes()], &mut rest)?;
            let keys = batch.ready(e, <Key<F> as OnSpdz<F>>::schedule, &key)?;
            make_ahead(e, self.named, self.texts, batch.calls().map(|calls| calls * lanes))?;
            e.session().phase(ONLINE);
            whole::put(&mut rows, batch.run(e, WithoutBlocks, keys, &text)?);
        }
        e.rest()?;
        Ok(Own::new(rows.concat()))
    }

    fn meter(&mut self) -> Counts {
        self.slot.get().map_or_else(|_| Counts::default(), |e| e.session().meter().read())
    }
}

/// Make the preprocessing for this many calls of the cipher, and of its inverse: tables for each direction,
/// or products.
fn make_ahead<F: Host>(
    e: &mut Spdz<F>,
    named: Named,
    texts: &TextsJob,
    [there, back]: [usize; 2],
) -> Result<(), Abort> {
    let key_bytes = texts.cipher.key_bytes();
    if named.protocol != SpdzProtocol::Lookup {
        return <Key<F> as OnSpdz<F>>::ahead(e, named, key_bytes, there + back);
    }
    for (direction, blocks) in [(Direction::Encrypt, there), (Direction::Decrypt, back)] {
        if blocks > 0 {
            <Key<F> as OnSpdz<F>>::ahead(e, named, key_bytes, blocks)?;
            <Key<F> as OnSpdz<F>>::load(e, named, direction)?;
        }
    }
    Ok(())
}
