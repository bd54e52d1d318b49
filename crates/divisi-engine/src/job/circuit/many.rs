//! Circuits of many values.

use super::*;
use divisi_circuit::Build;

/// Of many values each has its receivers, who must all have learned the same in every evaluation.
#[test]
fn each_of_many_values_has_its_own_receivers() {
    const VALUES: usize = 400;
    let mut g = Build::new();
    let input = Build::input(&mut g, VALUES);
    (0..VALUES).for_each(|i| g.output(&input[i..=i]));
    let circuit = crate::circuit::NamedCircuit { name: "c".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let [one, two, three] = [1, 2, 3].map(|number| PartyId::new(number).unwrap());
    let lists = [vec![one, two, three], vec![two, three], vec![three], vec![one, three]];
    let job = |other: Option<usize>| {
        let list = |i| if other == Some(i) { vec![one, two] } else { lists[i % 4].clone() };
        let between = Between::Parties { owners: vec![one], receivers: (0..VALUES).map(list).collect() };
        CircuitJob { circuit: Arc::clone(&circuit), adder: Adder::FewestAnds, between, count: 200 }
    };
    let whole = job(None);
    for (group, list) in whole.output_groups().iter().zip(&lists) {
        assert_eq!(group.receivers, *list);
    }
    for (i, group) in whole.output_groups().iter().enumerate() {
        assert_eq!(group.wires, (0..VALUES).filter(|wire| wire % 4 == i).collect::<Vec<usize>>());
    }
    let digest = |job: &CircuitJob| job.describe_receivers(PublicParameters::new("t")).digest();
    for other in [0, 255, 256, 257, VALUES - 1] {
        assert_ne!(digest(&job(Some(other))), digest(&whole), "{other}");
    }
    let told = [one, two, three].map(|party| vec![1; whole.results_of(party).len() * 200]);
    let learned =
        |told: &[Vec<u8>; 3]| whole.learned(200, &told.each_ref().map(|told| Zeroizing::new(told.clone())));
    assert!(learned(&told).unwrap().iter().all(|byte| *byte == 0xff));
    // the last value goes to parties 1 and 3
    for evaluation in [0, 1, 2, 100, 199] {
        let mut lie = told.clone();
        let last = (evaluation + 1) * whole.results_of(three).len() - 1;
        lie[2][last] = 0;
        assert_eq!(learned(&lie).unwrap_err().party, Some(three), "{evaluation}");
    }
}

/// Of many receivers the last counts, too: lists that differ in it alone are two groups, who says something
/// else is found wherever it stands, and each owner and receiver must be a party.
#[test]
fn the_last_of_many_parties_counts() {
    const PARTIES: usize = 7;
    let all: Vec<PartyId> = PartyId::all(PARTIES).collect();
    let mut g = Build::new();
    let input = Build::input(&mut g, PARTIES);
    (0..PARTIES).for_each(|i| g.output(&input[i..=i]));
    let circuit = crate::circuit::NamedCircuit { name: "c".into(), program: g.finish(), file: None };
    let circuit = Arc::new(HeldCircuit::Program(circuit));
    let job = |owner: PartyId, receivers: Vec<Vec<PartyId>>| {
        let between = Between::Parties { owners: vec![owner], receivers };
        CircuitJob { circuit: Arc::clone(&circuit), adder: Adder::FewestAnds, between, count: 1 }
    };
    // each value goes to all but one
    let lists = (0..PARTIES).map(|i| [&all[..i], &all[i + 1..]].concat()).collect::<Vec<_>>();
    let whole = job(all[0], lists.clone());
    let groups = whole.output_groups().into_iter().map(|group| (group.receivers, group.wires));
    assert_eq!(
        groups.collect::<Vec<_>>(),
        (0..).map(|i| vec![i]).zip(lists.clone()).map(|(i, l)| (l, i)).collect::<Vec<_>>()
    );
    let told = vec![Zeroizing::new(vec![1; PARTIES - 1]); PARTIES];
    assert!(whole.learned(1, &told).is_ok());
    for (liar, at) in (0..PARTIES).flat_map(|liar| (0..PARTIES - 1).map(move |at| (liar, at))) {
        let mut lie = told.clone();
        lie[liar][at] = 0;
        let list = &lists[whole.results_of(all[liar])[at]];
        // the first who is told a value is believed
        let named = if list[0] == all[liar] { list[1] } else { all[liar] };
        assert_eq!(whole.learned(1, &lie).unwrap_err().party, Some(named), "{liar} {at}");
    }
    for last in &all {
        let mut of_last = vec![vec![all[0]]; PARTIES];
        let owned = job(*last, of_last.clone());
        of_last[PARTIES - 1].push(*last);
        for job in [owned, job(all[0], of_last)] {
            assert!(job.check_parties(last.index() + 1).is_ok());
            assert!(last.index() == 0 || job.check_parties(last.index()).is_err(), "{last}");
        }
    }
}
