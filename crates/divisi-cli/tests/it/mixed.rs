//! Circuits and programs among semi-honest parties through the command line: parties of their own that agree,
//! or are told what they disagree on.

use crate::program::{gate, good, phase, told};
use crate::{has, separate};
use divisi_program::applications::digits;
use divisi_program::plain::{Entries, evaluate};
use serde_json::json;

/// Two programs, of which each learns one of two output values.
#[test]
fn each_value_to_its_own() {
    separate::each_value_to_its_own("mixed", "with other owners or receivers");
}

#[test]
fn one_party_each() {
    separate::one_party_each("mixed", 4);
}

/// Parties with different arguments get an error that says so, all of them, before anything secret is there.
#[test]
fn parties_that_disagree_are_refused_with_both_digests() {
    let differences: [(&[&str], &str); 4] = [
        (&["--circuit", "xor"], "another circuit"),
        (&["--circuit", "and", "--output", "1"], "another circuit"),
        (&["--circuit", "and", "--k", "3"], "with other settings"),
        (&["--circuit", "and", "--protocol", "mpgc"], "with other settings"),
    ];
    separate::refused_with_both_digests("mixed", &differences);
}

/// Programs with these names that differ in one statement, in a directory with a mesh of two.
fn programs(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    separate::mesh(dir.path(), 2);
    for (name, last) in files {
        let inputs = "input x 1 num 3 in -99..99\ninput y 2 num 3 in -99..99\np = mul x y";
        let text = format!("divisi program 1\n{inputs}\n{last}\noutput s 2\noutput p 1\n");
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Each party gives its own inputs and no others, and learns the outputs that are for it.
#[test]
fn one_party_each_of_a_program() {
    let dir = programs(&[("p.txt", "s = sum p")]);
    let arguments = ["x=1,-2,3", "y=4,5,6"].map(|own| vec!["--program", "p.txt", "--input", own]);
    let outputs = [json!({ "p": [4, -10, 18], "s": null }), json!({ "p": null, "s": [12] })];
    for (output, expected) in separate::each(dir.path(), "mixed", &arguments).iter().zip(outputs) {
        let told = told(output);
        assert!(output.status.success() && told["outputs"] == expected, "{told}");
    }
    // what the first party alone finds wrong with its own inputs
    for (given, what) in [
        (&["--input", "x=1,-2,3", "--input", "y=4,5,6"][..], "the input y belongs to party 2"),
        (&["--input", "y=4,5,6"], "the input y belongs to party 2"),
        (&[], "the input x is missing"),
        (&["--input", "x=1,-2"], "the input x takes 3 values, and 2 are given"),
        (&["--input", "x=1,-2,100"], "p.txt: value 3 of the input x is not from -99 to 99"),
    ] {
        let arguments = [&["--program", "p.txt"], given].concat();
        let output = separate::each(dir.path(), "mixed", &[arguments]).remove(0);
        let told = told(&output);
        let error = told["error"].as_str().unwrap();
        assert!(output.status.code() == Some(2) && error.contains(what), "{error}");
    }
}

/// Before any input is used.
#[test]
fn different_programs_are_refused_with_both_digests() {
    let dir = programs(&[("p.txt", "s = sum p"), ("q.txt", "s = sum x")]);
    let first = vec!["--program", "p.txt", "--input", "x=1,-2,3"];
    for (second, what) in [
        (&["--program", "q.txt"][..], "another program"),
        (&["--program", "p.txt", "--form", "lean-tree"], "the program with other settings"),
        (&["--program", "p.txt", "--k", "3"], "the program with other settings"),
    ] {
        let second = [second, &["--input", "y=4,5,6"]].concat();
        separate::both_are_told(dir.path(), "mixed", &[first.clone(), second], what);
    }
}

/// The application mnist reads images of a user's files one after the other, and tells how many are what
/// their labels say.
#[test]
fn digits_of_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let images: Vec<Vec<u8>> = digits::held_out()
        .iter()
        .take(2)
        .map(|sample| sample.image.iter().map(|point| (16 * point).min(255) as u8).collect())
        .collect();
    let file = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28][..], &images.concat()].concat();
    let (network, script) = (digits::Network::trained().unwrap(), digits::script(1, 2).unwrap());
    let answers = digits::read_idx(&file).unwrap().into_iter().map(|image| {
        let outputs = evaluate(&script, &digits::inputs_for(&network, &image).unwrap()).unwrap();
        let [Entries::Num(logits)] = &outputs[..] else { unreachable!("ten numbers") };
        digits::answer(logits).unwrap()
    });
    let answers: Vec<u8> = answers.collect();
    std::fs::write(dir.path().join("images"), file).unwrap();
    // the second label is another digit's
    let labels = [&[0, 0, 8, 1, 0, 0, 0, 2][..], &[answers[0], (answers[1] + 1) % 10]].concat();
    std::fs::write(dir.path().join("labels"), labels).unwrap();
    let bench =
        "bench mixed --op program --program mnist --parties 2 --images images --labels labels --count 2";
    let told = good(dir.path(), &format!("{bench} --reps 1 --warmup 0 --danger-insecure-parameters"));
    has!(told, "images": 2, "images_right": 1, "checked": true);
}

/// The most MiB that a party may take, whatever the number of items, among up to 16 parties.
#[cfg(target_os = "linux")]
const MOST: u64 = 256;

/// The same for private tables in the paper's form, whose polynomials among 16 have 18 MB each.
#[cfg(target_os = "linux")]
const MOST_OF_PAPER: u64 = 304;

/// Each operation in its own process for each party, with more items than go through all phases together, and
/// the most MiB that a party takes.
#[cfg(target_os = "linux")]
fn memory_is_bounded(parties: usize, operations: &[(&str, usize, u64)]) {
    let dir = tempfile::tempdir().unwrap();
    for (what, count, limit) in operations {
        let bench = format!("bench mixed --op {what} --parties {parties} --count {count}");
        let told = good(dir.path(), &format!("{bench} --reps 1 --warmup 0"));
        has!(told, "checked": true);
        let most = told["peak_rss_bytes_per_party"].as_u64().unwrap();
        assert!(most >> 20 < *limit, "{what}, {parties} parties: {} MiB", most >> 20);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_party_is_bounded() {
    memory_is_bounded(
        2,
        &[
            ("dabit", 2_200_000, 192),
            ("lookup2", 2_200_000, 192),
            ("b2a", 70_000, 192),
            ("a2b", 132_000, 192),
            ("triple-arith", 1_100_000, 192),
            ("e2a", 530_000, 192),
            ("lookup", 8_300, 192),
            ("lookup --private", 4_400, 128),
            ("lookup --private --form lean-ring", 8_400, 96),
        ],
    );
    memory_is_bounded(3, &[("a2e", 530_000, 192)]);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "sixteen parties: minutes"]
fn memory_of_a_party_is_bounded_among_sixteen() {
    memory_is_bounded(
        16,
        &[
            ("lookup --private", 1_100, MOST),
            ("lookup --private --entries 2", 263_000, MOST),
            ("lookup --private --form lean-ring", 2_100, MOST),
            ("lookup --private --form lean-ring --entries 2", 530_000, MOST),
            ("lookup --private --form lean-tree", 2_100, MOST),
            ("lookup --private --form paper", 300, MOST_OF_PAPER),
            ("lookup --form lean-tree", 8_300, MOST),
            ("dabit --form lean-tree", 600_000, MOST),
            ("b2a --form lean-tree", 66_000, MOST),
            ("a2b", 132_000, MOST),
            ("triple-arith", 1_100_000, MOST),
            ("triple-bool", 4_000_000, MOST),
            ("e2a", 530_000, MOST),
            ("a2e", 530_000, MOST),
            ("lookup2", 2_200_000, MOST),
        ],
    );
}

/// What transfers nothing makes no base OTs: a program of sums, and a circuit without ANDs. With an AND they
/// are made in the set-up.
#[test]
fn what_transfers_nothing_makes_no_base_ots() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("sums.txt", "divisi program 1\ninput x 1 num 3 in 0..9\ns = sum x\noutput s 2\n".to_owned()),
        (
            "bits.txt",
            "divisi program 1\ninput x 1 bits 1 3\ny = circuit and.txt x x\noutput y 2\n".to_owned(),
        ),
        ("xor.txt", gate("XOR")),
        ("and.txt", gate("AND")),
    ];
    for (name, text) in &files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    for (what, makes) in [
        ("mixed --op program --program sums.txt", false),
        ("mixed --op program --program bits.txt", true),
        ("circuit --engine mixed --circuit xor.txt", false),
        ("circuit --engine mixed --circuit and.txt", true),
    ] {
        let told = good(dir.path(), &format!("bench {what} --parties 3 --count 1 --reps 1 --warmup 0"));
        let bytes = phase(&told, "setup")["bytes_sent_per_party"].as_u64().unwrap();
        assert_eq!(bytes > 1000, makes, "{what}: {told}");
    }
}
