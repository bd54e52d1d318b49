//! What is expanded from a coin.

use super::*;
use std::collections::BTreeSet;

/// However many elements are expanded, at once or in several calls, none comes again.
#[test]
fn elements_of_a_coin_are_all_different() {
    let (coin, mut seen) = (Coin([7; 16]), BTreeSet::new());
    let mut prg = coin.expand();
    for count in [1, 128, 129, 5000, 300] {
        let mut out = vec![Gf64::ZERO; count];
        next_words(&mut prg, &mut out);
        assert!(out.iter().all(|x| seen.insert(x.0)), "{count}");
        next_elements(&mut prg, &mut out);
        assert!(out.iter().all(|x| seen.insert(x.0)), "{count}");
    }
}
