//! Products of shared values, from products of random ones.

use crate::part::{Embeds, Mac, Shareable, Word32};
use crate::party::{Party, Told};
use crate::share::Auth;
use crate::source::{BitTriples, Triples};
use divisi_core::{Abort, Check, Step, step};
use divisi_field::{Field, Gf2};
use zeroize::Zeroizing;

const BIT: Step = step!("multiply.bit");
const ELEMENT: Step = step!("multiply.element");
const PRODUCT: Step = step!("multiply");

impl<F: Mac> Party<F> {
    /// \[\[s p\]\] for bits s and elements p (KOR+17, Protocol 3, line 3: "F_2 x F_2^k multiplication, 1
    /// round"), by Beaver's method: with \[\[a\]\], \[\[b\]\], \[\[c\]\], c = a b, open e = s + a and d = p +
    /// b; then s p = c + e b + d a + e d.
    ///
    /// Adversary: n - 1 malicious; what it makes of e and d the next check sees. a and b serve once \[K6\].
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
            return Err(self.session.misuse(PRODUCT, "not one pair of factors for each triple"));
        }
        self.session.observe_each(Check::K6, s.len() as u64); // [K6]
        let (told_e, told_d) = (self.tell(BIT, &a.x)?, self.tell(ELEMENT, &b.x)?);
        let e: Vec<Gf2> = self.hear(told_e, &a.m)?;
        let d: Vec<F> = self.hear(told_d, &b.m)?;
        // c + e b + d a + e d = c + e (b + d) + d (a + e) + e d, where b + d = p and a + e = s: with what is
        // in hand c + e p + d s + e d
        let mut by_bit = p.clone();
        mask(&mut by_bit.x, &e);
        mask(&mut by_bit.m, &e);
        let mut by_element = Auth::<F, F>::new(d.clone(), s.m.clone());
        mask(&mut by_element.x, &s.x);
        F::mul_assign(&mut by_element.m, &d);
        let mut both = d;
        mask(&mut both, &e);
        let fits = c.add(&by_bit) && c.add(&by_element);
        debug_assert!(fits);
        self.add_public(&mut c, &both)?;
        Ok(c)
    }

    /// \[\[x y\]\] of a subfield, by Beaver's method with \[\[a\]\], \[\[b\]\], \[\[ab\]\]: x y = c + e y + d
    /// x + e d with e = x + a, d = y + b opened.
    ///
    /// Adversary and use of triples as in [`Party::multiply_bits`]. Cost: twice the bits of the subfield to
    /// each peer, one round.
    #[inline(never)]
    pub(crate) fn multiply<V: Shareable + Field>(
        &mut self,
        x: &Auth<V, F>,
        y: &Auth<V, F>,
        triples: Triples<V, F>,
    ) -> Result<Auth<V, F>, Abort>
    where
        F: Embeds<V>,
    {
        let begun = self.begin_multiply(x, y, triples)?;
        self.end_multiply(x, y, begun)
    }

    /// The first half of [`Party::multiply`]: what else is told before the second half goes in the same
    /// round.
    #[inline(never)]
    pub(crate) fn begin_multiply<V: Shareable + Field>(
        &mut self,
        x: &Auth<V, F>,
        y: &Auth<V, F>,
        triples: Triples<V, F>,
    ) -> Result<Begun<V, F>, Abort> {
        let Triples { mut a, mut b, mut c } = triples;
        if self.session.mutated(Check::K6) {
            // the mutant takes one triple for all lanes
            a.repeat_first();
            b.repeat_first();
            c.repeat_first();
        }
        if [y.len(), a.len(), b.len(), c.len()] != [x.len(); 4] || !(a.add(x) && b.add(y)) {
            return Err(self.session.misuse(PRODUCT, "not one pair of factors for each triple"));
        }
        self.session.observe_each(Check::K6, x.len() as u64); // [K6]
        let told = [self.tell(ELEMENT, &a.x)?, self.tell(ELEMENT, &b.x)?];
        Ok(Begun { a, b, c, told })
    }

    /// The second half, with the same factors.
    #[inline(never)]
    pub(crate) fn end_multiply<V: Shareable + Field>(
        &mut self,
        x: &Auth<V, F>,
        y: &Auth<V, F>,
        begun: Begun<V, F>,
    ) -> Result<Auth<V, F>, Abort>
    where
        F: Embeds<V>,
    {
        let Begun { a, b, mut c, told: [told_e, told_d] } = begun;
        let (e, d) = (self.hear(told_e, &a.m)?, self.hear(told_d, &b.m)?);
        for (factor, other) in [(&e, y), (&d, x)] {
            let mut term = other.clone();
            V::multiply_each(&mut term.x, factor);
            let factor: Vec<F> = factor.iter().map(|factor| F::embedded_public(*factor)).collect();
            F::mul_assign(&mut term.m, &factor);
            let fits = c.add(&term);
            debug_assert!(fits || c.is_empty());
        }
        let mut both = e;
        V::multiply_each(&mut both, &d);
        self.add_public(&mut c, &both)?;
        Ok(c)
    }
}

/// Products whose e and d were told.
#[must_use = "what was told is heard"]
pub(crate) struct Begun<V: Shareable, F: Mac> {
    a: Auth<V, F>,
    b: Auth<V, F>,
    c: Auth<V, F>,
    told: [Told<V>; 2],
}

/// \[\[D b\]\] for opened words D and shared bits b; without a branch.
#[inline(never)]
pub(crate) fn times<F: Mac>(d: &[Word32], b: &Auth<Gf2, F>) -> Auth<Word32, F> {
    let masked = |(d, bit): (&Word32, &Gf2)| Word32(d.0 & (bit.to_bits() as u32).wrapping_neg());
    let mut m: Vec<F> = d.iter().map(|d| F::embedded(*d)).collect();
    F::mul_assign(&mut m, &b.m);
    Auth::new(d.iter().zip(&b.x).map(masked).collect(), m)
}

/// Each element where its bit is one, else zero; without a branch.
pub(crate) fn mask<F: Mac>(x: &mut [F], bits: &[Gf2]) {
    let mut chosen = Zeroizing::new(F::ZERO);
    for (x, bit) in x.iter_mut().zip(bits) {
        let all = bit.to_bits().wrapping_neg();
        *chosen = F::from_low_bits(x.to_bits() & all);
        *x = *chosen;
    }
}
