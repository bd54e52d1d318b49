//! MACnifico: MACs with shared keys of shared messages among three parties, under the names of the
//! Symphony slides (category N3.4).
//!
//! | slides | here |
//! |---|---|
//! | InputKey(k, P) -> \[k\] | [`Macnifico::input_key`]; [`Macnifico::dist_key_gen`] for a key that nobody knows |
//! | InputMessage(m, P) -> \[m\] | [`input_message`], of any number of messages side by side; [`public_message`] for what everybody knows |
//! | TagGen(\[k\], \[m\]) -> \[tag\] | [`Macnifico::tag_gen`] |
//! | OutputTag(\[tag\]) -> tag | [`Macnifico::output_tag`], to all three |
//! | | [`Macnifico::verify`]: tags compared inside, of which one bit each comes out \[S7\] |
//!
//! HMAC over all hashes, KMAC and KMACXOF, CMAC and GMAC over AES ([`Algorithm::macs`]). What depends on the
//! key alone (the states of HMAC and KMAC, the subkeys of CMAC, powers of the hash key) is made once,
//! verified, and kept as shares with the key.
//!
//! **Guarantees and what is not protected**: those of [`crate::maestro`]. The nonces of GMAC are coins of all
//! three, drawn when the messages and the key are fixed; nobody chooses one. Settings, lengths, and nonces
//! and tags to be compared are the same at all three before anything is computed with them \[A25\]. Of a tag
//! that is compared nothing is opened but a random multiple of its difference from the computed tag, after
//! everything that this depends on is verified: a lie ends the session, and no answer is given.
//!
//! ```
//! use divisi_core::PartyId;
//! use divisi_symphony::{Priority, macnifico::{Macnifico, Received, input_message}};
//! use divisi_rep3::{Protocol, Rep3, Security, local};
//! use divisi_symmetric::algorithm::Settings;
//!
//! let outputs = local::run(|trio| {
//!     let me = trio.me();
//!     let rep = &mut Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
//!     let (one, two) = (PartyId::from_index(0).unwrap(), PartyId::from_index(1).unwrap());
//!     let hmac = Macnifico::new(&Settings::new("hmac-sha256".parse().unwrap()), Priority::LowLatency)?;
//!     // RFC 4231, test case 2: the first party has the key, the second the message.
//!     let key = hmac.input_key(rep, one, 4, (me == one).then_some(&b"Jefe"[..]))?;
//!     let own: &[&[u8]] = &[b"what do ya want for nothing?"];
//!     let m = input_message(rep, two, &[28], (me == two).then_some(own))?;
//!     let tag = hmac.tag_gen(rep, &key, &m)?;
//!     let tag = hmac.output_tag(rep, &tag)?.remove(0);
//!     assert_eq!(hmac.verify(rep, &key, &m, &[tag.clone()])?, [true]);
//!     assert_eq!(hmac.verify(rep, &key, &m, &[Received { nonce: None, tag: vec![0; 32] }])?, [false]);
//!     Ok(tag.tag)
//! })?;
//! assert_eq!(outputs[0][..4], [0x5b, 0xdc, 0xc1, 0x46]);
//! # Ok::<(), divisi_core::Abort>(())
//! ```

pub use crate::sharp::{Message, input_message, public_message};

use crate::mode::Priority;
use crate::owner::{Public, agree_public, bring_one, single};
use crate::purposes;
use crate::settle::close;
use crate::sharp::output;
use crate::tags;
use divisi_core::{Abort, Expands, Misuse, PartyId, Step, Verified, step};
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Rep3};
use divisi_symmetric::algorithm::{Algorithm, Settings};
use divisi_symmetric::batch::Function;

const SETTINGS: Step = step!("settings");
const KEY: Step = step!("key");
const NONCE: Step = step!("nonce");
const GENERATE: Step = step!("tag.generate");
const VERIFY: Step = step!("tag.verify");

/// A MAC with all that is public about its use, in one performance mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macnifico {
    settings: Settings,
    mode: Priority,
}

/// A shared key, prepared: the values that depend on the key alone, verified.
pub struct MacKey {
    function: Verified<Function<Rep3>>,
    settings: Settings,
}

/// Shared tags, one for each message, verified, with the nonces that they were made with.
pub struct Tag {
    tag: Verified<Vec<[Bit; 8]>>,
    nonces: Vec<[u8; 12]>,
}

/// A tag that all parties know, with its nonce if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The nonce of GMAC; none for other MACs.
    pub nonce: Option<[u8; 12]>,
    /// The tag.
    pub tag: Vec<u8>,
}

impl Macnifico {
    /// A MAC by its settings; the adder is that of the mode.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the algorithm is not a MAC, or does not have these settings.
    pub fn new(settings: &Settings, mode: Priority) -> Result<Macnifico, Abort> {
        if !settings.algorithm.is_mac() || settings.check().is_err() {
            return Err(Abort::Misuse { step: SETTINGS, what: Misuse::Unsupported });
        }
        Ok(Macnifico { settings: Settings { adder: mode.adder(), ..settings.clone() }, mode })
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.settings.algorithm
    }

    /// Enter a key of this many bytes of `owner`, who alone gives its value.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A24 if the owner gave parts that do not fit together, with A25 if the
    /// parties have different MACs; [`Abort::Misuse`] for a key of a length that the algorithm does not take.
    pub fn input_key(
        &self,
        rep: &mut Rep3,
        owner: PartyId,
        bytes: usize,
        own: Option<&[u8]>,
    ) -> Result<MacKey, Abort> {
        let what: String = self.public(KEY).digest().iter().map(|byte| format!("{byte:02x}")).collect();
        let part = bring_one(rep, owner, &format!("mac key {what}"), bytes, own)?;
        self.prepare(rep, &part)
    }

    /// A fresh random key that nobody knows, of the algorithm's usual length.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A25 if the parties mean different MACs.
    pub fn dist_key_gen(&self, rep: &mut Rep3) -> Result<MacKey, Abort> {
        agree_public(rep, KEY, &self.public(KEY))?;
        let part = rep.trio().random_part(self.algorithm().key_bytes());
        self.prepare(rep, &part)
    }

    /// The public parameters of a step, in which the parties must agree.
    fn public(&self, step: Step) -> Public {
        Public::new(step).settings(&self.settings).bytes(self.mode.name().as_bytes())
    }

    fn prepare(&self, rep: &mut Rep3, part: &Part) -> Result<MacKey, Abort> {
        let key = single(rep, part)?;
        let function =
            rep.with_protocol(self.mode.protocol(), |rep| tags::prepare(rep, &self.settings, &key))?;
        Ok(MacKey { function, settings: self.settings.clone() })
    }

    /// The tag of each message under this key, verified. For GMAC each with a fresh nonce.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A25 if the parties mean different MACs,
    /// or messages of different lengths; [`Abort::Misuse`] for a key of another MAC.
    pub fn tag_gen(&self, rep: &mut Rep3, key: &MacKey, messages: &Message) -> Result<Tag, Abort> {
        agree_public(rep, GENERATE, &messages.lengths(self.public(GENERATE)))?;
        let lanes = messages.0.lanes();
        let nonces =
            if self.algorithm().nonce_bytes() > 0 { draw_nonces(rep, lanes)? } else { vec![[0; 12]; lanes] };
        let tag = self.tags(rep, key, messages, &nonces)?;
        Ok(Tag { tag: close(rep, tag)?, nonces })
    }

    /// For each message whether the received tag is its tag under this key.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::CheckFailed`] with A25 if the parties mean different MACs,
    /// messages of different lengths, or tags or nonces that differ; [`Abort::Misuse`] for a key of another
    /// MAC, tags of another length or number, GMAC without a nonce, or another MAC with one.
    pub fn verify(
        &self,
        rep: &mut Rep3,
        key: &MacKey,
        messages: &Message,
        received: &[Received],
    ) -> Result<Vec<bool>, Abort> {
        let wanted = self.algorithm().nonce_bytes() > 0;
        if received.len() != messages.0.lanes() || received.iter().any(|one| one.nonce.is_some() != wanted) {
            return Err(rep.trio().session().misuse(NONCE, Misuse::CountsDiffer));
        }
        let public = messages.lengths(self.public(VERIFY));
        let public = public.list(received, |public, one| {
            public.bytes(one.nonce.as_ref().map_or(&[][..], |nonce| nonce)).bytes(&one.tag)
        });
        agree_public(rep, VERIFY, &public)?;
        let nonces: Vec<[u8; 12]> = received.iter().map(|one| one.nonce.unwrap_or_default()).collect();
        let tags = self.tags(rep, key, messages, &nonces)?;
        let received: Vec<Vec<u8>> = received.iter().map(|one| one.tag.clone()).collect();
        tags::matches(rep, tags, &received)
    }

    fn tags(
        &self,
        rep: &mut Rep3,
        key: &MacKey,
        messages: &Message,
        nonces: &[[u8; 12]],
    ) -> Result<Vec<[Bit; 8]>, Abort> {
        if key.settings != self.settings {
            return Err(rep.trio().session().misuse(KEY, Misuse::KeyUnfit));
        }
        rep.with_protocol(self.mode.protocol(), |rep| key.function.get().output(rep, &messages.0, nonces))
    }

    /// Open the tags, which are verified, to all three parties.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A1 if the holders of a component disagree.
    pub fn output_tag(&self, rep: &mut Rep3, tags: &Tag) -> Result<Vec<Received>, Abort> {
        let wanted = self.algorithm().nonce_bytes() > 0;
        let opened = output(rep, tags.tag.get())?;
        let received = opened.into_iter().zip(&tags.nonces);
        Ok(received.map(|(tag, nonce)| Received { nonce: wanted.then_some(*nonce), tag }).collect())
    }
}

/// A fresh nonce for each message: 96 bits from a coin of all three parties. It is tossed after a barrier, so
/// that everything before it is fixed.
fn draw_nonces(rep: &mut Rep3, lanes: usize) -> Result<Vec<[u8; 12]>, Abort> {
    let trio = rep.trio();
    let fixed = trio.barrier()?;
    let coin = trio.coin(&fixed)?;
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 gmac nonces v1");
    hasher.update(&coin.bytes());
    let mut reader = hasher.expand(purposes::NONCES);
    let mut nonces = vec![[0; 12]; lanes];
    reader.fill(nonces.as_flattened_mut());
    Ok(nonces)
}
