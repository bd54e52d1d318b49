//! Messages of the modes without GHASH, in groups that are computed together: on any engine, with either
//! cipher.
//!
//! Independent blocks are computed side by side, one in each lane; messages whose blocks are chained have a
//! lane each, the longest first. Tags are made for messages of one length at a time.

use crate::Rows;
use crate::job::{Cipher, CipherMode, MessagesJob, ModeMessage, ModesJob, PublicMessage};
use divisi_core::{Abort, Direction, Misuse, Step, step};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::block::{BlockCipher, counters, keystream};
use divisi_symmetric::mode::{cbc, cmac, feedback};
use std::collections::BTreeMap;

const GROUPS: Step = step!("groups");

/// Messages or blocks that go through a cipher together, on any engine.
pub trait CipherTexts {
    /// The direction in which the cipher is used.
    fn direction(&self) -> Direction;

    /// The number of calls of the cipher.
    fn blocks(&self) -> usize;

    /// The resulting message. `cipher` has a lane for each message.
    fn evaluate<E: ?Sized, C: BlockCipher<E>>(
        &self,
        e: &mut E,
        cipher: &C,
        message: Vec<C::Byte>,
    ) -> Result<Vec<C::Byte>, Abort>;
}

/// Messages of a job that go through the cipher together.
pub struct ModeGroup<'j> {
    job: &'j ModesJob,
    direction: Direction,
    /// The numbers of the messages, the longest first.
    places: Vec<usize>,
}

/// All messages of a job in groups, without those of which nothing is computed.
pub fn groups(job: &ModesJob) -> Vec<ModeGroup<'_>> {
    let mut groups: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for (place, message) in job.messages.iter().enumerate() {
        // of an empty message nothing is computed, unless it is for a tag
        if message.bytes == 0 && job.mode != CipherMode::Cmac {
            continue;
        }
        let length = if job.mode == CipherMode::Cmac { message.bytes } else { 0 };
        // a tag that is compared is made like any other
        let decrypts = job.mode != CipherMode::Cmac && message.direction == Direction::Decrypt;
        groups.entry((decrypts, length)).or_default().push(place);
    }
    let group = |((decrypts, _), mut places): (_, Vec<usize>)| {
        places.sort_by_key(|place| {
            std::cmp::Reverse(job.messages.get(*place).map_or(0, |message| message.bytes))
        });
        ModeGroup { job, direction: if decrypts { Direction::Decrypt } else { Direction::Encrypt }, places }
    };
    groups.into_iter().map(group).collect()
}

/// Messages of CMAC over AES as messages of a mode. Whether the tag of each is made, compared or both stands
/// in the job.
pub fn tags_as_messages(job: &MessagesJob, size: KeySize) -> ModesJob {
    let message = |message: &PublicMessage| ModeMessage {
        direction: Direction::Encrypt,
        iv: Vec::new(),
        aad: Vec::new(),
        bytes: message.bytes,
        spare_bits: 0,
        tag_bytes: job.using.output_bytes,
        sealed: None,
    };
    let messages = job.messages.iter().map(message).collect();
    ModesJob { mode: CipherMode::Cmac, cipher: Cipher::Aes(size), messages }
}

/// Put rows at their positions in the job.
pub fn put(rows: &mut [Vec<u8>], placed: impl IntoIterator<Item = (usize, Vec<u8>)>) {
    for (place, row) in placed {
        if let Some(to) = rows.get_mut(place) {
            *to = row;
        }
    }
}

impl ModeGroup<'_> {
    /// The messages, with their positions in the job.
    pub fn messages(&self) -> impl Iterator<Item = (usize, &ModeMessage)> {
        self.places.iter().filter_map(|place| Some((*place, self.job.messages.get(*place)?)))
    }

    /// Whether the group makes tags.
    pub fn makes_tags(&self) -> bool {
        self.job.mode == CipherMode::Cmac
    }

    fn block(&self) -> usize {
        self.job.cipher.block_bytes()
    }

    fn blocks_of(&self, message: &ModeMessage) -> usize {
        match self.job.mode {
            CipherMode::Cmac => message.bytes.div_ceil(self.block()).max(1),
            CipherMode::Cfb { segment } => message.bytes.div_ceil(segment.max(1)),
            _ => message.bytes.div_ceil(self.block()),
        }
    }

    /// The number of bytes of a message that one lane has: a block's, in CFB a segment's.
    fn unit(&self) -> usize {
        if let CipherMode::Cfb { segment } = self.job.mode { segment.max(1) } else { self.block() }
    }

    /// Whether the messages are public: then they are in [`ModeMessage::sealed`].
    fn is_public(&self) -> bool {
        matches!(self.job.mode, CipherMode::Cbc | CipherMode::Cfb { .. })
            && self.direction == Direction::Decrypt
    }

    /// Whether each message has one lane, because its blocks are chained; otherwise each block has one.
    fn is_chained(&self) -> bool {
        match self.job.mode {
            CipherMode::Cbc | CipherMode::Cfb { .. } => self.direction == Direction::Encrypt,
            mode => matches!(mode, CipherMode::Cmac | CipherMode::Ofb),
        }
    }

    /// The messages as columns of bytes: column i has byte i of each block of `unit` bytes, block by block
    /// and message by message. A last block that is incomplete is filled up with zeros.
    fn columns_of(&self, unit: usize, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut columns = vec![Vec::new(); unit];
        for ((_, message), bytes) in self.messages().zip(messages) {
            for block in 0..self.blocks_of(message) {
                for (i, column) in columns.iter_mut().enumerate() {
                    column.push(bytes.get(block * unit + i).copied().unwrap_or(0));
                }
            }
        }
        columns
    }

    /// The bytes of the keys, one lane a message.
    pub fn keys(&self, rows: &Rows) -> Vec<Vec<u8>> {
        let byte = |i: usize| self.places.iter().map(|p| rows.row(*p).get(i).copied().unwrap_or(0)).collect();
        (0..self.job.cipher.key_bytes()).map(byte).collect()
    }

    /// The number of lanes of each column that [`ModeGroup::secret`] returns.
    pub fn lanes(&self) -> Vec<usize> {
        if self.is_public() {
            return Vec::new();
        }
        if !self.is_chained() {
            let blocks: usize = self.messages().map(|(_, message)| self.blocks_of(message)).sum();
            return vec![blocks; self.block()];
        }
        let longest = self.messages().map(|(_, message)| message.bytes).max().unwrap_or(0);
        (0..longest).map(|i| self.messages().filter(|(_, message)| message.bytes > i).count()).collect()
    }

    /// The bytes of the secret messages: for each entry of [`ModeGroup::lanes`] a column.
    pub fn secret(&self, rows: &Rows) -> Vec<Vec<u8>> {
        let width = self.job.cipher.key_bytes();
        let message = |place: usize| rows.row(place).get(width..).unwrap_or_default();
        if self.is_chained() {
            let column = |(i, lanes): (usize, usize)| {
                let places = self.places.iter().take(lanes);
                places.map(|place| message(*place).get(i).copied().unwrap_or(0)).collect()
            };
            return self.lanes().into_iter().enumerate().map(column).collect();
        }
        if self.is_public() {
            return Vec::new();
        }
        self.columns_of(
            self.block(),
            &self.places.iter().map(|place| message(*place).to_vec()).collect::<Vec<_>>(),
        )
    }

    /// The resulting messages from their columns, with their positions.
    pub fn results(&self, columns: &[Vec<u8>]) -> Vec<(usize, Vec<u8>)> {
        let mut before = 0;
        let mut result = |(lane, (place, message)): (usize, (usize, &ModeMessage))| {
            if self.is_chained() {
                let bytes = if self.job.mode == CipherMode::Cmac { message.tag_bytes } else { message.bytes };
                let all = columns.iter().filter_map(|column| column.get(lane).copied());
                return (place, all.take(bytes).collect());
            }
            let unit = self.unit();
            let byte = |at: usize| columns.get(at % unit)?.get(before + at / unit).copied();
            let bytes = (0..message.bytes).filter_map(byte).collect();
            before += self.blocks_of(message);
            (place, bytes)
        };
        self.messages().enumerate().map(&mut result).collect()
    }

    /// The keys with a lane for each block, for blocks that are not chained.
    fn key_of_blocks<E: ?Sized, C: BlockCipher<E>>(&self, cipher: &C) -> Result<C, Abort> {
        let index: Vec<usize> = self
            .messages()
            .enumerate()
            .flat_map(|(l, (_, message))| vec![l; self.blocks_of(message)])
            .collect();
        cipher.of_lanes(&index)
    }

    /// The tags of all messages.
    pub fn tags<E: ?Sized, C: cmac::Doubles<E>>(
        &self,
        e: &mut E,
        cipher: C,
        message: &[C::Byte],
    ) -> Result<Vec<C::Byte>, Abort> {
        cmac::CmacKey::new(e, cipher)?.tag(e, self.places.len(), message)
    }
}

impl CipherTexts for ModeGroup<'_> {
    fn direction(&self) -> Direction {
        match self.job.mode {
            CipherMode::Ctr | CipherMode::Cfb { .. } | CipherMode::Ofb => Direction::Encrypt,
            _ => self.direction,
        }
    }

    fn blocks(&self) -> usize {
        // the two subkeys of each tag's key take one more block
        let more = if self.job.mode == CipherMode::Cmac { self.places.len() } else { 0 };
        more + self.messages().map(|(_, message)| self.blocks_of(message)).sum::<usize>()
    }

    fn evaluate<E: ?Sized, C: BlockCipher<E>>(
        &self,
        e: &mut E,
        cipher: &C,
        mut message: Vec<C::Byte>,
    ) -> Result<Vec<C::Byte>, Abort> {
        let unfit = || Abort::Misuse { step: GROUPS, what: Misuse::MessageUnfit };
        let ivs = |own: fn(&ModeMessage) -> Vec<u8>| {
            self.messages().map(|(_, message)| own(message)).collect::<Vec<_>>()
        };
        match (self.job.mode, self.direction) {
            (CipherMode::Ecb, direction) => {
                let key = self.key_of_blocks(cipher)?;
                key.permute(e, direction, message)
            }
            (CipherMode::Ctr, _) => {
                let mut all: Vec<Vec<u8>> = vec![Vec::new(); self.block()];
                for (_, message) in self.messages() {
                    if message.iv.len() != self.block() {
                        return Err(unfit());
                    }
                    let own = counters(&message.iv, self.blocks_of(message));
                    all.iter_mut().zip(own).for_each(|(all, own)| all.extend(own));
                }
                let stream = keystream(e, &self.key_of_blocks(cipher)?, &all)?;
                C::add_block(e, &mut message, &stream)?;
                Ok(message)
            }
            (CipherMode::Cbc | CipherMode::Cfb { .. }, Direction::Encrypt) | (CipherMode::Ofb, _) => {
                let ivs = ivs(|message| message.iv.clone());
                if ivs.iter().any(|iv| iv.len() != self.block()) {
                    return Err(unfit());
                }
                let column = |i: usize| ivs.iter().filter_map(|iv| iv.get(i).copied()).collect();
                let iv: Vec<Vec<u8>> = (0..self.block()).map(column).collect();
                match self.job.mode {
                    CipherMode::Cfb { segment } => feedback::cfb_encrypt(e, cipher, segment, &iv, &message),
                    CipherMode::Ofb => feedback::ofb(e, cipher, &iv, &message),
                    _ => cbc::encrypt(e, cipher, &iv, &message),
                }
            }
            (CipherMode::Cbc | CipherMode::Cfb { .. }, Direction::Decrypt) => {
                let sealed = |message: &ModeMessage| {
                    message.sealed.as_ref().map(|(message, _)| message.clone()).unwrap_or_default()
                };
                let ciphertexts = self.columns_of(self.unit(), &ivs(sealed));
                let before = self.messages().map(|(_, t)| match self.job.mode {
                    CipherMode::Cfb { segment } => feedback::cfb_inputs(&t.iv, segment, &sealed(t)),
                    _ => cbc::previous(&t.iv, &sealed(t)),
                });
                let before = self.columns_of(self.block(), &before.collect::<Vec<_>>());
                let key = self.key_of_blocks(cipher)?;
                match self.job.mode {
                    CipherMode::Cfb { .. } => feedback::cfb_decrypt(e, &key, &before, &ciphertexts),
                    _ => cbc::decrypt(e, &key, &before, &ciphertexts),
                }
            }
            (CipherMode::Gcm | CipherMode::Cmac | CipherMode::OneShot(_), _) => Err(unfit()),
        }
    }
}

/// Messages whose blocks CMAC chains, as [`cmac::chained`] makes them, with a lane for each message.
pub struct Chained {
    /// The number of messages.
    pub lanes: usize,
    /// The number of blocks of each message.
    pub blocks: usize,
}

impl CipherTexts for Chained {
    fn direction(&self) -> Direction {
        Direction::Encrypt
    }

    fn blocks(&self) -> usize {
        self.lanes * self.blocks
    }

    fn evaluate<E: ?Sized, C: BlockCipher<E>>(
        &self,
        e: &mut E,
        cipher: &C,
        message: Vec<C::Byte>,
    ) -> Result<Vec<C::Byte>, Abort> {
        cmac::chain(e, cipher, self.lanes, &message)
    }
}

/// Blocks under one key, a lane each.
pub struct SeparateBlocks {
    /// Whether they are encrypted or decrypted.
    pub direction: Direction,
    /// The number of blocks.
    pub count: usize,
}

impl CipherTexts for SeparateBlocks {
    fn direction(&self) -> Direction {
        self.direction
    }

    fn blocks(&self) -> usize {
        self.count
    }

    fn evaluate<E: ?Sized, C: BlockCipher<E>>(
        &self,
        e: &mut E,
        cipher: &C,
        message: Vec<C::Byte>,
    ) -> Result<Vec<C::Byte>, Abort> {
        cipher.permute(e, self.direction, message)
    }
}
