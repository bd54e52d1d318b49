//! Keys of few bits can be tried offline. Over a field of 256 elements, a party tries all keys of the other
//! party on everything that it received in a session before a sigma was opened: trees, payloads, digests,
//! openings and commitments to sigmas (K14, K21). It finds nothing, unless a commitment has no nonce.

use divisi_core::testing::{Harness, MessageDirection, Recording, party};
use divisi_core::{Abort, PublicParameters, Step};
use divisi_net::{Machine, World};
use divisi_ot::adversary::offline;
use divisi_ot::{Base, Setup, SetupConfig, record};
use divisi_spdz::toy::Toy;
use divisi_spdz::{Bucketed, Party, Source, checks};
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const TREES: &str = "divisi_ot::setup::pairs/trees";
const DIFFERENCES: &str = "divisi_spdz::prep::bucketed::tables/tables.d";
const COMMIT: &str = "divisi_spdz::check/check.3.commit";
const OPEN: &str = "divisi_spdz::check/check.4.open";
const BITS: u32 = 8;

/// The machine; once the flag is set, it gives zeros instead of nonces.
#[derive(Default)]
struct NoNonces(AtomicBool);

impl World for NoNonces {
    fn now(&self) -> Instant {
        Machine.now()
    }

    fn unix_time(&self) -> Duration {
        Machine.unix_time()
    }

    fn entropy(&self, out: &mut [u8]) {
        Machine.entropy(out);
        if out.len() == 32 && self.0.load(Ordering::SeqCst) {
            out.fill(0);
        }
    }

    fn spawn(&self, name: String, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Machine.spawn(name, work)
    }
}

/// What P_1 knows when it searches.
struct View {
    id: [u8; 32],
    /// The messages of P_2 before the last sigma.
    received: Vec<Vec<u8>>,
    /// The sigma that P_2 committed to, and the nonce of the commitment.
    sigma: u8,
    nonce: Vec<u8>,
    /// P_1's own sigma, which is the same if nobody lied.
    own: u8,
    /// The keys that fit the trees, or of which a hash occurs in the received messages.
    keys: Vec<u128>,
}

fn last_sigma(seen: &Recording, way: MessageDirection) -> Vec<u8> {
    seen.bodies(way, party(2), OPEN).pop().unwrap()
}

/// A session with real rows, products and tables. If P_1 lies, P_2 sees another opened value than P_1, and
/// the sum of the sigmas is alpha_2 times a factor that P_1 knows.
fn session(lie: bool, nonces: bool) -> View {
    let world = Arc::new(NoNonces::default());
    let parameters = PublicParameters::new("a toy alpha").without(checks::K9);
    let harness = Harness::in_world(2, &parameters, Arc::clone(&world) as Arc<dyn World>).patient();
    let seen = harness.recording(party(1));
    if lie {
        harness.change(party(1), party(2), DIFFERENCES, 0, |body| body[0] ^= 1);
    }
    let known = Mutex::new(None);
    let ends = harness.act(|mut session| {
        let me = session.me();
        record::begin();
        let config = SetupConfig { k: 1, rho: BITS, base: Base::Half };
        let setup = divisi_ot::testing::unsound_over_field(&mut session, config, BITS)?;
        let rows = offline::first_rows(&record::end().calls, &session, party(2));
        let beside = session.strand()?;
        let id = *session.id().as_bytes();
        let (mut party_, mut source): (Party<Toy>, _) = Bucketed::over(session, setup)?;
        world.0.fetch_or(!nonces, Ordering::SeqCst);
        let end = source.units(&mut party_, 2, 1).and_then(|_| party_.check());
        if me == party(1) {
            let trees = seen.bodies(MessageDirection::In, party(2), TREES);
            let all: Vec<Vec<u8>> = seen.read().into_iter().map(|seen| seen.frame.body).collect();
            let numbered: Vec<(u64, u128)> = (0..).zip(rows.iter().copied()).collect();
            let mut keys = offline::fit_trees(&beside, party(2), BITS, &trees[0], &rows);
            keys.extend(offline::stands_in(&beside, party(2), BITS, &all, &numbered));
            *known.lock().unwrap() = Some((id, keys));
        }
        end
    });
    assert!(ends.iter().all(|end: &Result<(), Abort>| end.is_err() == lie), "{ends:?}");
    let (id, keys) = known.into_inner().unwrap().unwrap();
    let told = last_sigma(&seen, MessageDirection::In);
    let open = Step::new(OPEN).id;
    let mut received: Vec<_> =
        seen.read().into_iter().filter(|seen| seen.way == MessageDirection::In).collect();
    let last = received.iter().rposition(|seen| seen.frame.step == open).unwrap();
    received.truncate(last);
    View {
        id,
        received: received.into_iter().map(|seen| seen.frame.body).collect(),
        sigma: told[32],
        nonce: told[..32].to_vec(),
        own: last_sigma(&seen, MessageDirection::Out)[32],
        keys,
    }
}

impl View {
    /// The sigmas of which a commitment with one of these nonces occurs in the received messages.
    fn fit(&self, nonces: &[Vec<u8>]) -> Vec<u8> {
        let windows: HashSet<&[u8]> = self.received.iter().flat_map(|body| body.windows(32)).collect();
        let stands = |nonce: &[u8], sigma: u8| {
            (0..8_u64).any(|index| {
                let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 commitment v1");
                hasher.update(&self.id).update(&0_u32.to_le_bytes());
                hasher.update(&Step::new(COMMIT).id.to_le_bytes()).update(&index.to_le_bytes()).update(&[2]);
                hasher.update(nonce).update(&1_u64.to_le_bytes()).update(&[sigma]);
                windows.contains(&hasher.finalize().as_bytes()[..])
            })
        };
        // the sigmas of earlier checks are left out, because they were opened
        let opened: Vec<u8> =
            self.received.iter().filter(|body| body.len() == 33).map(|body| body[32]).collect();
        let fits = |sigma: &u8| nonces.iter().any(|nonce| stands(nonce, *sigma));
        (0..=255).filter(|sigma| (!opened.contains(sigma) || *sigma == self.sigma) && fits(sigma)).collect()
    }

    /// The nonces that a party can try: none, zeros, and whatever it received before.
    fn nonces(&self) -> Vec<Vec<u8>> {
        let starts = self.received.iter().filter_map(|body| body.get(..32)).map(<[u8]>::to_vec);
        starts.chain([Vec::new(), vec![0; 32]]).collect()
    }

    /// For how many encodings of bytes (as 1, 8 or 16 bytes) the first half of a plain hash occurs in the
    /// received messages.
    fn plainly_hashed(&self) -> usize {
        let windows: HashSet<&[u8]> = self.received.iter().flat_map(|body| body.windows(16)).collect();
        let forms = |x: u8| [vec![x], u64::from(x).to_le_bytes().into(), u128::from(x).to_le_bytes().into()];
        let stands = |form: &Vec<u8>| windows.contains(&blake3::hash(form).as_bytes()[..16]);
        (0..=255).flat_map(forms).filter(stands).count()
    }
}

#[test]
fn no_key_of_few_bits_is_found_offline() {
    for lie in [false, true] {
        let view = session(lie, true);
        assert!(view.received.len() > 20);
        assert_eq!(view.keys, [], "{lie}");
        assert!(view.fit(&view.nonces()).is_empty(), "{lie}");
        assert_eq!(view.plainly_hashed(), 0);
        // an honest P_1 learns nothing from P_2's sigma, which is equal to its own
        if !lie {
            assert_eq!(view.sigma, view.own);
        }
        // the control: with the right nonce the search finds the sigma
        assert_eq!(view.fit(std::slice::from_ref(&view.nonce)), [view.sigma]);
    }
}

/// Without a nonce, P_1 finds P_2's sigma before it is opened: it is P_1's own sigma plus alpha_2 times a
/// factor that P_1 knows.
#[test]
fn without_a_nonce_a_sigma_is_found_offline() {
    let view = session(true, false);
    assert_eq!(view.nonce, [0; 32]);
    assert_eq!(view.fit(&view.nonces()), [view.sigma]);
}
