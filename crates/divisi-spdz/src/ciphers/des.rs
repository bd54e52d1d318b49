//! Triple DES on the engine: bits, which are joined to bytes when they are opened.

use super::{OnSpdz, cut};
use crate::protocol::NamedProtocol;
use crate::{AuthBit, AuthByte, Host, Projects, Spdz, SpdzProtocol, TinyBit, TinyBits};
use divisi_core::{Abort, Boolean, Compares, Convert, Direction, Lanes, Opens, PartyId, Settles, Verified};
use divisi_field::Gf8;
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::des::{self, TripleKey};
use divisi_symmetric::mode::block::Octet;

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

    fn announce(e: &mut Spdz<F>, how: NamedProtocol, _: usize, blocks: usize) {
        if how.protocol == SpdzProtocol::Lookup {
            e.announce(6, des::LOOKUPS * blocks);
        }
    }

    fn masks(key: &[Octet<AuthBit<F>>], _: &Self, message: &[Octet<AuthBit<F>>], blocks: usize) -> usize {
        let widths = des::SBOXES.iter().map(|table| table.width).sum::<usize>();
        let lookups = des::LOOKUPS / des::SBOXES.len() * widths * blocks;
        8 * key.iter().chain(message).map(Lanes::lanes).sum::<usize>() + lookups
    }

    fn ahead(e: &mut Spdz<F>, how: NamedProtocol, _: usize, blocks: usize) -> Result<(), Abort> {
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

    fn load(e: &mut Spdz<F>, _: NamedProtocol, _: Direction) -> Result<(), Abort> {
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
        message: Vec<Octet<AuthBit<F>>>,
    ) -> Result<[Vec<Octet<TinyBit<F>>>; 2], Abort> {
        let wires = t.enter(&Octet::into_bits(message))?;
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
