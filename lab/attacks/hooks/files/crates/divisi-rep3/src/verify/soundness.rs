//! The soundness error of CheckTriple and of the recursion over inner products, measured: over a field of 256
//! elements a lie passes so often that it can be counted (Q4). The adversary is the best there is
//! ([`super::cheaters`]).

use super::cheaters::{Kind, measured};

#[test]
fn a_wrong_triple_passes_as_often_as_the_bound_says() {
    measured(Kind::Product(1), 1 << 12);
}

#[test]
fn a_wrong_inner_product_passes_as_often_as_the_bound_says() {
    measured(Kind::Product(4), 1 << 11);
}

#[test]
#[ignore = "2^18 runs"]
fn wrong_inner_products_pass_as_often_as_the_bounds_say() {
    measured(Kind::Product(1), 1 << 17);
    measured(Kind::Product(8), 1 << 17);
}
