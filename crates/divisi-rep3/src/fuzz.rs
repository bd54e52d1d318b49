//! Random inputs for the messages of planes, field elements, bits, products and verdicts.

use crate::garbled::bits;
use crate::input::{Agreement, decode, encode, worse};
use crate::ohverture::make::{Monomials, tensor_bits};
use crate::packed::{self, Writer, padding_is_zero};
use crate::wire::{Shape, read, read_low, write, write_low};
use divisi_core::PartyId;
use divisi_field::{Field, Gf2, Gf4, Gf8, Gf64, Gf128, Plane};

/// A layer that the decoder accepts is encoded to the same bytes.
#[test]
fn random_layers() {
    let shapes = [vec![1], vec![9], vec![64, 3], vec![512, 7, 8]].map(Shape);
    let plane = |seed: u64, lanes: usize| {
        let mut plane = Plane([0, 1, 2, 3, 4, 5, 6, 7].map(|i| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15 + i)));
        plane.keep(lanes);
        plane
    };
    let seeds = [0, 1, 2, 3].map(|at: usize| {
        let tile = |lanes: &usize| [plane(1, *lanes), plane(2, *lanes), plane(3, *lanes)];
        let (tiles, mut out) = (shapes[at].0.iter().map(tile).collect::<Vec<_>>(), Vec::new());
        write(&tiles, &shapes[at], &mut out);
        out
    });
    let (mut tiles, mut again) = (Vec::<[Plane; 3]>::new(), Vec::new());
    divisi_fuzz::run("layers", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for shape in &shapes {
            if read(bytes, shape, &mut tiles).is_some() {
                taken = true;
                write(&tiles, shape, &mut again);
                if again != bytes {
                    return Err("another layer".into());
                }
            }
        }
        Ok(taken)
    });
}

/// Elements of this many bits that the decoder accepts are encoded to the same bytes.
fn elements<F: Field>(bits: usize) {
    let counts = [1, 2, 3, 8, 9];
    let seeds = counts.map(|n| {
        let some = (0..n as u128).map(|i| (i * 0x9e37_79b9_7f4a_7c15) & (u128::MAX >> (128 - bits)));
        write_low(&some.map(F::from_low_bits).collect::<Vec<F>>(), bits)
    });
    divisi_fuzz::run("elements", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for n in counts {
            let Some(all) = read_low::<F>(bytes, n, bits) else { continue };
            taken = true;
            if all.len() != n || write_low(&all, bits) != bytes {
                return Err(format!("{n} other elements of {bits} bits"));
            }
        }
        Ok(taken)
    });
}

#[test]
fn random_elements() {
    elements::<Gf2>(1);
    elements::<Gf4>(4);
    elements::<Gf8>(8);
    elements::<Gf64>(64);
    elements::<Gf128>(128);
    // elements of which only the low bits are sent
    elements::<Gf8>(3);
    elements::<Gf64>(1);
    elements::<Gf64>(57);
    elements::<Gf128>(65);
    elements::<Gf128>(100);
}

/// Bits of a garbled run that the decoder accepts are encoded to the same bytes.
#[test]
fn random_bits() {
    let lengths = [1, 7, 8, 9, 64, 65];
    let written = |values: &[u8]| {
        let mut out = Vec::new();
        bits::pack(values, &mut out);
        out
    };
    let seeds = lengths.map(|len| written(&(0..len).map(|i| u8::from(i % 3 == 0)).collect::<Vec<_>>()));
    divisi_fuzz::run("bits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for len in lengths {
            let Some(values) = bits::unpack(bytes, len) else { continue };
            taken = true;
            if values.len() != len || written(&values) != bytes {
                return Err(format!("{len} other bits"));
            }
        }
        Ok(taken)
    });
}

/// Each product of a message gets a place of its own in the vectors, and nothing else is put there.
#[test]
fn random_products() {
    // bits of a vector, those of its low half, vectors
    let shapes = [(2, 1, 9), (5, 3, 4), (7, 4, 3), (12, 6, 1), (13, 7, 1)];
    let bits = |(k, low, count)| tensor_bits(low, k - low) * count;
    let seeds = shapes.map(|shape| {
        let mut message: Vec<u8> = (0..packed::bytes(bits(shape))).map(|i| (i * 37 + 5) as u8).collect();
        packed::clear_padding(&mut message, bits(shape));
        message
    });
    divisi_fuzz::run("products", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for (shape, side) in shapes.into_iter().zip([0, 1].into_iter().cycle()) {
            let ((k, low, count), bits) = (shape, bits(shape));
            // the receiver of such a message demands this
            if bytes.len() != packed::bytes(bits) || !padding_is_zero(bytes, bits) {
                continue;
            }
            taken = true;
            let mut made = Monomials::zero(k, count);
            made.place(side, low, 0..count, bytes);
            let (mut again, mut ones) = (Writer::with_capacity(bits), 0);
            for l in 0..count {
                let vector = made.vector(side, l);
                ones += vector.iter().map(|word| word.count_ones()).sum::<u32>();
                // the sets that have bits of both halves
                let sets = (1 << low..1 << k).filter(|set: &usize| !set.is_multiple_of(1 << low));
                sets.for_each(|set| again.push(vector[set / 64] >> (set % 64) & 1, 1));
            }
            if again.finish() != bytes || ones != bytes.iter().map(|byte| byte.count_ones()).sum::<u32>() {
                return Err(format!("other products of {k} bits"));
            }
        }
        Ok(taken)
    });
}

/// Whatever a peer sends, an input is agreed on only if both the peer and we say so; and a known verdict is
/// encoded to the same bytes.
#[test]
fn random_verdicts() {
    let of =
        |party: u8| PartyId::all(3).nth(party.into()).map(|p| [Agreement::Missing(p), Agreement::NotYet(p)]);
    let parties = (0..3).filter_map(of).flatten();
    let all: Vec<Agreement> = [Agreement::Agreed, Agreement::PublicDiffers, Agreement::SecretDiffers]
        .into_iter()
        .chain(parties)
        .collect();
    let seeds: Vec<Vec<u8>> = all.iter().map(|verdict| encode(*verdict).to_vec()).collect();
    divisi_fuzz::golden("verdicts", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("verdicts", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(theirs) = <[u8; 2]>::try_from(bytes) else { return Ok(false) };
        let known = encode(decode(theirs)) == theirs;
        if !known && decode(theirs) != Agreement::PublicDiffers {
            return Err("bytes that nobody writes are a verdict".into());
        }
        for ours in &all {
            let worst = worse(encode(*ours), theirs);
            let agreed = *ours == Agreement::Agreed && decode(theirs) == Agreement::Agreed;
            if (decode(worst) == Agreement::Agreed) != agreed {
                return Err(format!("we say {ours:?}, and {worst:?} is the worst"));
            }
        }
        Ok(known)
    });
}
