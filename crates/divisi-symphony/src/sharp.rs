//! SHArp: hashes of shared messages among three parties, under the names of the Symphony slides
//! (category N3.3).
//!
//! | slides | here |
//! |---|---|
//! | InputMessage(m, P) -> \[m\] | [`input_message`], of any number of messages side by side; [`public_message`] for what everybody knows |
//! | Hash(\[m\]) -> \[H(m)\] | [`Sharp::hash`] |
//! | OutputDigest(\[d\]) -> d | [`Sharp::output_digest`], to all three |
//!
//! All hashes of [`Algorithm::hashes`]: SHA-2, SHA-3, SHAKE and cSHAKE. The lengths of messages are
//! public. A performance mode chooses how SHA-2 adds: the fewest products, or the fewest rounds
//! ([`Priority::adder`]).
//!
//! **Guarantees and what is not protected**: those of [`crate::maestro`].
//!
//! ```
//! use divisi_core::PartyId;
//! use divisi_symphony::{Priority, sharp::{Sharp, input_message}};
//! use divisi_rep3::{Protocol, Rep3, Security, local};
//! use divisi_symmetric::algorithm::Settings;
//!
//! let outputs = local::run(|trio| {
//!     let me = trio.me();
//!     let rep = &mut Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
//!     let three = PartyId::from_index(2).unwrap();
//!     let sha = Sharp::new(&Settings::new("sha256".parse().unwrap()), Priority::TotalThroughput)?;
//!     // FIPS 180-4: two messages of the third party, of lengths that everybody knows.
//!     let own: &[&[u8]] = &[b"abc", b""];
//!     let m = input_message(rep, three, &[3, 0], (me == three).then_some(own))?;
//!     let d = sha.hash(rep, &m)?;
//!     sha.output_digest(rep, &d)
//! })?;
//! assert_eq!(outputs[0][0][..4], [0xba, 0x78, 0x16, 0xbf]);
//! assert_eq!(outputs[0][1][..4], [0xe3, 0xb0, 0xc4, 0x42]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```

use crate::mode::Priority;
use crate::owner::{Public, agree_public, bring_one, columns};
use crate::settle::close;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Byte, Rep3};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::{Function, Messages, bits, byte_values};

const SETTINGS: Step = step!("settings");
const MESSAGE: Step = step!("message");
const PUBLIC: Step = step!("message.public");
const HASH: Step = step!("hash");

/// A hash with all that is public about its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharp(Settings);

/// Shared messages, of public lengths.
pub struct Message(pub(crate) Messages<Rep3>);

impl Message {
    /// Add their lengths, which are public, to the parameters of a step.
    pub(crate) fn lengths(&self, public: Public) -> Public {
        public.list(self.0.bits(), |public, length| public.number(*length))
    }
}

/// Shared digests, one for each message, verified.
pub struct Digest(Verified<Vec<[Bit; 8]>>);

impl Sharp {
    /// A hash by its settings; the adder is that of the mode.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the algorithm is not a hash, or does not have these settings.
    pub fn new(settings: &Settings, mode: Priority) -> Result<Sharp, Abort> {
        if settings.algorithm.is_mac() || settings.check().is_err() {
            return Err(Abort::Misuse { step: SETTINGS, what: Misuse::Unsupported });
        }
        Ok(Sharp(Settings { adder: mode.adder(), ..settings.clone() }))
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// The digest of each message, verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A25 if the parties mean different hashes,
    /// or messages of different lengths.
    pub fn hash(&self, rep: &mut Rep3, messages: &Message) -> Result<Digest, Abort> {
        agree_public(rep, HASH, &messages.lengths(Public::new(HASH).settings(&self.0)))?;
        let function = Function::prepare(rep, &self.0, &[])?;
        let nonces = vec![[0; 12]; messages.0.lanes()];
        let output = function.output(rep, &messages.0, &nonces)?;
        Ok(Digest(close(rep, output)?))
    }

    /// Open the digests, which are verified, to all three parties.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A1 if the holders of a component disagree.
    pub fn output_digest(&self, rep: &mut Rep3, digests: &Digest) -> Result<Vec<Vec<u8>>, Abort> {
        output(rep, digests.0.get())
    }
}

/// Enter messages of `owner`, of these lengths: `own` has them at the owner, and is `None` at the other
/// parties.
///
/// # Errors
/// [`Abort::CheckFailed`] with A24 if the owner gave parts that do not fit together; [`Abort::Misuse`] for
/// messages of other lengths, or no messages.
pub fn input_message(
    rep: &mut Rep3,
    owner: PartyId,
    lengths: &[usize],
    own: Option<&[&[u8]]>,
) -> Result<Message, Abort> {
    let fits = |own: &[&[u8]]| own.iter().map(|message| message.len()).eq(lengths.iter().copied());
    if lengths.is_empty() || !own.is_none_or(fits) {
        return Err(rep.trio().session().misuse(MESSAGE, Misuse::LengthDiffers));
    }
    let (lanes, longest) = (lengths.len(), lengths.iter().copied().max().unwrap_or(0));
    let own = own.map(|own| columns(own, longest));
    let what = lengths_digest(lengths);
    let own = own.as_ref().map(|own| own.as_slice());
    let part = bring_one(rep, owner, &what, longest * lanes, own)?;
    if longest == 0 {
        return Ok(Message(Messages::public(rep, &vec![&[][..]; lanes])));
    }
    let column = |(first, second): (&[u8], &[u8])| Part { first: first.to_vec(), second: second.to_vec() };
    let parts = part.first.chunks_exact(lanes).zip(part.second.chunks_exact(lanes)).map(column);
    let bytes = parts.map(|part| rep.trio().input(&part)).collect::<Result<Vec<Byte>, _>>()?;
    let columns = bits(rep, bytes)?;
    Ok(Message(Messages::new(columns, lengths.to_vec())?))
}

/// Messages that all parties know.
///
/// # Errors
/// [`Abort::CheckFailed`] with A25 if the parties know different ones.
pub fn public_message(rep: &mut Rep3, messages: &[&[u8]]) -> Result<Message, Abort> {
    let public = Public::new(PUBLIC).list(messages, |public, message| public.bytes(message));
    agree_public(rep, PUBLIC, &public)?;
    Ok(Message(Messages::public(rep, messages)))
}

/// A name for messages of these lengths, for the comparison.
fn lengths_digest(lengths: &[usize]) -> String {
    let mut hasher = blake3::Hasher::new();
    for length in lengths {
        hasher.update(&(*length as u64).to_le_bytes());
    }
    format!("messages {}", hasher.finalize().to_hex())
}

/// Open verified outputs to all three parties; returns the bytes of each lane.
pub(crate) fn output(rep: &mut Rep3, verified: &[[Bit; 8]]) -> Result<Vec<Vec<u8>>, Abort> {
    let lanes = verified.first().map_or(0, |byte| byte[0].lanes());
    let bytes = byte_values(rep, verified.to_vec())?;
    let verified = close(rep, bytes)?; // linear in what was verified
    let opened = rep.trio().open(&verified)?;
    Ok((0..lanes).map(|lane| opened.iter().map(|column| column[lane]).collect()).collect())
}
