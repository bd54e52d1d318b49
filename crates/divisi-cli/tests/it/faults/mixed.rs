//! Curious parties that stop, as real processes over TCP, in set-up, preprocessing and online: the others end
//! with a clear abort, in time. Ciphertexts are refreshed from 33 parties on, so faults at a bootstrap are in
//! one process: divisi-mixed/tests/it/faults.rs.

use super::proxies;
use super::proxies::{RunChoice, Task};
use std::time::Duration;

#[test]
fn whoever_stops_in_any_phase_the_others_abort_in_time() {
    let victims = [(0, [0, 2, 1, 0]), (1, [1, 0, 2, 1]), (2, [2, 1, 0, 2])];
    proxies::whoever_stops_the_others_abort("mixed", &victims);
}

/// A circuit of 32 ANDs, garbled: x and y, bit by bit.
static GARBLED: Task = Task {
    files: || {
        let gates: String = (0..32).map(|i| format!("2 1 {i} {} {} AND\n", i + 32, i + 64)).collect();
        vec![("and.txt", format!("32 96\n2 32 32\n1 32\n\n{gates}"))]
    },
    what: &["--protocol", "mpgc", "--circuit", "and.txt"],
    inputs: |number| {
        let value =
            |owner: usize, digits: &str| format!("{owner}={}", if owner == number { digits } else { "" });
        vec![value(1, "ffffffff"), value(2, "69c4e0d8")]
    },
    bench: &["--op", "mpgc", "--circuit", "and.txt"],
    output: ("/0", "\"69c4e0d8\""),
    timeout: Duration::from_secs(5),
};

/// How often the four numbers of each party are repeated: enough that every phase can be stopped in its
/// middle.
const REPEATED: usize = 1000;

/// Products, comparisons and both conversions.
static PROGRAM: Task = program(&["--program", "p.txt"], &["--op", "program", "--program", "p.txt"]);
static BY_RING: Task = program(
    &["--program", "p.txt", "--form", "lean-ring"],
    &["--op", "program", "--program", "p.txt", "--form", "lean-ring"],
);

const fn program(what: &'static [&'static str], bench: &'static [&'static str]) -> Task {
    Task {
        files: files_of_program,
        what,
        inputs: inputs_of_program,
        bench,
        output: ("/t/0", "-140000"),
        timeout: Duration::from_secs(5),
    }
}

fn files_of_program() -> Vec<(&'static str, String)> {
    let count = 4 * REPEATED;
    let text = format!(
        "divisi program 1\ninput x 1 num {count} in -9..300\ninput y 2 num {count} below 100\np = mul x y\nl = lt p 100\n\
         s = select l p y\nt = sum s\noutput t 1,2,3\n"
    );
    let repeated = |four: &str| [four; REPEATED].join(",");
    vec![("p.txt", text), ("x.txt", repeated("1,2,300,-4")), ("y.txt", repeated("50,60,70,80"))]
}

fn inputs_of_program(number: usize) -> Vec<String> {
    match number {
        1 => vec!["x=@x.txt".to_owned()],
        2 => vec!["y=@y.txt".to_owned()],
        _ => vec![],
    }
}

/// The parties that send rows: the first party sends none.
#[test]
fn whoever_stops_while_many_garble_the_others_abort_in_time() {
    let way = RunChoice { engine: "mixed", more: &[], task: &GARBLED };
    proxies::whoever_stops_in(way, &[(0, [1, 2, 1, 2]), (1, [2, 1, 2, 1]), (2, [1, 2, 1, 2])]);
}

#[test]
fn whoever_stops_in_a_program_the_others_abort_in_time() {
    let way = RunChoice { engine: "mixed", more: &[], task: &PROGRAM };
    proxies::whoever_stops_in(way, &[(0, [0, 2, 1, 0]), (1, [1, 0, 2, 1]), (2, [2, 1, 0, 2])]);
}

/// While ciphertexts pass from party to party.
#[test]
fn whoever_stops_in_a_ring_the_others_abort_in_time() {
    let way = RunChoice { engine: "mixed", more: &[], task: &BY_RING };
    proxies::whoever_stops_in(way, &[(1, [1, 0, 2, 1])]);
}
