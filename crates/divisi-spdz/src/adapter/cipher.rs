//! AES and triple DES on the engine: their keys and texts as inputs, their preprocessing, and their runs over
//! masks.

use super::begin::SETUP;
use super::how::Named;
use super::party_of;
use crate::{AuthBit, AuthByte, Host, Projects, Spdz, SpdzProtocol, Tiny, TinyBit, TinyBits, TinyByte};
use divisi_core::{
    Abort, Boolean, Bytes, Compares, Convert, Direction, Lanes, Opens, PartyId, Settles, Step, Verified, step,
};
use divisi_field::Gf8;
use divisi_symmetric::aes::{self, KeySize, RoundKeys};
use divisi_symmetric::des::{self, TripleKey};
use divisi_symmetric::mode::block::{BlockCipher, Octet};
use divisi_symmetric::mode::cmac::Doubles;

const SHAPE: Step = step!("spdz");

fn misfit(what: &'static str) -> Abort {
    Abort::Misuse { step: SHAPE, what }
}

/// A cipher on the engine.
pub(super) trait OnSpdz<F: Host>: Doubles<Spdz<F>> {
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
    fn announce(e: &mut Spdz<F>, how: Named, key_bytes: usize, blocks: usize);

    /// How many random bits a run over masks takes: for the key and the text that enter, and for the outputs
    /// of the lookups of this many blocks.
    fn masks(key: &[Self::Byte], cipher: &Self, text: &[Self::Byte], blocks: usize) -> usize;

    /// Make the preprocessing for this many blocks.
    fn ahead(e: &mut Spdz<F>, how: Named, key_bytes: usize, blocks: usize) -> Result<(), Abort>;

    /// Make the tables of one direction from this preprocessing.
    fn load(e: &mut Spdz<F>, how: Named, direction: Direction) -> Result<(), Abort>;

    /// Make a tiny engine that contains this engine.
    fn tiny(e: Spdz<F>) -> Self::Tiny;

    /// The engine that a tiny engine contains.
    fn under(t: &mut Self::Tiny) -> &mut Spdz<F>;

    /// Take the engine out of a tiny engine, after the run.
    fn back(t: Self::Tiny) -> Spdz<F>;

    /// Enter a key into the tiny engine, from its bytes and its schedule: the key for the run over masks, and
    /// the key for the run over masked values.
    fn enter_key(t: &mut Self::Tiny, key: &[Self::Byte], cipher: &Self) -> Result<[Self::Masked; 2], Abort>;

    /// Enter a text into the tiny engine: its masks, and its masked values.
    fn enter(t: &mut Self::Tiny, text: Vec<Self::Byte>) -> Result<[MaskedText<F, Self>; 2], Abort>;

    /// End the run over masks, which opens the indices of its lookups.
    fn turn(t: &mut Self::Tiny) -> Result<(), Abort>;

    /// The outputs, from the masks and the masked values that the two runs give.
    fn leave(
        t: &mut Self::Tiny,
        mask: MaskedText<F, Self>,
        public: MaskedText<F, Self>,
    ) -> Result<Vec<Self::Byte>, Abort>;
}

/// A text on the tiny engine.
pub(super) type MaskedText<F, C> =
    Vec<<<C as OnSpdz<F>>::Masked as BlockCipher<<C as OnSpdz<F>>::Tiny>>::Byte>;

/// Input the next values of the party with this index, from 0. That party takes them from the beginning of
/// `rest`.
pub(super) fn brought<F: Host, C: OnSpdz<F>>(
    e: &mut Spdz<F>,
    number: usize,
    lanes: &[usize],
    rest: &mut &[u8],
) -> Result<Vec<C::Byte>, Abort> {
    let misfit = || Abort::Misuse { step: SHAPE, what: "fewer values than the texts have" };
    e.session().phase(SETUP);
    let owner = party_of(e.session(), number)?;
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
pub(super) fn announced<F: Host>(e: &mut Spdz<F>, bytes: [usize; 2]) -> Result<(), Abort> {
    e.session().phase(SETUP);
    let owners = [party_of(e.session(), 0)?, party_of(e.session(), 1)?];
    e.preprocess_known(&[(owners[0], 8 * bytes[0]), (owners[1], 8 * bytes[1])])
}

/// Split a value into values with these numbers of lanes, one after the other.
fn cut<B: Lanes>(all: &B, lanes: &[usize]) -> Result<Vec<B>, Abort> {
    let mut at = 0;
    let part = |lanes: &usize| {
        at += lanes;
        all.gather(&(at - lanes..at).collect::<Vec<_>>())
    };
    let parts: Option<Vec<B>> = lanes.iter().map(part).collect();
    parts.ok_or_else(|| misfit("not one lane for each value"))
}

/// The number of S-boxes of this many blocks of AES.
fn sboxes(key_bytes: usize, blocks: usize) -> usize {
    16 * KeySize::from_bytes(key_bytes).map_or(0, KeySize::rounds) * blocks
}

impl<F: Host> OnSpdz<F> for RoundKeys<AuthByte<F>> {
    type Tiny = Tiny<F>;
    type Masked = RoundKeys<TinyByte<F>>;

    fn input(
        e: &mut Spdz<F>,
        owner: PartyId,
        mine: Option<&[Vec<u8>]>,
        lanes: &[usize],
    ) -> Result<Vec<AuthByte<F>>, Abort> {
        let mine = mine.map(<[Vec<u8>]>::concat);
        let all = e.input(owner, mine.as_deref(), lanes.iter().sum())?;
        cut(&all, lanes)
    }

    fn open(e: &mut Spdz<F>, x: Verified<Vec<AuthByte<F>>>) -> Result<Vec<Vec<u8>>, Abort> {
        Opens::<Vec<AuthByte<F>>>::open(e, x)
    }

    fn as_bytes(_: &mut Spdz<F>, x: Vec<AuthByte<F>>) -> Result<Vec<AuthByte<F>>, Abort> {
        Ok(x)
    }

    fn vanish(e: &mut Spdz<F>, groups: Vec<Vec<AuthByte<F>>>) -> Result<Vec<bool>, Abort> {
        let joined = |group: Vec<AuthByte<F>>| e.join_bytes(&group.iter().collect::<Vec<_>>());
        let groups = groups.into_iter().map(joined).collect::<Result<Vec<AuthByte<F>>, Abort>>()?;
        e.vanish(&groups)
    }

    fn schedule(e: &mut Spdz<F>, key: &[AuthByte<F>]) -> Result<Self, Abort> {
        aes::expand(e, key)
    }

    fn announce(e: &mut Spdz<F>, how: Named, key_bytes: usize, blocks: usize) {
        if how.protocol == SpdzProtocol::Lookup {
            e.announce(8, sboxes(key_bytes, blocks));
        }
    }

    fn masks(key: &[AuthByte<F>], cipher: &Self, text: &[AuthByte<F>], blocks: usize) -> usize {
        let lanes = cipher.keys().iter().flatten().chain(text).map(Lanes::lanes).sum::<usize>();
        8 * (lanes + sboxes(key.len(), blocks))
    }

    fn ahead(e: &mut Spdz<F>, how: Named, key_bytes: usize, blocks: usize) -> Result<(), Abort> {
        let sboxes = sboxes(key_bytes, blocks);
        match how.protocol {
            SpdzProtocol::Lookup if sboxes > 0 => e.preprocess(sboxes),
            SpdzProtocol::Lookup => Ok(()),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition | SpdzProtocol::Raw => {
                e.preprocess_sboxes(sboxes)
            }
        }
    }

    fn load(e: &mut Spdz<F>, how: Named, direction: Direction) -> Result<(), Abort> {
        if how.protocol == SpdzProtocol::Lookup { e.load(direction) } else { Ok(()) }
    }

    fn tiny(e: Spdz<F>) -> Tiny<F> {
        Tiny::new(e)
    }

    fn under(t: &mut Tiny<F>) -> &mut Spdz<F> {
        t.engine()
    }

    fn back(t: Tiny<F>) -> Spdz<F> {
        t.into_engine()
    }

    fn enter_key(t: &mut Tiny<F>, _: &[AuthByte<F>], cipher: &Self) -> Result<[Self::Masked; 2], Abort> {
        let all: Vec<AuthByte<F>> = cipher.keys().iter().flatten().cloned().collect();
        let [masks, public] = RoundKeys::enter(t, all)?;
        let keys = |bytes: Vec<TinyByte<F>>| {
            let keys: Vec<[TinyByte<F>; 16]> =
                bytes.chunks_exact(16).map(|key| std::array::from_fn(|i| key[i].clone())).collect();
            RoundKeys::from_keys(cipher.size(), keys)
                .ok_or_else(|| misfit("another number of round keys than before"))
        };
        Ok([keys(masks)?, keys(public)?])
    }

    fn enter(t: &mut Tiny<F>, text: Vec<AuthByte<F>>) -> Result<[Vec<TinyByte<F>>; 2], Abort> {
        let (masks, public) = t.enter(&text)?.into_iter().map(|[mask, public]| (mask, public)).unzip();
        Ok([masks, public])
    }

    fn turn(t: &mut Tiny<F>) -> Result<(), Abort> {
        t.open_indices()
    }

    fn leave(
        t: &mut Tiny<F>,
        mask: Vec<TinyByte<F>>,
        public: Vec<TinyByte<F>>,
    ) -> Result<Vec<AuthByte<F>>, Abort> {
        mask.into_iter().zip(public).map(|(mask, public)| t.output(mask, public)).collect()
    }
}

impl<F: Host> OnSpdz<F> for TripleKey<AuthBit<F>> {
    type Tiny = TinyBits<F>;
    type Masked = TripleKey<TinyBit<F>>;

    fn input(
        e: &mut Spdz<F>,
        owner: PartyId,
        mine: Option<&[Vec<u8>]>,
        lanes: &[usize],
    ) -> Result<Vec<Octet<AuthBit<F>>>, Abort> {
        let bits = |byte: &Vec<u8>| -> Vec<bool> {
            (0..8).rev().flat_map(|i| byte.iter().map(move |byte| byte >> i & 1 == 1)).collect()
        };
        let mine = mine.map(|bytes| bytes.iter().flat_map(bits).collect::<Vec<bool>>());
        let lanes: Vec<usize> = lanes.iter().flat_map(|lanes| [*lanes; 8]).collect();
        let all = e.input_bits(owner, mine.as_deref(), lanes.iter().sum())?;
        Ok(Octet::from_bits(cut(&all, &lanes)?))
    }

    fn open(e: &mut Spdz<F>, x: Verified<Vec<Octet<AuthBit<F>>>>) -> Result<Vec<Vec<u8>>, Abort> {
        // a byte is linear in its bits, which were settled, so the conversion owes nothing
        let bytes = <Self as OnSpdz<F>>::as_bytes(e, x.into_inner())?;
        let verified = e.settled(bytes)?;
        Opens::<Vec<AuthByte<F>>>::open(e, verified)
    }

    fn as_bytes(e: &mut Spdz<F>, x: Vec<Octet<AuthBit<F>>>) -> Result<Vec<AuthByte<F>>, Abort> {
        x.into_iter()
            .map(|Octet(mut bits)| {
                bits.reverse(); // the highest came first
                e.convert(bits)
            })
            .collect()
    }

    /// Tests bytes if the field of the MACs contains GF(2^8), otherwise bits.
    fn vanish(e: &mut Spdz<F>, groups: Vec<Vec<Octet<AuthBit<F>>>>) -> Result<Vec<bool>, Abort> {
        if !<F as Projects<Gf8>>::FIELD {
            let joined = |group| e.join_bits(&Octet::into_bits(group).iter().collect::<Vec<_>>());
            let groups: Vec<AuthBit<F>> = groups.into_iter().map(joined).collect();
            return e.vanish(&groups);
        }
        let bytes = |group| <Self as OnSpdz<F>>::as_bytes(e, group);
        let groups = groups.into_iter().map(bytes).collect::<Result<_, _>>()?;
        <RoundKeys<AuthByte<F>> as OnSpdz<F>>::vanish(e, groups)
    }

    fn schedule(_: &mut Spdz<F>, key: &[Octet<AuthBit<F>>]) -> Result<Self, Abort> {
        TripleKey::new(&Octet::into_bits(key.to_vec()))
    }

    fn announce(e: &mut Spdz<F>, how: Named, _: usize, blocks: usize) {
        if how.protocol == SpdzProtocol::Lookup {
            e.announce(6, des::LOOKUPS * blocks);
        }
    }

    fn masks(key: &[Octet<AuthBit<F>>], _: &Self, text: &[Octet<AuthBit<F>>], blocks: usize) -> usize {
        let widths = des::SBOXES.iter().map(|table| table.width).sum::<usize>();
        let lookups = des::LOOKUPS / des::SBOXES.len() * widths * blocks;
        8 * key.iter().chain(text).map(Lanes::lanes).sum::<usize>() + lookups
    }

    fn ahead(e: &mut Spdz<F>, how: Named, _: usize, blocks: usize) -> Result<(), Abort> {
        let each = des::LOOKUPS / des::SBOXES.len();
        let all: Vec<_> = des::SBOXES.iter().map(|table| (table, each * blocks)).collect();
        match how.protocol {
            _ if blocks == 0 => Ok(()),
            SpdzProtocol::Lookup => e.prepare_lookups(&all),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition | SpdzProtocol::Raw => {
                e.preprocess_lookups(des::LOOKUPS * blocks)
            }
        }
    }

    fn load(e: &mut Spdz<F>, _: Named, _: Direction) -> Result<(), Abort> {
        e.load_lookups(); // the same tables serve both directions; of other protocols there are none
        Ok(())
    }

    fn tiny(e: Spdz<F>) -> TinyBits<F> {
        TinyBits::new(e)
    }

    fn under(t: &mut TinyBits<F>) -> &mut Spdz<F> {
        t.engine()
    }

    fn back(t: TinyBits<F>) -> Spdz<F> {
        t.into_engine()
    }

    fn enter_key(
        t: &mut TinyBits<F>,
        key: &[Octet<AuthBit<F>>],
        _: &Self,
    ) -> Result<[Self::Masked; 2], Abort> {
        let [masks, public] = TripleKey::enter(t, key.to_vec())?;
        Ok([TripleKey::new(&Octet::into_bits(masks))?, TripleKey::new(&Octet::into_bits(public))?])
    }

    fn enter(
        t: &mut TinyBits<F>,
        text: Vec<Octet<AuthBit<F>>>,
    ) -> Result<[Vec<Octet<TinyBit<F>>>; 2], Abort> {
        let wires = t.enter(&Octet::into_bits(text))?;
        let (masks, public) = wires.into_iter().map(|[mask, public]| (mask, public)).unzip();
        Ok([Octet::from_bits(masks), Octet::from_bits(public)])
    }

    fn turn(t: &mut TinyBits<F>) -> Result<(), Abort> {
        t.open_indices()
    }

    fn leave(
        t: &mut TinyBits<F>,
        mask: Vec<Octet<TinyBit<F>>>,
        public: Vec<Octet<TinyBit<F>>>,
    ) -> Result<Vec<Octet<AuthBit<F>>>, Abort> {
        let wires = Octet::into_bits(mask).into_iter().zip(Octet::into_bits(public));
        let bits = wires.map(|(mask, public)| t.output(mask, public)).collect::<Result<Vec<_>, _>>()?;
        Ok(Octet::from_bits(bits))
    }
}
