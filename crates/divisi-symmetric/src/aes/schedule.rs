//! The key schedule of AES (FIPS 197, 5.2) on secret keys.

use super::KeySize;
use divisi_core::{Abort, Bytes, Direction, Lanes, Misuse, step};

/// The round keys of one key size: one for AddRoundKey before the first round, and one for each round.
///
/// Every byte has as many lanes as there are keys. Round keys with one lane are used for all lanes of a
/// state.
#[derive(Clone)]
pub struct RoundKeys<B> {
    size: KeySize,
    keys: Vec<[B; 16]>,
}

impl<B> RoundKeys<B> {
    /// The size of the keys.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// The `Nr + 1` round keys, each in the order of the state.
    #[must_use]
    pub fn keys(&self) -> &[[B; 16]] {
        &self.keys
    }

    /// Round keys that were stored elsewhere; `None` if their number is not that of the key size.
    #[must_use]
    pub fn from_keys(size: KeySize, keys: Vec<[B; 16]>) -> Option<Self> {
        (keys.len() == size.rounds() + 1).then_some(RoundKeys { size, keys })
    }
}

impl<B: Lanes> Lanes for RoundKeys<B> {
    fn lanes(&self) -> usize {
        self.keys.first().map_or(0, |key| key[0].lanes())
    }

    /// The round keys with key `index[l]` in lane `l`, for a batch of blocks under different keys.
    fn gather(&self, index: &[usize]) -> Option<Self> {
        let keys = self.keys.iter().map(|key| {
            let bytes: Option<Vec<B>> = key.iter().map(|byte| byte.gather(index)).collect();
            <[B; 16]>::try_from(bytes?).ok()
        });
        Some(RoundKeys { size: self.size, keys: keys.collect::<Option<_>>()? })
    }
}

/// KeyExpansion (FIPS 197, algorithm 2): the round keys of a key given in bytes, for all lanes of the key at
/// once.
///
/// Cost: 10 S-box layers of four bytes for AES-128, 8 for AES-192, 13 for AES-256. Each SubWord depends on
/// the one before, so fewer layers are impossible (test `the_schedule_has_one_layer_a_subword`).
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] if `key` does not have 16, 24 or 32 bytes, or if their
/// numbers of lanes differ.
pub fn expand<E: Bytes + ?Sized>(e: &mut E, key: &[E::Byte]) -> Result<RoundKeys<E::Byte>, Abort> {
    let misuse = |what| Abort::Misuse { step: step!("expand"), what };
    let size = KeySize::from_bytes(key.len()).ok_or(misuse(Misuse::LengthUnsupported))?;
    if key.iter().any(|byte| byte.lanes() != key[0].lanes()) {
        return Err(misuse(Misuse::LanesDiffer));
    }
    let nk = size.words();
    e.prepare(size.sub_words(), 4, key[0].lanes())?;
    let (words, _) = key.as_chunks::<4>();
    let mut w: Vec<[E::Byte; 4]> = words.to_vec();
    let mut rcon = 0x01;
    for i in nk..4 * (size.rounds() + 1) {
        let mut temp = w[i - 1].clone();
        if i % nk == 0 {
            temp.rotate_left(1); // RotWord
            sub_word(e, &mut temp)?;
            e.add_public(&mut temp[0], &[rcon])?;
            rcon = xtimes(rcon);
        } else if nk > 6 && i % nk == 4 {
            sub_word(e, &mut temp)?;
        }
        for (byte, earlier) in temp.iter_mut().zip(&w[i - nk]) {
            e.add(byte, earlier)?;
        }
        w.push(temp);
    }
    let keys = w.chunks_exact(4).map(|w| std::array::from_fn(|i| w[i / 4][i % 4].clone())).collect();
    Ok(RoundKeys { size, keys })
}

/// SubWord: a chain of one layer. The result is added to earlier words of the schedule, which are ordinary
/// values, so the chain ends here.
fn sub_word<E: Bytes + ?Sized>(e: &mut E, word: &mut [E::Byte; 4]) -> Result<(), Abort> {
    e.sbox(Direction::Encrypt, &mut word.each_mut())?;
    e.finish(&mut word.each_mut())
}

/// XTIMES (FIPS 197, 4.2): the product with `02`, of a public constant.
const fn xtimes(x: u8) -> u8 {
    (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1b }
}
