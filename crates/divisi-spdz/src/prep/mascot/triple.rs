//! Products of elements: MASCOT, Protocol 4.

use super::super::rows::{self, Rows};
use crate::checks;
use crate::part::Mac;
use crate::party::Party;
use crate::purposes;
use crate::share::Auth;
use crate::source::Triples;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Prg, Step, step};
use divisi_field::Field;
use divisi_ot::Bits;
use divisi_ot::correlate::BitVectors;
use zeroize::Zeroizing;

const COMBINE: Step = step!("combine.1");
const COIN: Step = step!("sacrifice.1");
const RHO: Step = step!("sacrifice.2");
const SIGMA: Step = step!("sacrifice.3");

/// How many elements a are combined. For each of their bits that the adversary has confirmed it is detected
/// with probability 1/2; with tau = 4 the two combinations of the remaining ones of the tau f bits are
/// uniform but for 2^-f (MASCOT, Theorem 2; KOR+17, section 5).
const TAU: usize = 4;

/// How many products are made at once.
const LANES: usize = 512;

/// Our shares of the results of **Multiply**, for each lane: tau elements of a and of c, and b.
struct Multiplied<F: Mac> {
    a: WipedVec<F>,
    b: WipedVec<F>,
    c: WipedVec<F>,
}

/// Our shares of the results of **Combine**: a, b, c = a b, a^, c^ = a^ b, not authenticated.
struct Combined<F: Mac> {
    values: [WipedVec<F>; 5],
}

/// \[\[a\]\], \[\[b\]\], \[\[a b\]\] of random elements.
///
/// Adversary: n - 1 malicious; error 2^-f of the combination, and 2/|F| of the sacrifice.
/// Cost: tau f (p' + f) + 5 f f' + f bits each to each peer, f' = ceil(f / k), p' = ceil(128 / k), and f for
/// sigma (4,360 bytes at f = 40 and k = 1, and 10 for rho and sigma).
pub(super) fn triples<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    count: usize,
) -> Result<Triples<F, F>, Abort> {
    let mut all = Triples {
        a: Auth::with_capacity(count),
        b: Auth::with_capacity(count),
        c: Auth::with_capacity(count),
    };
    for from in (0..count).step_by(LANES) {
        let multiplied = multiply(rows, party, LANES.min(count - from))?;
        let combined = combine(party, multiplied)?;
        let authenticated = authenticate(rows, party, &combined)?;
        let Triples { a, b, c } = sacrifice(party, authenticated)?;
        all.a.append(&a);
        all.b.append(&b);
        all.c.append(&c);
    }
    Ok(all)
}

/// **Multiply**. 1. P_i draws a of tau elements and b. 2. (a) to (d) For each bit of a, a row of pads, P_j
/// sends its b masked: correlated OT. (e) and (f) The sums by the powers of y are shares of a_h b_j. 3. With
/// all of them, a_h^i b^i added, all parties have shares of a_h b.
fn multiply<F: Mac>(rows: &mut Rows, party: &mut Party<F>, lanes: usize) -> Result<Multiplied<F>, Abort> {
    let f = <F as Field>::BITS;
    // 1.
    let a = drawn::<F>(party, TAU * lanes);
    let b = drawn::<F>(party, lanes);
    // 2.
    let words = rows::packed(&a);
    let bits = Bits::Chosen(&words, TAU * lanes * f);
    let mut pads = rows.with(party, |session, setup| setup.pad_rows(session, bits))?;
    let payload = BitVectors { width: f };
    let repeated = b.iter().flat_map(|b| std::iter::repeat_n(b.to_bits(), TAU * f));
    let values: Zeroizing<Vec<u128>> = Zeroizing::new(repeated.collect());
    let shares =
        rows.with(party, |session, setup| setup.correlate(session, &mut pads, None, &payload, &values))?;
    // 3.
    let shares: Zeroizing<Vec<F>> = Zeroizing::new(shares.iter().map(|x| F::from_low_bits(*x)).collect());
    Ok(Multiplied { a, b, c: rows::sums(&shares) })
}

/// **Combine**. 1. Coins r and r^ in F^tau, which follow all of Multiply \[K18\]. 2. a = (a_1, .., a_tau) r,
/// c likewise, and a^, c^ with r^.
fn combine<F: Mac>(party: &mut Party<F>, multiplied: Multiplied<F>) -> Result<Combined<F>, Abort> {
    let Multiplied { a, b, c } = &multiplied;
    // 1.
    let coin = party.coins.toss(&mut party.session, COMBINE)?;
    party.session.observe_each(checks::K18, b.len() as u64); // [K18]
    let mut prg = Prg::of(purposes::COMBINE, &coin);
    let mut values = [0; 5].map(|_| WipedVec::with_capacity(b.len()));
    // 2.
    let (mut r, mut words) = ([F::ZERO; 2 * TAU], vec![0; 2 * TAU * F::WORDS]);
    for ((a, c), b) in a.chunks_exact(TAU).zip(c.chunks_exact(TAU)).zip(b) {
        prg.words(&mut words);
        F::from_words(&mut r, &words);
        let (r, r_hat) = r.split_at(TAU);
        let lane = [F::dot(a, r), *b, F::dot(c, r), F::dot(a, r_hat), F::dot(c, r_hat)];
        values.iter_mut().zip(lane).for_each(|(values, x)| values.push(x));
    }
    Ok(Combined { values })
}

/// The results of **Combine** on our shares of tau elements each, with r and with r^: for tests.
#[cfg(any(test, feature = "testing"))]
pub(super) fn combination<F: Mac>(party: &mut Party<F>, a: &[F]) -> Result<[Vec<F>; 2], Abort> {
    let lanes = a.len() / TAU;
    let multiplied = Multiplied { a: a.into(), b: WipedVec::zeros(lanes), c: a.into() };
    let combined = combine(party, multiplied)?;
    Ok([0, 3].map(|i| combined.values[i].to_vec()))
}

/// **Authenticate**: [[a]], [[b]], [[c]], [[a^]], [[c^]].
fn authenticate<F: Mac>(
    rows: &mut Rows,
    party: &mut Party<F>,
    combined: &Combined<F>,
) -> Result<[Auth<F, F>; 5], Abort> {
    let lanes = combined.values[0].len();
    let mut all = WipedVec::with_capacity(5 * lanes);
    combined.values.iter().for_each(|values| all.extend_from_slice(values));
    let all = rows.elements(party, &all)?;
    Ok(std::array::from_fn(|i| all.part(i * lanes..(i + 1) * lanes)))
}

/// **Sacrifice**. 1. A coin s that follows both products. 2. rho = s a + a^ is opened. 3. sigma = s c + c^ +
/// rho b is opened, its MAC checked with that of rho, and is zero \[K19\].
///
/// As in the paper, the check of MACs is by a random combination of the opened values. The MAC of each sigma
/// is checked, and the opened sigma is compared with zero.
fn sacrifice<F: Mac>(
    party: &mut Party<F>,
    [a, b, c, mut a_hat, mut c_hat]: [Auth<F, F>; 5],
) -> Result<Triples<F, F>, Abort> {
    // 1.
    let coin = party.coins.toss(&mut party.session, COIN)?;
    let (mut s, mut words) = (vec![F::ZERO; a.len()], vec![0; a.len() * F::WORDS]);
    Prg::of(purposes::SACRIFICE, &coin).words(&mut words);
    F::from_words(&mut s, &words);
    // 2.
    add_times(&mut a_hat, &a, &s);
    let rho = party.open(RHO, &a_hat.x, &a_hat.m)?;
    // 3.
    add_times(&mut c_hat, &c, &s);
    add_times(&mut c_hat, &b, &rho);
    let sigma = party.open(SIGMA, &c_hat.x, &c_hat.m)?;
    let zero = sigma.iter().fold(F::ZERO.ct_eq(&F::ZERO), |zero, sigma| zero & sigma.ct_eq(&F::ZERO));
    party.session.covers(checks::K19, || <F as Field>::BITS * sigma.len());
    party.session.require(checks::K19, SIGMA, bool::from(zero), None)?; // [K19]
    party.check_here()?;
    Ok(Triples { a, b, c })
}

/// Random elements that only we know.
#[cfg_attr(feature = "testing", track_caller)]
fn drawn<F: Mac>(party: &Party<F>, count: usize) -> WipedVec<F> {
    let mut seed = Zeroizing::new([0; 16]);
    party.session.entropy(purposes::OWN_SEED, seed.as_mut_slice());
    let mut out = WipedVec::zeros(count);
    F::add_random(&mut Prg::of(purposes::OWN, &seed), &mut out);
    out
}

/// \[\[x\]\] + s \[\[y\]\], s public: one for each lane.
pub(super) fn add_times<F: Mac>(x: &mut Auth<F, F>, y: &Auth<F, F>, s: &[F]) {
    let mut term = y.clone();
    F::mul_assign(&mut term.x, s);
    F::mul_assign(&mut term.m, s);
    let fits = x.add(&term);
    debug_assert!(fits);
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::prep::coins;
    use crate::source::Products;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection, failed_check, party, run};
    use divisi_field::Gf48;
    use std::collections::BTreeSet;

    const COUNT: usize = 400;

    /// All elements differ, and every bit is zero in some and one in others.
    fn whole_and_different(all: &[u128]) {
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(all.iter().fold(0, |any, x| any | x), (1 << 48) - 1);
        assert_eq!(all.iter().fold(!0, |all, x| all & x), 0);
    }

    /// One of tau elements is one and the others are zero, so that the combination is the coefficient of that
    /// element. Every element of every lane has a coefficient of its own, in either of the two combinations
    /// and in every call, drawn from the call's own coin.
    #[test]
    fn combinations_are_whole_and_different() {
        let harness = Harness::new(2, &PublicParameters::new("combinations"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 5)?;
            let mut a = vec![Gf48::ZERO; TAU * COUNT];
            (0..COUNT).for_each(|lane| a[TAU * lane + lane % TAU] = Gf48::ONE);
            let calls = [combination(&mut party, &a)?, combination(&mut party, &a)?];
            Ok(calls.concat().concat().into_iter().map(Field::to_bits).collect::<Vec<_>>())
        });
        let ends: Vec<Vec<u128>> = ends.into_iter().map(Result::unwrap).collect();
        assert!(ends[0] == ends[1] && ends[0].len() == 4 * COUNT);
        whole_and_different(&ends[0]);
        let of_coin = |coin: &[u8; 16]| {
            let all = drawn_from::<Gf48>(coin, 2 * TAU * COUNT);
            let of = |hat: usize| move |lane: usize| 2 * TAU * lane + TAU * hat + lane % TAU;
            [0, 1].map(|hat| (0..COUNT).map(of(hat)).map(|at| all[at]).collect::<Vec<_>>()).concat()
        };
        let coins = coins::opened(&recordings, COMBINE);
        assert!(coins.len() == 2 && ends[0] == coins.iter().flat_map(of_coin).collect::<Vec<_>>());
    }

    /// No element of any lane that is combined, nor its factor, occurs twice: of equal ones a party that
    /// confirmed fewer bits would know the combination.
    #[test]
    fn factors_are_whole_and_different() {
        let ends = run(2, &PublicParameters::new("factors"), |session| {
            let (mut party, mut rows) = Rows::start::<Gf48>(session, divisi_ot::SetupConfig::default())?;
            let mut all = Vec::new();
            for lanes in [40, 1, 20] {
                let Multiplied { a, b, .. } = multiply(&mut rows, &mut party, lanes)?;
                assert_eq!([a.len(), b.len()], [TAU * lanes, lanes]);
                all.extend(a.iter().chain(b.iter()).map(|x| x.to_bits()));
            }
            Ok(all)
        });
        whole_and_different(&ends.into_iter().flat_map(Result::unwrap).collect::<Vec<_>>());
    }

    /// The elements that a coin gives.
    fn drawn_from<F: Mac>(coin: &[u8; 16], count: usize) -> Vec<u128> {
        let (mut out, mut words) = (vec![F::ZERO; count], vec![0; count * F::WORDS]);
        Prg::new(coin).words(&mut words);
        F::from_words(&mut out, &words);
        out.into_iter().map(Field::to_bits).collect()
    }

    /// With a = 1 and a^ = 0, s is opened: an element of its own for every product of every call, drawn from
    /// the call's own coin.
    #[test]
    fn sacrifices_are_whole_and_different() {
        let harness = Harness::new(2, &PublicParameters::new("sacrifices"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 5)?;
            for _ in 0..2 {
                let mut a = Auth::zeros(COUNT);
                party.add_constant(&mut a, Gf48::ONE)?;
                let b = dealer.element_triples(&mut party, COUNT)?.b.clone();
                sacrifice(&mut party, [a, b.clone(), b, Auth::zeros(COUNT), Auth::zeros(COUNT)])?;
            }
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let told = [0, 1]
            .map(|i| recordings[i].bodies(MessageDirection::Out, party(2 - i as u8), RHO.name).concat());
        let element = |x: &[u8]| Gf48::from_le_bytes(x).unwrap().to_bits();
        let s: Vec<u128> =
            told[0].chunks(6).zip(told[1].chunks(6)).map(|(x, y)| element(x) ^ element(y)).collect();
        assert_eq!(s.len(), 2 * COUNT);
        whole_and_different(&s);
        let coins = coins::opened(&recordings, super::COIN);
        assert!(s == coins.iter().flat_map(|coin| drawn_from::<Gf48>(coin, COUNT)).collect::<Vec<_>>());
    }

    /// A product under a right MAC is wrong in one bit.
    ///
    /// It is the last one of as many as are made at once, or one before it, down to one of the first.
    #[test]
    fn every_bit_of_a_sigma_counts() {
        for bit in 0..48 {
            let at = LANES - 1 - bit * LANES / 48;
            let ends = run(2, &PublicParameters::new("sacrifices"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 5)?;
                let b = dealer.element_triples(&mut party, LANES)?.b.clone();
                let (zeros, mut off) = (|| Auth::zeros(LANES), Auth::zeros(LANES));
                let mut error = [Gf48::ZERO; LANES];
                error[at] = Gf48::from_low_bits(1 << bit);
                party.add_public(&mut off, &error)?;
                sacrifice(&mut party, [zeros(), b, zeros(), zeros(), off]).map(drop)
            });
            assert!(ends.iter().all(Result::is_err), "bit {bit} of {at}");
            assert!(
                ends.iter().any(|end| failed_check(end) == Some(checks::K19)),
                "bit {bit} of {at}: {ends:?}"
            );
        }
    }
}
