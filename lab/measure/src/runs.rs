//! Small runs of whole protocols: three parties in one process, over memory, on inputs and keys that are
//! shared among them.

mod inputs;

use crate::calls::{self, GarbledCall};
use crate::noise::{Same, together};
use crate::one_shot::OneShotMode;
use crate::tables;
use divisi_core::{
    Abort, Bytes, Counts, Direction, Misuse, PartyId, PublicParameters, Session, Verified, settle, step,
};
use divisi_rep3::checks;
use divisi_rep3::deal::Part;
use divisi_rep3::{Agreement, Byte, Protocol, Rep3, Rounds, Security, Trio};
use divisi_symmetric::aes::{self, KeySize};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Function, MacEngine, Messages, SecretByte, bits, byte_values};
use divisi_symmetric::gates::Adder;
use divisi_symphony::cipher;
use divisi_symphony::close;
use divisi_symphony::gcm::{GcmKey, Opening, Sealing};
use divisi_symphony::tags;
use inputs::Inputs;
use std::sync::Arc;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunWork {
    /// An input compared by its holders, a key schedule, and this many blocks of AES-128.
    Aes(Direction, usize),
    /// This many bytes opened to all under a mask, and to one of the three: what programs on the engine may
    /// do besides.
    Openings(usize),
    /// A message of this many bytes sealed and opened by AES-GCM, its hash key's powers made before.
    Gcm(usize),
    /// A hash or MAC by its name, of this many messages; tags are compared, too, with right ones and wrong
    /// ones.
    Function(&'static str, usize),
    /// A hash or MAC by its name, of this many messages, garbled by two of the three.
    Garbled(&'static str, usize),
    /// A MAC of one message by its name, three times under one key: garbled by two of the three, the second
    /// time ahead, and the third time ahead for the key.
    GarbledFirst(&'static str),
    /// AES-128 from its key, garbled by two of the three.
    Call(GarbledCall),
    /// A message in a mode that takes it as a whole, both ways.
    OneShot(OneShotMode),
    /// A number of lookups in a public table of bytes by two or three factors (OHVerture).
    Lookups(usize, usize),
}

impl RunWork {
    /// The public parameters of a hash or MAC; `None` if the work is neither. SHA-2 uses the adder of low
    /// depth.
    pub fn settings(self) -> Option<Settings> {
        let (RunWork::Function(name, _) | RunWork::Garbled(name, _) | RunWork::GarbledFirst(name)) = self
        else {
            return None;
        };
        let algorithm = name.parse().ok()?;
        Some(Settings { adder: Adder::LowDepth, ..Settings::new(algorithm) })
    }
}

/// The number of messages of a hash or MAC.
fn messages(work: RunWork) -> usize {
    match work {
        RunWork::Function(_, n) | RunWork::Garbled(_, n) => n,
        _ => 1,
    }
}

/// The lengths of messages: up to two blocks of a hash, if they are few.
fn lengths(messages: usize) -> Vec<usize> {
    (0..messages).map(|l| if messages > 3 { 10 } else { [70, 0, 33][l % 3] }).collect()
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct EngineRun {
    /// How S-boxes are computed.
    pub protocol: Protocol,
    /// The adversary against which it is secure.
    pub security: Security,
    /// The work.
    pub work: RunWork,
}

impl EngineRun {
    /// Its name in lists.
    pub fn name(&self) -> String {
        let (work, n) = match self.work {
            RunWork::Aes(Direction::Encrypt, n) => ("aes", format!("{n} blocks")),
            RunWork::Aes(Direction::Decrypt, n) => ("inverse aes", format!("{n} blocks")),
            RunWork::Openings(n) => ("openings", format!("{n} bytes")),
            RunWork::Gcm(n) => ("gcm", format!("{n} bytes")),
            RunWork::Function(name, n) => (name, format!("{n} messages")),
            RunWork::Garbled(name, n) => (name, format!("{n} messages in constant rounds")),
            RunWork::GarbledFirst(name) => (name, "one message thrice in constant rounds, ahead".to_owned()),
            RunWork::Call(call) => ("aes128 from its key", call.name().to_owned()),
            RunWork::Lookups(factors, n) => {
                return format!("lookups by {factors} factors {}, {n} items", self.security);
            }
            RunWork::OneShot(whole) => (whole.name(), format!("{} bytes both ways", whole.text_bytes())),
        };
        format!("{work} {} {}, {n}", self.protocol.name(), self.security)
    }

    /// Share the inputs, and compute what must come out.
    ///
    /// # Errors
    /// If the inputs or the expected outputs cannot be made, the reason.
    pub fn prepare(self) -> Result<PreparedRun, String> {
        Ok(PreparedRun { run: self, inputs: Inputs::new(self.work)? })
    }
}

/// A run with its inputs.
pub struct PreparedRun {
    run: EngineRun,
    inputs: Inputs,
}

impl PreparedRun {
    /// Runs all three parties, and returns what the meter of each counted. `secret` is called with each part
    /// of an input before it is used.
    ///
    /// # Errors
    /// If a party aborts, the message of the first abort; or that the output was wrong.
    pub fn execute(&self, secret: &(impl Fn(&mut Part) + Sync)) -> Result<Vec<Counts>, String> {
        let inputs = &self.inputs;
        let (world, parameters) = (Arc::new(Same::default()), PublicParameters::new("measure"));
        let run = |session| self.party(session, inputs, secret);
        let mut counts = Vec::new();
        for (output, counted) in together(3, &world, &parameters, run)? {
            if output != inputs.expected {
                return Err("the output is not what the same computation gives in the clear".to_owned());
            }
            counts.push(counted);
        }
        Ok(counts)
    }

    fn party(
        &self,
        session: Session,
        inputs: &Inputs,
        secret: &(impl Fn(&mut Part) + Sync),
    ) -> Result<(Vec<Vec<u8>>, Counts), Abort> {
        let mut mine = inputs.parts.get(session.me().index()).cloned().unwrap_or_default();
        mine.iter_mut().for_each(secret);
        let trio = Trio::new(session)?;
        if let RunWork::Lookups(factors, _) = self.run.work {
            return tables::look_up(trio, &mine, self.run.security, factors);
        }
        let mut rep = Rep3::new(trio, self.run.protocol, self.run.security);
        let output = match self.run.work {
            RunWork::Aes(direction, _) => blocks(&mut rep, &mine, direction)?,
            RunWork::Openings(_) => open_otherwise(&mut rep, &mine[0])?,
            RunWork::Gcm(_) => seal_and_open(&mut rep, &mine, &inputs.iv)?,
            RunWork::Function(..) => digest_or_tag(&mut rep, &mine, self.run.work)?,
            RunWork::OneShot(whole) => {
                let inputs = shared(&mut rep, &mine)?;
                let (key, message) = inputs.split_at(whole.key_bytes());
                whole.run(&mut rep, key, message)?
            }
            // done above, without this engine
            RunWork::Lookups(..) => Vec::new(),
            RunWork::Garbled(..) | RunWork::GarbledFirst(_) => {
                rep.use_rounds(Rounds::Constant);
                digest_or_tag(&mut rep, &mine, self.run.work)?
            }
            RunWork::Call(call) => {
                rep.use_rounds(Rounds::Constant);
                let inputs = shared(&mut rep, &mine)?;
                let out = call.run(&mut rep, inputs)?;
                let out = close(&mut rep, out)?;
                rep.trio().open(&out)?
            }
        };
        let counts = rep.trio().session().meter().read();
        Ok((output, counts))
    }
}

/// The first 16 inputs are the bytes of the key, with one lane each; the 16 after them are the columns of the
/// blocks.
fn blocks(rep: &mut Rep3, mine: &[Part], direction: Direction) -> Result<Vec<Vec<u8>>, Abort> {
    let (key, message) = mine.split_at(16);
    if rep.trio().agree_input(checks::A24, &[0; 32], message.first())? != Agreement::Agreed {
        return Err(Abort::Misuse { step: step!("agree"), what: Misuse::InputsDiffer });
    }
    let key = shared(rep, key)?;
    let round_keys = cipher::expand(rep, &key)?;
    let round_keys = verified(rep, round_keys)?;
    let message = shared(rep, message)?;
    let misfit = Abort::Misuse { step: step!("columns"), what: Misuse::BlockLength };
    let mut state: [Byte; 16] = message.try_into().map_err(|_| misfit)?;
    match direction {
        Direction::Encrypt => aes::encrypt(rep, round_keys.get(), &mut state)?,
        Direction::Decrypt => aes::decrypt(rep, round_keys.get(), &mut state)?,
    }
    let out = verified(rep, state.to_vec())?;
    rep.trio().open(&out)
}

/// The values of which a party holds these parts.
fn shared(rep: &mut Rep3, parts: &[Part]) -> Result<Vec<Byte>, Abort> {
    parts.iter().map(|part| rep.trio().input(part)).collect()
}

fn verified<T>(rep: &mut Rep3, out: T) -> Result<Verified<T>, Abort> {
    let pending = rep.close(out);
    settle(rep, pending)
}

/// Opens a value under a mask and takes the mask off again; then opens it to the first party, and to all.
fn open_otherwise(rep: &mut Rep3, mine: &Part) -> Result<Vec<Vec<u8>>, Abort> {
    let x = rep.trio().input(mine)?;
    let mask = rep.mask(mine.first.len())?;
    let (c, mut back) = rep.open_masked(&x, mask)?;
    rep.add_public(&mut back, &c)?;
    let pending = rep.close_linear(back)?;
    let back = settle(rep, pending)?;
    for party in PartyId::all(3).take(1) {
        rep.trio().open_to(party, &back)?;
    }
    let pending = rep.close_linear(vec![back.into_inner()])?;
    let back = settle(rep, pending)?;
    rep.trio().open(&back)
}

/// The inputs are the key and the message. The tag is compared with a right one and with a wrong one.
fn seal_and_open(rep: &mut Rep3, mine: &[Part], iv: &[u8; 12]) -> Result<Vec<Vec<u8>>, Abort> {
    let n = mine[1].first.len();
    let mut key = GcmKey::prepare(rep, KeySize::Aes128, &mine[0])?;
    let mut sealing = Sealing::new(rep, &mut key, *iv, AAD, n as u64)?;
    let ciphertext = sealing.chunk(rep, &key, &mine[1])?;
    let tag = sealing.finish(rep, &key)?;
    for (wrong, right) in [(0, true), (1, false)] {
        let mut tag = tag;
        tag[15] ^= wrong;
        let mut opening = Opening::new(rep, &mut key, *iv, AAD, n as u64, &tag)?;
        opening.absorb(rep, &key, &ciphertext)?;
        if opening.verify(rep, &key)? != right {
            return Err(Abort::Misuse { step: step!("verify"), what: Misuse::NoResult });
        }
        if right {
            // what a client gets: one component, and the digest of another
            opening.chunk(rep, &key, b"measure", &ciphertext)?;
        }
    }
    Ok(vec![[ciphertext, tag.to_vec()].concat()])
}

/// The first inputs are the bytes of the key, with one lane each; the others are the columns of the messages.
fn digest_or_tag(rep: &mut Rep3, mine: &[Part], work: RunWork) -> Result<Vec<Vec<u8>>, Abort> {
    let misfit = || Abort::Misuse { step: step!("function"), what: Misuse::NoResult };
    let (settings, n) = (work.settings().ok_or_else(misfit)?, messages(work));
    let (key, message) = mine.split_at(settings.algorithm.key_bytes());
    let (key, message) = (shared(rep, key)?, shared(rep, message)?);
    let function = tags::prepare(rep, &settings, &key)?;
    if let RunWork::GarbledFirst(_) = work {
        calls::under_a_key(rep, |rep| outputs(rep, function.get(), message.clone(), n).map(drop))?;
    }
    let output = outputs(rep, function.get(), message, n)?;
    let bytes = byte_values(rep, output.clone())?;
    let out = if rep.owes() { verified(rep, bytes)? } else { close(rep, bytes)? };
    let opened = rep.trio().open(&out)?;
    if settings.algorithm.is_mac() {
        for (wrong, right) in [(0, true), (1, false)] {
            let tag = |l: usize| opened.iter().map(|column| column[l] ^ wrong).collect::<Vec<u8>>();
            let received: Vec<Vec<u8>> = (0..n).map(tag).collect();
            if tags::matches(rep, output.clone(), &received)? != vec![right; n] {
                return Err(misfit());
            }
        }
    }
    Ok(opened)
}

/// The outputs for the messages that have these columns of bytes.
fn outputs<E: MacEngine>(
    e: &mut E,
    function: &Function<E>,
    message: Vec<E::Byte>,
    n: usize,
) -> Result<Vec<SecretByte<E>>, Abort> {
    let messages = Messages::new(bits(e, message)?, lengths(n))?;
    function.output(e, &messages, &vec![[0x5a; 12]; n])
}

const AAD: &[u8] = b"associated data";
