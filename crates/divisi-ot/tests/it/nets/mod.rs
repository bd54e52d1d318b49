//! The nets of oblivious transfer (docs/nets.md): shapes of set-ups and rows, and the censuses over them.
//! Whether what is made is right, the engines above check: their shapes stand on these messages, too.

mod draws;
mod worlds;

use divisi_core::testing::nets::messages::{Extent, MessageNet};
use divisi_core::testing::nets::{NetShape, ShapeOutcome, ShapeSecurity};
use divisi_core::{Abort, Session, step};
use divisi_ot::correlate::{BitVectors, Numbers};
use divisi_ot::testing::{unsound, unsound_over_field};
use divisi_ot::{Base, Bits, Links, SetupConfig};
use std::time::Duration;

/// Chooses what default tests change.
const SEED: u64 = 1;

/// Everything, among so many parties.
fn shapes(parties: usize) -> Vec<NetShape> {
    let of = |name, security, run: Run, base| {
        NetShape::new(name, parties, security, move |session, _, out: &mut ShapeOutcome| {
            run(session, base, out)?;
            out.put("done", vec![1]);
            Ok(())
        })
    };
    use ShapeSecurity::{AllButOne, Curious};
    vec![
        of("authenticated bits", AllButOne, bits, Base::Both),
        of("authenticated bits of half a base", AllButOne, bits, Base::Half),
        of("rows over a field", AllButOne, rows, Base::Both),
        // in two strands of one thread, so that no time is skipped
        of("rows ahead", AllButOne, ahead, Base::Half).waiting(Duration::from_secs(4)),
        of("products", Curious, products, Base::Half),
    ]
}

type Run = fn(Session, Base, &mut ShapeOutcome) -> Result<(), Abort>;

fn config(base: Base) -> SetupConfig {
    SetupConfig { k: 4, rho: 8, base }
}

/// Three batches, the second of one bit, and two coins.
fn bits(mut session: Session, base: Base, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut setup = unsound(&mut session, config(base))?;
    for count in [out.lanes(300), 1, 128] {
        setup.authenticated_bits(&mut session, count)?;
        setup.toss(&mut session, step!("coin"))?;
    }
    Ok(())
}

/// Narrow rows, wide ones and pads, random and chosen, and products with payloads.
fn rows(mut session: Session, base: Base, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut setup = unsound_over_field(&mut session, config(base), 48)?;
    setup.mac_rows(&mut session, Bits::Random(out.lanes(300)))?;
    setup.mac_shares(&mut session, Bits::Chosen(&[0x5555_0000_ffff_1234; 4], 200))?;
    for count in [out.lanes(130), 2] {
        let mut wide = setup.wide_rows(&mut session, Bits::Random(count))?;
        let payload: Vec<u128> = (0..count as u128).map(|i| (i + 3).pow(9) & 0xff_ffff).collect();
        let width = BitVectors { width: 56 };
        setup.correlate(&mut session, &mut wide.pads, None, &width, &payload)?;
        setup.pad_rows(&mut session, Bits::Random(count))?;
    }
    Ok(())
}

/// Batches each of which is begun before the one before it is finished.
fn ahead(mut session: Session, base: Base, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut setup = unsound_over_field(&mut session, config(base), 48)?;
    let mut strand = session.strand()?;
    let mut before = None;
    for counts in [Some((out.lanes(130), 300)), Some((1, 1)), None] {
        let begun = counts.map(|(wide, narrow)| setup.begin_ahead(&mut strand, wide, narrow)).transpose()?;
        if let Some(batch) = std::mem::replace(&mut before, begun) {
            let batch = setup.receive_ahead(&mut strand, batch)?;
            setup.finish_ahead(&mut session, batch)?;
        }
    }
    setup.mac_rows(&mut session, Bits::Random(77)).map(drop)
}

/// Products of random bits with bits, with bits of pads, and with numbers.
fn products(mut session: Session, base: Base, out: &mut ShapeOutcome) -> Result<(), Abort> {
    let mut setup = unsound(&mut session, config(base))?;
    for rows in [out.lanes(200), 65] {
        let values = vec![0x1234_5678_9abc_def0_u64; usize::div_ceil(rows, 64)];
        let mut values = values;
        if rows % 64 > 0
            && let Some(last) = values.last_mut()
        {
            *last &= (1 << (rows % 64)) - 1;
        }
        setup.random_products(&mut session, rows, &values)?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(rows), Links::All)?;
        setup.correlate_bits(&mut session, &mut pads, &values)?;
        let mut pads = setup.semi_honest_rows(&mut session, Bits::Random(rows), Links::All)?;
        let numbers = Numbers { modulus: 65_537, count: 2 };
        let values: Vec<u64> = (0..2 * rows as u64).map(|i| i * i % 65_537).collect();
        setup.correlate(&mut session, &mut pads, None, &numbers, &values)?;
    }
    Ok(())
}

fn net() -> MessageNet<'static> {
    let [shapes, crowds] = [3, 5].map(shapes);
    let silent = &[];
    MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes,
        crowds,
        silent,
        checks: divisi_ot::checks::ALL,
        idle: &[],
        varies: &[],
        narrow: &[],
    }
}

#[test]
fn census_of_messages() {
    net().demand(Extent::sample(SEED, 2));
}

#[test]
#[ignore = "every step, in every way"]
fn census_of_all_messages() {
    net().demand(Extent::All);
}
