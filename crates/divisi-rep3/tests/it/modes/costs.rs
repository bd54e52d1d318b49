//! What modes cost by formula: calls of the cipher that wait for each other, blocks in all, products, and
//! what is opened before the answer.

use super::*;
use divisi_rep3::lab::run;
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::block::BlockCipher;
use divisi_symmetric::mode::one_shot::wrap::{WrapForm, unwrap, wrap};
use divisi_symmetric::mode::one_shot::{bitwise, ccm, gcm_siv, siv, stealing, xts};
use divisi_symmetric::mode::{cbc, feedback};

/// An S-box of gf4-circuit: 20 bits, four rounds a layer (test `aes_128_costs_what_the_paper_says`).
const SBOX: u64 = 20;
const LAYER: u64 = 4;

/// A cost in calls of AES-128 and in products over GF(2^128).
#[derive(Clone, Copy)]
struct Cost {
    /// Calls one after the other, and blocks of one message in all of them.
    calls: u64,
    blocks: u64,
    /// Key schedules: ten layers of four S-boxes.
    schedules: u64,
    products: u64,
    product_rounds: u64,
    /// Bytes that all three learn before the answer.
    opened: u64,
}

impl Cost {
    fn cipher(calls: usize, blocks: usize) -> Cost {
        let (calls, blocks) = (calls as u64, blocks as u64);
        Cost { calls, blocks, schedules: 0, products: 0, product_rounds: 0, opened: 0 }
    }

    /// Bits and rounds of this many messages.
    fn of(self, messages: usize) -> (u64, u64) {
        let own = SBOX * (160 * self.blocks + 40 * self.schedules) + 128 * self.products + 8 * self.opened;
        let calls = self.calls + self.schedules;
        (own * messages as u64, LAYER * 10 * calls + self.product_rounds + u64::from(self.opened > 0))
    }
}

type Operation = dyn Fn(&mut Rep3, &RoundKeys<Byte>, &[Byte]) -> Result<(), Abort> + Sync;

/// A mode in one direction, on messages of this many bytes.
struct Case {
    name: &'static str,
    bytes: usize,
    cost: Cost,
    way: Box<Operation>,
}

fn case(
    name: &'static str,
    bytes: usize,
    cost: Cost,
    way: impl Fn(&mut Rep3, &RoundKeys<Byte>, &[Byte]) -> Result<(), Abort> + Sync + 'static,
) -> Case {
    Case { name, bytes, cost, way: Box::new(way) }
}

/// How many messages go side by side.
const MESSAGES: usize = 3;

/// Public columns or rows of this width.
fn known(rows: usize, width: usize) -> Vec<Vec<u8>> {
    (0..rows).map(|i| (0..width).map(|j| (31 * i + 7 * j) as u8).collect()).collect()
}

/// Modes over a block cipher, with columns.
fn columns() -> Vec<Case> {
    // five blocks
    const N: usize = 5;
    const BYTES: usize = 16 * N;
    let side_by_side = || known(16, N * MESSAGES);
    vec![
        // all blocks of all messages are lanes of one
        case("ecb", BYTES, Cost::cipher(1, N), move |e, key, _| {
            let message = (0..16).map(|_| e.random_bytes(N * MESSAGES)).collect::<Result<Vec<_>, _>>()?;
            key.permute(e, Direction::Encrypt, message).map(drop)
        }),
        case("ecb back", BYTES, Cost::cipher(1, N), move |e, key, _| {
            let message = (0..16).map(|_| e.random_bytes(N * MESSAGES)).collect::<Result<Vec<_>, _>>()?;
            key.permute(e, Direction::Decrypt, message).map(drop)
        }),
        case("cbc", BYTES, Cost::cipher(N, N), |e, key, message| {
            cbc::encrypt(e, key, &known(16, MESSAGES), message).map(drop)
        }),
        case("cbc back", BYTES, Cost::cipher(1, N), move |e, key, _| {
            cbc::decrypt(e, key, &side_by_side(), &side_by_side()).map(drop)
        }),
        case("cfb8", 7, Cost::cipher(7, 7), |e, key, message| {
            feedback::cfb_encrypt(e, key, 1, &known(16, MESSAGES), message).map(drop)
        }),
        case("cfb8 back", 7, Cost::cipher(1, 7), |e, key, _| {
            feedback::cfb_decrypt(e, key, &known(16, 7 * MESSAGES), &known(1, 7 * MESSAGES)).map(drop)
        }),
        case("cfb128", BYTES, Cost::cipher(N, N), |e, key, message| {
            feedback::cfb_encrypt(e, key, 16, &known(16, MESSAGES), message).map(drop)
        }),
        case("cfb128 back", BYTES, Cost::cipher(1, N), move |e, key, _| {
            feedback::cfb_decrypt(e, key, &side_by_side(), &side_by_side()).map(drop)
        }),
        // both ways, and the last block need not be whole
        case("ofb", BYTES - 9, Cost::cipher(N, N), |e, key, message| {
            feedback::ofb(e, key, &known(16, MESSAGES), message).map(drop)
        }),
    ]
}

/// Modes that take messages as wholes, with rows.
fn wholes() -> Vec<Case> {
    let mut all = vec![
        case("cfb1", 2, Cost::cipher(13, 13), |e, key, message| {
            bitwise::encrypt(e, key, &known(MESSAGES, 16), 13, message).map(drop)
        }),
        case("cfb1 back", 2, Cost::cipher(1, 13), |e, key, _| {
            bitwise::decrypt(e, key, &known(MESSAGES, 16), 13, &known(MESSAGES, 2)).map(drop)
        }),
    ];
    // CS3, as the two others, of whole blocks and of a rest
    for (bits, blocks) in [(128, 1), (256, 2), (384, 3), (333, 3), (129, 2)] {
        let bytes = usize::div_ceil(bits, 8);
        all.push(case("cbc-cs3", bytes, Cost::cipher(blocks, blocks), move |e, key, message| {
            stealing::encrypt(e, key, &known(MESSAGES, 16), bits, message).map(drop)
        }));
        // the last block gives what was stolen from the one before
        let calls = blocks.min(2);
        all.push(case("cbc-cs3 back", bytes, Cost::cipher(calls, blocks), move |e, key, _| {
            let rest = (bits - 128 * (blocks - 1)).div_ceil(8);
            let restored = if blocks == 1 { 16 } else { 16 * (blocks - 1) + rest };
            stealing::decrypt(e, key, &known(MESSAGES, 16), bits, &known(MESSAGES, restored)).map(drop)
        }));
        // the tweak is a block; what is no whole number of blocks goes through one more
        let calls = 2 + usize::from(bits % 128 > 0);
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            all.push(case("xts", bytes, Cost::cipher(calls, 1 + blocks), move |e, key, message| {
                xts::crypt(e, [key, key], direction, &known(MESSAGES, 16), bits, message).map(drop)
            }));
        }
    }
    all
}

/// Modes that authenticate, in the direction of encryption; another test below has the way back.
fn authentic() -> Vec<Case> {
    let mut all = Vec::new();
    for bytes in [16, 24, 64] {
        let n = bytes / 8;
        // six for each semiblock
        all.push(case("kw", bytes, Cost::cipher(6 * n, 6 * n), |e, key, message| {
            wrap(e, key, WrapForm::Kw, false, message).map(drop)
        }));
    }
    for (bytes, calls) in [(1, 1), (8, 1), (9, 12), (16, 12), (29, 24)] {
        all.push(case("kwp", bytes, Cost::cipher(calls, calls), |e, key, message| {
            wrap(e, key, WrapForm::Kwp, false, message).map(drop)
        }));
    }
    for bytes in [0_usize, 1, 16, 33, 64] {
        let (message, aad) = (bytes.div_ceil(16), AAD.len().div_ceil(16));
        let lanes = || vec![AAD.to_vec(); MESSAGES];
        // B_0, the associated data behind two bytes of their length, and the message; all counters at once
        let chain = 1 + (2 + AAD.len()).div_ceil(16) + message;
        all.push(case("ccm", bytes, Cost::cipher(1 + chain, 1 + message + chain), |e, key, message| {
            let head = ccm::Head { nonce: NONCE.to_vec(), aad: AAD.to_vec() };
            ccm::seal(e, key, &vec![head; MESSAGES], 12, message).map(drop)
        }));
        // E(0) of the chain's key; a block of zeros, the associated data, and the message, which is a block
        // at least; the IV is opened; all counters at once
        let chain = 1 + 1 + aad + message.max(1);
        let streams = usize::from(message > 0);
        let cost = Cost { opened: 16, ..Cost::cipher(chain + streams, chain + message) };
        all.push(case("siv", bytes, cost, move |e, key, message| {
            // two keys would have a schedule more
            let keys = every_lane(key);
            let key = siv::SivKey::from_round_keys(e, keys.clone(), keys)?;
            key.seal(e, MESSAGES, &[lanes()], message).map(drop)
        }));
        // four blocks give the keys of a nonce, which is told once a message; the tag, then the counters.
        // POLYVAL of all blocks and their lengths: odd powers, and a sum
        let hashed = aad + message + 1;
        let odd = hashed.div_ceil(2) - 1;
        let most = (3..=hashed).step_by(2).map(|power| u64::from(power.count_ones())).max().unwrap_or(1);
        let cost = Cost {
            schedules: 1,
            products: (odd + 1) as u64,
            product_rounds: u64::from(most.next_power_of_two().trailing_zeros()) + 1,
            opened: 16,
            ..Cost::cipher(2 + streams, 4 + 1 + message)
        };
        all.push(case("gcm-siv", bytes, cost, |e, key, message| {
            let head = gcm_siv::NonceHead { nonce: NONCE, aad: AAD.to_vec() };
            gcm_siv::seal(e, key, &vec![head; MESSAGES], message).map(drop)
        }));
    }
    all
}

/// The key of each message.
fn every_lane(key: &RoundKeys<Byte>) -> RoundKeys<Byte> {
    divisi_core::Lanes::gather(key, &[0; MESSAGES]).unwrap()
}

/// Bits and rounds of each mode, semi-honest: with active security the same messages are sent before the
/// verification (test `active_security_costs_the_same_before_the_verification`). Nothing is opened before the
/// answer but a synthetic IV.
#[test]
fn modes_cost_their_calls_of_the_cipher() {
    for Case { name, bytes, cost, way } in columns().into_iter().chain(wholes()).chain(authentic()) {
        let counts = run(|trio| {
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
            let key = (0..16).map(|_| e.random_bytes(1)).collect::<Result<Vec<_>, _>>()?;
            let key = aes::expand(&mut e, &key)?;
            let message = (0..bytes).map(|_| e.random_bytes(MESSAGES)).collect::<Result<Vec<_>, _>>()?;
            e.trio().session().phase("mode");
            way(&mut e, &key, &message)?;
            Ok(e.trio().session().meter().read())
        });
        let counts = &counts.unwrap()[0];
        let phase = &counts.phases["mode"];
        assert_eq!((phase.bits, u64::from(phase.rounds)), cost.of(MESSAGES), "{name}, {bytes} bytes");
        assert_eq!(counts.openings, cost.opened * MESSAGES as u64, "{name}, {bytes} bytes");
    }
}

/// The way back of one message, from a key that is ready up to the verdict.
fn back(mode: Mode) -> Cost {
    let (message, aad) = (29_usize.div_ceil(16), AAD.len().div_ceil(16));
    match mode {
        Mode::Kw => Cost::cipher(6 * 2, 6 * 2),
        Mode::Kwp => Cost::cipher(6 * 4, 6 * 4),
        // as the way there, without E(0), which the key has
        Mode::Siv => Cost::cipher(1 + 1 + aad + message, message + 1 + aad + message),
        Mode::Ccm => {
            let chain = 1 + (2 + AAD.len()).div_ceil(16) + message;
            Cost::cipher(1 + chain, 1 + message + chain)
        }
        // powers 3 and 5 in one round
        Mode::GcmSiv => {
            Cost { schedules: 1, products: 2 + 1, product_rounds: 1 + 1, ..Cost::cipher(3, 4 + message + 1) }
        }
    }
}

#[test]
fn the_way_back_costs_its_calls_of_the_cipher_and_a_verdict() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        let counts = run(|trio| {
            let (mut e, key) = begun(trio, mode, &key, Security::SemiHonest)?;
            e.trio().session().phase("back");
            let undecided = mode.open(&mut e, &key, std::slice::from_ref(&sealed))?;
            assert_eq!(e.trio().session().meter().read().openings, 0);
            e.trio().session().phase("verdict");
            assert!(undecided.release_one(&mut e)?.is_some());
            Ok(e.trio().session().meter().read())
        });
        let counts = &counts.unwrap()[0];
        let phase = |name: &str| (counts.phases[name].bits, u64::from(counts.phases[name].rounds));
        assert_eq!(phase("back"), back(mode).of(1), "{mode:?}");
        // an inner product and the opening of a block for each claim
        let claims = mode.claims() as u64;
        assert_eq!(phase("verdict"), (2 * 128 * claims, 2), "{mode:?}");
        assert_eq!(counts.openings, 16 * claims, "{mode:?}");
    }
}

/// A wrapped key that is unwrapped by `unwrap` without a verdict stays inside: nothing of it is opened,
/// whatever its integrity value is.
#[test]
fn what_is_unwrapped_stays_inside_until_its_verdict() {
    let openings = run(|trio| {
        let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
        let key = (0..16).map(|_| e.random_bytes(1)).collect::<Result<Vec<_>, _>>()?;
        let key = aes::expand(&mut e, &key)?;
        let message = (0..24).map(|_| e.random_bytes(1)).collect::<Result<Vec<_>, _>>()?;
        drop(unwrap(&mut e, &key, WrapForm::Kw, false, &message)?);
        Ok(e.trio().session().meter().read().openings)
    });
    assert_eq!(openings.unwrap(), [0; 3]);
}
