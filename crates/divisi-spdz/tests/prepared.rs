//! Known answers with real preprocessing, and what comes out of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divisi_field::{Gf40, Gf48, Gf72};
use divisi_spdz::lab::{SpdzLab, TinyLab};
use divisi_spdz::{Preparation, Protocol};
use divisi_symmetric::suite;

#[test]
fn aes_by_tables_among_two() {
    suite::aes_fips197(&SpdzLab::<Gf48>::new(2, Protocol::Lookup).prepared(Preparation::Bucketed));
}
