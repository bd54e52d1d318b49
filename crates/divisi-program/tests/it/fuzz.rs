//! Random texts for the reader of programs, and random weights for that of networks.

use divisi_circuit::{Build, Gates};
use divisi_program::applications::digits::{LAYERS, Network, read_idx, read_idx_labels};
use divisi_program::entries::{decode, encode};
use divisi_program::plain::{Entries, evaluate};
use divisi_program::{Value, ValueKind, lower, text, valid};
use std::sync::Arc;
use zeroize::Zeroizing;

const PROGRAMS: [&str; 5] = [
    "divisi program 1\ninput x 1 num 2x3 in -9..9\ninput y 2 num 1x3 below 0x10\ns = sub x y\nbest at = min s\nl = lt best 7\n\
     c = select l at -1\nassume c in -1..1\noutput c 1,2\n",
    "divisi program 1\ninput x 1 bits 4 3 in 1..9\ny = circuit and x 9\nz = or y x # bits\nn = num z\nq = div n 3\n\
     h = shift q -1\nb = bits h 3\nt = const 8 1 2 3 4 5 6 7 8\nu = lookup t b\noutput u 3\noutput z 1\n",
    "divisi program 1\ninput x 2 num 2x2 in -9..50\ny = matmul x x\nz = reshape y 4\ng = gather z 3 0 3\nm = mul g g\n\
     n = neg m\nw = sum n\ne = eq w 0\nf = not e\nk = xor e f\na = and k f\no = max g\np = le o 5\noutput p 1\noutput a 2\n",
    "divisi program 1\ninput x 1 bits 90 2x3\nk = const bits 90 1x3 7 0x123456789abcdef012345 9\ny = mul x k\n\
     s = sum y\nc = popcount s\nw = widen c 9\na = concat w c\nb = slice a 3 8\nn = num b\nm = mul n n\noutput m 1\noutput s 2\n",
    "divisi program 1\nnumbers 61\ninput x 1 num 3 in -5000000000..5000000000\ninput y 2 num 3 in 1..9000000000\nm = mul x 100000000\n\
     d = div m y\nl = lt m y\ns = select l x y\nb = bits y 40\nn = num b\nh = shift n 20\noutput d 1\noutput h 2\noutput s 1\n",
];

/// A text that is accepted becomes nodes, and is evaluated, or the evaluation says why not.
#[test]
fn random_programs() {
    let mut g = Build::new();
    let (x, y) = (g.input(4), g.input(4));
    let and: Vec<_> = x.iter().zip(&y).map(|(x, y)| g.and(*x, *y)).collect();
    g.output(&and);
    let circuit = Arc::new(g.finish());
    let find =
        |name: &str| if name == "and" { Ok(Arc::clone(&circuit)) } else { Err("no such circuit".into()) };
    let seeds: Vec<Vec<u8>> = PROGRAMS.iter().map(|program| program.as_bytes().to_vec()).collect();
    divisi_fuzz::golden("programs", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("programs", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Some(program) = std::str::from_utf8(bytes).ok().map(|body| text::read(body, &find)) else {
            return Ok(false);
        };
        let program = match program {
            Ok(program) => program,
            Err(error) if error.starts_with("line ") && !error.contains('\n') => return Ok(false),
            Err(error) => return Err(format!("an error without a line: {error}")),
        };
        let size: usize = program.inputs().iter().map(|input| input.value.shape().entries()).sum();
        if size > 1 << 8 {
            return Ok(true);
        }
        let code = lower(&program).ok_or("what is taken does not become nodes")?;
        let _ = code.cost();
        // nothing that is accepted is reduced modulo p, for inputs in their ranges
        let mut seed = bytes.len() as u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 16) % below.max(1)
        };
        let inputs = valid::random_in(&program, &mut draw);
        match valid::evaluate(&program, &inputs) {
            Err(error) if !error.contains("as is assumed here") => return Err(error),
            _ => (),
        }
        // others are computed with, too
        let entries = |kind: ValueKind, entries: usize| match kind {
            ValueKind::Num => Entries::Num(vec![3; entries]),
            ValueKind::Bits(width) => Entries::Bits(vec![vec![true; width]; entries]),
        };
        let inputs = program
            .inputs()
            .iter()
            .map(|input| entries(input.value.kind(), input.value.shape().entries()))
            .collect::<Vec<Entries>>();
        let _ = evaluate(&program, &inputs);
        Ok(true)
    });
}

/// A network that is accepted has all its weights, and no sum that is too large for comparisons. A network is
/// longer than a random input. So an input is a position, of two bytes, and bytes that replace those of the
/// trained network there.
#[test]
fn random_networks() {
    let whole = include_bytes!("../../data/digits.weights");
    let seeds = [vec![0, 0], [&[0, 1][..], &[0; 20]].concat(), [&[0, 0x7f][..], &[0x7f; 60]].concat()];
    divisi_fuzz::run("networks", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Some((at, patch)) = bytes.split_first_chunk::<2>() else { return Ok(false) };
        let at = usize::from(u16::from_le_bytes(*at)) % whole.len();
        let mut body = whole.to_vec();
        let end = (at + patch.len()).min(body.len());
        // bytes that are put beyond the end make it longer
        drop(body.splice(at..end, patch.iter().copied()));
        let Ok(network) = Network::read(&body) else { return Ok(false) };
        let layers = network.layers().iter().zip(LAYERS);
        let whole = layers.fold(body.len() == whole.len(), |whole, (layer, [into, out])| {
            whole && layer.weights.len() == into * out && layer.biases.len() == out
        });
        let shifts = network.shifts().iter().all(|shift| *shift <= 30);
        if whole && shifts { Ok(true) } else { Err("a network that lacks something".into()) }
    });
}

/// Images and labels in the format IDX: as many as the header says, and each in range.
#[test]
fn random_files_of_images() {
    const POINTS: usize = 28 * 28;
    let images = |count: usize| {
        let head = [0, 0, 8, 3, 0, 0, 0, count as u8, 0, 0, 0, 28, 0, 0, 0, 28];
        [&head[..], &(0..count * POINTS).map(|i| (i * 7) as u8).collect::<Vec<_>>()].concat()
    };
    let labels = |digits: &[u8]| [&[0, 0, 8, 1, 0, 0, 0, digits.len() as u8][..], digits].concat();
    let seeds = [images(0), images(1), images(3), labels(&[]), labels(&[0, 9, 4])];
    divisi_fuzz::run("images", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let read = read_idx(bytes);
        if let Ok(images) = &read {
            let points = bytes.len() - 16;
            let whole = images
                .iter()
                .all(|image| image.len() == POINTS && image.iter().all(|point| (0..16).contains(point)));
            if !whole || points != images.len() * POINTS {
                return Err("images that lack something".into());
            }
        }
        match read_idx_labels(bytes) {
            Ok(digits) if digits.len() + 8 != bytes.len() || digits.iter().any(|digit| *digit > 9) => {
                Err("labels that are no digits".into())
            }
            labels => Ok(labels.is_ok() || read.is_ok()),
        }
    });
}

/// Entries that are decoded are encoded to the same bytes.
#[test]
fn random_entries() {
    let body = "divisi program 1\ninput x 1 num 2x2\ninput y 2 bits 7 3\ninput z 1 bits 130 1\noutput x 1\n";
    let program = text::read(body, &|_| Err("no circuits".into())).unwrap();
    let values: Vec<Value> = program.inputs().iter().map(|input| input.value.clone()).collect();
    let written = |all: &[Entries]| {
        let mut out = Zeroizing::default();
        all.iter().for_each(|entries| encode(entries, &mut out));
        out.to_vec()
    };
    let some = [
        Entries::Num(vec![1, -2, i64::MAX, 4]),
        Entries::Bits(vec![vec![true; 7]; 3]),
        Entries::Bits(vec![vec![false; 130]]),
    ];
    let seeds = [written(&some), written(&some[..1])];
    divisi_fuzz::run("entries", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let (mut rest, mut all) = (bytes, Vec::new());
        for value in &values {
            let Some((entries, others)) = decode(value, rest) else { break };
            rest = others;
            all.push(entries);
        }
        let again = [written(&all), rest.to_vec()].concat();
        if bytes == again { Ok(!all.is_empty()) } else { Err("other entries".into()) }
    });
    // those that were written come back, and no byte of a bit is 2
    let (whole, numbers) = (written(&some), 4 * 8);
    let (x, rest) = decode(&values[0], &whole).unwrap();
    let (y, rest) = decode(&values[1], rest).unwrap();
    let (z, rest) = decode(&values[2], rest).unwrap();
    assert!([x, y, z] == some && rest.is_empty());
    for at in numbers..numbers + 3 * 7 {
        let other = |byte: u8| [&whole[numbers..at], &[byte], &whole[at + 1..]].concat();
        assert!(decode(&values[1], &other(0)).is_some() && decode(&values[1], &other(2)).is_none());
    }
}
