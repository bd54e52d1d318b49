//! A dealer of preprocessing in one process (feature `testing`; never part of a build that holds real
//! secrets).

use crate::part::{Embeds, Mac, Projects, Shareable};
use crate::party::{Alpha, Party};
use crate::share::Auth;
use crate::source::Units;
use crate::source::{BitTriples, KnownBits, Products, Source, Triples};
use divisi_core::{Abort, PartyId, Prg, Session};
use divisi_field::{Field, Gf2, Gf6, Gf8};
use zeroize::Zeroizing;

/// A dealer at each party: it knows all shares and returns its own party's; the dealers of all parties are in
/// step.
pub struct Dealer<F: Mac> {
    me: usize,
    alphas: Vec<F>,
    prg: Prg,
}

impl<F: Mac> Dealer<F> {
    /// A party of a session, and its dealer: all keys and values come from a seed, which must be the same at
    /// all parties.
    ///
    /// # Errors
    /// The abort that a faulty peer causes.
    pub fn deal(session: Session, seed: u8) -> Result<(Party<F>, Self), Abort> {
        let (me, n) = (session.me().index(), session.parties());
        let mut prg = Prg::new(&[seed; 16]);
        let mut alphas = vec![F::ZERO; n];
        F::add_random(&mut prg, &mut alphas);
        let party = Party::new(session, Alpha::new(alphas[me]))?;
        Ok((party, Dealer { me, alphas, prg }))
    }

    /// alpha, which no party knows.
    #[cfg(test)]
    pub(crate) fn alpha(&self) -> F {
        self.alphas.iter().fold(F::ZERO, |sum, alpha| sum + *alpha)
    }

    fn random<V: Shareable>(&mut self, count: usize) -> Vec<V> {
        let mut values = vec![V::default(); count];
        V::add_random(&mut self.prg, &mut values);
        values
    }

    /// This party's shares of these values: the shares of all parties but the last are random.
    fn share<V: Shareable>(&mut self, mut rest: Vec<V>) -> Vec<V> {
        let mut ours = None;
        for party in 0..self.alphas.len() - 1 {
            let random = self.random::<V>(rest.len());
            rest.iter_mut().zip(&random).for_each(|(x, r)| *x += *r);
            if party == self.me {
                ours = Some(random);
            }
        }
        ours.unwrap_or(rest)
    }

    fn authenticate<V: Shareable>(&mut self, values: Vec<V>) -> Auth<V, F>
    where
        F: Embeds<V>,
    {
        let alpha = self.alphas.iter().fold(F::ZERO, |sum, alpha| sum + *alpha);
        let mut macs: Vec<F> = values.iter().map(|x| F::embedded(*x)).collect();
        F::scale(&mut macs, alpha);
        let x = self.share(values);
        Auth::new(x.into(), self.share(macs).into())
    }
}

impl<F: Mac> Dealer<F> {
    fn triples<V: Shareable + Field>(&mut self, count: usize) -> Triples<V, F>
    where
        F: Embeds<V>,
    {
        let (a, b): (Vec<V>, Vec<V>) = (self.random(count), self.random(count));
        let c = a.iter().zip(&b).map(|(a, b)| *a * *b).collect();
        Triples { a: self.authenticate(a), b: self.authenticate(b), c: self.authenticate(c) }
    }
}

impl<F: Mac> Source<F> for Dealer<F> {
    fn bits(&mut self, _: &mut Party<F>, count: usize) -> Result<Auth<Gf2, F>, Abort> {
        let values = self.random(count);
        Ok(self.authenticate(values))
    }

    fn known(&mut self, party: &mut Party<F>, owner: PartyId, count: usize) -> Result<KnownBits<F>, Abort> {
        let values: Vec<Gf2> = self.random(count);
        let known = (party.me() == owner).then(|| Zeroizing::new(values.clone()));
        Ok(KnownBits { values: known, shares: self.authenticate(values) })
    }

    fn units(&mut self, party: &mut Party<F>, log: usize, lanes: usize) -> Result<Units<F>, Abort> {
        party.demux(self, log, lanes)
    }

    fn byte_triples(&mut self, _: &mut Party<F>, count: usize) -> Result<Triples<Gf8, F>, Abort>
    where
        F: Projects<Gf8>,
    {
        Ok(self.triples(count))
    }

    fn six_triples(&mut self, _: &mut Party<F>, count: usize) -> Result<Triples<Gf6, F>, Abort>
    where
        F: Projects<Gf6>,
    {
        Ok(self.triples(count))
    }

    fn bit_triples(&mut self, _: &mut Party<F>, count: usize) -> Result<Triples<Gf2, F>, Abort> {
        Ok(self.triples(count))
    }
}

impl<F: Mac> Products<F> for Dealer<F> {
    fn element_triples(&mut self, _: &mut Party<F>, count: usize) -> Result<BitTriples<F>, Abort> {
        let (a, b): (Vec<Gf2>, Vec<F>) = (self.random(count), self.random(count));
        let c = a.iter().zip(&b).map(|(a, b)| F::embedded(*a) * *b).collect();
        Ok(BitTriples { a: self.authenticate(a), b: self.authenticate(b), c: self.authenticate(c) })
    }
}
