//! Encryption and decryption of many messages at once. The lanes are the blocks of all messages, one message
//! after the other, followed by the block E_K(J_0) of each message. Messages under the same key are next to
//! each other, so that its round keys are gathered only once for all of them.
//!
//! What is opened: first the ciphertexts, when everything they depend on is verified, and then their tags.
//! About a received tag nothing is revealed but whether it is right \[A23\]. A plaintext is returned,
//! verified, if its tag was right.

use super::compare::{TAG_BYTES, open_tags, tags_match};
use super::keystream::{MessageLanes, counters, cut};
use super::{Lengths, Padding, TagLength, TooLong, interleaved, j0, lanes_at, tag, tag_masks};
use crate::aes::RoundKeys;
use crate::engines::GcmEngine;
use crate::mode::ctr;
use divisi_core::{Abort, Lanes as _, Misuse, Step, Verified, step};

const BATCH: Step = step!("batch");

/// A message to be encrypted or decrypted.
pub struct GcmItem<'a> {
    /// The lane that has its key.
    pub key: usize,
    /// Its IV.
    pub iv: [u8; 12],
    /// Its associated data.
    pub aad: &'a [u8],
    /// The length of the tag.
    pub tag_length: TagLength,
    /// The direction, and the message.
    pub payload: GcmPayload<'a>,
}

/// The direction, and the message.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum GcmPayload<'a> {
    /// Encrypt a plaintext of this many bytes.
    Plain(usize),
    /// Decrypt a ciphertext with this tag, as [`TagLength::element`] gives it.
    Cipher {
        /// The ciphertext.
        ciphertext: &'a [u8],
        /// The tag.
        tag: u128,
    },
}

impl GcmPayload<'_> {
    pub(super) fn bytes(self) -> usize {
        match self {
            GcmPayload::Plain(bytes) => bytes,
            GcmPayload::Cipher { ciphertext, .. } => ciphertext.len(),
        }
    }
}

/// The result for a message.
#[expect(clippy::exhaustive_enums, reason = "a message whose tag was wrong has no plaintext")]
pub enum GcmOutcome<B> {
    /// Ciphertext and tag, opened to all parties.
    Sealed {
        /// The ciphertext; it has the length of the plaintext.
        ciphertext: Vec<u8>,
        /// The tag; the bytes beyond its length are zero.
        tag: [u8; TAG_BYTES],
    },
    /// The tag was right. The plaintext has 16 columns, one for each position in a block, with a lane for
    /// each block. It was not opened.
    Opened(Verified<Vec<B>>),
    /// The tag was wrong. The plaintext was not opened.
    Invalid,
}

/// Messages with the key stream added, not verified yet: the columns of all ciphertexts that will be opened,
/// the columns of each plaintext, and the masks of the tags (of encrypted messages, and of decrypted ones).
pub type GcmPayloads<B, K> = (Vec<B>, (Vec<Vec<B>>, [Option<K>; 2]));

/// The messages that are processed in one call.
pub struct GcmBatch<'a> {
    items: &'a [GcmItem<'a>],
    lengths: Vec<Lengths>,
    places: Vec<MessageLanes>,
    /// The messages in the order of their lanes.
    order: Vec<usize>,
    /// The number of lanes that have message.
    blocks: usize,
    /// The indices of the messages to encrypt.
    sealed: Vec<usize>,
    /// The indices of the messages to decrypt.
    received: Vec<usize>,
}

impl<'a> GcmBatch<'a> {
    /// Assigns lanes to the messages.
    ///
    /// # Errors
    /// [`TooLong`] if a message is longer than GCM allows.
    pub fn new(items: &'a [GcmItem<'a>]) -> Result<GcmBatch<'a>, TooLong> {
        let lengths = |item: &GcmItem<'_>| Lengths::new(item.aad.len() as u64, item.payload.bytes() as u64);
        let lengths = items.iter().map(lengths).collect::<Result<Vec<_>, _>>()?;
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|k| items[*k].key);
        let mut places = vec![MessageLanes::default(); items.len()];
        let mut blocks = 0;
        for k in &order {
            let bytes = items[*k].payload.bytes();
            places[*k] = MessageLanes { message: blocks, bytes, mask: 0 };
            blocks += bytes.div_ceil(16);
        }
        for (at, k) in order.iter().enumerate() {
            places[*k].mask = blocks + at;
        }
        let (sealed, received) =
            (0..items.len()).partition(|k: &usize| matches!(items[*k].payload, GcmPayload::Plain(_)));
        Ok(GcmBatch { items, lengths, places, order, blocks, sealed, received })
    }

    /// The messages.
    pub(super) fn items(&self) -> &'a [GcmItem<'a>] {
        self.items
    }

    /// The number of blocks in the longest input of GHASH in this batch.
    #[must_use]
    pub fn hash_blocks(&self) -> u64 {
        self.lengths.iter().map(|lengths| lengths.hash_blocks()).max().unwrap_or(1)
    }

    /// Column `i` of the batch: the byte at position `i` of each block of the plaintexts, and zero in all
    /// lanes of other messages and of masks. `message` gives the plaintext of the item with this number.
    #[must_use]
    pub fn column<'t>(&self, i: usize, message: impl Fn(usize) -> &'t [u8]) -> Vec<u8> {
        let mut column = vec![0; self.blocks + self.order.len()];
        for k in &self.sealed {
            put(&mut column, self.places[*k].message, message(*k), i);
        }
        column
    }

    /// Computes the key stream of all messages under these keys (one key in each lane), adds the messages,
    /// and cuts the result to the length of each message: no byte of key stream beyond a message is kept.
    /// `plain` gives column `i` of the plaintexts ([`GcmBatch::column`]).
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if a message has no key.
    pub fn messages<E: GcmEngine>(
        &self,
        e: &mut E,
        keys: &RoundKeys<E::Byte>,
        plain: impl Fn(&mut E, usize) -> Result<E::Byte, Abort>,
    ) -> Result<GcmPayloads<E::Byte, E::Block>, Abort> {
        let blocks = |k: &usize| self.places[*k].bytes.div_ceil(16);
        let counters = counters(self.order.iter().map(|k| (j0(&self.items[*k].iv), 1, blocks(k))), true);
        let keys_of = |k: &usize, times: usize| std::iter::repeat_n(self.items[*k].key, times);
        let masks = self.order.iter().flat_map(|k| keys_of(k, 1));
        let index: Vec<usize> = self.order.iter().flat_map(|k| keys_of(k, blocks(k))).chain(masks).collect();
        // a single key serves all lanes
        let index = (keys.lanes() > 1).then_some(&index[..]);
        let mut stream = ctr::pieced_keystream(e, keys, index, &counters)?;
        let mut masks = [None, None];
        for (masks, group) in masks.iter_mut().zip([&self.sealed, &self.received]) {
            if !group.is_empty() {
                let lanes: Vec<usize> = group.iter().map(|k| self.places[*k].mask).collect();
                *masks = Some(tag_masks(e, &stream, &lanes)?);
            }
        }
        for (i, byte) in stream.iter_mut().enumerate() {
            if !self.sealed.is_empty() {
                let column = plain(e, i)?;
                e.add(byte, &column)?;
            }
            if !self.received.is_empty() {
                let mut column = vec![0; byte.lanes()];
                for k in &self.received {
                    if let GcmPayload::Cipher { ciphertext, .. } = self.items[*k].payload {
                        put(&mut column, self.places[*k].message, ciphertext, i);
                    }
                }
                e.add_public(byte, &column)?;
            }
        }
        let sealed: Vec<MessageLanes> = self.sealed.iter().map(|k| self.places[*k]).collect();
        let sealed = cut(&stream, &sealed)?;
        let received = self.received.iter().map(|k| cut(&stream, &[self.places[*k]]));
        Ok((sealed, (received.collect::<Result<_, _>>()?, masks)))
    }

    /// Opens the ciphertexts, computes all tags, opens the tags of encrypted messages, and compares those of
    /// decrypted messages. `powers` gives the first powers of a message's hash key, verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if there are too few powers.
    pub fn finish<E: GcmEngine>(
        &self,
        e: &mut E,
        messages: Verified<GcmPayloads<E::Byte, E::Block>>,
        powers: impl Fn(&GcmItem<'_>, usize) -> Option<E::Block>,
    ) -> Result<Vec<GcmOutcome<E::Byte>>, Abort> {
        let (ciphertexts, rest) = messages.split();
        let (plaintexts, masks) = rest.split();
        let [sealed_masks, received_masks] = masks.into_inner();
        let mut outcomes: Vec<_> = self.items.iter().map(|_| GcmOutcome::Invalid).collect();
        if let Some(masks) = sealed_masks {
            let ciphertexts = self.open_ciphertexts(e, ciphertexts)?;
            let hashed = self.sealed.iter().zip(&ciphertexts).map(|(k, message)| (*k, &message[..]));
            let tags = self.tags(e, hashed, &masks, &powers)?;
            let lengths: Vec<_> = self.sealed.iter().map(|k| self.items[*k].tag_length).collect();
            let tags = open_tags(e, tags, &lengths)?;
            for ((k, ciphertext), tag) in self.sealed.iter().zip(ciphertexts).zip(tags) {
                outcomes[*k] = GcmOutcome::Sealed { ciphertext, tag };
            }
        }
        if let Some(masks) = received_masks {
            let hashed = self.received.iter().filter_map(|k| match self.items[*k].payload {
                GcmPayload::Cipher { ciphertext, .. } => Some((*k, ciphertext)),
                GcmPayload::Plain(_) => None,
            });
            let theirs = self.tags(e, hashed, &masks, &powers)?;
            let received: Vec<_> = self.received.iter().filter_map(|k| self.received_tag(*k)).collect();
            let valid = tags_match(e, theirs, &received)?;
            // a plaintext whose tag is wrong is dropped here [M0.7, A23]
            for ((k, valid), columns) in self.received.iter().zip(valid).zip(plaintexts.each()) {
                if valid {
                    outcomes[*k] = GcmOutcome::Opened(columns);
                }
            }
        }
        Ok(outcomes)
    }

    fn received_tag(&self, k: usize) -> Option<(TagLength, u128)> {
        match self.items[k].payload {
            GcmPayload::Cipher { tag, .. } => Some((self.items[k].tag_length, tag)),
            GcmPayload::Plain(_) => None,
        }
    }

    /// Opens all ciphertexts: in one round, or in none if all are empty.
    fn open_ciphertexts<E: GcmEngine>(
        &self,
        e: &mut E,
        columns: Verified<Vec<E::Byte>>,
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let empty = columns.get().iter().all(|column| column.lanes() == 0);
        let opened = if empty { vec![Vec::new(); 16] } else { e.open(columns)? };
        let mut rest: Vec<&[u8]> = opened.iter().map(Vec::as_slice).collect();
        // each message takes its bytes from the front of each column, in the order in which the messages were
        // cut
        let take = |k: &usize| {
            let bytes = self.places[*k].bytes;
            let own = rest.iter_mut().enumerate().map(|(i, rest)| {
                let (own, later) = rest.split_at(lanes_at(bytes, i).min(rest.len()));
                *rest = later;
                own.to_vec()
            });
            interleaved(&own.collect::<Vec<_>>(), bytes)
        };
        self.sealed.iter().map(take).collect()
    }

    /// The tags of these messages, given with their ciphertexts, one tag in each lane. Linear in the powers
    /// of the hash keys and in the masks.
    fn tags<'t, E: GcmEngine>(
        &self,
        e: &mut E,
        messages: impl Iterator<Item = (usize, &'t [u8])>,
        masks: &E::Block,
        powers: &impl Fn(&GcmItem<'_>, usize) -> Option<E::Block>,
    ) -> Result<E::Block, Abort> {
        let mut hashes = Vec::with_capacity(masks.lanes());
        for (k, ciphertext) in messages {
            let mut blocks = hash_input(self.items[k].aad, ciphertext, self.lengths[k]);
            blocks.reverse(); // the last block belongs to the first power
            let own = powers(&self.items[k], blocks.len());
            let own = own.ok_or(Abort::Misuse { step: BATCH, what: Misuse::NotMade })?;
            hashes.push(e.combine(&own, &blocks)?);
        }
        let hashes = match (hashes.pop(), hashes.is_empty()) {
            (Some(one), true) => one,
            (last, _) => e.join(&hashes.iter().chain(&last).collect::<Vec<_>>()),
        };
        tag(e, hashes, masks)
    }
}

/// Writes the bytes at position `i` of each block of a message into a column, from lane `at` on.
fn put(column: &mut [u8], at: usize, message: &[u8], i: usize) {
    let from = message.iter().skip(i).step_by(16);
    column.iter_mut().skip(at).zip(from).for_each(|(to, byte)| *to = *byte);
}

/// The input of GHASH: associated data, ciphertext and lengths, as padded blocks.
fn hash_input(aad: &[u8], ciphertext: &[u8], lengths: Lengths) -> Vec<u128> {
    let mut blocks = Vec::with_capacity(usize::try_from(lengths.hash_blocks()).unwrap_or(0));
    let mut padding = Padding::default();
    for part in [aad, ciphertext, &lengths.length_block()] {
        blocks.extend(padding.push(part));
        blocks.extend(padding.close());
    }
    blocks
}
