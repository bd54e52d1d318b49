//! Each mount has its own keys, whatever has the same name in another one, and a batch means what its items
//! mean one by one.

use super::*;

const MOUNTS: [&str; 2] = ["transit", "deep/er"];

/// What comes of an item: asked for alone, or as the last one of a batch. `None` if it is refused.
fn outcome(bench: &Bench, target: &str, item: &str, batched: bool) -> Option<Json> {
    if !batched {
        let (status, answer) = bench.ask("POST", target, item);
        return (status == 200).then(|| answer.get("data").unwrap().clone());
    }
    // the first item is another one, so that its parameters are not those of the last
    let first = r#"{"plaintext":"","ciphertext":"vault:v1:AAAA","input":"","hmac":"vault:v1:AAAA"}"#;
    let (_, answer) = bench.ask("POST", target, &format!(r#"{{"batch_input":[{first},{item}]}}"#));
    let Some(Json::Array(results)) = answer.at(&["data", "batch_results"]) else { panic!("{target}") };
    results.last().filter(|result| result.get("error").is_none()).cloned()
}

fn text(outcome: Option<Json>, name: &str) -> Option<String> {
    Some(outcome?.get(name)?.as_str()?.to_owned())
}

/// Of two keys of one name in two mounts each opens and verifies what it made itself, singly or in a batch,
/// and nothing of the other's.
#[test]
fn keys_of_one_name_in_two_mounts_are_two() {
    let bench = Bench::new();
    for mount in MOUNTS {
        for (name, body) in [("k", ""), ("h", r#"{"type":"hmac","key_size":32}"#)] {
            assert_eq!(bench.ask("POST", &format!("{mount}/keys/{name}"), body).0, 200);
        }
    }
    for (mount, batched) in MOUNTS.into_iter().flat_map(|mount| [(mount, false), (mount, true)]) {
        let of = |mount: &str, route: &str, item: &str, member: &str, batched: bool| {
            text(outcome(&bench, &format!("{mount}/{route}"), item, batched), member)
        };
        let plain = r#"{"plaintext":"YWJj","associated_data":"aGk="}"#;
        let sealed = of(mount, "encrypt/k", plain, "ciphertext", batched).unwrap();
        let item =
            |sealed: &str, aad: &str| format!(r#"{{"ciphertext":"{sealed}","associated_data":"{aad}"}}"#);
        let anew = of(mount, "rewrap/k", &item(&sealed, "aGk="), "ciphertext", batched).unwrap();
        let tag = of(mount, "hmac/h", r#"{"input":"YWJj"}"#, "hmac", batched).unwrap();
        let tagged = format!(r#"{{"input":"YWJj","hmac":"{tag}"}}"#);
        for (under, again) in MOUNTS.into_iter().flat_map(|under| [(under, false), (under, true)]) {
            let which = format!("{mount} {batched}, {under} {again}");
            for sealed in [&sealed, &anew] {
                let opened = of(under, "decrypt/k", &item(sealed, "aGk="), "plaintext", again);
                assert_eq!(opened.as_deref(), (under == mount).then_some("YWJj"), "{which}");
                let rewrapped = of(under, "rewrap/k", &item(sealed, "aGk="), "ciphertext", again);
                assert_eq!(rewrapped.is_some(), under == mount, "{which}");
                // what it is bound to stays
                assert_eq!(of(under, "decrypt/k", &item(sealed, ""), "plaintext", again), None, "{which}");
            }
            let verified = outcome(&bench, &format!("{under}/verify/h"), &tagged, again);
            let valid = verified.unwrap().get("valid") == Some(&Json::Bool(true));
            assert_eq!(valid, under == mount, "{which}");
        }
    }
}
