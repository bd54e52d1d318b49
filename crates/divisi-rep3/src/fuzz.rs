//! Random inputs for the messages of planes and of field elements.

use crate::wire::{Shape, read, read_elements, write, write_elements};
use divisi_field::{Field, Gf2, Gf4, Gf8, Gf64, Gf128, Plane};

/// A layer that is taken is written as it was.
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

/// Elements that are taken are written as they were.
fn elements<F: Field>() {
    let counts = [1, 2, 3, 8, 9];
    let seeds = counts.map(|n| {
        let some = (0..n as u128).map(|i| F::from_low_bits(i * 0x9e37_79b9_7f4a_7c15));
        write_elements(&some.collect::<Vec<F>>())
    });
    divisi_fuzz::run("elements", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for n in counts {
            let Some(all) = read_elements::<F>(bytes, n) else { continue };
            taken = true;
            if all.len() != n || write_elements(&all) != bytes {
                return Err(format!("{n} other elements"));
            }
        }
        Ok(taken)
    });
}

#[test]
fn random_elements() {
    elements::<Gf2>();
    elements::<Gf4>();
    elements::<Gf8>();
    elements::<Gf64>();
    elements::<Gf128>();
}
