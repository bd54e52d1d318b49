//! Texts of modes that chain blocks or take a text as a whole: a circuit for each text, in which its public
//! data (IV, associated data, a ciphertext to be decrypted) are constants.

use super::KNOWN;
use super::functions::same;
use crate::job::{Cipher, CipherMode, PublicText, TextsJob, Whole};
use divisi_circuit::{Build, BuildBit, Program};
use divisi_core::{Abort, Bytes, Direction, Lanes, Misuse};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::batch::triple::TripleByProgram;
use divisi_symmetric::circuits;
use divisi_symmetric::gates::{GateByte, GateBytes};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::whole::wrap::WrapForm;
use divisi_symmetric::mode::whole::{Undecided, bitwise, ccm, gcm_siv, siv, stealing, wrap, xts};
use divisi_symmetric::mode::{cbc, cmac, feedback};

type Byte = GateByte<BuildBit>;
type Gated<'g> = GateBytes<'g, Build>;

/// No circuit has more calls of the cipher: its gates would fill the memory.
pub const MOST_CALLS: usize = 128;

fn misfit() -> Abort {
    Abort::Misuse { step: KNOWN, what: Misuse::TextUnfit }
}

/// Whether a text has a circuit: an empty one only in a mode that makes something of it.
pub fn is_drawn(job: &TextsJob, text: &PublicText) -> bool {
    text.bytes > 0 || matches!(job.mode, CipherMode::Cmac | CipherMode::Whole(_))
}

/// About how many calls of the cipher the circuit of a text has.
pub fn calls(job: &TextsJob, text: &PublicText) -> usize {
    let block = job.cipher.block_bytes();
    let [text_blocks, aad_blocks] = [text.bytes, text.aad.len()].map(|bytes| bytes.div_ceil(block));
    match job.mode {
        CipherMode::Cfb { segment } => text.bytes.div_ceil(segment.max(1)),
        // one more call makes the two subkeys
        CipherMode::Cmac => 1 + text_blocks,
        CipherMode::Whole(Whole::Cfb1) => text.bytes.saturating_mul(8),
        CipherMode::Whole(Whole::Kw { .. } | Whole::Kwp { .. }) => 6 * text.bytes.div_ceil(8),
        CipherMode::Whole(Whole::Siv | Whole::Ccm | Whole::GcmSiv) => 2 * text_blocks + aad_blocks,
        _ => text_blocks,
    }
}

/// The row for an output of the circuit. The circuit gives blocks in the order in which the mode computes
/// them, and variants of ciphertext stealing have another order.
pub fn arranged(mode: CipherMode, text: &PublicText, output: Vec<u8>) -> Vec<u8> {
    match (mode, output.split_first()) {
        (CipherMode::Whole(Whole::Stealing(variant)), Some((first, blocks)))
            if text.direction == Direction::Encrypt =>
        {
            let bits = (8 * text.bytes).saturating_sub(text.spare_bits);
            [&[*first], variant.arrange(bits, blocks).as_slice()].concat()
        }
        _ => output,
    }
}

/// The circuit of a text.
pub fn program(widths: &[usize], job: &TextsJob, text: &PublicText) -> Result<Program, Abort> {
    circuits::drawn(widths, |e, values| {
        let [key, secret] = &values[..] else { return Err(misfit()) };
        let keys = if let CipherMode::Whole(mode) = job.mode { mode.keys() } else { 1 };
        if let Cipher::TripleDes(_) = job.cipher {
            let key = TripleByProgram::new(key.clone())?;
            return Ok(vec![match job.mode {
                CipherMode::Cmac => tag(e, key, text, secret)?,
                mode => chained(e, mode, &key, text, secret)?,
            }]);
        }
        let (first, second) = key.split_at(key.len() / keys);
        let first = aes::expand(e, first)?;
        let CipherMode::Whole(mode) = job.mode else {
            return Ok(vec![chained(e, job.mode, &first, text, secret)?]);
        };
        let second = if second.is_empty() { first.clone() } else { aes::expand(e, second)? };
        let taken = match &text.sealed {
            None => made(e, mode, [first, second], text, secret)?,
            Some((ciphertext, tag)) => match opened(e, mode, [first, second], text, (ciphertext, tag))? {
                Opened::Text(text) => text,
                Opened::Undecided(undecided) => return Ok(vec![undecided.masked(e)]),
            },
        };
        // the first byte of the row, 1: the text is not refused, and no bytes at the end of the row are
        // unused
        let there = e.public(&[1]);
        Ok(vec![[vec![there], taken].concat()])
    })
}

/// The columns of a text in pieces of `n` bytes: column i has byte i of each piece.
fn columns(bytes: &[u8], n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| bytes.iter().skip(i).step_by(n.max(1)).copied().collect()).collect()
}

/// The bytes of a text from its columns, which have a lane for each piece: the inverse of [`columns`].
fn interleaved(columns: &[Byte]) -> Result<Vec<Byte>, Abort> {
    let lanes = columns.first().map_or(0, Lanes::lanes);
    let all = (0..lanes).flat_map(|l| columns.iter().map(move |column| column.gather(&[l])));
    all.collect::<Option<_>>().ok_or_else(misfit)
}

/// The tag of a message, or if one was received, a byte that says whether it is right.
fn tag<'g>(
    e: &mut Gated<'g>,
    key: TripleByProgram<Gated<'g>>,
    text: &PublicText,
    message: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let mut tag = cmac::CmacKey::new(e, key)?.tag(e, 1, message)?;
    tag.truncate(text.tag_bytes);
    let Some((_, received)) = &text.sealed else { return Ok(tag) };
    let received: Vec<Byte> = received.iter().map(|byte| e.public(&[*byte])).collect();
    Ok(vec![same(e, &tag, &received)])
}

fn chained<'g, C: BlockCipher<Gated<'g>, Byte = Byte>>(
    e: &mut Gated<'g>,
    mode: CipherMode,
    key: &C,
    text: &PublicText,
    secret: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let iv = columns(&text.iv, C::BYTES);
    match (mode, &text.sealed) {
        (CipherMode::Cbc, None) => cbc::encrypt(e, key, &iv, secret),
        (CipherMode::Cbc, Some((ciphertext, _))) => {
            let before = columns(&cbc::previous(&text.iv, ciphertext), C::BYTES);
            interleaved(&cbc::decrypt(e, key, &before, &columns(ciphertext, C::BYTES))?)
        }
        (CipherMode::Cfb { segment }, None) => feedback::cfb_encrypt(e, key, segment, &iv, secret),
        (CipherMode::Cfb { segment }, Some((ciphertext, _))) => {
            let inputs = columns(&feedback::cfb_inputs(&text.iv, segment, ciphertext), C::BYTES);
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

fn ccm_head(text: &PublicText) -> ccm::Head {
    ccm::Head { nonce: text.iv.clone(), aad: text.aad.clone() }
}

fn siv_head(text: &PublicText) -> Result<gcm_siv::NonceHead, Abort> {
    let nonce = text.iv.as_slice().try_into().map_err(|_| misfit())?;
    Ok(gcm_siv::NonceHead { nonce, aad: text.aad.clone() })
}

/// What SIV authenticates before the text: associated data, and a nonce if there is one.
fn strings(text: &PublicText) -> Vec<Vec<Vec<u8>>> {
    let nonce = (!text.iv.is_empty()).then(|| vec![text.iv.clone()]);
    std::iter::once(vec![text.aad.clone()]).chain(nonce).collect()
}

fn bits(text: &PublicText) -> usize {
    (8 * text.bytes).saturating_sub(text.spare_bits)
}

/// The encrypted text, with the tag or synthetic IV that the mode has.
fn made(
    e: &mut Gated<'_>,
    mode: Whole,
    [key, second]: [RoundKeys<Byte>; 2],
    text: &PublicText,
    secret: &[Byte],
) -> Result<Vec<Byte>, Abort> {
    let iv = [text.iv.clone()];
    match mode {
        Whole::Kw { inverse } => wrap::wrap(e, &key, WrapForm::Kw, inverse, secret),
        Whole::Kwp { inverse } => wrap::wrap(e, &key, WrapForm::Kwp, inverse, secret),
        Whole::Ccm => ccm::seal(e, &key, &[ccm_head(text)], text.tag_bytes, secret),
        Whole::Siv => {
            let key = siv::SivKey::from_round_keys(e, key, second)?;
            let (tag, ciphertext) = key.seal_shared(e, &strings(text), secret)?;
            Ok([tag, ciphertext].concat())
        }
        Whole::GcmSiv => {
            let (tag, ciphertext) = gcm_siv::seal_shared(e, &key, &siv_head(text)?, secret)?;
            Ok([ciphertext, tag].concat())
        }
        Whole::Xts => xts::crypt(e, [&key, &second], Direction::Encrypt, &iv, bits(text), secret),
        Whole::Stealing(_) => stealing::encrypt(e, &key, &iv, bits(text), secret),
        Whole::Cfb1 => bitwise::encrypt(e, &key, &iv, bits(text), secret),
    }
}

enum Opened<'g> {
    Text(Vec<Byte>),
    Undecided(Undecided<Gated<'g>>),
}

/// The decrypted text: of a mode that authenticates, before the verdict.
fn opened<'g>(
    e: &mut Gated<'g>,
    mode: Whole,
    [key, second]: [RoundKeys<Byte>; 2],
    text: &PublicText,
    (ciphertext, tag): (&[u8], &[u8]),
) -> Result<Opened<'g>, Abort> {
    let iv = [text.iv.clone()];
    let block = || <[u8; 16]>::try_from(tag).map_err(|_| misfit());
    let known: Vec<Byte> = ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
    let rows = [ciphertext.to_vec()];
    let undecided = match mode {
        Whole::Kw { inverse } => wrap::unwrap(e, &key, WrapForm::Kw, inverse, &known)?,
        Whole::Kwp { inverse } => wrap::unwrap(e, &key, WrapForm::Kwp, inverse, &known)?,
        Whole::Ccm => ccm::open(e, &key, &[ccm_head(text)], &rows, &[tag.to_vec()])?,
        Whole::Siv => {
            let key = siv::SivKey::from_round_keys(e, key, second)?;
            key.open(e, &strings(text), &[block()?], &rows)?
        }
        Whole::GcmSiv => gcm_siv::open(e, &key, &[siv_head(text)?], &rows, &[block()?])?,
        Whole::Xts => {
            let keys = [&key, &second];
            return Ok(Opened::Text(xts::crypt(e, keys, Direction::Decrypt, &iv, bits(text), &known)?));
        }
        Whole::Stealing(variant) => {
            let rows = [variant.restore(bits(text), ciphertext)];
            return Ok(Opened::Text(stealing::decrypt(e, &key, &iv, bits(text), &rows)?));
        }
        Whole::Cfb1 => return Ok(Opened::Text(bitwise::decrypt(e, &key, &iv, bits(text), &rows)?)),
    };
    Ok(Opened::Undecided(undecided))
}
