//! What is drawn is what the engine in the clear computes.

use super::*;
use divisi_circuit::plain;
use divisi_core::Plain;

fn bits(block: u128) -> Vec<Vec<u64>> {
    (0..BLOCK).map(|i| vec![(block >> i & 1) as u64]).collect()
}

/// Every operation on blocks is that of the engine in the clear.
#[test]
fn blocks_are_those_of_the_plain_engine() {
    let (x, y, c) = (0x0123_4567_89ab_cdef_1122_3344_5566_7788_u128, u128::MAX / 7, 1 << 127 | 0x1_0087);
    let sheet = RefCell::new(Build::new());
    let take = |sheet: &RefCell<Build>| -> [Bit; BLOCK] {
        let wires = sheet.borrow_mut().input(BLOCK);
        std::array::from_fn(|i| wires[i])
    };
    let (a, b) = (WireBlock(vec![take(&sheet)]), WireBlock(vec![take(&sheet)]));
    let mut pen = Sheet(&sheet);
    let mut e = Drawing { sheet: Sheet(&sheet), bytes: GateBytes::new(&mut pen) };
    let both = e.join(&[&a, &b]);
    let bytes: [GateByte<Bit>; 16] = e.convert(a.clone()).unwrap();
    let mut drawn = [
        e.multiply(&a, &b).unwrap(),
        e.dot(&[(&a, &b), (&both, &both)]).unwrap(),
        e.square(&a),
        e.combine(&both, &[c, 3]).unwrap(),
        e.convert(bytes).unwrap(),
    ];
    e.add_public_block(&mut drawn[4], &[c]).unwrap();
    assert!(e.add_public_block(&mut drawn[4], &[c, c]).is_err() && e.combine(&a, &[c, c]).is_err());
    drop(e);
    let mut build = sheet.into_inner();
    drawn.iter().flat_map(|block| &block.0).for_each(|block| build.output(block));
    let program = build.finish();
    let (p, q) = (divisi_core::PlainBlock::new(vec![x]), divisi_core::PlainBlock::new(vec![y]));
    let mut e = Plain;
    let both = e.join(&[&p, &q]);
    let mut last = p.clone();
    e.add_public_block(&mut last, &[c]).unwrap();
    let want = [
        e.multiply(&p, &q).unwrap(),
        e.dot(&[(&p, &q), (&both, &both)]).unwrap(),
        e.square(&p),
        e.combine(&both, &[c, 3]).unwrap(),
        last,
    ];
    let got = plain::run(&program, &[bits(x), bits(y)].concat()).unwrap();
    let block =
        |bits: &[Vec<u64>]| bits.iter().rev().fold(0_u128, |sum, bit| sum << 1 | u128::from(bit[0] & 1));
    let got: Vec<u128> = got.chunks(BLOCK).map(block).collect();
    assert_eq!(got, want.iter().flat_map(|block| block.values().to_vec()).collect::<Vec<_>>());
}

#[test]
fn lanes_must_fit() {
    let sheet = RefCell::new(Build::new());
    let wires = sheet.borrow_mut().input(3);
    let mut pen = Sheet(&sheet);
    let mut e = Drawing { sheet: Sheet(&sheet), bytes: GateBytes::new(&mut pen) };
    let (two, three) = (Wire(wires[..2].to_vec()), Wire(wires.clone()));
    let mut g = Build::new();
    let x = g.input(2);
    let sum = g.xor(x[0], x[1]);
    g.output(&[sum]);
    let program = g.finish();
    assert!(e.run(&mut [Job::new(&program, vec![two.clone(), three.clone()])]).is_err());
    let mut jobs = [Job::new(&program, vec![two.clone(), Wire(vec![wires[2]])])];
    e.run(&mut jobs).unwrap();
    assert_eq!((jobs[0].wires.len(), jobs[0].wires[0].lanes()), (1, 2));
    assert_eq!(e.join_bits(&[&two, &three]).lanes(), 5);
    assert!(two.gather(&[2]).is_none() && three.gather(&[2, 2]).is_some());
}
