//! Maestro: AES among three parties, under the names of the Symphony slides (category N3.1).
//!
//! | slides | here |
//! |---|---|
//! | DistKeyGen() -> \[ks\] | [`Maestro::dist_key_gen`]: the schedule of a fresh key that nobody knows |
//! | InputKey(k, P) -> \[k\] | [`Maestro::input_key`] |
//! | ComputeKS(\[k\]) -> \[ks\] | [`Maestro::compute_ks`] |
//! | InputBlock(m, P) -> \[m\] | [`Maestro::input_block`], of any number of blocks side by side |
//! | Encipher(\[ks\], \[m\]), Decipher | [`Maestro::encipher`], [`Maestro::decipher`] |
//! | OutputBlock(\[m\]) -> m | [`Maestro::output_block`], to all three |
//!
//! The performance modes are those of [`Priority`]: online throughput, total throughput, low latency. This
//! module is the block cipher alone. GCM on stored keys and for files is in [`crate::gcm`], and in the crate
//! `divisi-node` with clients and servers.
//!
//! **Guarantees.** Those of [`divisi_rep3`]: three parties, one corrupt; with
//! [`divisi_rep3::Security::Malicious`] each value that a function here returns is verified, or the
//! session aborts; with `SemiHonest`, nothing is verified. A party's input is compared between its
//! holders before it is used \[A24\]. **What it does not protect**: which function is called when,
//! sizes, and what the outputs tell. All three call the same functions in the same order.
//!
//! ```
//! use divisi_core::PartyId;
//! use divisi_symphony::{Priority, maestro::Maestro};
//! use divisi_rep3::{Rep3, Security, local};
//! use divisi_symmetric::aes::KeySize;
//!
//! // Three parties in this process; over a network each has its own session.
//! let outputs = local::run(|trio| {
//!     let me = trio.me();
//!     let aes = Maestro::new(KeySize::Aes128, Priority::LowLatency);
//!     let rep = &mut Rep3::new(trio, aes.mode().protocol(), Security::Malicious);
//!     let (one, two) = (PartyId::from_index(0).unwrap(), PartyId::from_index(1).unwrap());
//!
//!     // FIPS 197, C.1: the first party has the key, the second the block.
//!     let key: Vec<u8> = (0..16).collect();
//!     let block: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
//!     let key = aes.input_key(rep, one, (me == one).then_some(&key[..]))?;
//!     let m = aes.input_block(rep, two, 1, (me == two).then_some(&[block][..]))?;
//!     let ks = aes.compute_ks(rep, &key)?;
//!     let c = aes.encipher(rep, &ks, &m)?;
//!
//!     // Under a key that nobody knows, and back.
//!     let fresh = aes.dist_key_gen(rep)?;
//!     let hidden = aes.encipher(rep, &fresh, &m)?;
//!     let back = aes.decipher(rep, &fresh, &hidden)?;
//!     assert_eq!(aes.output_block(rep, &back)?, [block]);
//!     aes.output_block(rep, &c)
//! })?;
//! assert_eq!(outputs[0][0][..4], [0x69, 0xc4, 0xe0, 0xd8]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```

use crate::cipher;
use crate::gcm::columns;
use crate::mode::Priority;
use crate::owner::{bring_one, single};
use crate::settle::close;
use divisi_core::{Abort, Direction, Lanes, Misuse, PartyId, Step, Verified, step};
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::aes::{KeySize, RoundKeys};
use divisi_symmetric::mode::gcm::interleaved;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

const KEY: Step = step!("key");
const BLOCK: Step = step!("block");

/// AES with keys of one size, in one performance mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maestro {
    size: KeySize,
    mode: Priority,
}

/// A shared key.
pub struct AesKey(Vec<Byte>);

/// A shared key schedule, verified.
pub struct KeySchedule(Verified<RoundKeys<Byte>>);

/// Shared blocks side by side, verified.
pub struct CipherBlock(Verified<[Byte; 16]>);

impl CipherBlock {
    /// How many blocks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.get()[0].lanes()
    }

    /// Whether there are none: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Maestro {
    /// AES with keys of that size, in that mode.
    #[must_use]
    pub fn new(size: KeySize, mode: Priority) -> Maestro {
        Maestro { size, mode }
    }

    /// The size of its keys.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// Its performance mode.
    #[must_use]
    pub fn mode(&self) -> Priority {
        self.mode
    }

    /// The schedule of a fresh random key that nobody knows: each component of the key is drawn under
    /// the key that its two holders share.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn dist_key_gen(&self, rep: &mut Rep3) -> Result<KeySchedule, Abort> {
        let part = rep.trio().random_part(self.size.bytes());
        let key = AesKey(single(rep, &part)?);
        self.compute_ks(rep, &key)
    }

    /// Enter the key of `owner`: `own` is the key at the owner, and `None` at the other parties.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A24 if the owner gave parts that do not fit together;
    /// [`Abort::Misuse`] for a key of another length.
    pub fn input_key(&self, rep: &mut Rep3, owner: PartyId, own: Option<&[u8]>) -> Result<AesKey, Abort> {
        let part = bring_one(rep, owner, "aes key", self.size.bytes(), own)?;
        Ok(AesKey(single(rep, &part)?))
    }

    /// The key schedule of a shared key (FIPS 197, 5.2), verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] for a key of another size.
    pub fn compute_ks(&self, rep: &mut Rep3, key: &AesKey) -> Result<KeySchedule, Abort> {
        if key.0.len() != self.size.bytes() {
            return Err(rep.trio().session().misuse(KEY, Misuse::KeyUnfit));
        }
        let round_keys = rep.with_protocol(self.mode.protocol(), |rep| cipher::expand(rep, &key.0))?;
        Ok(KeySchedule(close(rep, round_keys)?))
    }

    /// Enter blocks of `owner`: `own` has them at the owner, and is `None` at the other parties.
    ///
    /// # Errors
    /// The errors of [`Maestro::input_key`]; [`Abort::Misuse`] if there are no blocks.
    pub fn input_block(
        &self,
        rep: &mut Rep3,
        owner: PartyId,
        blocks: usize,
        own: Option<&[[u8; 16]]>,
    ) -> Result<CipherBlock, Abort> {
        if blocks == 0 {
            return Err(rep.trio().session().misuse(BLOCK, Misuse::Empty));
        }
        let part = bring_one(rep, owner, "blocks", 16 * blocks, own.map(<[_]>::as_flattened))?;
        let misfit = Abort::Misuse { step: BLOCK, what: Misuse::BlockLength };
        let state = <[Byte; 16]>::try_from(columns(rep, &part)?).map_err(|_| misfit)?;
        Ok(CipherBlock(close(rep, state)?))
    }

    /// The blocks enciphered (FIPS 197, 5.1), verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn encipher(&self, rep: &mut Rep3, ks: &KeySchedule, m: &CipherBlock) -> Result<CipherBlock, Abort> {
        self.through(rep, Direction::Encrypt, ks, m)
    }

    /// The blocks deciphered (FIPS 197, 5.3), verified.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn decipher(&self, rep: &mut Rep3, ks: &KeySchedule, c: &CipherBlock) -> Result<CipherBlock, Abort> {
        self.through(rep, Direction::Decrypt, ks, c)
    }

    fn through(
        &self,
        rep: &mut Rep3,
        direction: Direction,
        ks: &KeySchedule,
        blocks: &CipherBlock,
    ) -> Result<CipherBlock, Abort> {
        if ks.0.get().size() != self.size {
            return Err(rep.trio().session().misuse(KEY, Misuse::KeyUnfit));
        }
        let protocol = self.mode.protocol();
        rep.with_protocol(protocol, |rep| cipher::through(rep, direction, ks.0.get(), blocks.0.get()))
            .map(CipherBlock)
    }

    /// Open the blocks, which are verified, to all three parties.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A1 if the holders of a component disagree.
    pub fn output_block(&self, rep: &mut Rep3, blocks: &CipherBlock) -> Result<Vec<[u8; 16]>, Abort> {
        let verified = close(rep, blocks.0.get().to_vec())?; // linear in what was verified
        let opened = rep.trio().open(&verified)?;
        Ok(interleaved(&opened, 16 * blocks.len())?.as_chunks().0.to_vec())
    }
}
