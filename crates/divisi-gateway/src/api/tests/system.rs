//! What the API tells about itself: its health, its mounts, and what a token is and may do.

use super::*;

/// A table whose app may do this with these keys.
pub(super) fn with_app(keys: &str, operations: &str) -> Bench {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(b"app"));
    let tokens =
        format!("[[token]]\nname = \"app\"\nsha256 = \"{hash}\"\nkeys = {keys}\noperations = {operations}\n");
    bench.gateway.replace_tokens(Tokens::parse(&tokens).unwrap());
    bench
}

/// What a token may do at a path is what it then is allowed to do there.
#[test]
fn capabilities_are_those_of_the_key_and_the_mount() {
    let of = |bench: &Bench, path: &str| {
        let body = format!("{{\"path\":\"{path}\"}}");
        let answer = bench.as_token("app", "POST", "sys/capabilities-self", &body).body.unwrap();
        let answer = read(&answer).unwrap();
        let Some(Json::Array(words)) = answer.at(&["data", "capabilities"]) else { panic!("{path}") };
        words.iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let bench = Bench::new();
    for (path, words) in [
        ("transit/encrypt/k", "update"),
        ("/transit/encrypt/k", "update"),
        ("transit/encrypt/other", "deny"),
        ("transit/decrypt/k", "deny"),
        ("transit/keys/k", "read"),
        ("transit/keys/other", "deny"),
        ("deep/er/encrypt/k", "deny"),
        ("nomount/encrypt/k", "deny"),
        ("auth/token/lookup-self", "read"),
        ("auth/token/renew-self", "update"),
    ] {
        assert_eq!(of(&bench, path), words, "{path}");
    }
    // a key is made by the first text of a mount that does so, and by nothing else
    let keys = r#"["transit/k", "deep/er/k"]"#;
    let bench = with_app(keys, r#"["encrypt", "create", "hmac", "list", "random"]"#);
    for (path, words) in [
        ("transit/encrypt/k", "create update"),
        ("transit/hmac/k", "update"),
        ("transit/random/platform/32", "update"),
        ("transit/random/32", "update"),
        ("deep/er/encrypt/k", "update"),
        ("transit/keys", "list"),
    ] {
        assert_eq!(of(&bench, path), words, "{path}");
    }
    assert_eq!(of(&with_app(keys, r#"["encrypt"]"#), "transit/encrypt/k"), "update");
}

/// A query sets the code of a state; what is no final status is refused, for each state.
#[test]
fn codes_of_health_are_statuses() {
    let bench = Bench::new();
    // 460 is 204, which has no body, in eight bits
    let codes = ["200", "299", "460", "503", "999", "199", "100", "99", "0", "1000", "-1", "65736", "x", ""];
    for (place, code) in codes.into_iter().enumerate() {
        for state in ["activecode", "standbycode", "uninitcode", "sealedcode"] {
            let status = bench.ask("GET", &format!("sys/health?{state}={code}"), "").0;
            let told = if state == "activecode" { code.parse().unwrap_or(0) } else { 200 };
            assert_eq!(status, if place < 5 { told } else { 400 }, "{state} {code}");
        }
    }
    for (flag, status) in [("true", 200), ("0", 200), ("", 200), ("maybe", 400), ("2", 400)] {
        for name in ["standbyok", "perfstandbyok"] {
            assert_eq!(bench.ask("GET", &format!("sys/health?{name}={flag}"), "").0, status, "{name} {flag}");
        }
    }
}

/// There is one namespace.
#[test]
fn other_namespaces_are_not_found() {
    let bench = Bench::new();
    bench.ask("POST", "transit/keys/k", "");
    let names = ["", "/", "root", "root/", "team", "root/team", "roo", "Root"];
    for (place, namespace) in names.into_iter().enumerate() {
        for token in ["root", "app", "nobody"] {
            let head = RequestHead {
                method: "GET".into(),
                path: "/v1/transit/keys/k".into(),
                namespace: Some(namespace.into()),
                token: Some(token.to_owned().into()),
                ..RequestHead::default()
            };
            let plan = bench.gateway.plan(&head);
            let status = bench.gateway.answer(&head, &plan, b"", "id").0.status;
            let of_root = if token == "nobody" { 403 } else { 200 };
            assert_eq!(status, if place < 4 { of_root } else { 404 }, "{namespace} {token}");
        }
    }
}

/// What anybody may ask is not in a namespace, not even in the one that there is.
#[test]
fn open_paths_have_no_namespace() {
    let bench = Bench::new();
    for (namespace, status) in [(None, 200), (Some(""), 200), (Some("root"), 400), (Some("team"), 400)] {
        let head = RequestHead {
            method: "GET".into(),
            path: "/v1/sys/health".into(),
            namespace: namespace.map(Into::into),
            ..RequestHead::default()
        };
        let plan = bench.gateway.plan(&head);
        let (answer, _) = bench.gateway.answer(&head, &plan, b"", "id");
        let told = answer.headers.iter().any(|(name, _)| *name == "X-Vault-Namespace");
        assert_eq!((answer.status, told), (status, status == 400), "{namespace:?}");
    }
}

/// Each answer has its own numbers, whatever was asked before.
#[test]
fn a_token_is_told_how_long_it_lives() {
    let now = || Machine.unix_time().as_secs();
    let begun = now();
    let bench = Bench::new();
    for _ in 0..2 {
        for (token, lives) in [("root", false), ("app", true)] {
            let answer = bench.as_token(token, "GET", "auth/token/lookup-self", "").body.unwrap();
            let answer = read(&answer).unwrap();
            let data = |name: &str| answer.at(&["data", name]).unwrap();
            assert_eq!(data("ttl") != &Json::number(0), lives, "{token}");
            assert_eq!(data("creation_ttl"), data("ttl"));
            let Json::Number(created) = data("creation_time") else { panic!("no time") };
            assert!((begun..=now()).contains(&created.parse().unwrap()), "{}", created.as_str());
            let policies = if lives { Json::texts(["default", token]) } else { Json::texts(["root"]) };
            assert_eq!(data("policies"), &policies);
            assert_eq!(data("id"), &Json::text(token));
            assert_eq!((data("explicit_max_ttl"), data("num_uses")), (&Json::number(0), &Json::number(0)));
            assert_eq!((data("renewable"), data("orphan")), (&Json::Bool(lives), &Json::Bool(true)));
        }
    }
}

/// Of several paths each has its own words.
#[test]
fn capabilities_of_several_paths_are_told() {
    let bench = Bench::new();
    let body = r#"{"paths":["transit/encrypt/k","transit/encrypt/other","transit/keys/k"]}"#;
    let answer = read(&bench.as_token("app", "POST", "sys/capabilities-self", body).body.unwrap()).unwrap();
    for (path, word) in
        [("transit/encrypt/k", "update"), ("transit/encrypt/other", "deny"), ("transit/keys/k", "read")]
    {
        assert_eq!(answer.at(&["data", path]), Some(&Json::texts([word])), "{path}");
    }
    assert!(answer.at(&["data", "capabilities"]).is_none());
    for (bytes, status) in [(0, 400), (1, 200), (2048, 200), (2049, 400), (2048 + 256, 400)] {
        let body = format!("{{\"path\":\"{}\"}}", "x".repeat(bytes));
        assert_eq!(bench.as_token("app", "POST", "sys/capabilities-self", &body).status, status, "{bytes}");
    }
}

/// A token can be renewed for ever, unless it permits everything; its lease is told each time.
#[test]
fn a_token_is_renewed() {
    let bench = Bench::new();
    for _ in 0..2 {
        let answer = bench.as_token("app", "POST", "auth/token/renew-self", "");
        let answer = read(&answer.body.unwrap()).unwrap();
        let auth = |name: &str| answer.at(&["auth", name]).unwrap();
        assert_eq!((auth("renewable"), auth("orphan")), (&Json::Bool(true), &Json::Bool(true)));
        assert_eq!((auth("client_token"), auth("num_uses")), (&Json::text("app"), &Json::number(0)));
        assert_eq!(auth("lease_duration"), &Json::number(32 * 86_400));
        assert_eq!(
            (auth("policies"), auth("token_policies")),
            (auth("token_policies"), &Json::texts(["default", "app"]))
        );
        let refused = bench.error("POST", "auth/token/renew-self", "");
        assert_eq!(refused, (400, "lease is not renewable".to_owned()));
    }
}

/// All mounts are told, each with its kind.
#[test]
fn mounts_are_listed_with_their_kinds() {
    let bench = Bench::new();
    let (_, answer) = bench.ask("GET", "sys/mounts", "");
    for mount in ["transit/", "deep/er/"] {
        for whole in [&[mount][..], &["data", mount]] {
            let entry = answer.at(whole).unwrap_or_else(|| panic!("{mount}: {answer:?}"));
            assert_eq!(entry.get("type"), Some(&Json::text("transit")), "{mount}");
        }
    }
}

/// Each header that is added stays.
#[test]
fn answers_have_all_their_headers() {
    for _ in 0..2 {
        let answer = ApiAnswer::mistake("x").with_header("a", "1".into()).with_header("b", "2".into());
        assert!(answer.headers.ends_with(&[("a", "1".to_owned()), ("b", "2".to_owned())]));
    }
}

#[test]
fn a_mount_is_found_with_and_without_its_last_slash() {
    let bench = Bench::new();
    for _ in 0..2 {
        for (path, status) in
            [("transit", 200), ("transit/", 200), ("deep/er/", 200), ("deep/", 400), ("transit/x", 400)]
        {
            assert_eq!(bench.ask("GET", &format!("sys/mounts/{path}"), "").0, status, "{path}");
            if status == 200 {
                let (_, answer) = bench.ask("GET", &format!("sys/internal/ui/mounts/{path}"), "");
                assert_eq!(data(&answer, "path"), format!("{}/", path.trim_end_matches('/')));
            }
            // another kind that begins like the one there is
            let other = bench.ask("POST", &format!("sys/mounts/{path}"), r#"{"type":"totp"}"#);
            assert_eq!(other.0, 400, "{path}: {:?}", other.1);
        }
    }
}

#[test]
fn trouble_is_noted_and_what_is_ready_is_told() {
    let bench = Bench::new();
    assert!(bench.as_token("root", "GET", "sys/health", "").note.is_none());
    bench.servers.fail(Some(BackendTrouble::Down(Some(2), "it does not run".into())));
    let answer = bench.as_token("root", "GET", "sys/health", "");
    assert!(answer.note.is_some_and(|note| note.contains("party 2: it does not run")));
    assert!(bench.as_token("root", "HEAD", "sys/health", "").body.is_none());
    let (_, status) = bench.ask("GET", "sys/seal-status", "");
    assert_eq!(["sealed", "initialized"].map(|name| status.get(name)), [Some(&Json::Bool(true)); 2]);
    for (name, number) in [("t", 1), ("n", 1), ("progress", 0)] {
        assert_eq!(status.get(name), Some(&Json::number(number)), "{name}");
    }
    assert_eq!(bench.ask("GET", "sys/init", "").1.get("initialized"), Some(&Json::Bool(true)));
}
