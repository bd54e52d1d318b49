//! Messages of modes that chain blocks or take a message as a whole: a circuit for each message, in which its
//! public data (IV, associated data, a ciphertext to be decrypted) are constants.

use super::KNOWN;
use super::functions::same;
use crate::job::{Cipher, CipherMode, ModeMessage, ModesJob, OneShot};
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::{Abort, Bytes, Direction, Lanes, Misuse};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{GateByte, GateBytes};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot::wrap::WrapForm;
use divisi_symmetric::mode::one_shot::{Undecided, bitwise, ccm, gcm_siv, siv, stealing, wrap, xts};
use divisi_symmetric::mode::{cbc, cmac, feedback};

type Byte = GateByte<BuildBit>;
type Gated<'g> = GateBytes<'g, Build>;

/// No circuit has more calls of the cipher: its gates would fill the memory.
pub const MOST_CALLS: usize = 128;

fn misfit() -> Abort {
    Abort::Misuse { step: KNOWN, what: Misuse::MessageUnfit }
}

/// Whether a message has a circuit: an empty one only in a mode that makes something of it.
pub fn is_drawn(job: &ModesJob, message: &ModeMessage) -> bool {
    message.bytes > 0 || matches!(job.mode, CipherMode::Cmac | CipherMode::OneShot(_))
}

/// About how many calls of the cipher the circuit of a message has.
pub fn calls(job: &ModesJob, message: &ModeMessage) -> usize {
    let block = job.cipher.block_bytes();
    let [message_blocks, aad_blocks] = [message.bytes, message.aad.len()].map(|bytes| bytes.div_ceil(block));
    match job.mode {
        CipherMode::Cfb { segment } => message.bytes.div_ceil(segment.max(1)),
        // one more call makes the two subkeys
        CipherMode::Cmac => 1 + message_blocks,
        CipherMode::OneShot(OneShot::Cfb1) => message.bytes.saturating_mul(8),
        CipherMode::OneShot(OneShot::Kw { .. } | OneShot::Kwp { .. }) => 6 * message.bytes.div_ceil(8),
        CipherMode::OneShot(OneShot::Siv | OneShot::Ccm | OneShot::GcmSiv) => 2 * message_blocks + aad_blocks,
        _ => message_blocks,
    }
}

/// The row for an output of the circuit. The circuit gives blocks in the order in which the mode computes
/// them, and variants of ciphertext stealing have another order.
pub fn arranged(mode: CipherMode, message: &ModeMessage, output: Vec<u8>) -> Vec<u8> {
    match (mode, output.split_first()) {
        (CipherMode::OneShot(OneShot::Stealing(variant)), Some((first, blocks)))
            if message.direction == Direction::Encrypt =>
        {
            let bits = (8 * message.bytes).saturating_sub(message.spare_bits);
            [&[*first], variant.arrange(bits, blocks).as_slice()].concat()
        }
        _ => output,
    }
}

/// The circuit of a message.
pub fn program(widths: &[usize], job: &ModesJob, message: &ModeMessage) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let [key, secret] = &values[..] else { return Err(misfit()) };
        let keys = if let CipherMode::OneShot(mode) = job.mode { mode.keys() } else { 1 };
        if let Cipher::TripleDes(_) = job.cipher {
            let key = TripleByProgram::new(key.clone())?;
            return Ok(vec![match job.mode {
                CipherMode::Cmac => tag(e, key, message, secret)?,
                mode => chained(e, mode, &key, message, secret)?,
            }]);
        }
        let (first, second) = key.split_at(key.len() / keys);
        let first = aes::expand(e, first)?;
        let CipherMode::OneShot(mode) = job.mode else {
            return Ok(vec![chained(e, job.mode, &first, message, secret)?]);
        };
        let second = if second.is_empty() { first.clone() } else { aes::expand(e, second)? };
        let taken = match &message.sealed {
            None => made(e, mode, [first, second], message, secret)?,
            Some((ciphertext, tag)) => match opened(e, mode, [first, second], message, (ciphertext, tag))? {
                Opened::Text(message) => message,
                Opened::Undecided(undecided) => return Ok(vec![undecided.masked(e)]),
            },
        };
        // the first byte of the row, 1: the message is not refused, and no bytes at the end of the row are
        // unused
        let there = e.public(&[1]);
        Ok(vec![[vec![there], taken].concat()])
    })
}

/// The columns of a message in pieces of `n` bytes: column i has byte i of each piece.
fn columns(bytes: &[u8], n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| bytes.iter().skip(i).step_by(n.max(1)).copied().collect()).collect()
}

/// The bytes of a message from its columns, which have a lane for each piece: the inverse of [`columns`].
fn interleaved(columns: &[Byte]) -> Result<Vec<Byte>, Abort> {
    let lanes = columns.first().map_or(0, Lanes::lanes);
    let all = (0..lanes).flat_map(|l| columns.iter().map(move |column| column.gather(&[l])));
    all.collect::<Option<_>>().ok_or_else(misfit)
}

/// The tag of a message, or if one was received, a byte that says whether it is right.
fn tag<'g>(
    e: &mut Gated<'g>,
    key: TripleByProgram<Gated<'g>>,
    message: &ModeMessage,
    bytes: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let mut tag = cmac::CmacKey::new(e, key)?.tag(e, 1, bytes)?;
    tag.truncate(message.tag_bytes);
    let Some((_, received)) = &message.sealed else { return Ok(tag) };
    let received: Vec<Byte> = received.iter().map(|byte| e.public(&[*byte])).collect();
    Ok(vec![same(e, &tag, &received)])
}

fn chained<'g, C: BlockCipher<Gated<'g>, Byte = Byte>>(
    e: &mut Gated<'g>,
    mode: CipherMode,
    key: &C,
    message: &ModeMessage,
    secret: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let iv = columns(&message.iv, C::BYTES);
    match (mode, &message.sealed) {
        (CipherMode::Cbc, None) => cbc::encrypt(e, key, &iv, secret),
        (CipherMode::Cbc, Some((ciphertext, _))) => {
            let before = columns(&cbc::previous(&message.iv, ciphertext), C::BYTES);
            interleaved(&cbc::decrypt(e, key, &before, &columns(ciphertext, C::BYTES))?)
        }
        (CipherMode::Cfb { segment }, None) => feedback::cfb_encrypt(e, key, segment, &iv, secret),
        (CipherMode::Cfb { segment }, Some((ciphertext, _))) => {
            let inputs = columns(&feedback::cfb_inputs(&message.iv, segment, ciphertext), C::BYTES);
            // the last segment is filled up with zeros, and cut again
            let mut whole = ciphertext.clone();
            whole.resize(ciphertext.len().next_multiple_of(segment), 0);
            let out = feedback::cfb_decrypt(e, key, &inputs, &columns(&whole, segment))?;
            Ok(interleaved(&out)?.into_iter().take(ciphertext.len()).collect())
        }
        (CipherMode::Ofb, _) => feedback::ofb(e, key, &iv, secret),
        _ => Err(misfit()),
    }
}

fn ccm_head(message: &ModeMessage) -> ccm::Head {
    ccm::Head { nonce: message.iv.clone(), aad: message.aad.clone() }
}

fn siv_head(message: &ModeMessage) -> Result<gcm_siv::NonceHead, Abort> {
    let nonce = message.iv.as_slice().try_into().map_err(|_| misfit())?;
    Ok(gcm_siv::NonceHead { nonce, aad: message.aad.clone() })
}

/// What SIV authenticates before the message: associated data, and a nonce if there is one.
fn strings(message: &ModeMessage) -> Vec<Vec<Vec<u8>>> {
    let nonce = (!message.iv.is_empty()).then(|| vec![message.iv.clone()]);
    std::iter::once(vec![message.aad.clone()]).chain(nonce).collect()
}

fn bits(message: &ModeMessage) -> usize {
    (8 * message.bytes).saturating_sub(message.spare_bits)
}

/// The encrypted message, with the tag or synthetic IV that the mode has.
fn made(
    e: &mut Gated<'_>,
    mode: OneShot,
    [key, second]: [RoundKeys<Byte>; 2],
    message: &ModeMessage,
    secret: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let iv = [message.iv.clone()];
    match mode {
        OneShot::Kw { inverse } => wrap::wrap(e, &key, WrapForm::Kw, inverse, secret),
        OneShot::Kwp { inverse } => wrap::wrap(e, &key, WrapForm::Kwp, inverse, secret),
        OneShot::Ccm => ccm::seal(e, &key, &[ccm_head(message)], message.tag_bytes, secret),
        OneShot::Siv => {
            let key = siv::SivKey::from_round_keys(e, key, second)?;
            let (tag, ciphertext) = key.seal_shared(e, &strings(message), secret)?;
            Ok([tag, ciphertext].concat())
        }
        OneShot::GcmSiv => {
            let (tag, ciphertext) = gcm_siv::seal_shared(e, &key, &siv_head(message)?, secret)?;
            Ok([ciphertext, tag].concat())
        }
        OneShot::Xts => xts::crypt(e, [&key, &second], Direction::Encrypt, &iv, bits(message), secret),
        OneShot::Stealing(_) => stealing::encrypt(e, &key, &iv, bits(message), secret),
        OneShot::Cfb1 => bitwise::encrypt(e, &key, &iv, bits(message), secret),
    }
}

enum Opened<'g> {
    Text(Vec<Byte>),
    Undecided(Undecided<Gated<'g>>),
}

/// The decrypted message: of a mode that authenticates, before the verdict.
fn opened<'g>(
    e: &mut Gated<'g>,
    mode: OneShot,
    [key, second]: [RoundKeys<Byte>; 2],
    message: &ModeMessage,
    (ciphertext, tag): (&[u8], &[u8]),
) -> Result<Opened<'g>, Abort> {
    let iv = [message.iv.clone()];
    let block = || <[u8; 16]>::try_from(tag).map_err(|_| misfit());
    let known: Vec<Byte> = ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
    let rows = [ciphertext.to_vec()];
    let undecided = match mode {
        OneShot::Kw { inverse } => wrap::unwrap(e, &key, WrapForm::Kw, inverse, &known)?,
        OneShot::Kwp { inverse } => wrap::unwrap(e, &key, WrapForm::Kwp, inverse, &known)?,
        OneShot::Ccm => ccm::open(e, &key, &[ccm_head(message)], &rows, &[tag.to_vec()])?,
        OneShot::Siv => {
            let key = siv::SivKey::from_round_keys(e, key, second)?;
            key.open(e, &strings(message), &[block()?], &rows)?
        }
        OneShot::GcmSiv => gcm_siv::open(e, &key, &[siv_head(message)?], &rows, &[block()?])?,
        OneShot::Xts => {
            let keys = [&key, &second];
            return Ok(Opened::Text(xts::crypt(e, keys, Direction::Decrypt, &iv, bits(message), &known)?));
        }
        OneShot::Stealing(variant) => {
            let rows = [variant.restore(bits(message), ciphertext)];
            return Ok(Opened::Text(stealing::decrypt(e, &key, &iv, bits(message), &rows)?));
        }
        OneShot::Cfb1 => return Ok(Opened::Text(bitwise::decrypt(e, &key, &iv, bits(message), &rows)?)),
    };
    Ok(Opened::Undecided(undecided))
}
