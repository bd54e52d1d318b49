//! Messages of a group, each under its own key, to rows of outputs that all parties learn.

use super::joint::OUTPUTS;
use super::run::{EngineSlot, ONLINE};
use super::{KeyedCipher, OnSpdz, WantedTag, made_or_compared};
use crate::protocol::NamedProtocol;
use crate::{Host, Spdz};
use divisi_core::{Abort, Direction, Settles};
use divisi_engine::known::groups::{Chained, CipherTexts, ModeGroup, SeparateBlocks};
use divisi_symmetric::mode::cmac;

/// The output rows of a group, with their positions in the job. `keys` has the bytes of all keys, `wanted`
/// what is done with each message's tag if the group makes tags.
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn rows<F: Host, C: OnSpdz<F>>(
    slot: &mut EngineSlot<F>,
    named: NamedProtocol,
    group: &ModeGroup<'_>,
    wanted: &[WantedTag<'_>],
    (keys, message): (Vec<C::Byte>, Vec<C::Byte>),
) -> Result<Vec<(usize, Vec<u8>)>, Abort> {
    let e = slot.get()?;
    let cipher = C::schedule(e, &keys)?;
    let (bytes, cipher) = e.settled((keys, cipher))?.into_inner();
    if !group.makes_tags() {
        let key = KeyedCipher { bytes, cipher };
        let out = slot.evaluate(named, &key, group, message)?;
        let e = slot.get()?;
        e.session().phase(OUTPUTS);
        return Ok(group.results(&C::open(e, out)?));
    }
    let tags = if named.tiny {
        tiny_tags(slot, named, group, &KeyedCipher { bytes, cipher }, &message)?
    } else {
        C::ahead(e, named, bytes.len(), group.blocks())?;
        C::load(e, named, Direction::Encrypt)?;
        e.session().phase(ONLINE);
        group.tags(e, cipher, &message)?
    };
    let rows = made_or_compared::<F, C>(slot.get()?, wanted, &tags)?;
    Ok(group.messages().map(|(place, _)| place).zip(rows).collect())
}

/// Tags by a protocol that runs over masks first. It runs twice: for E(0), from which the engine makes the
/// subkeys by doubling, and for the chain of all blocks.
fn tiny_tags<F: Host, C: OnSpdz<F>>(
    slot: &mut EngineSlot<F>,
    named: NamedProtocol,
    group: &ModeGroup<'_>,
    key: &KeyedCipher<F, C>,
    message: &[C::Byte],
) -> Result<Vec<C::Byte>, Abort> {
    let lanes = group.messages().count();
    let zeros = C::public_block(slot.get()?, &vec![vec![0; lanes]; C::BYTES]);
    let apart = SeparateBlocks { direction: Direction::Encrypt, count: lanes };
    let l = slot.evaluate(named, key, &apart, zeros)?;
    let message = cmac::chained::<Spdz<F>, C>(slot.get()?, l.into_inner(), lanes, message)?;
    let chain = Chained { lanes, blocks: message.len() / C::BYTES };
    Ok(slot.evaluate(named, key, &chain, message)?.into_inner())
}
