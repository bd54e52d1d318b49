//! Attacks on the start of sessions, on views, streams and coins.

use crate::common::prelude::*;
use divisi_core::testing::without;
use divisi_net::{Machine, World};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HELLO: &str = "divisi_core::session::agree/hello";
const BARRIER: &str = "divisi_rep3::views/barrier";
const COIN: &str = "divisi_rep3::random/coin.share";

/// An attacker on the link changes the contributions to the key of two parties.
pub fn changed_contribution(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), HELLO, 0, |body| body[64] ^= 1);
    harness.act(|_| Ok(()))[1].is_ok()
}

/// A party tells each of the others another nonce.
pub fn split_nonce(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), HELLO, 0, |body| body[32] ^= 1);
    let ids = harness.act(|mut trio| Ok(*trio.session().id().as_bytes()));
    matches!((&ids[1], &ids[2]), (Ok(a), Ok(b)) if a != b)
}

/// One party starts with another version of the protocol.
pub fn other_parameters(check: Option<Check>) -> bool {
    let base = || without(PublicParameters::new("rep3"), check);
    let parameters =
        [base().with("protocol", b"gf4"), base().with("protocol", b"gf8"), base().with("protocol", b"gf4")];
    TrioHarness::default().act_each(&parameters, |_| {}, |_| Ok(())).iter().any(Result::is_ok)
}

thread_local! {
    static REPEATS: Cell<bool> = const { Cell::new(false) };
}

/// The machine, except for threads that draw the same randomness again and again.
struct Repeating;

impl World for Repeating {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        if REPEATS.get() { out.fill(0x55) } else { Machine.entropy(out) }
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// A party that uses its nonce twice makes an id return.
pub fn repeated_nonce(check: Option<Check>) -> bool {
    let id = || {
        let parameters = without(PublicParameters::new("rep3"), check);
        let harness = TrioHarness::in_world(&parameters, Arc::new(Repeating));
        let repeats = |p| REPEATS.set(p == party(1));
        let all = [parameters.clone(), parameters.clone(), parameters];
        let ids = harness.act_each(&all, repeats, |mut trio| Ok(*trio.session().id().as_bytes()));
        *ids[1].as_ref().unwrap()
    };
    id() == id()
}

/// A digest that differs in its last byte only.
pub fn late_byte(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), BARRIER, 0, |body| body[31] ^= 1);
    harness.act(|mut trio| trio.barrier().map(drop))[1].is_ok()
}

/// The three do not have the same public value.
pub fn different_views(check: Option<Check>) -> bool {
    let results = TrioHarness::without(check).act(|mut trio| {
        let mine = u8::from(trio.me() == party(2));
        trio.absorb("ciphertext", &[mine]);
        trio.barrier().map(drop)
    });
    results.iter().any(Result::is_ok)
}

/// The "random" values of one session, met again in another.
pub fn same_streams(check: Option<Check>) -> bool {
    let drawn = || {
        let opened = TrioHarness::without(check).act(|trio| {
            let mut e = Rep3::new(trio, Protocol::Gf4Circuit, Security::Malicious);
            let x = e.random_bytes(16)?;
            e.reveal(vec![x])
        });
        opened[0].clone().unwrap()
    };
    drawn() == drawn()
}

/// A party gives one of the others a false share of the coin.
pub fn false_coin(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    harness.change(party(1), party(2), COIN, 0, |body| body[0] ^= 1);
    let coins = harness.act(|mut trio| {
        let fixed = trio.barrier()?;
        Ok(trio.coin(&fixed)?.bytes())
    });
    matches!((&coins[1], &coins[2]), (Ok(a), Ok(b)) if a != b)
}

/// A party keeps its share of the coin to itself: the others have a coin only if they can do without it.
pub fn silent_tosser(check: Option<Check>) -> bool {
    let harness = TrioHarness::without(check);
    let coin = Step::new(COIN).id;
    harness.hand(party(1), party(2), move |frame| if frame.step == coin { vec![] } else { vec![frame] });
    let coins = harness.act(|mut trio| {
        let fixed = trio.barrier()?;
        trio.coin(&fixed).map(drop)
    });
    coins[1].is_ok()
}
