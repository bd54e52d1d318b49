//! Faults that are planted in toy protocols and their sources: each net finds its own by name.

use super::messages::{Extent, MessageNet};
use super::plan::{self, Honest};
use super::sources::{self, steps_in};
use super::{NetShape, ShapeOutcome, ShapeSecurity};
use crate::testing::sent;
use crate::{Abort, ComparedDigest, Session, Step, checks, same_bytes, step};
use std::collections::BTreeSet;
use std::path::Path;

const GIVE: Step = step!("give");
const COMPARE: Step = step!("compare");
const TELL: Step = step!("tell");

/// What is wrong with the toy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    /// The parties compare neither what they were given nor what they are told.
    Unchecked,
    /// The sum is told before it is compared.
    Early,
    /// Nobody minds if what is told does not come.
    Deaf,
    /// A part that is not what was expected makes a party panic.
    Panics,
    /// Of the digests only a byte is compared.
    Byte,
    /// Nobody knows what went into the digest.
    Given,
    /// One party's digest is not looked at.
    Spared,
    /// With some inputs parts are looked at before they are compared.
    Selective,
}

/// The parties give each other parts of a sum, compare all parts, and tell the sum.
fn toy(mut session: Session, inputs: u64, out: &mut ShapeOutcome, planted: Planted) -> Result<(), Abort> {
    let (me, peers) = (session.me(), session.peers());
    let mut parts = vec![[0_u8; 3]; session.parties()];
    parts[me.index()] = [me.number(), inputs as u8, 7];
    for peer in &peers {
        session.send(GIVE, *peer, &parts[me.index()], 0)?;
    }
    for peer in &peers {
        session.recv(GIVE, *peer, &mut parts[peer.index()])?;
        assert!(planted != Planted::Panics || parts[peer.index()][2] == 7, "a wrong part");
    }
    // what a deviating party could change in what it gives is compared with what was agreed before
    let agreed: Vec<u8> =
        parts.iter().enumerate().flat_map(|(i, _)| [i as u8 + 1, inputs as u8, 7]).collect();
    if planted == Planted::Selective && inputs.is_multiple_of(2) {
        session.require(checks::M0_3, GIVE, parts.concat() == agreed, None)?;
    }
    let sum: Vec<u8> = (0..3).map(|i| parts.iter().fold(0, |sum, part| sum ^ part[i])).collect();
    let tell = |session: &mut Session| -> Result<(), Abort> {
        peers.iter().try_for_each(|peer| session.send(TELL, *peer, &sum, 0))
    };
    let digest = match planted {
        Planted::Given => *blake3::hash(&parts.concat()).as_bytes(),
        _ => blake3::Hasher::new().update(&parts.concat()).update(b"toy").to_compare(),
    };
    session.show(COMPARE, &digest)?;
    if planted == Planted::Early {
        tell(&mut session)?;
    }
    for peer in &peers {
        let mut theirs = [0; 32];
        session.recv(COMPARE, *peer, &mut theirs)?;
        let same = match planted {
            Planted::Unchecked => true,
            Planted::Byte => same_bytes(&digest[..1], &theirs[..1]),
            Planted::Spared => session.same_digest(&digest, &theirs) || peer.number() == 3,
            _ => session.same_digest(&digest, &theirs),
        };
        session.require(checks::M0_3, COMPARE, same, None)?;
    }
    let fine = planted == Planted::Unchecked || parts.concat() == agreed;
    session.require(checks::M0_3, COMPARE, fine, None)?;
    if planted != Planted::Early {
        tell(&mut session)?;
    }
    for peer in &peers {
        let mut theirs = [0; 3];
        let came = session.recv(TELL, *peer, &mut theirs);
        if planted == Planted::Deaf {
            continue;
        }
        came?;
        let same = planted == Planted::Unchecked || theirs == sum[..];
        session.require(checks::M0_3, TELL, same, Some(*peer))?;
    }
    out.put("sum", sum);
    Ok(())
}

fn shape(planted: Planted) -> NetShape {
    let run = move |session: Session, inputs: u64, out: &mut ShapeOutcome| toy(session, inputs, out, planted);
    NetShape::new("toy", 3, ShapeSecurity::AllButOne, run)
        .releases(&["divisi_core::testing::nets::tests/tell"])
}

/// This crate's own steps and checks are in no shape here, and the toy's counts in no list.
fn is_of_this_crate(fault: &str) -> bool {
    fault.contains("no shape sends") || fault.contains("honest.txt says none")
}

/// Steps of this crate that the toy does not use, and those of the toy, which are in no source that ships.
fn faults(shapes: Vec<NetShape>, extent: Extent) -> Vec<String> {
    let net = MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes,
        crowds: Vec::new(),
        silent: &[],
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[],
    };
    let all = net.census(extent).faults().to_vec();
    all.into_iter().filter(|fault| !is_of_this_crate(fault)).collect()
}

#[test]
fn a_protocol_without_faults_has_none() {
    let net = MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: vec![shape(Planted::Nothing)],
        crowds: Vec::new(),
        silent: &[],
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[],
    };
    let census = net.census(Extent::All);
    assert!(census.faults().iter().all(|fault| is_of_this_crate(fault)), "{:#?}", census.faults());
    let [tried, noticed] = census.tried();
    assert!(tried > 400 && noticed > tried * 3 / 4, "{census}");
}

#[test]
fn planted_faults_are_found() {
    for (planted, told) in [
        (Planted::Unchecked, "put out a wrong `sum`"),
        (Planted::Early, "released something before"),
        (Planted::Deaf, "accepted a message of another length"),
        (Planted::Panics, "a party panicked"),
        (Planted::Selective, "how honest parties end depends on the inputs"),
    ] {
        let found = faults(vec![shape(planted)], Extent::All);
        let named = |fault: &&String| fault.contains("toy: step") && fault.contains(told);
        assert!(found.iter().any(|fault| named(&fault)), "{planted:?}: {found:#?}");
    }
}

/// A comparison of too little is found in the honest run.
#[test]
fn planted_comparisons_are_found() {
    for (planted, told) in [
        (Planted::Byte, "toy: the check M0.3 compares only 8 bits"),
        (Planted::Given, "toy: the check M0.3 compares a digest that nobody knows the content of"),
        (
            Planted::Spared,
            "toy: the check M0.3 passes at divisi_core::testing::nets::tests/compare although what it compares \
            differs",
        ),
    ] {
        let found = faults(vec![shape(planted)], Extent::Sample { seed: 1, times: 1 });
        assert!(found.iter().any(|fault| fault == told), "{planted:?}: {found:#?}");
    }
    let spared = MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: vec![shape(Planted::Nothing)],
        crowds: Vec::new(),
        silent: &[],
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[("M0.3", "a mistake")],
    };
    let faults = spared.census(Extent::Sample { seed: 1, times: 1 }).faults().to_vec();
    let vain = "M0.3 is called narrow for nothing";
    assert!(faults.iter().any(|fault| fault.contains(vain)), "{faults:#?}");
}

/// A shape that was forgotten: its steps stand in the sources, and nobody sends a message with them.
#[test]
fn a_forgotten_shape_is_found() {
    let net = MessageNet {
        folder: env!("CARGO_MANIFEST_DIR"),
        shapes: vec![shape(Planted::Nothing)],
        crowds: Vec::new(),
        silent: &[],
        checks: &[],
        idle: &[],
        varies: &[],
        narrow: &[],
    };
    let census = net.census(Extent::Sample { seed: 1, times: 1 });
    let forgotten = "divisi_core::coin/commit: no shape sends a message with this step";
    assert!(census.faults().iter().any(|fault| fault == forgotten), "{:#?}", census.faults());
    let none = MessageNet { silent: &[("divisi_core::coin/none", "a mistake")], shapes: Vec::new(), ..net };
    let faults = none.census(Extent::Sample { seed: 1, times: 1 }).faults().to_vec();
    assert!(faults.iter().any(|fault| fault.contains("coin/none is called silent")), "{faults:#?}");
}

/// A step at which nobody tampers with anything.
#[test]
fn a_step_that_was_never_changed_is_found() {
    let found = faults(vec![shape(Planted::Nothing)], Extent::Sample { seed: 1, times: 0 });
    assert!(found.iter().any(|fault| fault.ends_with("was never changed")), "{found:#?}");
}

/// The steps of files that changed are changed at their beginning, in the middle and at the end.
#[test]
fn steps_that_changed_are_changed_at_three_places() {
    let (folder, run) = (Path::new(env!("CARGO_MANIFEST_DIR")), shape(Planted::Nothing));
    let harness = run.harness(1);
    let recordings = harness.recordings();
    let outcomes = run.act(harness, 1, 1).into_iter().map(|(_, outcome)| outcome).collect();
    let honest = [Honest { sent: sent(&recordings), outcomes }];
    let sample = Extent::Sample { seed: 1, times: 1 };
    let of = |thorough: &BTreeSet<u32>| plan::changes(&honest, sample, thorough);
    let tells = |change: &&plan::Change| change.message.step == TELL.id;
    let (few, more) = (of(&BTreeSet::new()), of(&BTreeSet::from([TELL.id])));
    assert_eq!((few.iter().filter(tells).count(), more.iter().filter(tells).count()), (1, 4));
    assert_eq!(more.len(), few.len() + 3);
    let within = sources::steps_within(folder, "README.md\ncrates/divisi-core/src/coin.rs\n\n");
    assert_eq!(
        within,
        BTreeSet::from([Step::new("divisi_core::coin/commit").id, Step::new("divisi_core::coin/echo").id])
    );
}

#[test]
fn steps_are_read_from_what_ships() {
    let read = |file: &Path| {
        let text = match file.to_str() {
            Some("lib.rs") => "mod a;\npub(crate) mod b;\n#[cfg(test)]\nmod tests;\nmod c;",
            Some("a.rs") => {
                "const X: Step = step!(\"x\");\nconst Y: Step =\n    step!(\"y\");\n\
                fn f() {\n    session.send(X, peer);\n    session.misuse(Y, what)\n}\n\
                #[cfg(test)]\nmod tests {\n    const Z: Step = step!(\"z\");\n}\nfn g() { send(step!(\"w\")) }"
            }
            Some("b/mod.rs") => "mod d;\n/// step!(\"no\")\npub const V: Step = step!(\"v\");",
            Some("b/d.rs") => "fn f() { session.recv(super::V) }",
            Some("tests.rs" | "c.rs") => "const T: Step = step!(\"t\");",
            _ => return None,
        };
        Some(text.to_owned())
    };
    let found = steps_in("k", Path::new("lib.rs"), &read);
    let files: Vec<&str> = found.iter().filter_map(|step| step.file.to_str()).collect();
    assert_eq!(files, ["a.rs", "a.rs", "a.rs", "b/mod.rs", "c.rs"]);
    let found: Vec<(&str, bool)> = found.iter().map(|step| (step.name.as_str(), step.speaks)).collect();
    let all = [("k::a/w", true), ("k::a/x", true), ("k::a/y", false), ("k::b/v", true), ("k::c/t", false)];
    assert_eq!(found, all);
}
