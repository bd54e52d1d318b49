//! What a check of links tells.

use crate::listeners::exchange;
use crate::parties::*;
use divisi_net::{Config, Identity, Machine, Options, Pin, ServerStatus, check};
use std::sync::Arc;
use std::time::Duration;

/// A limit that does not pass, even on a busy machine.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_check_sees_healthy_links() {
    let site = site(3, &["alice"]);
    let listeners = site.listeners();
    for (identity, links) in [(&site.identities[0], 2), (&site.clients[0], 3)] {
        let reports = check(&site.config, identity, &world(), Duration::from_secs(5)).unwrap();
        assert_eq!(reports.len(), links);
        for r in reports {
            let reached = r.result.as_ref().unwrap();
            assert!(reached.same_parties && reached.same_clients, "{r}");
            assert!(reached.skew_ms.abs() < 1000 && !r.is_skewed(), "{r}");
            assert!(r.trouble().is_none() && r.to_string().contains(" works: "), "{r}");
        }
    }
    let stranger = Arc::new(Identity::generate(&Machine));
    assert!(check(&site.config, &stranger, &world(), LONG).unwrap_err().to_string().contains("neither"));
    drop(listeners);
}

/// Whoever checks a link learns what the server said of itself last.
#[test]
fn a_check_has_the_last_status() {
    let site = site(2, &["alice"]);
    // who does not answer holds up a check
    let (listener, _second) = (site.listener(0), site.listener(1));
    for words in ["one", "two", ""] {
        let trouble = words.to_owned();
        let (session, stores_differ) = (vec![(p(2), site.identities[1].fingerprint())], vec![]);
        listener.set_status(ServerStatus { session, since_unix_ms: 1, stores_differ, trouble });
        let report = check(&site.config, &site.clients[0], &world(), LONG).unwrap().remove(0);
        let said = (!words.is_empty()).then(|| format!("says: {words}"));
        assert_eq!(report.out_of_step(&site.config), said);
    }
    // a session with somebody else in another one's place is told
    let session = vec![(p(2), site.identities[0].fingerprint())];
    listener.set_status(ServerStatus {
        session,
        since_unix_ms: 1,
        stores_differ: vec![],
        trouble: "".into(),
    });
    let report = check(&site.config, &site.clients[0], &world(), LONG).unwrap().remove(0);
    assert!(report.out_of_step(&site.config).unwrap().contains("does not pin"));
}

/// Each party decides on its clients for itself: another list keeps nobody from joining, and a check says so.
#[test]
fn lists_of_clients_may_differ() {
    let site = site(2, &["alice"]);
    // also if their digests begin alike
    let pin = Pin::Key(Identity::generate(&Machine).public());
    let mut others = (0..).map(|i| site.config.add_client(&format!("bob{i}"), pin).unwrap());
    let first = |config: &Config| config.digest().clients[0];
    let other = others.find(|other| first(other) == first(&site.config)).unwrap();
    let d1 = site.listener(0);
    let d2 = site.listener_with(1, &other, &site.identities[1]);
    run(&join_all(&[d1, d2], &Options::default()), |m| exchange(m, 1));
    let d1 = site.listener(0);
    let report = &check(&other, &site.identities[1], &world(), LONG).unwrap()[0];
    assert!(!report.result.as_ref().unwrap().same_clients && report.trouble().is_none());
    assert!(report.to_string().contains("another list of clients"), "{report}");
    drop(d1);
}
