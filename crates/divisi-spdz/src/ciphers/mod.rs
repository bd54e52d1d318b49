//! AES and triple DES on the engine: their keys and messages as inputs, their preprocessing, and their runs
//! over masks.

mod aes;
mod des;
pub(crate) mod groups;
pub(crate) mod joint;
mod masked;
pub(crate) mod run;
mod tags;

pub(crate) use aes::ahead_both_ways;
pub(crate) use masked::MaskedRun;
pub(crate) use tags::{WantedTag, made_or_compared};

use crate::protocol::NamedProtocol;
use crate::{AuthByte, Host, Spdz};
use divisi_core::{Abort, Direction, Lanes, Misuse, PartyId, Step, Verified, step};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::cmac::Doubles;

/// The phase in which a session begins, and inputs are given.
pub(crate) const SETUP: &str = "setup";

const SHAPE: Step = step!("spdz");

fn misfit(what: Misuse) -> Abort {
    Abort::Misuse { step: SHAPE, what }
}

/// A cipher on the engine.
pub(crate) trait OnSpdz<F: Host>: Doubles<Spdz<F>> {
    /// The tiny engine, which contains the engine and runs the cipher over masks first.
    type Tiny;
    /// The cipher on the tiny engine.
    type Masked: BlockCipher<Self::Tiny>;

    /// Input bytes of the party `owner`, which has them in `mine`; byte i has `lanes[i]` lanes.
    fn input(
        e: &mut Spdz<F>,
        owner: PartyId,
        mine: Option<&[Vec<u8>]>,
        lanes: &[usize],
    ) -> Result<Vec<Self::Byte>, Abort>;

    /// Open bytes to all parties.
    fn open(e: &mut Spdz<F>, x: Verified<Vec<Self::Byte>>) -> Result<Vec<Vec<u8>>, Abort>;

    /// These bytes as bytes of the engine, which are elements of GF(2^8).
    fn as_bytes(e: &mut Spdz<F>, x: Vec<Self::Byte>) -> Result<Vec<AuthByte<F>>, Abort>;

    /// For each group of bytes whether all of them are zero. All parties learn this, and nothing else about
    /// the bytes.
    fn vanish(e: &mut Spdz<F>, groups: Vec<Vec<Self::Byte>>) -> Result<Vec<bool>, Abort>;

    /// The key schedule.
    fn schedule(e: &mut Spdz<F>, key: &[Self::Byte]) -> Result<Self, Abort>;

    /// Announce the number of blocks to come in all, for which [`OnSpdz::ahead`] is then called part by part.
    fn announce(e: &mut Spdz<F>, how: NamedProtocol, key_bytes: usize, blocks: usize);

    /// How many random bits a run over masks takes: for the key and the message that enter, and for the
    /// outputs of the lookups of this many blocks.
    fn masks(key: &[Self::Byte], cipher: &Self, message: &[Self::Byte], blocks: usize) -> usize;

    /// Make the preprocessing for this many blocks.
    fn ahead(e: &mut Spdz<F>, how: NamedProtocol, key_bytes: usize, blocks: usize) -> Result<(), Abort>;

    /// Make the tables of one direction from this preprocessing.
    fn load(e: &mut Spdz<F>, how: NamedProtocol, direction: Direction) -> Result<(), Abort>;

    /// Make a tiny engine that contains this engine.
    fn tiny(e: Spdz<F>) -> Self::Tiny;

    /// The engine that a tiny engine contains.
    fn under(t: &mut Self::Tiny) -> &mut Spdz<F>;

    /// Take the engine out of a tiny engine, after the run.
    fn back(t: Self::Tiny) -> Spdz<F>;

    /// Enter a key into the tiny engine, from its bytes and its schedule: the key for the run over masks, and
    /// the key for the run over masked values.
    fn enter_key(t: &mut Self::Tiny, key: &[Self::Byte], cipher: &Self) -> Result<[Self::Masked; 2], Abort>;

    /// Enter a message into the tiny engine: its masks, and its masked values.
    fn enter(t: &mut Self::Tiny, message: Vec<Self::Byte>) -> Result<[MaskedMessage<F, Self>; 2], Abort>;

    /// End the run over masks, which opens the indices of its lookups.
    fn turn(t: &mut Self::Tiny) -> Result<(), Abort>;

    /// The outputs, from the masks and the masked values that the two runs give.
    fn leave(
        t: &mut Self::Tiny,
        mask: MaskedMessage<F, Self>,
        public: MaskedMessage<F, Self>,
    ) -> Result<Vec<Self::Byte>, Abort>;
}

/// A key: its bytes, and the cipher with its key schedule.
pub(crate) struct KeyedCipher<F: Host, C: OnSpdz<F>> {
    pub bytes: Vec<C::Byte>,
    pub cipher: C,
}

/// A message on the tiny engine.
pub(crate) type MaskedMessage<F, C> =
    Vec<<<C as OnSpdz<F>>::Masked as BlockCipher<<C as OnSpdz<F>>::Tiny>>::Byte>;

/// Input the next values of a party, which takes them from the beginning of `rest`.
pub(crate) fn brought<F: Host, C: OnSpdz<F>>(
    e: &mut Spdz<F>,
    owner: PartyId,
    lanes: &[usize],
    rest: &mut &[u8],
) -> Result<Vec<C::Byte>, Abort> {
    let misfit = || Abort::Misuse { step: SHAPE, what: Misuse::CountsDiffer };
    e.session().phase(SETUP);
    if lanes.is_empty() {
        return Ok(Vec::new());
    }
    if e.session().me() != owner {
        return C::input(e, owner, None, lanes);
    }
    let mut columns = Vec::with_capacity(lanes.len());
    for lanes in lanes {
        let (column, later) = rest.split_at_checked(*lanes).ok_or_else(misfit)?;
        columns.push(column.to_vec());
        *rest = later;
    }
    C::input(e, owner, Some(&columns), lanes)
}

/// Make the masks of the inputs of the first two parties, which give this many bytes in all.
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn announced<F: Host>(e: &mut Spdz<F>, bytes: [usize; 2]) -> Result<(), Abort> {
    e.session().phase(SETUP);
    e.preprocess_known(&[(PartyId::P1, 8 * bytes[0]), (PartyId::P2, 8 * bytes[1])])
}

/// Split a value into values with these numbers of lanes, one after the other.
fn cut<B: Lanes>(all: &B, lanes: &[usize]) -> Result<Vec<B>, Abort> {
    let mut at = 0;
    let part = |lanes: &usize| {
        at += lanes;
        all.gather(&(at - lanes..at).collect::<Vec<_>>())
    };
    let parts: Option<Vec<B>> = lanes.iter().map(part).collect();
    parts.ok_or_else(|| misfit(Misuse::CountsDiffer))
}
