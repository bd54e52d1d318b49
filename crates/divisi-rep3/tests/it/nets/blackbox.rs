//! Shapes of the black box and of OHVerture, of tables of 16 to 1,024 entries.

use super::shape;
use crate::common::prelude::*;
use divisi_core::testing::nets::{NetShape, ShapeOutcome, varied};
use divisi_rep3::ohverture::{Cube, LookupTable};

const INPUT: &str = "divisi_rep3::blackbox/input";
/// Lanes of three calls: a group with a tail, a few, and a single one.
const CALLS: [usize; 3] = [66, 3, 1];

pub fn shapes() -> Vec<NetShape> {
    let play = |session: Session, seed, out: &mut ShapeOutcome| {
        let b = &mut BlackBox::new(Trio::new(session)?);
        let [many, few, one] = CALLS;
        [out.lanes(many), few, one].into_iter().try_for_each(|lanes| play(b, lanes, seed, out))
    };
    // inputs are opened, and what comes after them follows from them
    vec![shape("black box", play).carries(&[INPUT], |_, out, _| out.outputs().chunks(8).all(follows))]
}

fn elements<F: Field>(of: &[u8]) -> Vec<F> {
    of.iter().map(|x| F::from_low_bits(u128::from(*x) * 0x0101_0101_0101_0101_0101_0101_0101_0101)).collect()
}

fn given<F: Element>(b: &mut BlackBox, owner: u8, x: &[u8]) -> Result<Shared<F>, Abort> {
    let mine = b.me() == party(owner);
    b.input(party(owner), mine.then_some(&elements(x)[..]), x.len())
}

fn as_bytes<F: Field>(x: &[F]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect()
}

fn from_bytes<F: Field>(x: &[u8]) -> Vec<F> {
    x.as_chunks::<16>().0.iter().map(|x| F::from_low_bits(u128::from_le_bytes(*x))).collect()
}

/// Products over every kind of field, lookups of every kind, openings masked and plain, two verifications and
/// outputs.
fn play(b: &mut BlackBox, lanes: usize, seed: u64, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let x: Vec<u8> = (0..lanes as u64).map(|i| (varied(seed, i) * 37 + seed * 3) as u8).collect();
    let (bit, byte) = (given::<Gf2>(b, 1, &x)?, given::<Gf8>(b, 2, &x)?);
    let (word, block) = (given::<Gf64>(b, 3, &x)?, given::<Gf128>(b, 1, &x)?);
    let inverses: Vec<Gf8> = (0..=255).map(|i| Gf8(i).inverse()).collect();
    let table = LookupTable::new(&inverses).unwrap();
    let square = b.local_mul(&byte, &byte)?;
    let replicated = b.rohv_rss(8, lanes)?;
    let (looked_up, _) = b.lookup_of_additive(&table, square, replicated)?;
    let additive = b.rohv_add(8, lanes)?;
    let looked_up = b.lookup_sqrt(&table, &looked_up, additive)?;
    let Some(cube) = Cube::new([2, 2, 4], 1, &inverses) else { unreachable!("a table of 256 entries") };
    let three = b.rohv_cube([2, 2, 4], lanes)?;
    let looked_up = b.lookup_cube(&cube, &[(&looked_up, 8)], three)?.remove(0);
    let masks = b.mask(lanes);
    let (c, r) = b.reconst_masked(&looked_up, masks)?;
    let back = b.add_opened(&r, &c)?;
    let chosen = b.bit_mul(&bit, &back)?;
    let words = b.bit_mul(&bit, &word)?;
    let blocks = b.local_mul(&block, &block)?;
    let blocks = b.reshare(blocks)?;
    let recon = b.verify_recon()?;
    b.verify_mul(&recon)?;
    let plain = b.reconst(&back)?;
    let wide = b.local_mul(&word, &words)?;
    let wide = b.reshare(wide)?;
    let recon = b.verify_recon()?;
    let mul = b.verify_mul(&recon)?;
    let opened = b.opened(plain, &recon, &mul)?;
    out.put("opened", as_bytes(&opened));
    out.put("bits", as_bytes(&b.output(&bit)?));
    out.put("bytes", as_bytes(&b.output(&byte)?));
    out.put("words", as_bytes(&b.output(&word)?));
    out.put("blocks", as_bytes(&b.output(&block)?));
    out.put("chosen", as_bytes(&b.output(&chosen)?));
    out.put("wide", as_bytes(&b.output(&wide)?));
    out.put("squares", as_bytes(&b.output(&blocks)?));
    Ok(())
}

/// Whether the outputs of a call are right for the inputs among them, as far as they were put out.
fn follows(call: &[(&'static str, Vec<u8>)]) -> bool {
    let get = |name: &str| call.iter().find(|(of, _)| *of == name).map(|(_, value)| value.as_slice());
    let inverse = |x: &Gf8| (*x * *x).inverse().inverse().inverse();
    let (bits, bytes) = (get("bits").map(from_bytes::<Gf8>), get("bytes").map(from_bytes::<Gf8>));
    let (words, blocks) = (get("words").map(from_bytes::<Gf64>), get("blocks").map(from_bytes::<Gf128>));
    let inverses = bytes.map(|bytes| bytes.iter().map(inverse).collect::<Vec<Gf8>>());
    let same = |name: &str, right: Option<Vec<u8>>| match (get(name), right) {
        (Some(found), Some(right)) => found == right,
        _ => true,
    };
    let chosen = inverses
        .as_ref()
        .zip(bits.as_ref())
        .map(|(x, bits)| as_bytes(&x.iter().zip(bits).map(|(x, bit)| *x * *bit).collect::<Vec<Gf8>>()));
    let wide = words.zip(bits.as_ref()).map(|(words, bits)| {
        let of = |(word, bit): (&Gf64, &Gf8)| *word * *word * Gf64::from_low_bits(bit.to_bits());
        as_bytes(&words.iter().zip(bits).map(of).collect::<Vec<Gf64>>())
    });
    let squares = blocks.map(|blocks| as_bytes(&blocks.iter().map(|x| *x * *x).collect::<Vec<Gf128>>()));
    same("opened", inverses.as_deref().map(as_bytes))
        && same("chosen", chosen)
        && same("wide", wide)
        && same("squares", squares)
}
