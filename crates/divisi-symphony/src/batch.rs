//! Many AES-GCM messages in one go: the steps that [`crate::short`] and [`crate::many`] have in common.
//!
//! Adversary, openings and their order as in [`crate::gcm`]. The lanes of a call are the blocks of all texts,
//! message after message, and after them the block E_K(J_0) of each message. Messages under one key stand
//! side by side, so that its round keys are laid out once for all of them.

use crate::cipher;
use crate::gcm::{TAG, interleave, lanes_at, tags_match, truncate};
use crate::settle::close;
use divisi_core::{Abort, Blocks, Bytes, Convert, Lanes, Step, Verified, step};
use divisi_field::Gf128;
use divisi_rep3::deal::Part;
use divisi_rep3::{Block, Byte, Rep3};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::mode::ctr;
use divisi_symmetric::mode::gcm::{self, Lengths, Padding, TagLength};
use std::ops::Range;

const BATCH: Step = step!("batch");

/// One message.
pub(crate) struct Item<'a> {
    /// The lane of its key.
    pub key: usize,
    /// Its IV.
    pub iv: [u8; 12],
    /// Its associated data.
    pub aad: &'a [u8],
    /// How long the tag is.
    pub tag_length: TagLength,
    /// What is to be done.
    pub text: Text<'a>,
}

/// What came of a message.
pub enum BatchOutcome {
    /// Ciphertext and tag, opened to all three.
    Sealed {
        /// The ciphertext, as long as the plaintext.
        ciphertext: Vec<u8>,
        /// The tag.
        tag: [u8; TAG],
    },
    /// The tag was right: the plaintext as 16 columns, one for each place of a block, a lane a block. Nothing
    /// of it was opened.
    Opened(Verified<Vec<Byte>>),
    /// The tag was wrong; nothing of the plaintext was opened.
    Invalid,
}

/// Which way, and what.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    /// Encrypt our part of the plaintext.
    Plain(&'a Part),
    /// Decrypt a ciphertext with this tag, as [`TagLength::element`] gives it.
    Cipher { ciphertext: &'a [u8], tag: u128 },
}

impl Text<'_> {
    fn bytes(self) -> usize {
        match self {
            Text::Plain(part) => part.first.len(),
            Text::Cipher { ciphertext, .. } => ciphertext.len(),
        }
    }
}

/// Where the blocks of a message lie among the lanes.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The first lane of its text.
    text: usize,
    bytes: usize,
    /// The lane of E_K(J_0).
    mask: usize,
}

impl Place {
    /// The lanes of the blocks that have a byte at place `i`.
    fn lanes(self, i: usize) -> Range<usize> {
        self.text..self.text + lanes_at(self.bytes, i)
    }
}

/// What key stream and texts give, not verified yet: the columns of all ciphertexts to be opened, those of
/// each plaintext, and the masks of both kinds' tags.
pub(crate) type Texts = (Vec<Byte>, (Vec<Vec<Byte>>, [Option<Block>; 2]));

/// The messages of one call.
pub(crate) struct Batch<'a> {
    items: &'a [Item<'a>],
    lengths: Vec<Lengths>,
    places: Vec<Place>,
    /// The messages in the order of their lanes.
    order: Vec<usize>,
    /// Lanes of text.
    blocks: usize,
    /// Those to be encrypted, and those to be decrypted.
    sealed: Vec<usize>,
    received: Vec<usize>,
}

impl<'a> Batch<'a> {
    /// Lay out messages.
    ///
    /// # Errors
    /// [`Abort::Misuse`] for a message that GCM has no room for, or a part whose components differ in length.
    pub fn new(rep: &mut Rep3, items: &'a [Item<'a>]) -> Result<Batch<'a>, Abort> {
        let lengths = |item: &Item<'_>| Lengths::new(item.aad.len() as u64, item.text.bytes() as u64);
        let lengths = items.iter().map(lengths).collect::<Result<Vec<_>, _>>();
        let lengths = lengths
            .map_err(|_| rep.trio().session().misuse(BATCH, "a message longer than GCM allows: split it"))?;
        let uneven =
            |item: &Item<'_>| matches!(item.text, Text::Plain(part) if part.first.len() != part.second.len());
        if items.iter().any(uneven) {
            return Err(rep.trio().session().misuse(BATCH, "two components of a text that differ in length"));
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|k| items[*k].key);
        let mut places = vec![Place::default(); items.len()];
        let mut blocks = 0;
        for k in &order {
            let bytes = items[*k].text.bytes();
            places[*k] = Place { text: blocks, bytes, mask: 0 };
            blocks += bytes.div_ceil(16);
        }
        for (at, k) in order.iter().enumerate() {
            places[*k].mask = blocks + at;
        }
        let (sealed, received) =
            (0..items.len()).partition(|k: &usize| matches!(items[*k].text, Text::Plain(_)));
        Ok(Batch { items, lengths, places, order, blocks, sealed, received })
    }

    /// The blocks of the longest string that GHASH takes here.
    pub fn hash_blocks(&self) -> u64 {
        self.lengths.iter().map(|lengths| lengths.hash_blocks()).max().unwrap_or(1)
    }

    /// The key stream of all messages under these keys, a lane each, with the texts added, and cut to them:
    /// no byte of key stream beyond a text is kept.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if a message has no key.
    pub fn texts(&self, rep: &mut Rep3, keys: &RoundKeys<Byte>) -> Result<Texts, Abort> {
        let mut counters: [Vec<u8>; 16] = Default::default();
        let mut index = Vec::with_capacity(self.blocks + self.order.len());
        for k in &self.order {
            let blocks = self.places[*k].bytes.div_ceil(16);
            let columns = ctr::columns(&gcm::j0(&self.items[*k].iv), 1, blocks);
            counters.iter_mut().zip(columns).for_each(|(all, column)| all.extend(column));
            index.extend(std::iter::repeat_n(self.items[*k].key, blocks));
        }
        for k in &self.order {
            counters.iter_mut().zip(gcm::j0(&self.items[*k].iv)).for_each(|(all, byte)| all.push(byte));
            index.push(self.items[*k].key);
        }
        // the key of all needs no laying out
        let index = (keys.lanes() > 1).then_some(&index[..]);
        let mut stream = cipher::keystream(rep, keys, index, &counters)?;
        let mut masks = [None, None];
        for (masks, group) in masks.iter_mut().zip([&self.sealed, &self.received]) {
            if !group.is_empty() {
                let lanes: Vec<usize> = group.iter().map(|k| self.places[*k].mask).collect();
                *masks = Some(gcm::tag_masks(rep, &stream, &lanes)?);
            }
        }
        for (i, byte) in stream.iter_mut().enumerate() {
            self.add_texts(rep, i, byte)?;
        }
        let sealed = cut(&stream, self.sealed.iter().map(|k| self.places[*k]))?;
        let received = self.received.iter().map(|k| cut(&stream, [self.places[*k]].into_iter()));
        Ok((sealed, (received.collect::<Result<_, _>>()?, masks)))
    }

    /// Add to column `i` of the key stream what all texts have there.
    fn add_texts(&self, rep: &mut Rep3, i: usize, stream: &mut Byte) -> Result<(), Abort> {
        let lanes = stream.lanes();
        if !self.sealed.is_empty() {
            // zero, as a sharing, where nothing is encrypted
            let mut column = Part { first: vec![0; lanes], second: vec![0; lanes] };
            for k in &self.sealed {
                if let Text::Plain(part) = self.items[*k].text {
                    let at = self.places[*k].text;
                    put(&mut column.first, at, &part.first, i);
                    put(&mut column.second, at, &part.second, i);
                }
            }
            let column = rep.trio().input(&column)?;
            rep.add(stream, &column)?;
        }
        if !self.received.is_empty() {
            let mut column = vec![0; lanes];
            for k in &self.received {
                if let Text::Cipher { ciphertext, .. } = self.items[*k].text {
                    put(&mut column, self.places[*k].text, ciphertext, i);
                }
            }
            rep.add_public(stream, &column)?;
        }
        Ok(())
    }

    /// Open the ciphertexts, make the tags, open those of the ciphertexts and compare the others. `powers`
    /// gives the first powers of a message's hash key, verified.
    ///
    /// # Errors
    /// The abort that ends the session; [`Abort::Misuse`] if there are too few powers.
    pub fn finish(
        &self,
        rep: &mut Rep3,
        texts: Verified<Texts>,
        powers: impl Fn(&Item<'_>, usize) -> Option<Block>,
    ) -> Result<Vec<BatchOutcome>, Abort> {
        let (ciphertexts, rest) = texts.split();
        let (plaintexts, masks) = rest.split();
        let [sealed_masks, received_masks] = masks.into_inner();
        let mut outcomes: Vec<BatchOutcome> = self.items.iter().map(|_| BatchOutcome::Invalid).collect();
        if let Some(masks) = sealed_masks {
            let ciphertexts = self.open_ciphertexts(rep, &ciphertexts)?;
            let hashed = self.sealed.iter().zip(&ciphertexts).map(|(k, text)| (*k, &text[..]));
            let tags = self.tags(rep, hashed, &masks, &powers)?;
            for ((k, ciphertext), tag) in self.sealed.iter().zip(ciphertexts).zip(self.open_tags(rep, tags)?)
            {
                outcomes[*k] = BatchOutcome::Sealed { ciphertext, tag };
            }
        }
        if let Some(masks) = received_masks {
            let hashed = self.received.iter().filter_map(|k| match self.items[*k].text {
                Text::Cipher { ciphertext, .. } => Some((*k, ciphertext)),
                Text::Plain(_) => None,
            });
            let theirs = self.tags(rep, hashed, &masks, &powers)?;
            let received: Vec<_> = self.received.iter().filter_map(|k| self.received_tag(*k)).collect();
            let valid = tags_match(rep, theirs, &received)?;
            // a plaintext whose tag is wrong ends here [M0.7, A23]
            for ((k, valid), columns) in self.received.iter().zip(valid).zip(plaintexts.each()) {
                if valid {
                    outcomes[*k] = BatchOutcome::Opened(columns);
                }
            }
        }
        Ok(outcomes)
    }

    fn received_tag(&self, k: usize) -> Option<(TagLength, u128)> {
        match self.items[k].text {
            Text::Cipher { tag, .. } => Some((self.items[k].tag_length, tag)),
            Text::Plain(_) => None,
        }
    }

    /// Open all ciphertexts, in one round if there is a byte in any.
    fn open_ciphertexts(&self, rep: &mut Rep3, columns: &Verified<Vec<Byte>>) -> Result<Vec<Vec<u8>>, Abort> {
        let empty = columns.get().iter().all(|column| column.lanes() == 0);
        let opened = if empty { vec![Vec::new(); 16] } else { rep.trio().open(columns)? };
        let mut rest: Vec<&[u8]> = opened.iter().map(Vec::as_slice).collect();
        // message after message takes its bytes from the front of each column, in the order in which they
        // were cut
        let take = |k: &usize| {
            let bytes = self.places[*k].bytes;
            let own = rest.iter_mut().enumerate().map(|(i, rest)| {
                let (own, later) = rest.split_at(lanes_at(bytes, i).min(rest.len()));
                *rest = later;
                own.to_vec()
            });
            interleave(&own.collect::<Vec<_>>(), bytes)
        };
        Ok(self.sealed.iter().map(take).collect())
    }

    /// The tags of these messages with their ciphertexts, a lane each: linear in the powers of the hash keys
    /// and the masks.
    fn tags<'t>(
        &self,
        rep: &mut Rep3,
        messages: impl Iterator<Item = (usize, &'t [u8])>,
        masks: &Block,
        powers: &impl Fn(&Item<'_>, usize) -> Option<Block>,
    ) -> Result<Block, Abort> {
        let mut hashes = Vec::with_capacity(masks.lanes());
        for (k, ciphertext) in messages {
            let mut blocks = hash_input(self.items[k].aad, ciphertext, self.lengths[k]);
            blocks.reverse(); // the last block belongs to the first power
            let own = powers(&self.items[k], blocks.len());
            let own = own.ok_or_else(|| rep.trio().session().misuse(BATCH, "powers that were not made"))?;
            hashes.push(rep.combine(&own, &blocks)?);
        }
        let hashes = match (hashes.pop(), hashes.is_empty()) {
            (Some(one), true) => one,
            (last, _) => rep.join(&hashes.iter().chain(&last).collect::<Vec<_>>()),
        };
        gcm::tag(rep, hashes, masks)
    }

    /// Open the tags of what was encrypted; of a short tag nothing beyond it.
    fn open_tags(&self, rep: &mut Rep3, tags: Block) -> Result<Vec<[u8; TAG]>, Abort> {
        let lengths: Vec<_> = self.sealed.iter().map(|k| (self.items[*k].tag_length, 0)).collect();
        let tags = truncate(rep, tags, &lengths)?;
        let bytes: [Byte; 16] = rep.convert(tags)?;
        let verified = close(rep, bytes.to_vec())?;
        let opened = rep.trio().open(&verified)?;
        let byte = |l: usize, i: usize| opened.get(i).and_then(|column| column.get(l)).copied().unwrap_or(0);
        Ok((0..self.sealed.len()).map(|l| std::array::from_fn(|i| byte(l, i))).collect())
    }
}

/// The bytes at place `i` of each block of a text, from lane `at` on.
fn put(column: &mut [u8], at: usize, text: &[u8], i: usize) {
    let from = text.iter().skip(i).step_by(16);
    column.iter_mut().skip(at).zip(from).for_each(|(to, byte)| *to = *byte);
}

/// The columns of these messages, one message after the other.
fn cut(stream: &[Byte; 16], places: impl Iterator<Item = Place> + Clone) -> Result<Vec<Byte>, Abort> {
    let column = |(i, byte): (usize, &Byte)| {
        let lanes: Vec<usize> = places.clone().flat_map(|place| place.lanes(i)).collect();
        byte.gather(&lanes)
    };
    let columns: Option<Vec<Byte>> = stream.iter().enumerate().map(column).collect();
    columns.ok_or(Abort::Misuse { step: BATCH, what: "the key stream is shorter than the texts" })
}

/// A whole tag as an element to be compared.
pub(crate) fn element(tag: [u8; TAG]) -> u128 {
    Gf128::from_ghash(tag).0
}

/// Associated data, ciphertext and lengths as GHASH takes them.
fn hash_input(aad: &[u8], ciphertext: &[u8], lengths: Lengths) -> Vec<u128> {
    let mut blocks = Vec::with_capacity(usize::try_from(lengths.hash_blocks()).unwrap_or(0));
    let mut padding = Padding::default();
    for part in [aad, ciphertext, &lengths.length_block()] {
        blocks.extend(padding.push(part));
        blocks.extend(padding.close());
    }
    blocks
}
