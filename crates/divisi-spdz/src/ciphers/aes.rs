//! AES on the engine: bytes.

use super::{OnSpdz, cut, misfit};
use crate::protocol::NamedProtocol;
use crate::{AuthByte, Host, Spdz, SpdzProtocol, Tiny, TinyByte};
use divisi_core::{Abort, Bytes, Compares, Direction, Lanes, Misuse, Opens, PartyId, Verified};
use divisi_symmetric::aes::{self, KeySize, RoundKeys};

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

    fn announce(e: &mut Spdz<F>, how: NamedProtocol, key_bytes: usize, blocks: usize) {
        if how.protocol == SpdzProtocol::Lookup {
            e.announce(8, sboxes(key_bytes, blocks));
        }
    }

    fn masks(key: &[AuthByte<F>], cipher: &Self, message: &[AuthByte<F>], blocks: usize) -> usize {
        let lanes = cipher.keys().iter().flatten().chain(message).map(Lanes::lanes).sum::<usize>();
        8 * (lanes + sboxes(key.len(), blocks))
    }

    fn ahead(e: &mut Spdz<F>, how: NamedProtocol, key_bytes: usize, blocks: usize) -> Result<(), Abort> {
        let sboxes = sboxes(key_bytes, blocks);
        match how.protocol {
            SpdzProtocol::Lookup if sboxes > 0 => e.preprocess(sboxes),
            SpdzProtocol::Lookup => Ok(()),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition | SpdzProtocol::Raw => {
                e.preprocess_sboxes(sboxes)
            }
        }
    }

    fn load(e: &mut Spdz<F>, how: NamedProtocol, direction: Direction) -> Result<(), Abort> {
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
            RoundKeys::from_keys(cipher.size(), keys).ok_or_else(|| misfit(Misuse::CountsDiffer))
        };
        Ok([keys(masks)?, keys(public)?])
    }

    fn enter(t: &mut Tiny<F>, message: Vec<AuthByte<F>>) -> Result<[Vec<TinyByte<F>>; 2], Abort> {
        let (masks, public) = t.enter(&message)?.into_iter().map(|[mask, public]| (mask, public)).unzip();
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

/// Make the preprocessing for this many calls of AES, and of its inverse: tables for each direction, or
/// products.
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn ahead_both_ways<F: Host>(
    e: &mut Spdz<F>,
    named: NamedProtocol,
    key_bytes: usize,
    [there, back]: [usize; 2],
) -> Result<(), Abort> {
    type Key<F> = RoundKeys<AuthByte<F>>;
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

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::Auth;
    use crate::dealer::Dealer;
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use divisi_field::Gf48;

    /// All bytes of a message enter the run over masks, the last one too.
    #[test]
    fn all_bytes_enter() {
        let ends = run(2, &PublicParameters::new("bytes"), |session| {
            let (party, dealer) = Dealer::<Gf48>::deal(session, 3)?;
            let mut t = Tiny::new(Spdz::new(party, Box::new(dealer), SpdzProtocol::Lookup)?);
            let message = vec![Auth::zeros(2); 16];
            let entered = <RoundKeys<AuthByte<Gf48>> as OnSpdz<Gf48>>::enter(&mut t, message)?;
            Ok(entered.map(|bytes| bytes.len()))
        });
        assert!(ends.iter().all(|end| *end == Ok([16, 16])), "{ends:?}");
    }
}
