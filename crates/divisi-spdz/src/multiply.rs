//! Products of shared values, from products of random ones.

use crate::checks;
use crate::part::{Embeds, Mac, Shareable, Word32};
use crate::party::{Party, SentShares};
use crate::share::{Auth, View};
use crate::source::{BitTriples, LastTriples};
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Misuse, Step, step};
use divisi_field::{BigField, Field, Gf2};
use zeroize::Zeroizing;

const BIT: Step = step!("multiply.bit");
const ELEMENT: Step = step!("multiply.element");
const PRODUCT: Step = step!("multiply");

/// How many products are computed at once, so that their data stay in the nearest cache.
pub(crate) const CHUNK: usize = 256;

impl<F: Mac> Party<F> {
    /// \[\[s p\]\] for bits s and elements p (KOR+17, Protocol 3, line 3: "F_2 x F_2^k multiplication, 1
    /// round"), by Beaver's method: with \[\[a\]\], \[\[b\]\], \[\[c\]\], c = a b, open e = s + a and d = p +
    /// b; then s p = c + e b + d a + e d.
    ///
    /// Adversary: n - 1 malicious; the next check detects errors in e and d. a and b are used once \[K6\].
    /// Cost: 1 + BITS bits a product to each peer, one round.
    #[inline(never)]
    pub(crate) fn multiply_bits(
        &mut self,
        s: &Auth<Gf2, F>,
        p: &Auth<F, F>,
        triples: BitTriples<F>,
    ) -> Result<Auth<F, F>, Abort> {
        let BitTriples { mut a, mut b, mut c } = triples;
        if [p.len(), a.len(), b.len(), c.len()] != [s.len(); 4] || !(a.add(s) && b.add(p)) {
            return Err(self.session.misuse(PRODUCT, Misuse::CountsDiffer));
        }
        self.session.observe_each(checks::K6, s.len() as u64); // [K6]
        let (sent_e, sent_d) = (self.send_shares(BIT, &a.x)?, self.send_shares(ELEMENT, &b.x)?);
        let e: Vec<Gf2> = self.receive(sent_e, &a.m)?;
        let d: Vec<F> = self.receive(sent_d, &b.m)?;
        // c + e b + d a + e d = c + e (b + d) + d (a + e) + e d, where b + d = p and a + e = s: so s p = c +
        // e p + d s + e d
        let mut by_bit = p.clone();
        mask(&mut by_bit.x, &e);
        mask(&mut by_bit.m, &e);
        let mut by_element = Auth::<F, F>::new(d.clone().into(), s.m.clone());
        mask(&mut by_element.x, &s.x);
        F::mul_assign(&mut by_element.m, &d);
        let mut both = d;
        mask(&mut both, &e);
        let fits = c.add(&by_bit) && c.add(&by_element);
        debug_assert!(fits);
        self.add_public(&mut c, &both)?;
        Ok(c)
    }

    /// \[\[x y\]\] for each pair of elements of a subfield, by Beaver's method with \[\[a\]\], \[\[b\]\],
    /// \[\[c\]\], c = a b: e = x + a and d = y + b are opened, and x y = c + e y + d x + e d.
    ///
    /// Adversary and use of triples: those of [`Party::multiply_bits`]. Cost: twice the bits of the subfield
    /// to each peer, one round.
    #[inline(never)]
    pub(crate) fn multiply<V: Shareable + Field>(
        &mut self,
        pairs: &[Pair<'_, V, F>],
        triples: LastTriples<'_, V, F>,
    ) -> Result<Auth<V, F>, Abort>
    where
        F: Embeds<V>,
    {
        let begun = self.begin_multiply(pairs, triples)?;
        self.end_multiply(pairs, begun)
    }

    /// The first half of [`Party::multiply`]. Other messages that are sent before the second half travel in
    /// the same round.
    #[inline(never)]
    pub(crate) fn begin_multiply<'t, V: Shareable + Field>(
        &mut self,
        pairs: &[Pair<'_, V, F>],
        mut triples: LastTriples<'t, V, F>,
    ) -> Result<Begun<'t, V, F>, Abort> {
        let LastTriples { a, b, c } = &mut triples;
        let count: usize = pairs.iter().map(|(x, _)| x.len()).sum();
        let alike = pairs.iter().all(|(x, y)| [x.m.len(), y.len(), y.m.len()] == [x.len(); 3]);
        if !alike || [a.len(), b.len(), c.len()] != [count; 3] {
            return Err(self.session.misuse(PRODUCT, Misuse::CountsDiffer));
        }
        self.session.observe_each(checks::K6, count as u64); // [K6]
        let ((mut a, _), (mut b, _)) = (a.parts(), b.parts());
        for (x, y) in pairs {
            a = added(a, x.x);
            b = added(b, y.x);
        }
        let sent = [
            self.send_shares(ELEMENT, triples.a.parts().0)?,
            self.send_shares(ELEMENT, triples.b.parts().0)?,
        ];
        Ok(Begun { triples, sent })
    }

    /// The second half of [`Party::multiply`], with the same factors. The data of a chunk are read once and
    /// stay in the cache.
    #[inline(never)]
    pub(crate) fn end_multiply<V: Shareable + Field>(
        &mut self,
        pairs: &[Pair<'_, V, F>],
        begun: Begun<'_, V, F>,
    ) -> Result<Auth<V, F>, Abort>
    where
        F: Embeds<V>,
    {
        let Begun { mut triples, sent: [sent_e, sent_d] } = begun;
        let (e, d) = (self.sum_received(sent_e)?, self.sum_received(sent_d)?);
        let alpha = Zeroizing::new(self.alpha()?);
        let ((_, a), (_, b), (c, c_macs)) = (triples.a.parts(), triples.b.parts(), triples.c.parts());
        self.ledger.reserve(2 * e.len());
        let mut scratch = WipedVec::zeros(3 * CHUNK.min(e.len()));
        let mut terms = WipedVec::zeros(CHUNK.min(e.len()));
        let mut out = Auth::with_capacity(e.len());
        let mut at = 0;
        for (x, y) in pairs {
            for from in (0..x.len()).step_by(CHUNK) {
                let here = from..x.len().min(from + CHUNK);
                let (x, y) = (x.view(here.clone()), y.view(here));
                let all = at..at + x.len();
                at = all.end;
                let (e, d) = (&e[all.clone()], &d[all.clone()]);
                // e and d in the field of the MACs
                let c_macs = &mut c_macs[all.clone()];
                let (by_e, rest) = scratch.split_at_mut(x.len());
                let (by_d, rest) = rest.split_at_mut(x.len());
                let factor = &mut rest[..x.len()];
                factor.iter_mut().zip(e).for_each(|(to, e)| *to = F::embedded_public(*e));
                by_d.iter_mut().zip(d).for_each(|(to, d)| *to = F::embedded_public(*d));
                for (opened, macs, own) in [(&*factor, &mut *a, x), (&*by_d, &mut *b, y)] {
                    let macs = &mut macs[all.clone()];
                    <F as BigField>::add_assign(macs, own.m);
                    self.enter(opened.iter().copied(), macs);
                }
                // e (y + d) + d x, of which the first party alone adds e d
                let (c, terms) = (&mut c[all], &mut terms[..x.len()]);
                terms.copy_from_slice(y.x);
                if self.is_first() {
                    added(terms, d);
                }
                V::multiply_each(terms, e);
                added(c, terms);
                terms.copy_from_slice(x.x);
                V::multiply_each(terms, d);
                added(c, terms);
                // for the MACs e (y + alpha d) + d x
                by_e.copy_from_slice(by_d);
                F::scale(by_e, *alpha);
                <F as BigField>::add_assign(by_e, y.m);
                F::mul_assign(by_e, factor);
                F::mul_assign(by_d, x.m);
                <F as BigField>::add_assign(c_macs, by_e);
                <F as BigField>::add_assign(c_macs, by_d);
                out.extend(View { x: c, m: c_macs });
            }
        }
        Ok(out)
    }
}

/// Shares of two lists of factors, which are multiplied lane by lane.
pub(crate) type Pair<'a, V, F> = (View<'a, V, F>, View<'a, V, F>);

/// Products for which our shares of e and d were sent.
#[must_use = "what the peers sent must be received"]
pub(crate) struct Begun<'t, V: Shareable, F: Mac> {
    triples: LastTriples<'t, V, F>,
    sent: [SentShares<V>; 2],
}

/// Add `x` to the first elements of `to`, and return the remaining elements.
fn added<'t, V: Shareable>(to: &'t mut [V], x: &[V]) -> &'t mut [V] {
    let (first, rest) = to.split_at_mut(x.len());
    first.iter_mut().zip(x).for_each(|(to, x)| *to += *x);
    rest
}

/// \[\[D b\]\] for opened words D and shared bits b; without a branch.
#[inline(never)]
pub(crate) fn times<F: Mac>(d: &[Word32], b: &Auth<Gf2, F>) -> Auth<Word32, F> {
    let masked = |(d, bit): (&Word32, &Gf2)| Word32(d.0 & (bit.to_bits() as u32).wrapping_neg());
    let mut m: WipedVec<F> = d.iter().map(|d| F::embedded(*d)).collect();
    F::mul_assign(&mut m, &b.m);
    Auth::new(d.iter().zip(&b.x).map(masked).collect(), m)
}

/// Set the elements to zero whose bits are zero; without a branch.
pub(crate) fn mask<F: Mac>(x: &mut [F], bits: &[Gf2]) {
    let mut chosen = Zeroizing::new(F::ZERO);
    for (x, bit) in x.iter_mut().zip(bits) {
        let all = bit.to_bits().wrapping_neg();
        *chosen = F::from_low_bits(x.to_bits() & all);
        *x = *chosen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::source::{Products, Source};
    use divisi_core::PublicParameters;
    use divisi_core::testing::run;
    use divisi_field::Gf48;

    /// Each of five lists of another length is refused, before anything is sent.
    #[test]
    fn products_of_lists_of_other_lengths_are_refused() {
        for other in 0..5 {
            let count = |list| if list == other { 2 } else { 3 };
            let ends = run(2, &PublicParameters::new("lengths"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
                let BitTriples { a, b, c } = dealer.element_triples(&mut party, 3)?;
                let triples =
                    BitTriples { a: a.part(0..count(0)), b: b.part(0..count(1)), c: c.part(0..count(2)) };
                let s = dealer.bits(&mut party, count(3))?;
                let p = dealer.element_triples(&mut party, count(4))?.b;
                party.multiply_bits(&s, &p, triples).map(|_| ())
            });
            let refused = |end: &Result<(), Abort>| {
                matches!(end, Err(Abort::Misuse { what: Misuse::CountsDiffer, .. }))
            };
            assert!(ends.iter().any(refused) && ends.iter().all(Result::is_err), "{other}: {ends:?}");
        }
    }

    /// So is each of three pairs, whose factors must have one length.
    #[test]
    fn pairs_of_lists_of_other_lengths_are_refused() {
        for other in [Some(0), Some(1), Some(2), None] {
            let ends = run(2, &PublicParameters::new("lengths"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
                let factors = dealer.byte_triples(&mut party, 3)?;
                let mut triples = dealer.byte_triples(&mut party, 9)?;
                let count = |pair| if other == Some(pair) { 2 } else { 3 };
                let pairs = [0, 1, 2].map(|pair| (factors.a.all(), factors.b.view(0..count(pair))));
                party.multiply(&pairs, triples.tail(9).unwrap()).map(|_| ())
            });
            let refused = |end: &Result<(), Abort>| {
                matches!(end, Err(Abort::Misuse { what: Misuse::CountsDiffer, .. }))
            };
            assert_eq!(ends.iter().any(refused), other.is_some(), "{other:?}: {ends:?}");
        }
    }
}
