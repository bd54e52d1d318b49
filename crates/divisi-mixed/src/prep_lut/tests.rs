//! Masks of indices.

use super::*;
use crate::bit::GmwBit;
use crate::table::indices;
use divisi_core::{PublicParameters, local};
use divisi_field::zp::{Modulus, P32};
use divisi_ot::SetupConfig;

/// Masks cover every bit of an index: in tables of each size, each bit of the sum of the parties' shares
/// takes both values, and so does each bit of a share.
#[test]
fn every_bit_of_an_index_is_masked() {
    const LOOKUPS: usize = 40;
    for width in 1..=MOST {
        let shares = local::run(2, &PublicParameters::new("masks"), |session| {
            let gmw = crate::gmw::Gmw::new(session, SetupConfig::default())?;
            let mut mixed = Mixed::new(gmw, Modulus::new(P32).unwrap(), None, None)?;
            let signs = mixed.prep_lut(width, LOOKUPS)?;
            // our share of u = x xor r, for x whose shares are zero
            let zeros = vec![GmwBit::zero(LOOKUPS); width];
            Ok(indices(&signs.mask(mixed.session(), &zeros)?.0, width))
        })
        .unwrap();
        let masks = shares[0].iter().zip(&shares[1]).map(|(x, y)| x ^ y).collect();
        for of in [&shares[0], &shares[1], &masks] {
            let (any, all) = of.iter().fold((0, usize::MAX), |(any, all), r| (any | r, all & r));
            assert_eq!((any, all), ((1 << width) - 1, 0), "{width}");
        }
    }
}
