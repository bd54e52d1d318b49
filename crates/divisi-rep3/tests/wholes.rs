//! Modes that authenticate a text as a whole, among three parties: the verdict comes before the text, whoever
//! lies, and tells one bit; and what the modes cost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_core::{Abort, Bytes, Opens, Plain};
use divisi_rep3::adversary::harness::{Harness, Recording, Way, party};
use divisi_rep3::deal::Part;
use divisi_rep3::lab::deal_all;
use divisi_rep3::{Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::aes;
use divisi_symmetric::mode::whole::wrap::Form;
use divisi_symmetric::mode::whole::{Releases, Undecided, ccm, gcm_siv, siv, wrap};

const OPENED: &str = "divisi_rep3::open/open.bytes";
const CONFIRMED: &str = "divisi_rep3::open/open.digest";
const PRODUCT: &str = "divisi_rep3::engine::blocks/dot";

const AAD: [u8; 20] = [0x5a; 20];
const NONCE: [u8; 12] = [7; 12];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Kw,
    Kwp,
    Siv,
    Ccm,
    GcmSiv,
}

const ALL: [Mode; 5] = [Mode::Kw, Mode::Kwp, Mode::Siv, Mode::Ccm, Mode::GcmSiv];

/// What everybody knows of a text.
#[derive(Clone, Debug)]
struct Sealed {
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

impl Mode {
    fn key(self) -> Vec<u8> {
        (0..if self == Mode::Siv { 32 } else { 16 }).map(|i| 7 * i + 5).collect()
    }

    fn text(self) -> Vec<u8> {
        (0..if self == Mode::Kw { 16 } else { 29 }).map(|i| 7 * i + 1).collect()
    }

    /// How many claims a verdict is about.
    fn claims(self) -> usize {
        if self == Mode::Kwp { 8 } else { 1 }
    }

    /// In the clear.
    fn sealed(self) -> Sealed {
        let e = &mut Plain;
        let public = |bytes: &[u8]| bytes.iter().map(|byte| Plain.public(&[*byte])).collect::<Vec<_>>();
        let (key, text) = (public(&self.key()), public(&self.text()));
        let bytes = |out: Vec<<Plain as Bytes>::Byte>| Plain.reveal(out).unwrap().concat();
        if self == Mode::Siv {
            let key = siv::Key::new(e, &key).unwrap();
            let (ivs, ciphertext) = key.seal(e, 1, &[vec![AAD.to_vec()]], &text).unwrap();
            return Sealed { ciphertext: bytes(ciphertext), tag: ivs[0].to_vec() };
        }
        let key = aes::expand(e, &key).unwrap();
        match self {
            Mode::Kw | Mode::Kwp => {
                let form = if self == Mode::Kw { Form::Kw } else { Form::Kwp };
                let wrapped = wrap::wrap(e, &key, form, false, &text).unwrap();
                Sealed { ciphertext: bytes(wrapped), tag: Vec::new() }
            }
            Mode::Ccm => {
                let mut ciphertext = bytes(ccm::seal(e, &key, &[ccm_head()], 16, &text).unwrap());
                let tag = ciphertext.split_off(29);
                Sealed { ciphertext, tag }
            }
            Mode::GcmSiv | Mode::Siv => {
                let (tags, ciphertext) = gcm_siv::seal(e, &key, &[siv_head()], &text).unwrap();
                Sealed { ciphertext: bytes(ciphertext), tag: tags[0].to_vec() }
            }
        }
    }

    /// The way back, up to the verdict, under a key that is ready.
    fn open<E: Releases>(self, e: &mut E, key: Ready<E>, sealed: &Sealed) -> Result<Undecided<E>, Abort> {
        let texts = [sealed.ciphertext.clone()];
        let tag = |bytes: &[u8]| <[u8; 16]>::try_from(bytes).unwrap();
        let key = match key {
            Ready::Siv(key) => return key.open(e, &[vec![AAD.to_vec()]], &[tag(&sealed.tag)], &texts),
            Ready::Aes(key) => key,
        };
        match self {
            Mode::Kw | Mode::Kwp => {
                let form = if self == Mode::Kw { Form::Kw } else { Form::Kwp };
                let text: Vec<E::Byte> = sealed.ciphertext.iter().map(|byte| e.public(&[*byte])).collect();
                wrap::unwrap(e, &key, form, false, &text)
            }
            Mode::Ccm => ccm::open(e, &key, &[ccm_head()], &texts, &[sealed.tag.clone()]),
            Mode::GcmSiv | Mode::Siv => gcm_siv::open(e, &key, &[siv_head()], &texts, &[tag(&sealed.tag)]),
        }
    }

    fn ready<E: Releases>(self, e: &mut E, key: &[E::Byte]) -> Result<Ready<E>, Abort> {
        if self == Mode::Siv {
            return Ok(Ready::Siv(siv::Key::new(e, key)?));
        }
        Ok(Ready::Aes(aes::expand(e, key)?))
    }
}

enum Ready<E: Releases> {
    Aes(aes::RoundKeys<E::Byte>),
    Siv(siv::Key<E>),
}

fn ccm_head() -> ccm::Head {
    ccm::Head { nonce: NONCE.to_vec(), aad: AAD.to_vec() }
}

fn siv_head() -> gcm_siv::NonceHead {
    gcm_siv::NonceHead { nonce: NONCE, aad: AAD.to_vec() }
}

fn dealt(mode: Mode) -> [Vec<Part>; 3] {
    deal_all(&mode.key().iter().map(|byte| vec![*byte]).collect::<Vec<_>>())
}

/// What a party gets of a text: its bytes if it is authentic.
fn unsealed(trio: Trio, mode: Mode, key: &[Vec<Part>; 3], sealed: &Sealed) -> Result<Option<Vec<u8>>, Abort> {
    let me = trio.me().index();
    let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
    let key = key[me].iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
    let key = mode.ready(&mut e, &key)?;
    let undecided = mode.open(&mut e, key, sealed)?;
    let Some(text) = undecided.release_one(&mut e)? else { return Ok(None) };
    Ok(Some(e.trio().open(&text)?.concat()))
}

/// All messages of a party as who else sees the wire sees them: which way, with whom, at which step, how
/// long.
fn traffic(recording: &Recording) -> Vec<(bool, usize, u32, usize)> {
    let seen = recording.read().into_iter();
    let mut all: Vec<_> = seen
        .map(|seen| (seen.way == Way::In, seen.peer.index(), seen.frame.step, seen.frame.body.len()))
        .collect();
    all.sort_unstable();
    all
}

/// One text, a byte of which somebody changed.
fn changed(sealed: &Sealed) -> Vec<Sealed> {
    let whole = sealed.ciphertext.len();
    let places = [0, whole / 2, whole - 1, whole, whole + sealed.tag.len().saturating_sub(1)];
    let mut places: Vec<usize> = places.into_iter().filter(|at| *at < whole + sealed.tag.len()).collect();
    places.dedup();
    let at = |at: usize| {
        let mut sealed = sealed.clone();
        match at.checked_sub(whole) {
            None => sealed.ciphertext[at] ^= 0x10,
            Some(at) => sealed.tag[at] ^= 0x10,
        }
        sealed
    };
    let mut all: Vec<Sealed> = places.into_iter().map(at).collect();
    let noise = |bytes: &[u8]| bytes.iter().map(|byte| byte.wrapping_mul(3) ^ 0xc5).collect();
    all.push(Sealed { ciphertext: noise(&sealed.ciphertext), tag: noise(&sealed.tag) });
    all
}

/// Whatever of it is wrong, a text that is not authentic costs the same messages, and what is opened of it is
/// one masked block a claim, another one each time: its client learns that it is wrong, and so does a server.
#[test]
fn what_is_not_authentic_tells_that_and_nothing_else() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        let run = |sealed: &Sealed| {
            let harness = Harness::default();
            let seen = harness.recording(party(1));
            let results = harness.act(|trio| unsealed(trio, mode, &key, sealed));
            let bodies: Vec<Vec<u8>> = seen.of(Way::In, OPENED).into_iter().map(|s| s.frame.body).collect();
            (results, traffic(&seen), bodies)
        };
        let (results, valid, _) = run(&sealed);
        assert!(results.iter().all(|r| r.as_ref() == Ok(&Some(mode.text()))), "{mode:?} {results:?}");
        let (mut shape, mut masked): (Option<Vec<_>>, Vec<Vec<Vec<u8>>>) = (None, Vec::new());
        let changed = changed(&sealed);
        // the first one twice
        for wrong in changed.iter().chain(changed.first()) {
            let (results, traffic, bodies) = run(wrong);
            assert!(results.iter().all(|r| *r == Ok(None)), "{mode:?} {results:?}");
            assert_eq!(bodies.iter().map(Vec::len).sum::<usize>(), 16 * mode.claims(), "{mode:?}");
            assert!(traffic.len() < valid.len(), "{mode:?}: a text follows a verdict that is good");
            assert_eq!(shape.get_or_insert_with(|| traffic.clone()), &traffic, "{mode:?}");
            assert!(!masked.contains(&bodies), "{mode:?}: a mask was used twice");
            masked.push(bodies);
        }
    }
}

/// Who lies at the opening of a verdict or in the product before it ends the session: no honest party takes a
/// text that is not authentic, nor refuses one that is.
#[test]
fn a_lie_about_a_verdict_is_an_abort_and_no_text() {
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        for valid in [true, false] {
            let given = if valid { sealed.clone() } else { changed(&sealed).swap_remove(0) };
            for (to, step) in [(2, OPENED), (3, CONFIRMED), (3, PRODUCT)] {
                let harness = Harness::default();
                harness.change(party(1), party(to), step, 0, |body| body[0] ^= 1);
                let results = harness.act(|trio| unsealed(trio, mode, &key, &given));
                for result in &results[1..] {
                    let right = result.is_err() || *result == Ok(valid.then(|| mode.text()));
                    assert!(right, "{mode:?} {step}: {results:?}");
                }
                assert!(results[1..].iter().any(Result::is_err), "{mode:?} {step}: the lie was not noticed");
            }
        }
    }
}

/// Calls of AES one after the other, blocks in all, layers and S-boxes beside them, products and their
/// rounds: of the way back, from a key that is ready up to the verdict.
struct Cost {
    calls: u64,
    blocks: u64,
    schedules: u64,
    products: u64,
    product_rounds: u64,
}

impl Mode {
    fn cost(self) -> Cost {
        let aes = |calls, blocks| Cost { calls, blocks, schedules: 0, products: 0, product_rounds: 0 };
        let text = 29_u64.div_ceil(16);
        let aad = 20_u64.div_ceil(16);
        match self {
            // six for each semiblock
            Mode::Kw => aes(6 * 2, 6 * 2),
            Mode::Kwp => aes(6 * 4, 6 * 4),
            // all counters at once; the chain of a block of zeros, the associated data and the text
            Mode::Siv => aes(1 + 1 + aad + text, text + 1 + aad + text),
            // with the mask of the tag; B_0, the associated data behind its length, the text
            Mode::Ccm => aes(1 + 1 + 22_u64.div_ceil(16) + text, 1 + text + 1 + 22_u64.div_ceil(16) + text),
            // four blocks give the keys; counters; the tag. POLYVAL of all blocks and their lengths: the
            // powers 3 and 5 in one round, and a sum
            Mode::GcmSiv => {
                Cost { calls: 3, blocks: 4 + text + 1, schedules: 1, products: 2 + 1, product_rounds: 1 + 1 }
            }
        }
    }
}

#[test]
fn the_way_back_costs_its_calls_of_the_cipher_and_nothing_else() {
    // an S-box of gf4-circuit: 20 bits, four rounds a layer (test aes_128_costs_what_the_paper_says)
    const SBOX: u64 = 20;
    const LAYER: u64 = 4;
    for mode in ALL {
        let (key, sealed) = (dealt(mode), mode.sealed());
        let counts = divisi_rep3::lab::run(|trio| {
            let me = trio.me().index();
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
            let key = key[me].iter().map(|part| e.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
            let key = mode.ready(&mut e, &key)?;
            e.trio().session().phase("back");
            let undecided = mode.open(&mut e, key, &sealed)?;
            e.trio().session().phase("verdict");
            assert!(undecided.release_one(&mut e)?.is_some());
            Ok(e.trio().session().meter().read())
        });
        let counts = &counts.unwrap()[0];
        let cost = mode.cost();
        // a schedule of AES-128 is ten layers of four S-boxes
        let bits = SBOX * (160 * cost.blocks + 40 * cost.schedules) + 128 * cost.products;
        let rounds = LAYER * 10 * (cost.calls + cost.schedules) + cost.product_rounds;
        let back = &counts.phases["back"];
        assert_eq!((back.bits, u64::from(back.rounds)), (bits, rounds), "{mode:?}");
        // a verdict is an inner product and the opening of a block for each claim
        let verdict = &counts.phases["verdict"];
        let claims = mode.claims() as u64;
        assert_eq!((verdict.bits, verdict.rounds), (2 * 128 * claims, 2), "{mode:?}");
        assert_eq!(counts.openings, 16 * claims, "{mode:?}");
    }
}
