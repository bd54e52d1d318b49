//! The modes other than GCM, with keys of their own types: key wrapping (KW, KWP), SIV, and CBC for data that
//! others encrypted.
//!
//! A text to be encrypted arrives as shares, which no server can read, and its ciphertext is opened to all
//! three. A decrypted text goes to its client alone, with KW, KWP and SIV only after a verdict on its
//! integrity, and the servers learn nothing but the verdict \[A23\]. These modes process block after block: a
//! step does a few blocks, with steps of other requests in between. In constant rounds the blocks of a step
//! are one program that takes the key itself ([`chains`]); blocks that do not wait for each other, if there
//! are more of them, run level by level all the same, because that takes fewer bytes and less work, and so do
//! steps that take a whole value if it is long ([`GARBLED_BYTES`]).
//!
//! Repetition: under one key, KW, KWP and SIV give equal ciphertexts for equal texts, so that the servers and
//! whoever stores the ciphertexts learn that they are equal. The IV of CBC is a coin of all three servers.
//! CBC authenticates nothing.

use super::iv::CBC_IV;
use super::step::Turn;
use crate::error::Stop;
use crate::request::{Mode, ToClient, Whole};
use crate::server::admission::Loaded;
use crate::server::agreement::{Given, misfit};
use crate::server::release::{ciphertext, decided, message_alone, to_all};
use crate::server::scheduling::After;
use divisi_core::{Abort, Bytes, Direction, Settles, Step};
use divisi_rep3::{Byte, Rep3, Rounds};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::batch::block::BlockKey;
use divisi_symmetric::batch::chains;
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::whole::wrap::{WrapForm, Wrapping};
use divisi_symmetric::mode::whole::{Undecided, siv};
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
enum Under {
    /// No work in progress.
    Gathering,
    /// Wrapping or unwrapping, semiblock by semiblock.
    Wrapping(Wrapping<Byte>),
    /// CMAC of a text, block by block, and the text.
    Tagging(cmac::Chaining<Byte>, Vec<Byte>),
}

/// What is computed from a key for blocks level by level.
struct LevelKey {
    cipher: RoundKeys<Byte>,
    /// The keys of SIV.
    siv: Option<siv::SivKey<Rep3>>,
}

/// A text that is being encrypted or decrypted.
pub(crate) struct Texting {
    asked: Whole,
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
    under: Under,
    index: u64,
}

impl Texting {
    /// Prepare the key, and tell the client the IV.
    pub fn begin(turn: &mut Turn<'_>, loaded: &Loaded, asked: &Whole) -> Result<Texting, Stop> {
        turn.rep.use_protocol(asked.way.0);
        let bytes = single(turn.rep, &loaded.part)?;
        let (first, second) =
            bytes.split_at(if asked.mode == Mode::Siv { bytes.len() / 2 } else { bytes.len() });
        let (key, second) = (first.to_vec(), second.to_vec());
        let levels = if is_garbled(turn) { None } else { Some(level_key(turn, &key, &second)?) };
        let iv = match (asked.mode, asked.encrypts) {
            (Mode::Cbc, true) => turn.draw_iv(CBC_IV, &loaded.info.id)?,
            _ => asked.iv,
        };
        turn.answer(ToClient::Begun { iv, key: (&loaded.info).into() });
        Ok(Texting {
            asked: asked.clone(),
            key,
            second,
            levels,
            previous: iv,
            state: None,
            secret: Vec::new(),
            known: Vec::new(),
            made: Vec::new(),
            under: Under::Gathering,
            index: 0,
        })
    }

    /// Take a piece, whose holders agree on it \[A24, A25\], or continue with the current one.
    pub fn piece(&mut self, turn: &mut Turn<'_>, given: &Given) -> Result<After, Stop> {
        turn.rep.use_protocol(self.asked.way.0);
        match given {
            Given::Secret(part) => self.secret.extend(single(turn.rep, part)?),
            Given::Public(body, _) => self.known.extend_from_slice(&body.0),
            Given::Nothing if !matches!(self.under, Under::Gathering) => return self.go_on(turn),
            Given::Nothing => {}
            Given::Finish | Given::Last(..) => return Err(misfit(turn.me())),
        }
        match (self.asked.mode, self.asked.encrypts) {
            (Mode::Cbc, true) => self.cbc(turn),
            (Mode::Cbc, false) => self.cbc_back(turn),
            _ => {
                turn.answer(ToClient::Accepted);
                Ok(After::More { in_hand: false })
            }
        }
    }

    /// A few blocks of CBC; a whole piece is answered by its ciphertext.
    fn cbc(&mut self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        let now: Vec<Byte> = self.secret.drain(..self.secret.len().min(CALLS * BLOCK)).collect();
        let state = match self.state.take() {
            Some(state) => state,
            None => RoundKeys::<Byte>::public_block(turn.rep, &self.previous.map(|byte| vec![byte])),
        };
        let made = if is_garbled(turn) {
            chains::cbc(turn.rep, &self.key, state, &now)?
        } else {
            let key = self.level_key(turn)?;
            cbc::encrypt_from(turn.rep, &key.cipher, state, &now)?
        };
        let made = turn.rep.settled(made)?.into_inner();
        self.state = made.get(made.len().saturating_sub(BLOCK)..).map(<[Byte]>::to_vec);
        self.made.extend(made);
        if !self.secret.is_empty() {
            return Ok(After::More { in_hand: true });
        }
        let made = std::mem::take(&mut self.made);
        self.tell_all(turn, made)?;
        Ok(After::More { in_hand: false })
    }

    /// Decrypt a piece of CBC, all blocks at once, and send it to the client alone.
    fn cbc_back(&mut self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        let known = std::mem::take(&mut self.known);
        let columns = |bytes: &[u8]| -> Vec<Vec<u8>> {
            (0..BLOCK).map(|i| bytes.iter().skip(i).step_by(BLOCK).copied().collect()).collect()
        };
        let before = cbc::previous(&self.previous, &known);
        if let Some(last) = known.last_chunk() {
            self.previous = *last;
        }
        let (before, blocks) = (columns(&before), columns(&known));
        let plain = if is_garbled(turn) && known.len() <= chains::TOGETHER * BLOCK {
            let key = BlockKey::<Rep3>::new(self.key.clone())?;
            cbc::decrypt(turn.rep, &key, &before, &blocks)?
        } else {
            self.by_levels(turn, |rep, key| cbc::decrypt(rep, &key.cipher, &before, &blocks))?
        };
        let plain = turn.rep.settled(plain)?;
        let context = turn.context(self.index);
        self.index += 1;
        let answer = message_alone(turn.rep, &context, &plain, known.len())?;
        turn.answer(answer);
        Ok(After::More { in_hand: false })
    }

    /// Open a ciphertext, when everything that it depends on is verified, to all three servers, which send it
    /// to the client.
    fn tell_all(&mut self, turn: &mut Turn<'_>, made: Vec<Byte>) -> Result<(), Stop> {
        let bytes = to_all(turn.rep, made)?;
        turn.answer(ciphertext(turn.me(), &turn.context(self.index), bytes));
        self.index += 1;
        Ok(())
    }

    /// The text is complete.
    pub fn finish(&mut self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        turn.rep.use_protocol(self.asked.way.0);
        let secret = std::mem::take(&mut self.secret);
        let known = std::mem::take(&mut self.known);
        let form = match self.asked.mode {
            Mode::Cbc => {
                turn.answer(ToClient::Done);
                return Ok(After::Done);
            }
            Mode::Siv => {
                let text = if self.asked.encrypts {
                    secret
                } else {
                    let mut text = self.stream(turn, self.asked.iv, known.len())?;
                    for (byte, known) in text.iter_mut().zip(&known) {
                        turn.rep.add_public(byte, &[*known])?;
                    }
                    text
                };
                // an empty string is a string, too (RFC 5297, 2.6; Tink and Wycheproof always have one)
                let strings: Vec<_> = self.asked.aad.iter().map(|aad| vec![aad.0.clone()]).collect();
                let public: Vec<&[u8]> = strings.iter().flatten().map(Vec::as_slice).collect();
                let chaining = if self.garbles_whole(turn) && chains::s2v_blocks(&public) <= STRINGS {
                    chains::s2v(turn.rep, &self.key, &public, &text)?
                } else {
                    self.by_levels(turn, |rep, key| siv_of(key)?.s2v_begin(rep, 1, &strings, &text))?
                };
                self.under = Under::Tagging(chaining, text);
                return self.go_on(turn);
            }
            Mode::Kw => WrapForm::Kw,
            Mode::Kwp => WrapForm::Kwp,
        };
        let (direction, text) = if self.asked.encrypts {
            (Direction::Encrypt, secret)
        } else {
            (Direction::Decrypt, known.iter().map(|byte| turn.rep.public(&[*byte])).collect())
        };
        self.under = Under::Wrapping(Wrapping::new(turn.rep, form, direction, false, &text)?);
        self.go_on(turn)
    }

    /// Go on with what is in hand: a few calls of the cipher.
    fn go_on(&mut self, turn: &mut Turn<'_>) -> Result<After, Stop> {
        let calls = if turn.brisk { CALLS / 2 } else { CALLS };
        let mut under = std::mem::replace(&mut self.under, Under::Gathering);
        match &mut under {
            Under::Wrapping(wrapping) if self.garbles_whole(turn) => {
                chains::wrap_on(turn.rep, &self.key, wrapping, calls)?;
            }
            // of the text it takes only the blocks of the step
            Under::Tagging(chaining, _) if is_garbled(turn) => {
                chains::mac_on(turn.rep, &self.key, chaining, calls)?;
            }
            Under::Wrapping(wrapping) => {
                self.by_levels(turn, |rep, key| wrapping.go_on(rep, &key.cipher, calls))?;
            }
            Under::Tagging(chaining, _) => {
                self.by_levels(turn, |rep, key| siv_of(key)?.s2v_go_on(rep, chaining, calls))?;
            }
            Under::Gathering => return Err(misfit(turn.me())),
        }
        let is_done = match &under {
            Under::Gathering => true,
            Under::Wrapping(wrapping) => wrapping.is_done(),
            Under::Tagging(chaining, _) => chaining.is_done(),
        };
        // each step verifies what it owes
        let under = match under {
            Under::Wrapping(wrapping) => Under::Wrapping(turn.rep.settled(wrapping)?.into_inner()),
            Under::Tagging(chaining, text) => {
                let (chaining, text) = turn.rep.settled((chaining, text))?.into_inner();
                Under::Tagging(chaining, text)
            }
            Under::Gathering => Under::Gathering,
        };
        if !is_done {
            self.under = under;
            return Ok(After::More { in_hand: true });
        }
        match under {
            Under::Gathering => return Err(misfit(turn.me())),
            Under::Wrapping(wrapping) if self.asked.encrypts => {
                let made = wrapping.wrapped();
                self.tell_all(turn, made)?;
            }
            Under::Wrapping(wrapping) => {
                let undecided = wrapping.unwrapped(turn.rep)?;
                self.release(turn, undecided)?;
            }
            Under::Tagging(chaining, text) => {
                let tag = chaining.tag();
                if self.asked.encrypts {
                    let verified = turn.rep.settled(tag)?;
                    let iv = turn.rep.trio().open(&verified)?.concat();
                    let v = <[u8; 16]>::try_from(iv.as_slice()).map_err(|_| misfit(turn.me()))?;
                    let mut made: Vec<Byte> = iv.iter().map(|byte| turn.rep.public(&[*byte])).collect();
                    let mut stream = self.stream(turn, v, text.len())?;
                    for (stream, text) in stream.iter_mut().zip(&text) {
                        turn.rep.add(stream, text)?;
                    }
                    made.extend(stream);
                    self.tell_all(turn, made)?;
                } else {
                    let undecided = siv::undecided(turn.rep, &[self.asked.iv], text, tag)?;
                    self.release(turn, undecided)?;
                }
            }
        }
        Ok(After::Done)
    }

    /// Whether a step that takes the whole value is garbled. All three servers know the value's length, which
    /// is that of the request.
    fn garbles_whole(&self, turn: &Turn<'_>) -> bool {
        is_garbled(turn) && self.asked.length <= GARBLED_BYTES
    }

    /// The key for a step level by level, made now if it was not made before.
    fn level_key(&mut self, turn: &mut Turn<'_>) -> Result<&LevelKey, Stop> {
        let made = match self.levels.take() {
            Some(key) => key,
            None => level_key(turn, &self.key, &self.second)?,
        };
        Ok(self.levels.insert(made))
    }

    /// Compute something level by level, however the steps of this round run.
    fn by_levels<R>(
        &mut self,
        turn: &mut Turn<'_>,
        f: impl FnOnce(&mut Rep3, &LevelKey) -> Result<R, Abort>,
    ) -> Result<R, Stop> {
        let rounds = turn.rep.rounds();
        turn.rep.use_rounds(Rounds::OfLevels);
        // the key, too, is made level by level; whatever comes of it, the rounds are then as before
        let result = self.level_key(turn).and_then(|key| Ok(f(turn.rep, key)?));
        turn.rep.use_rounds(rounds);
        result
    }

    /// The key stream of SIV.
    fn stream(&mut self, turn: &mut Turn<'_>, iv: [u8; BLOCK], bytes: usize) -> Result<Vec<Byte>, Stop> {
        if is_garbled(turn) && bytes <= chains::TOGETHER * BLOCK {
            return Ok(chains::siv_stream(turn.rep, &self.second, iv, bytes)?);
        }
        self.by_levels(turn, |rep, key| siv_of(key)?.stream(rep, &[iv], bytes))
    }

    /// Send the text to its client alone, if the verdict is good.
    fn release(&self, turn: &mut Turn<'_>, undecided: Undecided<Rep3>) -> Result<(), Stop> {
        let context = turn.context(self.index);
        let answer = decided(turn.rep, &context, undecided)?;
        turn.answer(answer);
        Ok(())
    }
}

/// Whether the programs of this step are garbled.
fn is_garbled(turn: &Turn<'_>) -> bool {
    turn.rep.rounds() == Rounds::Constant
}

/// Compute from a key what blocks level by level need. It is verified here, once, before its first use.
fn level_key(turn: &mut Turn<'_>, key: &[Byte], second: &[Byte]) -> Result<LevelKey, Stop> {
    let cipher = expand(turn.rep, key)?;
    let siv = if second.is_empty() {
        None
    } else {
        let second = expand(turn.rep, second)?;
        Some(siv::SivKey::from_round_keys(turn.rep, cipher.clone(), second)?)
    };
    let (cipher, siv) = turn.rep.settled((cipher, siv))?.into_inner();
    Ok(LevelKey { cipher, siv })
}

fn siv_of(key: &LevelKey) -> Result<&siv::SivKey<Rep3>, Abort> {
    key.siv.as_ref().ok_or(Abort::Misuse { step: SETTINGS, what: "a key of SIV without its second half" })
}
