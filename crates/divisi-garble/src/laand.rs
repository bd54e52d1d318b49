//! Leaky authenticated AND triples: Pi_LaAND of Fig. 8, in two forms.
//!
//! Adversary: n - 1 malicious parties. What comes out is right, or the session ends; but whoever guesses bits of another party's x may
//! have them confirmed, at the price of being caught with every second guess. Pi_aAND removes that.
//!
//! *Improved* form: the sum over the parties of x^i Phi_i + ... is x y Delta, with Delta the sum of all Delta_i. The lowest bits of
//! the Delta_i are public and add up to one, so the lowest bits of the parties' summands are shares of x y: no HaAND, no bits beside U.
//! *Paper* form: z^i = x^i y^i + v^i from Pi_HaAND, whose hash has another tweak than that of step 5 (as printed the two hash the
//! same key alike, which reveals y).
//!
//! Steps 6 and 7 check all triples at once: the coefficients of a random combination come from a coin that follows every U and e, and the
//! parties' combinations of the H_i must sum to zero, of which nothing else is told ([`zero`]). The error is 2^-128 (docs/garbling.md).

use crate::bits;
use crate::haand;
use crate::hash::{Call, Name, Oracle};
use crate::share::{Seats, Shares, View, spread};
use crate::table::Form;
use crate::zero;
use divisi_core::{Abort, Check, Echo, PartyId, Prg, Session, Step, step};
use divisi_field::{BigField, Gf128};
use divisi_ot::Setup;
use zeroize::Zeroizing;

const U: Step = step!("5.u");
const E: Step = step!("3.e");
const ECHO: Step = step!("3.echo");
const COIN: Step = step!("6.coin");

/// The products of leaky triples, and what puts them into buckets: from a coin that was tossed after every triple was fixed \[W16\].
pub(crate) struct Leaky {
    pub z: Shares,
    pub partition: [u8; 16],
}

/// What the step needs to know of its party.
pub(crate) struct Ground<'a> {
    pub seats: Seats,
    pub oracle: &'a Oracle,
    pub form: Form,
    /// The number of the first triple in the session.
    pub first: u64,
    /// Shares of random bits for the check alone, as many as [`zero::bits`].
    pub fresh: Shares,
}

/// Turn random shares of x, y and r into leaky triples. Five rounds: U; e; a coin; commitments, with the echo of e; openings. Of three
/// or more parties six: the echo goes with the products that the check needs.
pub(crate) fn laand(
    session: &mut Session,
    setup: &mut Setup,
    ground: &Ground<'_>,
    x: &View<'_>,
    y: &View<'_>,
    r: Shares,
) -> Result<Leaky, Abort> {
    let delta = setup.delta().get();
    let Ground { seats, form, .. } = *ground;
    let m = x.len();
    // 4. Phi_i
    let mut phi: Zeroizing<Vec<u128>> =
        Zeroizing::new(y.bits.iter().map(|bit| spread(*bit) & delta).collect());
    for words in y.keys.iter().chain(&y.macs) {
        phi.iter_mut().zip(*words).for_each(|(phi, word)| *phi ^= word);
    }
    // 5., and 2. in the paper's form: G_i becomes x^i Phi_i + sum of K_i[x^k]_Phi_i + M_k[x^i]_Phi_k
    let mut g: Zeroizing<Vec<u128>> =
        Zeroizing::new(phi.iter().zip(x.bits).map(|(phi, bit)| phi & spread(*bit)).collect());
    let mut cross = haand::Cross::new(session, form, m);
    for (place, peer) in session.peers().into_iter().enumerate() {
        let name = ground.name(Call::LaAnd, session.me(), peer);
        let body = ours(ground.oracle, name, x.keys[place], delta, &phi, &mut g);
        session.send(U, peer, &body, 128 * m as u64)?;
        cross.send(session, ground, peer, x.keys[place], y.bits, delta)?;
    }
    let mut body = vec![0; 16 * m];
    for (place, peer) in session.peers().into_iter().enumerate() {
        session.recv(U, peer, &mut body)?;
        let name = ground.name(Call::LaAnd, peer, session.me());
        theirs(ground.oracle, name, x, place, &body, &mut g);
        cross.recv(session, ground, peer, x.macs[place], x.bits)?;
    }
    // 3. z^i, and e^i = z^i + r^i to all
    let share: Zeroizing<Vec<u8>> = Zeroizing::new(match form {
        Form::Improved => g.iter().map(|g| (g & 1) as u8).collect(),
        Form::Paper => cross.shares(x.bits, y.bits),
    });
    let mut z = r;
    let echo = broadcast(session, seats, &share, &mut z, delta)?;
    let coin = setup.toss(session, COIN)?; // [W15, W16]
    // 6. H_i, in the combination that nobody knew before
    let h = g.iter().zip(&z.bits).map(|(g, bit)| Gf128(g ^ spread(*bit) & delta));
    let mut h: Zeroizing<Vec<Gf128>> = Zeroizing::new(h.collect());
    for words in z.keys.iter().chain(&z.macs) {
        h.iter_mut().zip(words).for_each(|(h, word)| h.0 ^= word);
    }
    let sum = combination(&h, &expanded(&coin, "coefficients"));
    zero::check(session, ground, &ground.fresh, delta, echo, sum)?;
    session.observe(Check::W16); // [W16]
    // the mutant's partition can be foreseen
    let coin = if session.mutated(Check::W16) { [0; 16] } else { coin };
    Ok(Leaky { z, partition: expanded(&coin, "partition") })
}

/// What a coin gives for one purpose.
pub(crate) fn expanded(coin: &[u8; 16], purpose: &str) -> [u8; 16] {
    let mut out = [0; 16];
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 garble coin v1");
    hasher.update(coin).update(purpose.as_bytes());
    hasher.finalize_xof().fill(&mut out);
    out
}

impl Ground<'_> {
    /// The hash of a step of the key that one party has on the bit of another.
    pub fn name(&self, call: Call, holder: PartyId, owner: PartyId) -> Name {
        Name { call, from: holder, to: owner, gate: self.first, once: true }
    }
}

/// Step 5 of the holder of the keys: U for the peer; K_i\[x^j\]_Phi_i joins g.
fn ours(oracle: &Oracle, name: Name, keys: &[u128], delta: u128, phi: &[u128], g: &mut [u128]) -> Vec<u8> {
    let mut body = Vec::with_capacity(16 * keys.len());
    let mut inputs = Zeroizing::new(Vec::with_capacity(2 * CHUNK));
    let mut hashes = Zeroizing::new(Vec::with_capacity(2 * CHUNK));
    for (c, keys) in keys.chunks(CHUNK).enumerate() {
        let first = c * CHUNK;
        inputs.clear();
        inputs.extend(keys.iter().flat_map(|key| [*key, key ^ delta]));
        oracle.expand(&inputs, 1, name, |i| (first + i / 2, 0), &mut hashes);
        for (t, hash) in hashes.as_chunks::<2>().0.iter().enumerate() {
            g[first + t] ^= hash[0];
            body.extend_from_slice(&(hash[0] ^ hash[1] ^ phi[first + t]).to_le_bytes());
        }
    }
    body
}

/// Step 5 of the owner of the bits: M_k\[x^i\]_Phi_k joins g.
fn theirs(oracle: &Oracle, name: Name, x: &View<'_>, place: usize, body: &[u8], g: &mut [u128]) {
    let mut hashes = Zeroizing::new(Vec::with_capacity(CHUNK));
    let words = body.as_chunks::<16>().0;
    for (c, macs) in x.macs[place].chunks(CHUNK).enumerate() {
        let first = c * CHUNK;
        oracle.expand(macs, 1, name, |i| (first + i, 0), &mut hashes);
        for (t, hash) in hashes.iter().enumerate() {
            let t = first + t;
            g[t] ^= hash ^ spread(x.bits[t]) & u128::from_le_bytes(words[t]);
        }
    }
}

/// Keys that are hashed at once.
const CHUNK: usize = 256;

/// Step 3: e^i = z^i + r^i to all; r becomes z, with everybody's e in its keys.
fn broadcast(
    session: &mut Session,
    seats: Seats,
    share: &[u8],
    z: &mut Shares,
    delta: u128,
) -> Result<Echo, Abort> {
    let m = share.len();
    let e: Vec<u8> = share.iter().zip(&z.bits).map(|(z, r)| z ^ r).collect();
    let mut body = Vec::with_capacity(bits::packed(m));
    bits::pack(&e, &mut body);
    for peer in session.peers() {
        session.send(E, peer, &body, m as u64)?;
    }
    z.bits.copy_from_slice(share);
    let mut told = vec![Vec::new(); seats.n];
    told[seats.me] = body;
    for (place, peer) in session.peers().into_iter().enumerate() {
        let mut body = vec![0; bits::packed(m)];
        session.recv(E, peer, &mut body)?;
        let e = bits::unpack(&body, m);
        session.require(Check::W13, E, e.is_some(), Some(peer))?; // [W13] padding
        let keys = z.keys[place].iter_mut().zip(e.unwrap_or_default());
        keys.for_each(|(key, e)| *key ^= spread(e) & delta);
        told[seats.party(place)] = body;
    }
    let mut echo = Echo::new(session, ECHO);
    for (party, e) in PartyId::all(seats.n).zip(&told) {
        echo.absorb(party, e);
    }
    Ok(echo)
}

/// The combination of values that a coin gives.
fn combination(h: &[Gf128], seed: &[u8; 16]) -> Gf128 {
    let mut prg = Prg::new(seed);
    let mut words = [0u64; 2 * CHUNK];
    let mut sum = Gf128(0);
    for h in h.chunks(CHUNK) {
        let words = &mut words[..2 * h.len()];
        prg.words(words);
        let coefficients: Vec<Gf128> = words
            .as_chunks::<2>()
            .0
            .iter()
            .map(|w| Gf128(u128::from(w[0]) | u128::from(w[1]) << 64))
            .collect();
        sum += Gf128::dot(h, &coefficients);
    }
    sum
}
