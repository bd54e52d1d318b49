//! Values that one of the three parties itself brings, or that all of them draw.
//!
//! Adversary: one malicious party, which may be the owner. The owner of a value splits it for the three
//! ([`deal::split`]) and sends the two others their parts; the holders of each component compare it before
//! its first use \[A24\], and all three compare what is public about it \[A25\], so that no value can be one
//! to one party and another to the next. All three run the same program, so parts that are not a sharing come
//! from a corrupt party: a difference is an abort.

use crate::purposes;
use divisi_core::{Abort, ComparedDigest, Misuse, PartyId, Step, step};
use divisi_rep3::checks;
use divisi_rep3::deal::{self, NOTHING, Part};
use divisi_rep3::{Agreement, Byte, Rep3};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::gates::Adder;
use zeroize::{Zeroize, Zeroizing};

const INPUT: Step = step!("input");
const PARTIES: usize = 3;

/// This party's part of the parties' inputs, which are `bytes[i]` bytes of party i + 1, one after the other.
/// `own` is this party's own input, `public` a digest of everything public about the inputs. One round to
/// send, two to compare.
///
/// # Errors
/// [`Abort::CheckFailed`] with A24 if the parts of some party do not fit together, with A25 if the digests
/// differ; [`Abort::Misuse`] if `own` has another length.
pub fn bring(rep: &mut Rep3, public: &[u8; 32], bytes: [usize; 3], own: &[u8]) -> Result<Part, Abort> {
    let me = rep.trio().me();
    if own.len() != bytes[me.index()] {
        return Err(rep.trio().session().misuse(INPUT, Misuse::LengthDiffers));
    }
    let session = rep.trio().session();
    let mut parts = deal::split(own, |out| session.entropy(purposes::COMPONENTS, out)).map(Some);
    let bits = 8 * own.len() as u64;
    for (peer, part) in PartyId::all(PARTIES).zip(&parts).filter(|(peer, _)| *peer != me && bits > 0) {
        for component in part.iter().flat_map(|part| [&part.first, &part.second]) {
            session.send(INPUT, peer, component, bits)?;
        }
    }
    let mut all = Part { first: Vec::new(), second: Vec::new() };
    for owner in PartyId::all(PARTIES) {
        let n = bytes[owner.index()];
        let part = match parts.get_mut(owner.index()).and_then(Option::take).filter(|_| owner == me) {
            Some(part) => part,
            None => {
                let mut part = Part { first: vec![0; n], second: vec![0; n] };
                for component in [&mut part.first, &mut part.second].into_iter().filter(|_| n > 0) {
                    rep.trio().session().recv(INPUT, owner, component)?;
                }
                part
            }
        };
        append(&mut all.first, &part.first);
        append(&mut all.second, &part.second);
    }
    let agreed = rep.trio().agree_input(checks::A24, public, Some(&all))?;
    let check = if agreed == Agreement::PublicDiffers { checks::A25 } else { checks::A24 };
    rep.trio().session().require(check, INPUT, agreed == Agreement::Agreed, None)?; // [A24] [A25]
    Ok(all)
}

/// Compare everything public about a step among all three parties, before anything of it is computed, so that
/// parties with different parameters stop before they use secrets. Two rounds.
///
/// # Errors
/// [`Abort::CheckFailed`] with A25 if the parameters of some party differ.
pub(crate) fn agree_public(rep: &mut Rep3, step: Step, public: &Public) -> Result<(), Abort> {
    let agreed = rep.trio().agree_input(checks::A25, &public.digest(), Some(&NOTHING))?;
    rep.trio().session().require(checks::A25, step, agreed == Agreement::Agreed, None) // [A25]
}

/// The public parameters of a step. Values are hashed in the order in which they are added, with their
/// lengths, so that no two lists of values have the same digest.
pub(crate) struct Public(blake3::Hasher);

impl Public {
    /// The parameters of a step, with only its name so far.
    pub fn new(step: Step) -> Public {
        Public(blake3::Hasher::new_derive_key("divisi 2026 public input v1")).bytes(step.name.as_bytes())
    }

    pub fn number(mut self, number: usize) -> Public {
        self.0.update(&(number as u64).to_le_bytes());
        self
    }

    pub fn bytes(self, bytes: &[u8]) -> Public {
        let mut public = self.number(bytes.len());
        public.0.update(bytes);
        public
    }

    /// Add the number of several values, then the values.
    pub fn list<T>(self, values: &[T], one: impl Fn(Public, &T) -> Public) -> Public {
        values.iter().fold(self.number(values.len()), one)
    }

    pub fn settings(self, settings: &Settings) -> Public {
        let Settings {
            algorithm,
            adder,
            customization,
            function,
            output_bytes,
            spare_output_bits,
            spare_key_bits,
            xof,
        } = settings;
        let public = self.bytes(algorithm.name().as_bytes()).number((*adder == Adder::LowDepth).into());
        let public = public.bytes(customization).bytes(function);
        public.number(*output_bytes).number(*spare_output_bits).number(*spare_key_bits).number((*xof).into())
    }

    pub fn digest(&self) -> [u8; 32] {
        self.0.to_compare()
    }
}

/// The part of a value that one party brings: `own` is the value at the owner, and `None` at the others. The
/// three must agree on `what` and the length.
pub(crate) fn bring_one(
    rep: &mut Rep3,
    owner: PartyId,
    what: &str,
    length: usize,
    own: Option<&[u8]>,
) -> Result<Part, Abort> {
    let me = rep.trio().me();
    if owner.index() >= PARTIES || own.is_some() != (me == owner) {
        return Err(rep.trio().session().misuse(INPUT, Misuse::NotTheOwner));
    }
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 value of a party v1");
    hasher.update(&(what.len() as u64).to_le_bytes()).update(what.as_bytes()).update(&[owner.number()]);
    hasher.update(&(length as u64).to_le_bytes());
    let mut bytes = [0; PARTIES];
    bytes[owner.index()] = length;
    bring(rep, &hasher.to_compare(), bytes, own.unwrap_or_default())
}

/// The bytes of a part, as values of one lane each.
///
/// # Errors
/// None at present; bytes after the end of the shorter component are left out.
pub fn single(rep: &mut Rep3, part: &Part) -> Result<Vec<Byte>, Abort> {
    let one = |(first, second): (&u8, &u8)| Part { first: vec![*first], second: vec![*second] };
    part.first.iter().zip(&part.second).map(|bytes| rep.trio().input(&one(bytes))).collect()
}

/// Append bytes. If the old bytes have to move, their old copy is wiped.
fn append(all: &mut Vec<u8>, more: &[u8]) {
    let mut joined = Vec::with_capacity(all.len() + more.len());
    joined.extend_from_slice(all);
    joined.extend_from_slice(more);
    all.zeroize();
    *all = joined;
}

/// Messages as columns: column `j` has byte `j` of each message, or zero after its end.
pub(crate) fn columns(messages: &[&[u8]], longest: usize) -> Zeroizing<Vec<u8>> {
    let byte = |j: usize| messages.iter().map(move |message| message.get(j).copied().unwrap_or(0));
    let mut columns = Zeroizing::new(Vec::with_capacity(longest * messages.len()));
    (0..longest).for_each(|j| columns.extend(byte(j)));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest is of one step, one list of values and one order, and no hash of anything else.
    #[test]
    fn public_parameters_have_a_digest_of_their_own() {
        let new = || Public::new(INPUT);
        let other = step!("inputs");
        let plain: Vec<u8> = [&(INPUT.name.len() as u64).to_le_bytes(), INPUT.name.as_bytes()].concat();
        let all = [
            new().digest(),
            Public::new(other).digest(),
            *blake3::hash(&plain).as_bytes(),
            new().number(1).digest(),
            new().number(257).digest(),
            new().number(1).number(1).digest(),
            new().bytes(b"").digest(),
            new().bytes(b"12").digest(),
            new().bytes(b"1").bytes(b"2").digest(),
            new().bytes(b"2").bytes(b"1").digest(),
            new().list(&[1, 2], |public, x| public.number(*x)).digest(),
            new().list(&[2, 1], |public, x| public.number(*x)).digest(),
            new().number(1).number(2).digest(),
        ];
        let mut different = all.to_vec();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), all.len());
    }
}
