//! Which route a path has.

use super::answer::ApiAnswer;
use super::path::is_key_name;
use super::route::{Route, Side, Verb};
use super::table::ROUTES;

/// The route of this path that anybody may use.
pub(super) fn open_route(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.open && route.path == path)
}

/// The route of a path, with its parameters; or the answer if there is none, or none with this method.
pub(super) fn find(
    side: Side,
    verb: Verb,
    path: &str,
) -> Result<(&'static Route, Vec<(&'static str, String)>), ApiAnswer> {
    let mut is_known = false;
    for route in ROUTES.iter().filter(|route| route.side == side && !route.open) {
        let Some(params) = fit(route.path, path) else { continue };
        if route.verb == verb {
            return Ok((route, params));
        }
        is_known = true;
    }
    // below a mount `keys` without a slash is the list's path for all methods but LIST
    if !is_known && side == Side::Mount && path == "keys" {
        is_known = true;
    }
    Err(if is_known { ApiAnswer::no_operation() } else { ApiAnswer::no_path() })
}

/// The parameters of a path that fits a pattern.
fn fit(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let mut params = Vec::new();
    let (mut segments, mut expected) = (path.split('/'), pattern.split('/'));
    loop {
        match (expected.next(), segments.next()) {
            (None, None) => return Some(params),
            (Some("*"), Some(first)) if !first.is_empty() => {
                let rest: Vec<&str> = std::iter::once(first).chain(segments).collect();
                params.push(("path", rest.join("/")));
                return Some(params);
            }
            (Some(word), Some(segment)) => match word.strip_prefix(':') {
                Some("name") if is_key_name(segment) => params.push(("name", segment.to_owned())),
                Some(name) if name != "name" && !segment.is_empty() => {
                    params.push((name, segment.to_owned()));
                }
                None if word == segment => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verb: Verb, path: &str) -> Result<String, u16> {
        find(Side::Mount, verb, path).map(|(route, _)| route.path.to_owned()).map_err(|answer| answer.status)
    }

    #[test]
    fn paths_and_methods_have_the_recorded_status() {
        for (verb, path, expected) in [
            (Verb::Write, "encrypt/k", Ok("encrypt/:name")),
            (Verb::Read, "encrypt/k", Err(405)),
            (Verb::List, "encrypt/k/", Err(404)),
            (Verb::Write, "encrypt", Err(404)),
            (Verb::Write, "encrypt/e1/x", Err(404)),
            (Verb::List, "keys/", Ok("keys/")),
            (Verb::Read, "keys", Err(405)),
            (Verb::Read, "keys/", Err(405)),
            (Verb::Scan, "keys/", Err(405)),
            (Verb::Write, "keys", Err(405)),
            (Verb::Read, "keys/k/", Err(404)),
            (Verb::List, "keys/k/", Err(404)),
            (Verb::Read, "keys/k/nope", Err(404)),
            (Verb::Read, "keys/k/rotate", Err(405)),
            (Verb::Write, "keys/a b", Err(404)),
            (Verb::Head, "keys/k", Err(405)),
            (Verb::Read, "", Err(404)),
            (Verb::Write, "Keys/k", Err(404)),
            (Verb::Write, "random/seal/16", Ok("random/:first/:urlbytes")),
            (Verb::Write, "cmac/k", Err(404)),
            (Verb::Read, "sys/mounts", Err(404)),
            (Verb::Read, "sys/health", Err(404)),
        ] {
            assert_eq!(found(verb, path), expected.map(str::to_owned), "{verb:?} {path}");
        }
        assert_eq!(find(Side::System, Verb::Read, "keys").map(drop).unwrap_err().status, 404);
        let (_, params) = find(Side::System, Verb::Read, "sys/internal/ui/mounts/a/b").unwrap();
        assert_eq!(params, [("path", "a/b".to_owned())]);
    }

    /// Each route that needs a token is found on its own side; one that needs none, only where it is looked
    /// for before any token.
    #[test]
    fn open_routes_are_found_by_nobody_who_looks_for_others() {
        for route in ROUTES {
            let path = route.path.replace([':', '*'], "k");
            for side in [Side::Mount, Side::System] {
                let found = find(side, route.verb, &path);
                assert_eq!(found.is_ok(), side == route.side && !route.open, "{:?} {path}", route.verb);
            }
        }
    }

    #[test]
    fn unknown_parameters_are_named_in_order() {
        let (route, params) = find(Side::Mount, Verb::Write, "encrypt/k").unwrap();
        let members = crate::json::read(br#"{"plaintext":"","foo":1,"bar":2,"name":"x"}"#).unwrap();
        let warnings = route.warnings(&members, &params);
        assert_eq!(warnings.len(), 2);
        assert_eq!(warnings[0], "Endpoint ignored these unrecognized parameters: [bar foo]");
        assert!(warnings[1].ends_with("the endpoint's path: [name]"));
    }
}
