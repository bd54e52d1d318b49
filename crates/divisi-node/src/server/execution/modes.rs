//! The modes other than GCM, with keys of their own types: key wrapping (KW, KWP), SIV, and CBC for data that
//! others encrypted.
//!
//! A message to be encrypted arrives as shares, which no server can read, and its ciphertext is opened to all
//! three. A decrypted message goes to its client alone, with KW, KWP and SIV only after a verdict on its
//! integrity, and the servers learn nothing but the verdict \[A23\]. These modes process block after block: a
//! step does a few blocks, with steps of other requests in between. In constant rounds the blocks of a step
//! are one program that takes the key itself ([`chains`]); blocks that do not wait for each other, if there
//! are more of them, run level by level all the same, because that takes fewer bytes and less work, and so do
//! steps that take a whole value if it is long ([`GARBLED_BYTES`]).
//!
//! Repetition: under one key, KW, KWP and SIV give equal ciphertexts for equal messages, so that the servers
//! and whoever stores the ciphertexts learn that they are equal. The IV of CBC is a coin of all three
//! servers. CBC authenticates nothing.

use super::iv::CBC_IV;
use super::step::StepRun;
use crate::error::Stop;
use crate::request::{Mode, ModeRequest, ToClient};
use crate::server::agreement::{StepData, unexpected};
use crate::server::found::Loaded;
use crate::server::release::{ciphertext, decided, message_alone, to_all};
use crate::server::scheduling::After;
use divisi_core::{Abort, Bytes, Direction, Misuse, Settles, Step};
use divisi_rep3::{Byte, Rep3, Rounds};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::chains;
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot::wrap::{WrapForm, Wrapping};
use divisi_symmetric::mode::one_shot::{Undecided, siv};
use divisi_symmetric::mode::{cbc, cmac};
use divisi_symphony::cipher::expand;
use divisi_symphony::owner::single;

const SETTINGS: Step = Step::new("divisi_node::server::whole/settings");
const BLOCK: usize = 16;
/// How many calls of the cipher that wait for each other one step makes: some 20 ms of rounds.
const CALLS: usize = 8;
/// The most blocks of S2V, public strings included, that one program begins with.
const STRINGS: usize = 16;
/// The most bytes of a value that a garbled step takes as a whole, as wrapping does in each step, and S2V at
/// its beginning: each bit takes 48 to 96 bytes in each such step, and a wrapping has a step for every ten
/// bytes or so. 512 bytes take less than 400 KB in each of 48 steps; 16 KiB took gigabytes.
const GARBLED_BYTES: u64 = 512;

/// The computation that takes several steps.
enum Computation {
    /// No work in progress.
    Gathering,
    /// Wrapping or unwrapping, semiblock by semiblock.
    Wrapping(Wrapping<Byte>),
    /// CMAC of a message, block by block, and the message.
    Tagging(cmac::Chaining<Byte>, Vec<Byte>),
}

/// What is computed from a key for blocks level by level.
struct LevelKey {
    cipher: RoundKeys<Byte>,
    /// The keys of SIV.
    siv: Option<siv::SivKey<Rep3>>,
}

/// A message that is being encrypted or decrypted.
pub(crate) struct ModeRun {
    asked: ModeRequest,
    /// The key in bytes; of SIV the first half.
    key: Vec<Byte>,
    /// The second half of a key of SIV.
    second: Vec<Byte>,
    /// Made before the first step that runs level by level.
    levels: Option<LevelKey>,
    /// The chaining value before the next block of CBC.
    previous: [u8; BLOCK],
    /// The chaining value as shares, during encryption.
    state: Option<Vec<Byte>>,
    /// Input that is not processed yet: as shares, or public.
    secret: Vec<Byte>,
    known: Vec<u8>,
    /// The output of the current piece.
    made: Vec<Byte>,
    computation: Computation,
    index: u64,
}

impl ModeRun {
    /// Prepare the key, and tell the client the IV.
    pub fn begin(run: &mut StepRun<'_>, loaded: &Loaded, asked: &ModeRequest) -> Result<ModeRun, Stop> {
        run.rep.use_protocol(asked.way.0);
        let bytes = single(run.rep, &loaded.part)?;
        let (first, second) =
            bytes.split_at(if asked.mode == Mode::Siv { bytes.len() / 2 } else { bytes.len() });
        let (key, second) = (first.to_vec(), second.to_vec());
        let levels = if is_garbled(run) { None } else { Some(level_key(run, &key, &second)?) };
        let iv = match (asked.mode, asked.encrypts) {
            (Mode::Cbc, true) => run.draw_iv(CBC_IV, &loaded.info.id)?,
            _ => asked.iv,
        };
        run.answer(ToClient::Begun { iv, key: (&loaded.info).into() });
        Ok(ModeRun {
            asked: asked.clone(),
            key,
            second,
            levels,
            previous: iv,
            state: None,
            secret: Vec::new(),
            known: Vec::new(),
            made: Vec::new(),
            computation: Computation::Gathering,
            index: 0,
        })
    }

    /// Take a piece, whose holders agree on it \[A24, A25\], or continue with the current one.
    pub fn piece(&mut self, run: &mut StepRun<'_>, data: &StepData) -> Result<After, Stop> {
        run.rep.use_protocol(self.asked.way.0);
        match data {
            StepData::Secret(part) => self.secret.extend(single(run.rep, part)?),
            StepData::Public(body, _) => self.known.extend_from_slice(&body.0),
            StepData::Nothing if !matches!(self.computation, Computation::Gathering) => {
                return self.go_on(run);
            }
            StepData::Nothing => {}
            StepData::Finish | StepData::Last(..) => return Err(unexpected(run.me())),
        }
        match (self.asked.mode, self.asked.encrypts) {
            (Mode::Cbc, true) => self.cbc(run),
            (Mode::Cbc, false) => self.cbc_back(run),
            _ => {
                run.answer(ToClient::Accepted);
                Ok(After::More { in_hand: false })
            }
        }
    }

    /// A few blocks of CBC; a whole piece is answered by its ciphertext.
    fn cbc(&mut self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        let now: Vec<Byte> = self.secret.drain(..self.secret.len().min(CALLS * BLOCK)).collect();
        let state = match self.state.take() {
            Some(state) => state,
            None => RoundKeys::<Byte>::public_block(run.rep, &self.previous.map(|byte| vec![byte])),
        };
        let made = if is_garbled(run) {
            chains::cbc(run.rep, &self.key, state, &now)?
        } else {
            let key = self.level_key(run)?;
            cbc::encrypt_from(run.rep, &key.cipher, state, &now)?
        };
        let made = run.rep.settled(made)?.into_inner();
        self.state = made.get(made.len().saturating_sub(BLOCK)..).map(<[Byte]>::to_vec);
        self.made.extend(made);
        if !self.secret.is_empty() {
            return Ok(After::More { in_hand: true });
        }
        let made = std::mem::take(&mut self.made);
        self.send_to_all(run, made)?;
        Ok(After::More { in_hand: false })
    }

    /// Decrypt a piece of CBC, all blocks at once, and send it to the client alone.
    fn cbc_back(&mut self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        let known = std::mem::take(&mut self.known);
        let columns = |bytes: &[u8]| -> Vec<Vec<u8>> {
            (0..BLOCK).map(|i| bytes.iter().skip(i).step_by(BLOCK).copied().collect()).collect()
        };
        let before = cbc::previous(&self.previous, &known);
        if let Some(last) = known.last_chunk() {
            self.previous = *last;
        }
        let (before, blocks) = (columns(&before), columns(&known));
        let plain = if is_garbled(run) && known.len() <= chains::TOGETHER * BLOCK {
            let key = BlockKey::<Rep3>::new(self.key.clone())?;
            cbc::decrypt(run.rep, &key, &before, &blocks)?
        } else {
            self.by_levels(run, |rep, key| cbc::decrypt(rep, &key.cipher, &before, &blocks))?
        };
        let plain = run.rep.settled(plain)?;
        let context = run.context(self.index);
        self.index += 1;
        let answer = message_alone(run.rep, &context, &plain, known.len())?;
        run.answer(answer);
        Ok(After::More { in_hand: false })
    }

    /// Open a ciphertext, when everything that it depends on is verified, to all three servers, which send it
    /// to the client.
    fn send_to_all(&mut self, run: &mut StepRun<'_>, made: Vec<Byte>) -> Result<(), Stop> {
        let bytes = to_all(run.rep, made)?;
        run.answer(ciphertext(run.me(), &run.context(self.index), bytes));
        self.index += 1;
        Ok(())
    }

    /// The message is complete.
    pub fn finish(&mut self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        run.rep.use_protocol(self.asked.way.0);
        let secret = std::mem::take(&mut self.secret);
        let known = std::mem::take(&mut self.known);
        let form = match self.asked.mode {
            Mode::Cbc => {
                run.answer(ToClient::Done);
                return Ok(After::Done);
            }
            Mode::Siv => {
                let message = if self.asked.encrypts {
                    secret
                } else {
                    let mut message = self.stream(run, self.asked.iv, known.len())?;
                    for (byte, known) in message.iter_mut().zip(&known) {
                        run.rep.add_public(byte, &[*known])?;
                    }
                    message
                };
                // an empty string is a string, too (RFC 5297, 2.6; Tink and Wycheproof always have one)
                let strings: Vec<_> = self.asked.aad.iter().map(|aad| vec![aad.0.clone()]).collect();
                let public: Vec<&[u8]> = strings.iter().flatten().map(Vec::as_slice).collect();
                let chaining = if self.garbles_message(run) && chains::s2v_blocks(&public) <= STRINGS {
                    chains::s2v(run.rep, &self.key, &public, &message)?
                } else {
                    self.by_levels(run, |rep, key| siv_of(key)?.s2v_begin(rep, 1, &strings, &message))?
                };
                self.computation = Computation::Tagging(chaining, message);
                return self.go_on(run);
            }
            Mode::Kw => WrapForm::Kw,
            Mode::Kwp => WrapForm::Kwp,
        };
        let (direction, message) = if self.asked.encrypts {
            (Direction::Encrypt, secret)
        } else {
            (Direction::Decrypt, known.iter().map(|byte| run.rep.public(&[*byte])).collect())
        };
        self.computation = Computation::Wrapping(Wrapping::new(run.rep, form, direction, false, &message)?);
        self.go_on(run)
    }

    /// Go on with what is in hand: a few calls of the cipher.
    fn go_on(&mut self, run: &mut StepRun<'_>) -> Result<After, Stop> {
        let calls = if run.small_steps { CALLS / 2 } else { CALLS };
        let mut computation = std::mem::replace(&mut self.computation, Computation::Gathering);
        match &mut computation {
            Computation::Wrapping(wrapping) if self.garbles_message(run) => {
                chains::wrap_on(run.rep, &self.key, wrapping, calls)?;
            }
            // of the message it takes only the blocks of the step
            Computation::Tagging(chaining, _) if is_garbled(run) => {
                chains::mac_on(run.rep, &self.key, chaining, calls)?;
            }
            Computation::Wrapping(wrapping) => {
                self.by_levels(run, |rep, key| wrapping.go_on(rep, &key.cipher, calls))?;
            }
            Computation::Tagging(chaining, _) => {
                self.by_levels(run, |rep, key| siv_of(key)?.s2v_go_on(rep, chaining, calls))?;
            }
            Computation::Gathering => return Err(unexpected(run.me())),
        }
        let is_done = match &computation {
            Computation::Gathering => true,
            Computation::Wrapping(wrapping) => wrapping.is_done(),
            Computation::Tagging(chaining, _) => chaining.is_done(),
        };
        // each step verifies what it owes
        let computation = match computation {
            Computation::Wrapping(wrapping) => Computation::Wrapping(run.rep.settled(wrapping)?.into_inner()),
            Computation::Tagging(chaining, message) => {
                let (chaining, message) = run.rep.settled((chaining, message))?.into_inner();
                Computation::Tagging(chaining, message)
            }
            Computation::Gathering => Computation::Gathering,
        };
        if !is_done {
            self.computation = computation;
            return Ok(After::More { in_hand: true });
        }
        match computation {
            Computation::Gathering => return Err(unexpected(run.me())),
            Computation::Wrapping(wrapping) if self.asked.encrypts => {
                let made = wrapping.wrapped();
                self.send_to_all(run, made)?;
            }
            Computation::Wrapping(wrapping) => {
                let undecided = wrapping.unwrapped(run.rep)?;
                self.release(run, undecided)?;
            }
            Computation::Tagging(chaining, message) => {
                let tag = chaining.tag();
                if self.asked.encrypts {
                    let verified = run.rep.settled(tag)?;
                    let iv = run.rep.trio().open(&verified)?.concat();
                    let v = <[u8; 16]>::try_from(iv.as_slice()).map_err(|_| unexpected(run.me()))?;
                    let mut made: Vec<Byte> = iv.iter().map(|byte| run.rep.public(&[*byte])).collect();
                    let mut stream = self.stream(run, v, message.len())?;
                    for (stream, message) in stream.iter_mut().zip(&message) {
                        run.rep.add(stream, message)?;
                    }
                    made.extend(stream);
                    self.send_to_all(run, made)?;
                } else {
                    let undecided = siv::undecided(run.rep, &[self.asked.iv], message, tag)?;
                    self.release(run, undecided)?;
                }
            }
        }
        Ok(After::Done)
    }

    /// Whether a step that takes the whole value is garbled. All three servers know the value's length, which
    /// is that of the request.
    fn garbles_message(&self, run: &StepRun<'_>) -> bool {
        is_garbled(run) && self.asked.length <= GARBLED_BYTES
    }

    /// The key for a step level by level, made now if it was not made before.
    fn level_key(&mut self, run: &mut StepRun<'_>) -> Result<&LevelKey, Stop> {
        let made = match self.levels.take() {
            Some(key) => key,
            None => level_key(run, &self.key, &self.second)?,
        };
        Ok(self.levels.insert(made))
    }

    /// Compute something level by level, however the steps of this round run.
    fn by_levels<R>(
        &mut self,
        run: &mut StepRun<'_>,
        f: impl FnOnce(&mut Rep3, &LevelKey) -> Result<R, Abort>,
    ) -> Result<R, Stop> {
        let rounds = run.rep.rounds();
        run.rep.use_rounds(Rounds::OfLevels);
        // the key, too, is made level by level; whatever comes of it, the rounds are then as before
        let result = self.level_key(run).and_then(|key| Ok(f(run.rep, key)?));
        run.rep.use_rounds(rounds);
        result
    }

    /// The key stream of SIV.
    fn stream(&mut self, run: &mut StepRun<'_>, iv: [u8; BLOCK], bytes: usize) -> Result<Vec<Byte>, Stop> {
        if is_garbled(run) && bytes <= chains::TOGETHER * BLOCK {
            return Ok(chains::siv_stream(run.rep, &self.second, iv, bytes)?);
        }
        self.by_levels(run, |rep, key| siv_of(key)?.stream(rep, &[iv], bytes))
    }

    /// Send the message to its client alone, if the verdict is good.
    fn release(&self, run: &mut StepRun<'_>, undecided: Undecided<Rep3>) -> Result<(), Stop> {
        let context = run.context(self.index);
        let answer = decided(run.rep, &context, undecided)?;
        run.answer(answer);
        Ok(())
    }
}

/// Whether the programs of this step are garbled.
fn is_garbled(run: &StepRun<'_>) -> bool {
    run.rep.rounds() == Rounds::Constant
}

/// Compute from a key what blocks level by level need. It is verified here, once, before its first use.
fn level_key(run: &mut StepRun<'_>, key: &[Byte], second: &[Byte]) -> Result<LevelKey, Stop> {
    let cipher = expand(run.rep, key)?;
    let siv = if second.is_empty() {
        None
    } else {
        let second = expand(run.rep, second)?;
        Some(siv::SivKey::from_round_keys(run.rep, cipher.clone(), second)?)
    };
    let (cipher, siv) = run.rep.settled((cipher, siv))?.into_inner();
    Ok(LevelKey { cipher, siv })
}

fn siv_of(key: &LevelKey) -> Result<&siv::SivKey<Rep3>, Abort> {
    key.siv.as_ref().ok_or(Abort::Misuse { step: SETTINGS, what: Misuse::KeyMissing })
}
