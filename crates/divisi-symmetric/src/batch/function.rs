//! Any hash or MAC by its parameters: prepared with its key, fed piece by piece, and finished.

use super::{
    MacEngine, Messages, SecretByte, bits, bytes, cmac, drawn, gmac, hash, hmac, kmac, programs, public,
    unfit, wires, xof,
};
use crate::algorithm::{Algorithm, Settings, Strength};
use crate::gates::Adder;
use crate::hash::Hash;
use crate::mac::cmac::BLOCK;
use crate::mac::hmac::PadStates;
use crate::mac::kmac::{Kmac, OutputLength};
use crate::mode::gcm::IV_BYTES;
use crate::sha3::Xof;
use divisi_core::{Abort, Lanes, Misuse, ProgramRun};

/// A function that is ready for messages. A MAC has values that depend on its key only, verified once and
/// kept.
#[derive(Clone)]
pub struct Function<E: MacEngine> {
    pub(super) kind: Kind<E>,
    pub(super) bytes: usize,
    /// How many bits of the last byte are not wanted.
    pub(super) spare: usize,
}

#[derive(Clone)]
pub(super) enum Kind<E: MacEngine> {
    Hash(Hash, Adder),
    Xof(Xof),
    Hmac(Hash, Adder, PadStates<E::Bit>),
    Otp(Hash, Adder, PadStates<E::Bit>),
    Kmac(Kmac, Vec<SecretByte<E>>, OutputLength),
    Cmac(cmac::LaneCmacKey<E>),
    Gmac(gmac::LaneGmacKey<E>),
}

/// The state of a function between two pieces of messages.
pub struct State<E: MacEngine> {
    pub(super) state: Vec<SecretByte<E>>,
    pub(super) before: u64,
}

impl<E: MacEngine> Clone for State<E> {
    fn clone(&self) -> Self {
        State { state: self.state.clone(), before: self.before }
    }
}

impl<E: MacEngine> Function<E> {
    /// Prepares a function. A MAC needs a key, byte by byte, with one lane for all messages, or one for each.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the parameters do not fit the algorithm, or if a key is missing or superfluous;
    /// the abort that ends the session.
    pub fn prepare(e: &mut E, settings: &Settings, key: &[E::Byte]) -> Result<Self, Abort> {
        if settings.check().is_err() {
            return Err(unfit(Misuse::Unsupported));
        }
        let fixed = match settings.algorithm {
            Algorithm::Cmac(size) | Algorithm::Gmac(size) => size.bytes() != key.len(),
            _ => false,
        };
        if fixed || (!settings.algorithm.is_mac() && !key.is_empty()) {
            return Err(unfit(Misuse::KeyUnfit));
        }
        let adder = settings.adder;
        let kind = match settings.algorithm {
            Algorithm::Hash(hash) => Kind::Hash(hash, adder),
            Algorithm::Shake(Strength::S128) => Kind::Xof(Xof::shake128()),
            Algorithm::Shake(Strength::S256) => Kind::Xof(Xof::shake256()),
            Algorithm::Cshake(Strength::S128) => {
                Kind::Xof(Xof::cshake128(&settings.function, &settings.customization))
            }
            Algorithm::Cshake(Strength::S256) => {
                Kind::Xof(Xof::cshake256(&settings.function, &settings.customization))
            }
            Algorithm::Hmac(hash) => {
                let key = bits(e, key.to_vec())?;
                Kind::Hmac(hash, adder, drawn::pad_states(e, hash, adder, &key)?)
            }
            Algorithm::Otp(hash) => {
                let key = bits(e, key.to_vec())?;
                Kind::Otp(hash, adder, drawn::pad_states(e, hash, adder, &key)?)
            }
            Algorithm::Kmac(strength) => {
                let kmac = match strength {
                    Strength::S128 => Kmac::kmac128(&settings.customization),
                    Strength::S256 => Kmac::kmac256(&settings.customization),
                };
                let bytes = settings.output_bytes;
                let asked = (8 * bytes).saturating_sub(settings.spare_output_bits);
                let output = if settings.xof { OutputLength::Xof(bytes) } else { OutputLength::Bits(asked) };
                let key = bits(e, key.to_vec())?;
                let state = kmac::key_state(e, &kmac, &key, settings.spare_key_bits)?;
                Kind::Kmac(kmac, state, output)
            }
            Algorithm::Cmac(_) => Kind::Cmac(cmac::prepare(e, key)?),
            Algorithm::Gmac(_) => Kind::Gmac(gmac::prepare(e, key)?),
        };
        Ok(Function { kind, bytes: settings.output_bytes, spare: settings.spare_output_bits })
    }

    /// The length of its output in bytes.
    #[must_use]
    pub fn output_bytes(&self) -> usize {
        self.bytes
    }

    /// All pieces but the last must have a multiple of this many bytes. The last one must not be empty unless
    /// it is the only one.
    #[must_use]
    pub fn piece(&self) -> usize {
        match &self.kind {
            Kind::Hash(hash, _) | Kind::Hmac(hash, ..) | Kind::Otp(hash, ..) => hash.block_bytes(),
            Kind::Xof(xof) => xof.sponge().rate(),
            Kind::Kmac(kmac, ..) => kmac.xof().sponge().rate(),
            Kind::Cmac(_) => BLOCK,
            Kind::Gmac(_) => gmac::BLOCK * gmac::POWERS,
        }
    }

    /// The state before the first piece.
    pub fn begin(&self, e: &mut E) -> State<E> {
        let state = match &self.kind {
            Kind::Hash(hash, _) => public(e, &hash.initial(), 1),
            Kind::Xof(xof) => public(e, &xof.initial(), 1),
            Kind::Hmac(_, _, states) | Kind::Otp(_, _, states) => states.inner.clone(),
            Kind::Kmac(_, state, _) => state.clone(),
            Kind::Cmac(_) => cmac::initial(e),
            Kind::Gmac(_) => gmac::initial(e),
        };
        State { state, before: 0 }
    }

    /// Processes a piece of every message.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if its length is not a multiple of [`piece`](Function::piece) bytes; the abort that
    /// ends the session.
    pub fn update(&self, e: &mut E, state: State<E>, piece: Vec<SecretByte<E>>) -> Result<State<E>, Abort> {
        if let Some(joined) = self.update_whole(e, &state, &piece)? {
            return Ok(joined);
        }
        let State { state, before } = state;
        let before = before + piece.len() as u64;
        let state = match &self.kind {
            Kind::Hash(hash, adder) | Kind::Hmac(hash, adder, _) | Kind::Otp(hash, adder, _) => {
                hash::continued(e, *hash, *adder, state, piece)?
            }
            Kind::Xof(xof) => xof::continued(e, xof.sponge(), state, piece)?,
            Kind::Kmac(kmac, ..) => xof::continued(e, kmac.xof().sponge(), state, piece)?,
            Kind::Cmac(key) => cmac::continued(e, key, state, piece)?,
            Kind::Gmac(key) => gmac::continued(e, key, state, piece)?,
        };
        Ok(State { state, before })
    }

    /// Processes the rest of each message and returns the outputs. There is a nonce for each message if the
    /// function has nonces.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the state, the messages or the nonces do not fit the function; the abort that
    /// ends the session.
    pub fn finish(
        &self,
        e: &mut E,
        state: State<E>,
        rest: &Messages<E>,
        nonces: &[[u8; IV_BYTES]],
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        let ivs: Vec<&[u8]> = nonces.iter().map(<[u8; IV_BYTES]>::as_slice).collect();
        self.finish_with(e, state, rest, &ivs)
    }

    /// The same, with an IV of any length for each message. Either all IVs have 96 bits, or none does and all
    /// have the same length.
    ///
    /// # Errors
    /// The errors of [`finish`](Function::finish); also [`Abort::Misuse`] if an IV is empty, or only some
    /// have 96 bits.
    pub fn finish_with(
        &self,
        e: &mut E,
        state: State<E>,
        rest: &Messages<E>,
        ivs: &[&[u8]],
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        if let Some(output) = self.finish_whole(e, &state, rest)? {
            return Ok(output);
        }
        let State { state, before } = state;
        let mut output = match &self.kind {
            Kind::Hash(hash, adder) => hash::resume(e, *hash, *adder, &state, before, rest)?,
            Kind::Xof(xof) => xof::resume(e, xof, &state, rest, self.bytes)?,
            Kind::Hmac(hash, adder, states) => hmac::finish(e, *hash, *adder, states, &state, before, rest)?,
            Kind::Otp(hash, adder, states) => {
                let tag = hmac::finish(e, *hash, *adder, states, &state, before, rest)?;
                let code = programs::code(tag.len(), self.bytes);
                let mut jobs = [ProgramRun::new(&code, wires(tag))];
                e.run(&mut jobs)?;
                let [job] = jobs;
                bytes(job.wires)
            }
            Kind::Kmac(kmac, _, output) => kmac::tag(e, kmac, &state, rest, *output)?,
            Kind::Cmac(key) => cmac::tag(e, key, &state, before, rest)?,
            Kind::Gmac(key) => gmac::tag_with(e, key, &state, before, rest, ivs)?,
        };
        output.truncate(self.bytes);
        if let Some(last) = output.last_mut().filter(|_| self.spare > 0) {
            let none = e.public_bit(&vec![false; last[0].lanes()]);
            last.iter_mut().rev().take(self.spare).for_each(|bit| *bit = none.clone());
        }
        Ok(output)
    }

    /// The outputs for complete messages.
    ///
    /// # Errors
    /// The errors of [`finish`](Function::finish).
    pub fn output(
        &self,
        e: &mut E,
        messages: &Messages<E>,
        nonces: &[[u8; IV_BYTES]],
    ) -> Result<Vec<SecretByte<E>>, Abort> {
        let state = self.begin(e);
        self.finish(e, state, messages, nonces)
    }
}
