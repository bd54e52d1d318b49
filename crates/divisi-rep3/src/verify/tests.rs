//! Debts.

use super::*;
use crate::share::Rep;

/// A debt of so many products of each kind that can be listed.
fn debt(products: usize) -> Products {
    let none = || Rep::zero(1);
    let dot = || Dot { x: none(), y: none(), z: none() };
    let mut debt = Products::none(EngineId::NONE);
    debt.dots.extend((0..products).map(|_| dot()));
    debt.over_128.extend((0..products).map(|_| Box::new(dot()) as Box<dyn Statement<Gf128>>));
    debt.closes.extend(0..products as u64);
    debt.lookups = products as u64;
    debt
}

/// Whoever takes over a debt owes all of it, however much it owed before.
#[test]
fn debts_are_added_in_full() {
    for (own, other) in [(0, 3), (3, 0), (100, 3), (3, 100), (1000, 2000)] {
        let mut all = debt(own);
        all.add(debt(other));
        let lists = [all.dots.len(), all.over_128.len(), all.closes.len(), all.lookups as usize];
        assert_eq!(lists, [own + other; 4]);
    }
}
