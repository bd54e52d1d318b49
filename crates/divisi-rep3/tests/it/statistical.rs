//! The statistical error of every kind of verification: what was executed, what the meter says of it, and
//! what SECURITY.md promises.

use crate::common::prelude::*;
use divisi_core::Lanes;

const LANES: usize = 9;

/// The numbers c and log2 q of a row of SECURITY.md, and the sum of the parts of which c is said to consist.
fn promised(row: &str) -> (u64, u64, u64) {
    let text = include_str!("../../../../SECURITY.md");
    let mut rows = text.lines().filter_map(|line| line.strip_prefix(&format!("| {row} | ")));
    let rest = rows.next().unwrap_or_else(|| panic!("SECURITY.md has no row {row:?}"));
    assert!(rows.next().is_none(), "two rows {row:?}");
    let columns: Vec<&str> = rest.trim_end_matches(" |").split(" | ").collect();
    let log_q = columns[1].strip_prefix("2^").unwrap().parse().unwrap();
    let number = |part: &str| part.split(' ').next().unwrap().parse::<u64>().unwrap();
    (columns[0].parse().unwrap(), log_q, columns[2].split(", ").map(number).sum())
}

/// The counts of one party's meter after products were made and verified with this number of passes.
fn counts(passes: Passes, f: impl Fn(Trio) -> Result<Counts, Abort> + Sync) -> Counts {
    let results = TrioHarness::default().patient().act(|mut trio| {
        trio.set_passes(passes);
        f(trio)
    });
    results.into_iter().map(Result::unwrap).next().unwrap()
}

fn engine(trio: Trio, protocol: Protocol) -> Rep3 {
    Rep3::new(trio, protocol, Security::Malicious)
}

fn read(e: &mut Rep3) -> Counts {
    e.trio().session().meter().read()
}

/// A layer of one byte: each relation of its S-boxes leaves one term for each lane.
fn sboxes(trio: Trio) -> Result<Counts, Abort> {
    let mut e = engine(trio, Protocol::Gf8Circuit);
    let x = random_sbox(&mut e, LANES)?;
    e.settled(x)?;
    Ok(read(&mut e))
}

fn vectors(trio: Trio, protocol: Protocol) -> Result<Counts, Abort> {
    let mut e = engine(trio, protocol);
    e.vectors(1, 1, LANES)?;
    Ok(read(&mut e))
}

/// One product of two bits.
fn bits(trio: Trio) -> Result<Counts, Abort> {
    let mut g = Build::new();
    let x = g.input(2);
    let z = g.and(x[0], x[1]);
    g.output(&[z]);
    let program = g.finish();
    let mut e = engine(trio, Protocol::Gf4Circuit);
    let x = e.public_bit(&[true; LANES]);
    let out = run_one(&mut e, &program, vec![x.clone(), x])?;
    assert_eq!(out[0].lanes(), LANES);
    e.settled(out)?;
    Ok(read(&mut e))
}

fn blocks(trio: Trio) -> Result<Counts, Abort> {
    let mut e = engine(trio, Protocol::Gf4Circuit);
    let (x, y) = (e.random_blocks(LANES), e.random_blocks(LANES));
    let z = e.multiply(&x, &y)?;
    e.settled(z)?;
    Ok(read(&mut e))
}

fn box_products<F: Element>(trio: Trio) -> Result<Counts, Abort> {
    let mut b = BlackBox::new(trio);
    let x = b.random::<F>(LANES);
    let xx = b.local_mul(&x, &x)?;
    let xx = b.reshare(xx)?;
    b.output(&xx)?;
    Ok(b.session().meter().read())
}

fn box_vectors(trio: Trio) -> Result<Counts, Abort> {
    let mut b = BlackBox::new(trio);
    let _vectors = b.rohv_rss(3, LANES)?;
    let recon = b.verify_recon()?;
    b.verify_mul(&recon)?;
    Ok(b.session().meter().read())
}

type Party = fn(Trio) -> Result<Counts, Abort>;

/// Row by row: what makes such products, and how long the inner product is that is left of them.
fn kinds() -> Vec<(&'static str, Party, usize)> {
    const SMALL: &str = "layers of S-boxes, one-hot vectors of 16";
    const BOX: &str = "products of the black box below 128 bits";
    const LARGE: &str = "products over GF(2^128), GHASH's";
    vec![
        (SMALL, sboxes, 2 * LANES),
        (SMALL, |trio| vectors(trio, Protocol::Lut16), LANES),
        (SMALL, |trio| vectors(trio, Protocol::Lut256Additive), 2 * LANES),
        ("one-hot vectors of 256", |trio| vectors(trio, Protocol::Lut256), LANES),
        ("products of bits in programs", bits, LANES),
        (BOX, box_products::<Gf2>, LANES),
        (BOX, box_products::<Gf8>, LANES),
        (BOX, box_products::<Gf64>, LANES),
        ("the same with one-hot vectors of any length", box_vectors, LANES),
        (LARGE, box_products::<Gf128>, LANES),
        (LARGE, blocks, LANES),
    ]
}

/// The error that the meter reports is that of the table, and of the passes that were made: each ends with a
/// triple of its own, with coins of its own.
#[test]
fn the_meter_tells_what_was_executed_and_security_md_promises_no_more() {
    for (row, party, terms) in kinds() {
        let (c, log_q, parts) = promised(row);
        assert_eq!(c, parts, "{row}");
        let levels = u64::from(terms.next_power_of_two().trailing_zeros());
        let one = log_q as f64 - ((c + 2 * levels) as f64).log2();
        let mut coins = Vec::new();
        for passes in [Passes::Once, Passes::Twice] {
            // over the large field once is enough for 100 bits
            let times = if passes == Passes::Twice && log_q == 64 { 2_u32 } else { 1 };
            let counts = counts(passes, party);
            let told = counts.verification_error_bits.unwrap();
            assert!((told - f64::from(times) * one).abs() < 1e-9, "{row}, {passes:?}: {told}");
            assert_eq!(counts.checks[&checks::A7], u64::from(times), "{row}, {passes:?}");
            coins.push((times, counts.checks[&checks::A4]));
        }
        assert_eq!(coins[1].1, u64::from(coins[1].0) * coins[0].1, "{row}");
    }
}

/// 57 bits a pass, for any batch of at most 2^40 terms; 114 for two passes, which serve for 100.
#[test]
fn every_row_gives_what_passes_promise() {
    for (row, ..) in kinds() {
        let (c, log_q, _) = promised(row);
        assert!(log_q as f64 - ((c + 2 * 40) as f64).log2() > 57.0, "{row}");
    }
    assert_eq!([57, 58, 100, 114].map(|bits| Passes::for_bits(bits).unwrap()), {
        [Passes::Once, Passes::Twice, Passes::Twice, Passes::Twice]
    });
    assert_eq!(Passes::for_bits(115), None);
}
