//! The components of a key lie where their two holders keep them while an engine computes with it, and
//! nowhere after its end: the memory of this process is searched for planted ones. One test, so that nothing
//! runs beside the search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_circuit::{Build, Gates, Program};
use divisi_core::testing::memory::{Needle, find, once};
use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, Blocks, Boolean, Bytes, Convert, Lanes, Opens, ProgramRun, PublicParameters};
use divisi_rep3::deal::Part;
use divisi_rep3::{Bit, Block, Byte, Protocol, Rep3, Security, Trio};
use divisi_symmetric::aes;
use std::sync::{Barrier, Mutex};
use zeroize::Zeroize;

/// Keys side by side.
const LANES: usize = 200;
/// The lane in which all bytes of a key are planted.
const LANE: usize = 150;

/// What a component looks like: as bytes, as a plane of bits, and as an element of GF(2^128).
const FORMS: [&str; 3] = ["bytes", "plane", "block"];

/// What is searched in memory: each component of the keys in each form that it may have there.
struct Planted {
    needles: [[Needle; 3]; 3],
    all: Barrier,
    wrong: Mutex<Vec<String>>,
}

impl Planted {
    fn new(seed: u8) -> Planted {
        let needle = |c: usize, form: usize| Needle::new(seed + (3 * c + form) as u8, false);
        let needles = std::array::from_fn(|c| std::array::from_fn(|form| needle(c, form)));
        Planted { needles, all: Barrier::new(3), wrong: Mutex::default() }
    }

    /// One component of the keys: byte by byte, a lane for each key.
    fn component(&self, c: usize) -> Vec<Vec<u8>> {
        let [bytes, plane, block] = &self.needles[c];
        let mut key: Vec<Vec<u8>> =
            (0..16).map(|i| (0..LANES).map(|l| (i * 7 + l) as u8).collect()).collect();
        // the same byte of 16 keys, not the first: the allocator writes to the begin of what it is given back
        bytes.plant((&mut key[1][64..80]).try_into().unwrap());
        let mut planted = Box::new([0; 16]);
        // a bit of the same byte of 128 keys: the last, after which no other is made on the same stack
        plane.plant(&mut planted);
        for (l, byte) in key[15].iter_mut().take(128).enumerate() {
            *byte = *byte & !8 | (planted[l / 8] >> (l % 8) & 1) << 3;
        }
        // all bytes of one key
        block.plant(&mut planted);
        for (byte, planted) in key.iter_mut().skip(2).zip(planted.iter().skip(2)) {
            byte[LANE] = planted.reverse_bits();
        }
        (key[0][LANE], key[1][LANE]) = (planted[0].reverse_bits(), planted[1].reverse_bits());
        planted.zeroize();
        key
    }

    /// A party's part of each byte of the keys.
    fn parts(&self, party: usize) -> Vec<Part> {
        let components = self.component(party).into_iter().zip(self.component((party + 1) % 3));
        components.map(|(first, second)| Part { first, second }).collect()
    }

    /// All parties wait while the first one looks how often each component is there in each form. What is
    /// wrong is told at the end, because a panic here would leave the other parties waiting.
    fn look(&self, me: usize, wanted: [usize; 3], when: &str) {
        self.all.wait();
        if me == 0 {
            let needles: Vec<&Needle> = self.needles.iter().flatten().collect();
            for (i, found) in find(&needles).unwrap().iter().enumerate() {
                let (c, form, wanted) = (i / 3 + 1, FORMS[i % 3], wanted[i % 3]);
                if found.len() != 2 * wanted || !found.chunks(2).all(once) {
                    let wrong = format!("{when}, component {c} as {form}, not {wanted} times: {found:x?}");
                    self.wrong.lock().unwrap().push(wrong);
                }
            }
        }
        self.all.wait();
    }
}

/// Products of neighbours.
fn program() -> Program {
    let mut g = Build::new();
    let x = g.input(8);
    let z: Vec<_> = (0..7).map(|i| g.and(x[i], x[i + 1])).collect();
    g.output(&z);
    g.finish()
}

/// The keys, expanded, and used for one block each; as blocks that are squared by a product; and the bits of
/// a byte in a circuit, of all keys and of a few.
fn encrypt(e: &mut Rep3, key: &[Byte]) -> Result<(), Abort> {
    let program = program();
    let bits: [Bit; 8] = e.convert(key[15].clone())?;
    let few = bits.iter().map(|bit| bit.first(64).unwrap()).collect();
    e.run(&mut [ProgramRun::new(&program, bits.to_vec()), ProgramRun::new(&program, few)])?;
    drop(bits);
    let round_keys = aes::expand(e, key)?;
    let mut state: [Byte; 16] = std::array::from_fn(|i| e.public(&[i as u8; LANES]));
    aes::encrypt(e, &round_keys, &mut state)?;
    let block: Block = e.convert(<[Byte; 16]>::try_from(key.to_vec()).unwrap_or_else(|_| panic!()))?;
    let product = e.multiply(&block, &block)?;
    let product: [Byte; 16] = e.convert(product)?;
    e.reveal(state.into_iter().chain(product).collect::<Vec<_>>()).map(drop)
}

/// Two encryptions; with `lie` a message of the first party is changed on its way to the last.
fn play(protocol: Protocol, seed: u8, lie: Option<&'static str>) -> (Vec<Result<(), Abort>>, Vec<String>) {
    let planted = Planted::new(seed);
    let harness = Harness::new(3, &PublicParameters::new("key in memory"));
    if let Some(step) = lie {
        harness.change(party(1), party(3), step, 0, |body| body[0] ^= 1);
    }
    let ends = harness.act(|session| {
        let me = session.me().index();
        let mut trio = Trio::new(session)?;
        let parts = planted.parts(me);
        planted.look(me, [2, 0, 0], "dealt");
        let key = parts.iter().map(|part| trio.input(part)).collect::<Result<Vec<_>, _>>()?;
        drop(parts);
        planted.look(me, [0, 2, 0], "given");
        let mut e = Rep3::new(trio, protocol, Security::Malicious);
        let end = encrypt(&mut e, &key).and_then(|()| encrypt(&mut e, &key));
        if lie.is_none() {
            planted.look(me, [0, 2, 0], "encrypted");
        }
        drop(key);
        if lie.is_none() {
            planted.look(me, [0, 0, 0], "the key is gone");
        }
        // an engine that was interrupted still holds what it owes
        drop(e);
        planted.look(me, [0, 0, 0], "the engine is gone");
        end
    });
    (ends, planted.wrong.into_inner().unwrap())
}

#[test]
fn a_key_lies_where_it_is_held_and_nowhere_after_its_end() {
    let mut seed = 1;
    for protocol in Protocol::ALL {
        for lie in [None, Some("divisi_rep3::verify::triple/triple.2")] {
            let (ends, wrong) = play(*protocol, seed, lie);
            seed += 9;
            assert!(wrong.is_empty(), "{protocol:?} {lie:?}: {wrong:#?}");
            let right = if lie.is_none() { Result::is_ok } else { Result::is_err };
            assert!(ends.iter().all(right), "{protocol:?}: {ends:?}");
        }
    }
}
