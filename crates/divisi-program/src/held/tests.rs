//! What a program that is held refuses, reads, shows and compares.

use super::*;
use crate::program::LARGEST;
use std::collections::HashSet;

#[test]
fn digests_tell_applications_apart() {
    let of = |name: &str, body: &str| {
        let body = format!("divisi program 1\n{body}");
        digest_of(name, &text::read(&body, &|_| Err("no circuits".into())).unwrap())
    };
    let one = "input x 1 num in 0..9\ny = add x 1\noutput y 1\n";
    let others = [
        of("one", one),
        of("two", one),
        of("one", &format!("numbers 61\n{one}")),
        of("two", &format!("numbers 61\n{one}")),
        of("one", &one.replace("0..9", "0..8")),
        of("one", &one.replace("add x 1", "add x 2")),
        of("one", &one.replace("y 1", "y 2")),
    ];
    assert_eq!(HashSet::from(others).len(), 7);
    assert_eq!(of("one", one), others[0]);
}

/// Also of large ones, whatever differs behind however much: inputs, statements, and who learns what.
#[test]
fn digests_tell_large_applications_apart() {
    let lines = |what: &dyn Fn(usize) -> String| (0..500).map(what).collect::<String>();
    let body = lines(&|i| format!("input x{i} 1 num in 0..9\n"))
        + &lines(&|i| format!("y{i} = add x{i} 1\n"))
        + &lines(&|i| format!("output y{i} 1\n"));
    let of = |body: &str| {
        let body = format!("divisi program 1\n{body}");
        digest_of("large", &text::read(&body, &|_| Err("no circuits".into())).unwrap())
    };
    let mut seen = HashSet::from([of(&body)]);
    for i in [0, 100, 255, 256, 400, 499] {
        for (line, other) in [
            (format!("input x{i} 1 num in 0..9\n"), format!("input x{i} 2 num in 0..9\n")),
            (format!("y{i} = add x{i} 1\n"), format!("y{i} = add x{i} 2\n")),
            (format!("output y{i} 1\n"), format!("output y{i} 1,2\n")),
        ] {
            assert!(seen.insert(of(&body.replace(&line, &other))), "{line}");
        }
    }
}

/// The digest of a program has its text and all of the digests of its circuits.
#[test]
fn digests_tell_circuits_apart() {
    let body = "divisi program 1\ninput x 1 bits 128\ny = circuit aes128 x x\noutput y 1\n";
    let path = std::env::temp_dir().join(format!("divisi-circuits-{}.txt", std::process::id()));
    std::fs::write(&path, body).unwrap();
    let held = HeldProgram::load(path.as_os_str().to_owned()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 program v1");
    hasher.update(body.as_bytes());
    hasher.update(&circuit::load("aes128", Adder::FewestAnds).unwrap().digest());
    assert_eq!(held.digest, *hasher.finalize().as_bytes());
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let refused = |held: &HeldProgram, given: &[&str], owner: Option<u8>, words: &str| {
        let given: Vec<String> = given.iter().map(|given| (*given).to_owned()).collect();
        let error = held.inputs(&given, owner).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let held = HeldProgram::load("gauss").unwrap();
    let names: Vec<(String, u8)> =
        held.program().inputs().iter().map(|input| (input.name.clone(), input.owner)).collect();
    let (name, owner) = &names[0];
    refused(&held, &[&format!("{name}=1")], Some(owner + 1), "only that party gives its values");
    refused(&held, &["none=1"], None, "there is no input none");
    refused(&held, &["none"], None, "--input NAME=V,V,...");
    refused(&held, &[], Some(*owner), &format!("the input {name} is missing"));
    // each is in its range
    let path = std::env::temp_dir().join(format!("divisi-ranges-{}.txt", std::process::id()));
    let body =
        "divisi program 1\ninput x 1 num 2 in 0..9\ninput z 1 bits 4\ninput y 1 num in 0..9\noutput x 1\n";
    std::fs::write(&path, body).unwrap();
    let held = HeldProgram::load(path.as_os_str().to_owned()).unwrap();
    std::fs::remove_file(&path).unwrap();
    for (wrong, words) in [(["x=0,10", "y=9"], "the input x"), (["x=9,9", "y=10"], "the input y")] {
        refused(&held, &[wrong[0], wrong[1], "z=15"], None, words);
    }
    for _ in 0..2 {
        let ranges: Vec<bool> = held.program().inputs().iter().map(|x| held.range(x).is_some()).collect();
        assert_eq!(ranges, [true, false, true]);
    }
    // what an application demands of its inputs together
    let held = HeldProgram::load("mnist").unwrap();
    let mut next = 1_u64;
    let mut draw = |below: u64| {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (next >> 33) % below
    };
    let all = held.samples(&mut draw).unwrap();
    let inputs = held.program().inputs();
    let text = |at: usize, largest: bool| {
        let numbers = all[at].num().iter().map(|x| if largest { 127 } else { *x }.to_string());
        format!("{}={}", inputs[at].name, numbers.collect::<Vec<_>>().join(","))
    };
    let given = |large: usize| (0..all.len()).map(|at| text(at, at == large)).collect::<Vec<String>>();
    assert!(held.inputs(&given(all.len()), None).is_ok());
    // sums of the last layer always fit
    for (weights, layer) in [(1, 1), (3, 2), (5, 3)] {
        let error = held.inputs(&given(weights), None).unwrap_err().to_string();
        assert!(error.contains(&format!("sums of layer {layer} ")), "{error}");
    }
}

#[test]
fn bits_are_read_and_shown() {
    let whole = |text: &str, width| literal::bits(text, width).map(|bits| word(&bits));
    assert_eq!(whole("77", 7).as_deref(), Some("77"));
    assert_eq!(whole("0x4d", 7).as_deref(), Some("77"));
    assert_eq!(whole("128", 7), None);
    assert_eq!(whole("0xff", 128).as_deref(), Some("0x000000000000000000000000000000ff"));
    let hex = "0x000102030405060708090a0b0c0d0e0f";
    assert_eq!(whole(hex, 128).as_deref(), Some(hex));
    let body = "divisi program 1\ninput x 1 num 4\noutput x 1\n";
    let program = text::read(body, &|_| Err("no circuits".into())).unwrap();
    let numbers = |text: &str| entries(&program, &program.inputs()[0], text).ok();
    assert_eq!(numbers("+5, -0x10 0x7\n-3,"), Some(Entries::Num(vec![5, -16, 7, -3])));
    assert!(["+-5,1,1,1", "++5,1,1,1", "1e3,1,1,1", "1,1,1"].iter().all(|text| numbers(text).is_none()));
    let largest = program.numbers().largest();
    assert!(numbers(&format!("{largest},-{largest},0,0")).is_some());
    let beyond = largest + 1;
    for (at, text) in [(1, format!("{beyond},0,0,0")), (4, format!("0,0,0,-{beyond}"))] {
        let error = entries(&program, &program.inputs()[0], &text).unwrap_err().to_string();
        assert!(error.contains(&format!("value {at} of the input x is not an integer from")), "{error}");
    }
    for text in ["", "0x", "-1", "+1", "1e3", "0xg", "999999999999999999999999999999999999999999"] {
        assert_eq!(literal::bits(text, 200), None, "{text}");
    }
}

/// Values of a program's input, as they are given in a file or as an argument: values that are accepted
/// have the input's shape and range, and are the same when they are read again from the text by which
/// they are shown.
#[test]
fn random_values() {
    let body = "divisi program 1\ninput x 1 num 2x2\ninput y 1 bits 7 3\ninput z 1 bits 130 1\noutput x 1\n";
    let program = text::read(body, &|_| Err("no circuits".into())).unwrap();
    let seeds = [
        "1, -2\n3,4",
        "0,127, 0x7f",
        "0x3ffffffffffffffffffffffffffffffff",
        "340282366920938463463374607431768211455",
    ];
    let seeds = seeds.map(|text| text.as_bytes().to_vec());
    divisi_fuzz::golden("values", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("values", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
        let mut taken = false;
        for input in program.inputs() {
            let Ok(found) = entries(&program, input, text) else { continue };
            taken = true;
            let count = input.value.shape().entries();
            let fits = match (&found, input.value.kind()) {
                (Entries::Num(all), ValueKind::Num) => {
                    all.len() == count && all.iter().all(|x| x.unsigned_abs() <= LARGEST.unsigned_abs())
                }
                (Entries::Bits(all), ValueKind::Bits(width)) => {
                    all.len() == count && all.iter().all(|word| word.len() == width)
                }
                _ => false,
            };
            let again = entries(&program, input, &shown(&found).join(","));
            if !fits || again.ok().as_ref() != Some(&found) {
                return Err(format!("other values of {}", input.name));
            }
        }
        Ok(taken)
    });
}
