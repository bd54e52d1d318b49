//! Messages of modes that process a message as a whole, in batches of one shape, on any engine.
//!
//! Inputs that a mode does not have (a key that is not whole semiblocks, a nonce of another length) cannot be
//! computed: [`lacks`] says why, and an engine does not prepare a job with such a message.

mod calls;
mod polyval;

pub use polyval::{OnBlocks, Polyval, WithoutBlocks};

use crate::Rows;
use crate::job::{CipherMode, ModeMessage, ModesJob, OneShot};
use divisi_core::{Abort, Bytes, Direction, Misuse, Step, Verified, step};
use divisi_symmetric::aes::{KeySize, RoundKeys};
use divisi_symmetric::mode::one_shot::gcm_siv::NonceHead;
use divisi_symmetric::mode::one_shot::wrap::WrapForm;
use divisi_symmetric::mode::one_shot::{
    Releases, Undecided, bitwise, ccm, gcm_siv, siv, stealing, wrap, xts,
};
use std::collections::BTreeMap;

const WHOLE: Step = step!("whole");

fn misfit() -> Abort {
    Abort::Misuse { step: WHOLE, what: Misuse::MessageUnfit }
}

/// The direction and the lengths of a message: all public.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    decrypts: bool,
    bytes: usize,
    spare_bits: usize,
    iv: usize,
    aad: usize,
    tag: usize,
}

/// The one or two keys of the cipher that a mode has.
type Keys<B> = (RoundKeys<B>, Option<RoundKeys<B>>);

/// Messages of one shape, a lane each.
pub struct Batch<'j> {
    job: &'j ModesJob,
    mode: OneShot,
    shape: Shape,
    places: Vec<usize>,
}

/// Why a mode does not have a message of these lengths, or a key of this size; `None` if it has them.
pub fn lacks(mode: OneShot, size: Option<KeySize>, message: &ModeMessage) -> Option<&'static str> {
    let decrypts = message.direction == Direction::Decrypt;
    let Some(bits) = (8 * message.bytes).checked_sub(message.spare_bits) else {
        return Some("a message that is shorter than its length says");
    };
    let received = message.sealed.as_ref().map_or(message.tag_bytes, |(_, tag)| tag.len());
    if decrypts != message.sealed.is_some() || received != message.tag_bytes {
        return Some("a message without the ciphertext or the tag that belongs to it");
    }
    let keys = match (mode, size) {
        (_, None) => Some("a mode that exists for AES only"),
        (OneShot::GcmSiv, Some(KeySize::Aes192)) => Some("a key of 192 bits, which RFC 8452 does not have"),
        (OneShot::Xts, Some(KeySize::Aes192)) => Some("a key of 384 bits, which IEEE 1619 does not have"),
        _ => None,
    };
    let unless = |holds: bool, reason: &'static str| (!holds).then_some(reason);
    let tag = |holds: bool| unless(holds, "a tag of a length that the mode does not have");
    let nonce = |holds: bool| unless(holds, "a nonce of a length that the mode does not have");
    let length = |holds: bool| unless(holds, "a message of a length that the mode does not have");
    let wrapped = |holds: bool| unless(holds, "a wrapped key of a length that the mode does not have");
    let whole =
        |e: Option<&'static str>| e.or(unless(message.spare_bits == 0, "a message that is not whole bytes"));
    keys.or_else(|| match mode {
        OneShot::Kw { .. } if decrypts => whole(wrapped(wrap::unwraps(message.bytes, false))),
        OneShot::Kw { .. } => whole(length(wrap::kw_takes(message.bytes))),
        OneShot::Kwp { .. } if decrypts => whole(wrapped(wrap::unwraps(message.bytes, true))),
        OneShot::Kwp { .. } => whole(length(message.bytes > 0)),
        OneShot::Siv => whole(tag(message.tag_bytes == 16)),
        OneShot::Ccm => whole(
            nonce((7..=13).contains(&message.iv.len()))
                .or(tag(ccm::takes(message.iv.len(), message.tag_bytes, 0)))
                .or(length(ccm::takes(message.iv.len(), message.tag_bytes, message.bytes))),
        ),
        OneShot::GcmSiv => {
            let fits = message.bytes.max(message.aad.len()) <= gcm_siv::LONGEST;
            let fits = unless(fits, "a message of more than a megabyte");
            whole(nonce(message.iv.len() == 12).or(tag(message.tag_bytes == 16)).or(fits))
        }
        OneShot::Xts => {
            let fits = bits >= 128 && message.bytes <= 16 * xts::LONGEST;
            unless(message.iv.len() == 16, "a tweak of another length than 128 bits").or(length(fits))
        }
        OneShot::Stealing(_) => {
            unless(message.iv.len() == 16, "an IV of another length than 128 bits").or(length(bits >= 128))
        }
        OneShot::Cfb1 => unless(message.iv.len() == 16, "an IV of another length than 128 bits"),
    })
}

/// All messages of a job that its mode has, in batches of one shape.
pub fn batches(job: &ModesJob) -> Vec<Batch<'_>> {
    let CipherMode::OneShot(mode) = job.mode else { return Vec::new() };
    let mut batches: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
    for (place, message) in job.messages.iter().enumerate() {
        if lacks(mode, job.cipher.aes(), message).is_none() {
            let shape = Shape {
                decrypts: message.direction == Direction::Decrypt,
                bytes: message.bytes,
                spare_bits: message.spare_bits,
                iv: message.iv.len(),
                aad: message.aad.len(),
                tag: message.tag_bytes,
            };
            batches.entry(shape).or_default().push(place);
        }
    }
    batches.into_iter().map(|(shape, places)| Batch { job, mode, shape, places }).collect()
}

/// The rows of all messages, which say that each is rejected, until [`put`] has put the answers.
pub fn rejected(job: &ModesJob) -> Vec<Vec<u8>> {
    let CipherMode::OneShot(mode) = job.mode else { return Vec::new() };
    let bytes =
        |message: &ModeMessage| 1 + mode.answer_bytes(message.direction, message.bytes, message.tag_bytes);
    job.messages.iter().map(|message| vec![0; bytes(message)]).collect()
}

/// Put answers into their rows. An answer has the position of its message and, unless the message is refused,
/// the number of unused bytes at the end of the row, and the resulting bytes.
pub fn put(rows: &mut [Vec<u8>], answers: Vec<(usize, Option<(usize, Vec<u8>)>)>) {
    for (place, answer) in answers {
        if let (Some(row), Some((beyond, answer))) = (rows.get_mut(place), answer) {
            let bytes = row.len();
            *row = [&[1 + u8::try_from(beyond).unwrap_or(0)], answer.as_slice()].concat();
            row.resize(bytes, 0);
        }
    }
}

impl Batch<'_> {
    fn messages(&self) -> impl Iterator<Item = &ModeMessage> {
        self.places.iter().filter_map(|place| self.job.messages.get(*place))
    }

    /// The number of secret bytes of the message.
    pub fn secret_bytes(&self) -> usize {
        if self.shape.decrypts { 0 } else { self.shape.bytes }
    }

    /// The bytes of the keys, one lane a message.
    pub fn keys(&self, rows: &Rows) -> Vec<Vec<u8>> {
        self.columns(rows, 0, self.job.key_bytes())
    }

    /// The bytes of the secret messages.
    pub fn secret(&self, rows: &Rows) -> Vec<Vec<u8>> {
        self.columns(rows, self.job.key_bytes(), self.secret_bytes())
    }

    fn columns(&self, rows: &Rows, from: usize, bytes: usize) -> Vec<Vec<u8>> {
        let byte = |place: &usize, i: usize| rows.row(*place).get(from + i).copied().unwrap_or(0);
        (0..bytes).map(|i| self.places.iter().map(|place| byte(place, i)).collect()).collect()
    }

    /// The number of messages.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The round keys of all messages, from the bytes of their keys. What they owe is settled here, once,
    /// before their use.
    pub fn ready<E: Releases>(
        &self,
        e: &mut E,
        schedule: impl Fn(&mut E, &[E::Byte]) -> Result<RoundKeys<E::Byte>, Abort>,
        key: &[E::Byte],
    ) -> Result<Keys<E::Byte>, Abort> {
        let (first, second) = key.split_at(key.len() / self.mode.keys());
        let first = schedule(e, first)?;
        let second = if second.is_empty() { None } else { Some(schedule(e, second)?) };
        Ok(e.settled((first, second))?.into_inner())
    }

    /// Run the mode: for each message its position, its result, and the number of unused bytes at the end of
    /// its row; no result if it is not authentic. All parties learn which messages are.
    pub fn run<E: Releases, P: Polyval<E>>(
        &self,
        e: &mut E,
        _: P,
        (first, second): Keys<E::Byte>,
        message: &[E::Byte],
    ) -> Result<Vec<(usize, Option<(usize, Vec<u8>)>)>, Abort> {
        if self.shape.decrypts {
            self.decrypt::<E, P>(e, first, second)
        } else {
            let rows = self.encrypt::<E, P>(e, first, second, message)?;
            Ok(self.places.iter().copied().zip(rows.into_iter().map(|row| Some((0, row)))).collect())
        }
    }

    fn bits(&self) -> usize {
        8 * self.shape.bytes - self.shape.spare_bits
    }

    fn ivs(&self) -> Vec<Vec<u8>> {
        self.messages().map(|message| message.iv.clone()).collect()
    }

    /// What SIV authenticates before the message (RFC 5297, 3): the associated data, then a nonce.
    fn strings(&self) -> Vec<Vec<Vec<u8>>> {
        let aad = self.messages().map(|message| message.aad.clone()).collect();
        if self.shape.iv == 0 { vec![aad] } else { vec![aad, self.ivs()] }
    }

    fn ccm_heads(&self) -> Vec<ccm::Head> {
        self.messages()
            .map(|message| ccm::Head { nonce: message.iv.clone(), aad: message.aad.clone() })
            .collect()
    }

    fn siv_heads(&self) -> Result<Vec<NonceHead>, Abort> {
        let head = |message: &ModeMessage| {
            Ok(NonceHead {
                nonce: message.iv.as_slice().try_into().map_err(|_| misfit())?,
                aad: message.aad.clone(),
            })
        };
        self.messages().map(head).collect()
    }

    fn encrypt<E: Releases, P: Polyval<E>>(
        &self,
        e: &mut E,
        key: RoundKeys<E::Byte>,
        second: Option<RoundKeys<E::Byte>>,
        message: &[E::Byte],
    ) -> Result<Vec<Vec<u8>>, Abort> {
        let lanes = self.places.len();
        let out = match self.mode {
            OneShot::Kw { inverse } => wrap::wrap(e, &key, WrapForm::Kw, inverse, message)?,
            OneShot::Kwp { inverse } => wrap::wrap(e, &key, WrapForm::Kwp, inverse, message)?,
            OneShot::Ccm => ccm::seal(e, &key, &self.ccm_heads(), self.shape.tag, message)?,
            OneShot::Siv => {
                let key = siv::SivKey::from_round_keys(e, key, second.ok_or_else(misfit)?)?;
                let (ivs, ciphertext) = key.seal(e, lanes, &self.strings(), message)?;
                let rows = rows(e, lanes, ciphertext)?;
                return Ok(ivs.iter().zip(rows).map(|(iv, row)| [iv, row.as_slice()].concat()).collect());
            }
            OneShot::GcmSiv => {
                let (tags, ciphertext) = P::seal(e, &key, &self.siv_heads()?, message)?;
                let rows = rows(e, lanes, ciphertext)?;
                return Ok(rows.iter().zip(tags).map(|(row, tag)| [row.as_slice(), &tag].concat()).collect());
            }
            OneShot::Xts => {
                let keys = [&key, &second.ok_or_else(misfit)?];
                xts::crypt(e, keys, Direction::Encrypt, &self.ivs(), self.bits(), message)?
            }
            OneShot::Stealing(variant) => {
                let out = stealing::encrypt(e, &key, &self.ivs(), self.bits(), message)?;
                let rows = rows(e, lanes, out)?;
                return Ok(rows.iter().map(|row| variant.arrange(self.bits(), row)).collect());
            }
            OneShot::Cfb1 => bitwise::encrypt(e, &key, &self.ivs(), self.bits(), message)?,
        };
        rows(e, lanes, out)
    }

    fn decrypt<E: Releases, P: Polyval<E>>(
        &self,
        e: &mut E,
        key: RoundKeys<E::Byte>,
        second: Option<RoundKeys<E::Byte>>,
    ) -> Result<Vec<(usize, Option<(usize, Vec<u8>)>)>, Abort> {
        let lanes = self.places.len();
        let (mut messages, mut tags) = (Vec::with_capacity(lanes), Vec::with_capacity(lanes));
        for message in self.messages() {
            let (message, tag) = message.sealed.as_ref().ok_or_else(misfit)?;
            messages.push(message.clone());
            tags.push(tag.clone());
        }
        let blocks = |tags: Vec<Vec<u8>>| -> Result<Vec<[u8; 16]>, Abort> {
            tags.into_iter().map(|tag| tag.try_into().map_err(|_| misfit())).collect()
        };
        let columns = |e: &mut E| -> Vec<E::Byte> {
            let byte =
                |i: usize| messages.iter().map(|row| row.get(i).copied().unwrap_or(0)).collect::<Vec<_>>();
            (0..self.shape.bytes).map(|i| e.public(&byte(i))).collect()
        };
        let undecided: Undecided<E> = match self.mode {
            OneShot::Kw { inverse } => {
                let message = columns(e);
                wrap::unwrap(e, &key, WrapForm::Kw, inverse, &message)?
            }
            OneShot::Kwp { inverse } => {
                let message = columns(e);
                wrap::unwrap(e, &key, WrapForm::Kwp, inverse, &message)?
            }
            OneShot::Ccm => ccm::open(e, &key, &self.ccm_heads(), &messages, &tags)?,
            OneShot::Siv => {
                let key = siv::SivKey::from_round_keys(e, key, second.ok_or_else(misfit)?)?;
                key.open(e, &self.strings(), &blocks(tags)?, &messages)?
            }
            OneShot::GcmSiv => P::open(e, &key, &self.siv_heads()?, &messages, &blocks(tags)?)?,
            OneShot::Xts | OneShot::Stealing(_) | OneShot::Cfb1 => {
                let out = match self.mode {
                    OneShot::Xts => {
                        let (keys, message) = ([&key, &second.ok_or_else(misfit)?], columns(e));
                        xts::crypt(e, keys, Direction::Decrypt, &self.ivs(), self.bits(), &message)?
                    }
                    OneShot::Stealing(variant) => {
                        let restore = |row: &Vec<u8>| variant.restore(self.bits(), row);
                        let messages: Vec<Vec<u8>> = messages.iter().map(restore).collect();
                        stealing::decrypt(e, &key, &self.ivs(), self.bits(), &messages)?
                    }
                    _ => bitwise::decrypt(e, &key, &self.ivs(), self.bits(), &messages)?,
                };
                let rows = rows(e, lanes, out)?;
                return Ok(self.places.iter().copied().zip(rows.into_iter().map(|r| Some((0, r)))).collect());
            }
        };
        let released = undecided.release(e)?;
        let good = released.claims.iter().flatten().count();
        let mut rows = match released.messages {
            Some(messages) => open(e, good, messages)?,
            None => vec![Vec::new(); good],
        }
        .into_iter();
        let mut answer = |claim: Option<usize>| {
            let beyond = claim?;
            let mut row = rows.next()?;
            row.truncate(row.len().saturating_sub(beyond));
            Some((beyond, row))
        };
        Ok(self.places.iter().zip(released.claims).map(|(place, claim)| (*place, answer(claim))).collect())
    }
}

/// Settle the columns and open them, as one row for each lane.
fn rows<E: Releases>(e: &mut E, lanes: usize, out: Vec<E::Byte>) -> Result<Vec<Vec<u8>>, Abort> {
    if out.is_empty() {
        return Ok(vec![Vec::new(); lanes]);
    }
    let verified = e.settled(out)?;
    open(e, lanes, verified)
}

fn open<E: Releases>(
    e: &mut E,
    lanes: usize,
    out: Verified<Vec<<E as Bytes>::Byte>>,
) -> Result<Vec<Vec<u8>>, Abort> {
    let columns = e.open(out)?;
    Ok((0..lanes).map(|l| columns.iter().filter_map(|column| column.get(l).copied()).collect()).collect())
}
