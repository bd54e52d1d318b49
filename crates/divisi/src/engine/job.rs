//! What is to be computed: public data, the same at all parties, and rows of bytes for what is secret about
//! it.

use super::{Differ, Rows};
use crate::circuit::Held;
use divisi_core::{Direction, PartyId};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::algorithm::Settings as Use;
use divisi_symmetric::gates::Adder;
use divisi_symmetric::mode::whole::stealing::Variant;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A job. It has `count` instances; what each of them takes in and gives out is a row of bytes ([`Rows`]).
#[derive(Clone)]
#[non_exhaustive]
pub enum Job {
    /// Evaluations of one circuit. A row in has the input wires, a row out the output wires, the lowest bit
    /// of the first byte first.
    Circuit(Circuit),
    /// Blocks of a cipher under one key, which is the row of the set-up. Rows have a block.
    Blocks(Blocks),
    /// A hash or MAC of messages of one length, under one key, which is the row of the set-up.
    Digests(Digests),
    /// Texts in a mode of a block cipher, each with a key of its own.
    Texts(Texts),
    /// Messages of any length, each with a key of its own where there are keys.
    Messages(Messages),
    /// Digests of digests.
    Chain(Chain),
    /// Operations on numbers and bits, of random inputs.
    Operation(Operation),
    /// Lookups at random places of one public table. A row in has the place, four bytes, the lowest
    /// first; a row out the entry, a byte.
    Lookups(LookupJob),
    /// A program on numbers and bits. A row in has the entries of all inputs, a row out those of all
    /// outputs: eight bytes a number, the lowest first, and a byte a bit.
    Program(ProgramJob),
}

/// Lookups in one public table of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupJob {
    /// How many entries the table has.
    pub entries: usize,
    /// In how many inputs a place comes.
    pub inputs: usize,
    /// By how many factors one-hot vectors are made; the cheapest number if nothing is said.
    pub dimensions: Option<usize>,
    /// How many lookups.
    pub count: usize,
}

impl LookupJob {
    /// An entry of the table.
    #[must_use]
    pub fn entry(place: usize) -> u8 {
        ((place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
    }

    /// What comes out of a row.
    #[must_use]
    pub fn expected(&self, row: &[u8]) -> Option<Vec<u8>> {
        let place = u32::from_le_bytes(row.try_into().ok()?) as usize;
        Some(vec![LookupJob::entry(place & self.entries.checked_sub(1)?)])
    }
}

/// A program on numbers and bits.
#[derive(Clone)]
pub struct ProgramJob {
    /// The program.
    pub program: Arc<crate::program::Held>,
    /// How many runs of it, one after the other.
    pub count: usize,
}

/// Operations on numbers and bits. What goes in is a number of four bytes, the lowest first; what comes out a
/// number of eight, or where nothing goes in a byte that is 1 if what was made fits together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which one.
    pub op: Op,
    /// How many bits a number has that is converted from bits.
    pub bits: usize,
    /// How many entries a table has.
    pub entries: usize,
    /// Whether tables are private.
    pub private: bool,
    /// How many items.
    pub count: usize,
}

/// An operation on numbers and bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Random bits shared modulo 2 and modulo p.
    Dabit,
    /// Bits to numbers.
    B2a,
    /// Numbers to bits.
    A2b,
    /// A ciphertext to shares.
    E2a,
    /// Shares to a ciphertext.
    A2e,
    /// Lookups in public tables of two.
    Lookup2,
    /// Lookups in tables of up to 256.
    Lookup,
    /// Triples of numbers.
    TripleArith,
    /// Triples of bits.
    TripleBool,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 9] = [
        Op::Dabit,
        Op::B2a,
        Op::A2b,
        Op::E2a,
        Op::A2e,
        Op::Lookup2,
        Op::Lookup,
        Op::TripleArith,
        Op::TripleBool,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Dabit => "dabit",
            Op::B2a => "b2a",
            Op::A2b => "a2b",
            Op::E2a => "e2a",
            Op::A2e => "a2e",
            Op::Lookup2 => "lookup2",
            Op::Lookup => "lookup",
            Op::TripleArith => "triple-arith",
            Op::TripleBool => "triple-bool",
        }
    }

    /// Whether nothing goes in.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Op::Dabit | Op::TripleArith | Op::TripleBool)
    }
}

impl std::str::FromStr for Op {
    type Err = String;

    fn from_str(name: &str) -> Result<Op, String> {
        let names = || Op::ALL.map(Op::name).join(", ");
        Op::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| format!("there are {}", names()))
    }
}

/// Evaluations of a circuit.
#[derive(Clone)]
pub struct Circuit {
    /// The circuit.
    pub circuit: Arc<Held>,
    /// How its words are added, if it is one of this program's own.
    pub adder: Adder,
    /// Who gives the inputs and who learns the outputs.
    pub between: Between,
    /// How many evaluations.
    pub count: usize,
}

/// Who gives inputs and learns outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Between {
    /// Parties, of their own.
    Parties {
        /// Whose each input value is, in the circuit's order.
        owners: Vec<PartyId>,
        /// Who learns all outputs.
        receivers: Vec<PartyId>,
    },
    /// A client, who deals the inputs and puts the outputs together, and is trusted with both.
    Client,
}

/// A block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES, with keys of this size.
    Aes(KeySize),
    /// Triple DES, with two keys or three.
    TripleDes(Keys),
}

/// The keys of triple DES, of 64 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// K1, K2, and K1 again.
    Two,
    /// Three.
    Three,
}

impl Cipher {
    /// The bytes of its keys.
    #[must_use]
    pub fn key_bytes(self) -> usize {
        match self {
            Cipher::Aes(size) => size.bytes(),
            Cipher::TripleDes(Keys::Two) => 16,
            Cipher::TripleDes(Keys::Three) => 24,
        }
    }

    /// The bytes of a block.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        match self {
            Cipher::Aes(_) => 16,
            Cipher::TripleDes(_) => 8,
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cipher::Aes(_) => "aes",
            Cipher::TripleDes(_) => "des3",
        }
    }

    /// The size of its keys, if it is AES.
    #[must_use]
    pub fn aes(self) -> Option<KeySize> {
        match self {
            Cipher::Aes(size) => Some(size),
            Cipher::TripleDes(_) => None,
        }
    }

    /// The cipher of that name with keys of so many bytes.
    #[must_use]
    pub fn from_key(name: &str, key_bytes: usize) -> Option<Self> {
        match (name, key_bytes) {
            ("aes", bytes) => KeySize::from_bytes(bytes).map(Cipher::Aes),
            ("des3", 16) => Some(Cipher::TripleDes(Keys::Two)),
            ("des3", 24) => Some(Cipher::TripleDes(Keys::Three)),
            _ => None,
        }
    }
}

/// Blocks under one key.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// The cipher.
    pub cipher: Cipher,
    /// Which way.
    pub direction: Direction,
    /// How many blocks.
    pub count: usize,
}

/// A hash or MAC of messages of one length. A message's nonce is its number in its batch ([`nonce`]).
#[derive(Clone, Debug)]
pub struct Digests {
    /// What computes, and how.
    pub using: Use,
    /// The length of each message.
    pub message_bytes: usize,
    /// How many messages.
    pub count: usize,
}

/// A mode of a block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Galois/counter mode, an IV of any length.
    Gcm,
    /// One block at a time.
    Ecb,
    /// Counter mode, from a whole first counter block.
    Ctr,
    /// Cipher block chaining, of whole blocks. What is decrypted is public: it stands in [`Text::sealed`].
    Cbc,
    /// Cipher feedback with segments of so many bytes, of whole segments. What is decrypted is public: it
    /// stands in [`Text::sealed`].
    Cfb {
        /// Bytes of a segment.
        segment: usize,
    },
    /// Output feedback, which is the same both ways.
    Ofb,
    /// A tag (CMAC): made where the direction is to encrypt, else compared with the one in [`Text::sealed`].
    Cmac,
    /// A text as a whole. What is decrypted is public: it stands in [`Text::sealed`].
    Whole(Whole),
}

/// A mode that treats a text as a whole ([`divisi_symmetric::mode::whole`]). A row out begins with a byte: 0
/// if the text is refused, else 1 and the number of bytes at the end of the row that are no part of the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Whole {
    /// Key wrapping.
    Kw {
        /// Whether the cipher is its inverse.
        inverse: bool,
    },
    /// Key wrapping with padding.
    Kwp {
        /// Whether the cipher is its inverse.
        inverse: bool,
    },
    /// Synthetic IV, of keys twice as long; the nonce, if there is one, is the last string.
    Siv,
    /// Counter mode and CBC-MAC.
    Ccm,
    /// GCM-SIV.
    GcmSiv,
    /// Sectors, of keys twice as long; the IV is the tweak.
    Xts,
    /// CBC with ciphertext stealing.
    Stealing(Variant),
    /// Cipher feedback, segments of a bit.
    Cfb1,
}

impl Whole {
    /// How many keys of the cipher its key has.
    #[must_use]
    pub fn keys(self) -> usize {
        if matches!(self, Whole::Siv | Whole::Xts) { 2 } else { 1 }
    }

    /// How many bytes come of a text of so many, with a tag of so many, beside the byte that says whether.
    #[must_use]
    pub fn answer_bytes(self, direction: Direction, bytes: usize, tag_bytes: usize) -> usize {
        let encrypts = direction == Direction::Encrypt;
        match self {
            Whole::Kw { .. } | Whole::Kwp { .. } if !encrypts => bytes.saturating_sub(8),
            Whole::Kw { .. } => bytes.saturating_add(8),
            Whole::Kwp { .. } => bytes.div_ceil(8).saturating_add(1).saturating_mul(8),
            Whole::Siv | Whole::Ccm | Whole::GcmSiv if encrypts => bytes.saturating_add(tag_bytes),
            _ => bytes,
        }
    }
}

/// Texts in a mode. A row in has the key, then the secret text (nothing where the text is public); a row out
/// of ECB, CBC and CTR the other text, of GCM a byte that is 1 if the text is authentic, then the other text,
/// then the tag that was made; of CMAC the tag, or a byte that is 1 if it is the one received.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The mode.
    pub mode: Mode,
    /// The cipher.
    pub cipher: Cipher,
    /// The texts.
    pub texts: Vec<Text>,
}

/// What is public about a text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Which way.
    pub direction: Direction,
    /// The IV, or the first counter block; empty where there is none.
    pub iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The length of the text.
    pub bytes: usize,
    /// Bits at the low end of the last byte that are no part of it, of modes that count bits.
    pub spare_bits: usize,
    /// The length of the tag.
    pub tag_bytes: usize,
    /// Ciphertext and tag that are to be opened: both are public.
    pub sealed: Option<(Vec<u8>, Vec<u8>)>,
}

/// Messages of one hash or MAC. A row in has the key, then the message; a row out the output, if it is to be
/// made, then a byte that is 1 if the received tag is right, if one is to be compared.
#[derive(Clone, Debug)]
pub struct Messages {
    /// What computes, and how.
    pub using: Use,
    /// The length of each key; 0 for a hash.
    pub key_bytes: usize,
    /// The messages.
    pub messages: Vec<Message>,
}

/// What is public about a message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its length.
    pub bytes: usize,
    /// Bits of its last byte that are no part of it.
    pub spare_bits: usize,
    /// The nonce, of 96 bits unless the algorithm takes others; zeros where there is none.
    pub nonce: Vec<u8>,
    /// Whether its output is to be made.
    pub makes: bool,
    /// A tag that is to be compared with one that is made inside and not opened.
    pub received: Option<Vec<u8>>,
}

/// Digests of digests, so many one after the other from each start. A row in has a start, a row out its end.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The hash.
    pub using: Use,
    /// How many digests follow one another.
    pub steps: usize,
    /// How long each start is.
    pub starts: Vec<usize>,
}

/// How many bytes the entries of a program's value take: eight a number, one a bit.
#[must_use]
pub fn length(value: &divisi_program::Value) -> usize {
    let each = match value.kind() {
        divisi_program::ValueKind::Num => 8,
        divisi_program::ValueKind::Bits(width) => width,
    };
    value.shape().entries() * each
}

impl Texts {
    /// How many bytes a key of these texts has.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        let keys = if let Mode::Whole(mode) = self.mode { mode.keys() } else { 1 };
        keys * self.cipher.key_bytes()
    }
}

impl Text {
    /// How many bytes of the text are secret.
    #[must_use]
    pub fn secret_bytes(&self, mode: Mode) -> usize {
        if self.sealed.is_some() && mode != Mode::Cmac { 0 } else { self.bytes }
    }
}

impl Job {
    /// How many instances there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Job::Circuit(job) => job.count,
            Job::Blocks(job) => job.count,
            Job::Digests(job) => job.count,
            Job::Texts(job) => job.texts.len(),
            Job::Messages(job) => job.messages.len(),
            Job::Chain(job) => job.starts.len(),
            Job::Operation(job) => job.count,
            Job::Lookups(job) => job.count,
            Job::Program(job) => job.count,
        }
    }

    /// How many bytes the row of an instance has that goes in.
    #[must_use]
    pub fn input_bytes(&self, instance: usize) -> usize {
        match self {
            Job::Circuit(job) => job.circuit.inputs().iter().sum::<usize>().div_ceil(8),
            Job::Blocks(job) => job.cipher.block_bytes(),
            Job::Digests(job) => job.message_bytes,
            Job::Texts(job) => {
                let secret = job.texts.get(instance).map_or(0, |text| text.secret_bytes(job.mode));
                job.key_bytes() + secret
            }
            Job::Messages(job) => job.key_bytes + job.messages.get(instance).map_or(0, |m| m.bytes),
            Job::Chain(job) => job.starts.get(instance).copied().unwrap_or(0),
            Job::Operation(job) => {
                if job.op.is_random() {
                    0
                } else {
                    4
                }
            }
            Job::Lookups(_) => 4,
            Job::Program(job) => {
                job.program.program().inputs().iter().map(|input| length(&input.value)).sum()
            }
        }
    }

    /// How many bytes the row of an instance has that comes out.
    #[must_use]
    pub fn output_bytes(&self, instance: usize) -> usize {
        match self {
            Job::Circuit(job) => job.circuit.outputs().iter().sum::<usize>().div_ceil(8),
            Job::Blocks(job) => job.cipher.block_bytes(),
            Job::Digests(job) => job.using.output_bytes,
            Job::Texts(job) => job.texts.get(instance).map_or(0, |text| match job.mode {
                Mode::Gcm => 1 + text.bytes + text.tag_bytes,
                Mode::Ecb | Mode::Ctr | Mode::Cbc | Mode::Cfb { .. } | Mode::Ofb => text.bytes,
                Mode::Cmac if text.sealed.is_some() => 1,
                Mode::Whole(mode) => 1 + mode.answer_bytes(text.direction, text.bytes, text.tag_bytes),
                Mode::Cmac => text.tag_bytes,
            }),
            Job::Messages(job) => job.messages.get(instance).map_or(0, |message| {
                let made = if message.makes { job.using.output_bytes } else { 0 };
                made + usize::from(message.received.is_some())
            }),
            Job::Chain(job) => job.using.output_bytes,
            Job::Operation(job) => {
                if job.op.is_random() {
                    1
                } else {
                    8
                }
            }
            Job::Lookups(_) => 1,
            Job::Program(job) => {
                job.program.program().outputs().iter().map(|output| length(&output.value)).sum()
            }
        }
    }

    /// How many bytes the key of the set-up has.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        match self {
            Job::Blocks(job) => job.cipher.key_bytes(),
            Job::Digests(job) => job.using.algorithm.key_bytes(),
            Job::Circuit(_)
            | Job::Texts(_)
            | Job::Messages(_)
            | Job::Chain(_)
            | Job::Operation(_)
            | Job::Lookups(_)
            | Job::Program(_) => 0,
        }
    }

    /// The rows that come out of these bytes, instance after instance.
    #[must_use]
    pub fn outputs(&self, bytes: Vec<u8>, count: usize) -> Rows {
        Rows::cut(bytes, (0..count).map(|i| self.output_bytes(i)))
    }

    /// Without these instances, of a job whose instances have lengths of their own.
    #[must_use]
    pub fn without(&self, gone: &[usize]) -> Job {
        fn kept<T: Clone>(all: &[T], gone: &[usize]) -> Vec<T> {
            all.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, one)| one.clone()).collect()
        }
        let mut job = self.clone();
        match &mut job {
            Job::Circuit(_)
            | Job::Blocks(_)
            | Job::Digests(_)
            | Job::Operation(_)
            | Job::Lookups(_)
            | Job::Program(_) => {}
            Job::Texts(job) => job.texts = kept(&job.texts, gone),
            Job::Messages(job) => job.messages = kept(&job.messages, gone),
            Job::Chain(job) => job.starts = kept(&job.starts, gone),
        }
        job
    }
}

impl Circuit {
    /// The input wires of a party, by their places among all.
    #[must_use]
    pub fn wires_of(&self, party: PartyId) -> Vec<usize> {
        let owners = match &self.between {
            Between::Parties { owners, .. } => owners.as_slice(),
            Between::Client => &[],
        };
        let mut next = 0;
        let places = self.circuit.inputs().iter().map(|width| {
            next += width;
            next - width..next
        });
        places.zip(owners).filter(|(_, owner)| **owner == party).flat_map(|(place, _)| place).collect()
    }

    /// Whether a party learns the outputs.
    #[must_use]
    pub fn tells(&self, party: PartyId) -> bool {
        matches!(&self.between, Between::Parties { receivers, .. } if receivers.contains(&party))
    }

    /// What each party brings to evaluations on these rows: its input wires, one to a byte, evaluation after
    /// evaluation.
    #[must_use]
    pub fn owned(&self, parties: usize, rows: &Rows) -> Vec<Own> {
        let of = |party| {
            let wires = self.wires_of(party);
            let bit = |row: &[u8], wire: usize| row.get(wire / 8).map_or(0, |byte| byte >> (wire % 8) & 1);
            Zeroizing::new(rows.iter().flat_map(|row| wires.iter().map(move |w| bit(row, *w))).collect())
        };
        PartyId::all(parties).map(of).collect()
    }

    /// The rows of outputs that the receivers learned, one wire to a byte; they must have learned the same,
    /// and nobody else anything.
    ///
    /// # Errors
    /// Who learned something else.
    pub fn learned(&self, count: usize, outputs: &[Own]) -> Result<Vec<u8>, Differ> {
        let width: usize = self.circuit.outputs().iter().sum();
        let mut first: Option<&Own> = None;
        for (party, output) in PartyId::all(outputs.len()).zip(outputs) {
            let want = if self.tells(party) { width * count } else { 0 };
            if output.len() != want {
                return Err(Differ { party: Some(party), what: "gave outputs of a wrong form" });
            }
            match first {
                _ if !self.tells(party) => {}
                None => first = Some(output),
                Some(first) if first == output => {}
                Some(_) => {
                    return Err(Differ { party: Some(party), what: "learned other outputs than another" });
                }
            }
        }
        let bits = first.map_or(&[][..], |bits| bits.as_slice());
        let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1);
        Ok(bits.chunks(width.max(1)).flat_map(|row| row.chunks(8).map(byte)).collect())
    }
}

/// What a party brings to a phase, or has of its outputs: in its engine's own form, and wiped.
pub type Own = Zeroizing<Vec<u8>>;

/// What all parties have alike.
///
/// # Errors
/// If they have not.
pub fn alike(outputs: Vec<Own>) -> Result<Vec<u8>, Differ> {
    let mut outputs = outputs.into_iter();
    let first = outputs.next().unwrap_or_default();
    for output in outputs {
        if output != first {
            return Err(Differ { party: None, what: "the parties do not give the same outputs" });
        }
    }
    Ok(first.to_vec())
}

/// The nonce of a message by its number, for algorithms that take one.
#[must_use]
pub fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    for (place, byte) in nonce.iter_mut().zip(number.to_be_bytes().iter().rev()) {
        *place = *byte;
    }
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::hold;

    #[test]
    fn bits_are_those_of_their_owner_and_their_lane() {
        let circuit = Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap());
        let [one, two] = [1, 2].map(|number| PartyId::new(number).unwrap());
        let between = Between::Parties { owners: vec![two, one], receivers: vec![two] };
        let job = Circuit { circuit, adder: Adder::FewestAnds, between, count: 2 };
        let mut rows = Rows::default();
        rows.push(&[&[0x01; 16], &[0x02; 16]]);
        rows.push(&[&[0xfe; 16], &[0x03; 16]]);
        let own = job.owned(3, &rows);
        assert_eq!(own.iter().map(|own| own.len()).collect::<Vec<_>>(), [256, 256, 0]);
        assert_eq!((&own[1][..9], &own[0][..3]), (&[1, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0, 1, 0][..]));
        assert_eq!((&own[1][128..131], &own[0][128..131]), (&[0, 1, 1][..], &[1, 1, 0][..]));
        let bits = |bit: u8| Zeroizing::new(vec![bit; 256]);
        let none = || Zeroizing::new(Vec::new());
        assert_eq!(job.learned(2, &[none(), bits(1), none()]).unwrap(), [0xff; 32]);
        assert_eq!(job.learned(2, &[bits(1), bits(1), none()]).unwrap_err().party, Some(one));
        assert_eq!(job.learned(2, &[none(), none(), none()]).unwrap_err().party, Some(two));
    }
}
