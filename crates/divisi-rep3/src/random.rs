//! F_coin (MAESTRO Figure 1, section 2.5), on the streams of F_rand ([`crate::streams`]).
//!
//! Adversary: one malicious party of three. A coin is a fresh F_rand, opened. Three rules keep it
//! honest (docs/lookups.md, 6):
//! - it demands a [`Fixed`], the proof that all views were compared after everything the coin must follow
//!   \[A8\];
//! - a party sends its component only to its next, from which the Reshare message before came, so that
//!   whoever withholds a message does not see the coin: component i goes from party i to i+1, and the only
//!   other holder, i-1, sends nothing but a digest, one step later;
//! - that digest is compared at once, before the coin is used \[A4, M0.2\]; inside a verification, where the
//!   coin's first use is a message under a mask, right after that message and before any other.

use crate::checks;
use crate::coin::Coin;
use crate::trio::Trio;
use crate::views::Fixed;
use divisi_core::{Abort, ComparedDigest, Misuse, Step, purposes, step, taint};

const SHARE: Step = step!("coin.share");
const DIGEST: Step = step!("coin.digest");

impl Trio {
    /// F_coin. Two rounds, 128 payload bits.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A4 if the two holders of a component disagree about it.
    #[cfg_attr(feature = "testing", track_caller)]
    pub fn coin(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        self.demand_fixed(after)?;
        let coin = self.toss()?;
        self.confirm_coin()?;
        Ok(coin)
    }

    /// F_coin inside a verification, where a Reshare of elements follows: the redundant holders' digests ride
    /// along with it, and are compared before anything else is sent ([`Trio::confirm_coin`]; docs/lookups.md,
    /// 6). One round. What is sent before the comparison is masked by F_zero, so it reveals nothing even if
    /// the parties' coins differ.
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn coin_ahead(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        self.demand_fixed(after)?;
        self.toss()
    }

    /// A coin is about to be tossed: everything that was opened before must be what a barrier has fixed.
    fn demand_fixed(&mut self, after: &Fixed) -> Result<(), Abort> {
        if *after != self.fixed() || self.uncompared {
            return Err(self.session.misuse(SHARE, Misuse::NotCompared));
        }
        Ok(())
    }

    #[cfg_attr(feature = "testing", track_caller)]
    fn toss(&mut self) -> Result<Coin, Abort> {
        self.confirm_coin()?;
        let (mut a, mut b, mut c) = ([0u8; 16], [0u8; 16], [0u8; 16]);
        self.streams.coin.first.fill(&mut a);
        self.streams.coin.second.fill(&mut b);
        // the component goes to the next, from which the message before came [A8, A9]
        self.session.send(SHARE, self.next, &a, 128)?;
        self.session.recv(SHARE, self.prev, &mut c)?;
        // its redundant holder's digest follows one step later
        let digest = self.coin_digest(&b);
        self.session.send(DIGEST, self.prev, &digest, 0)?;
        self.unconfirmed = Some(self.coin_digest(&c));
        let mut coin = [0; 16];
        for (i, x) in coin.iter_mut().enumerate() {
            *x = a[i] ^ b[i] ^ c[i];
        }
        taint::public(SHARE, &mut coin);
        self.view.update(b"coin").update(&coin);
        // behind the view, which all compare: a test that changes the coin sees what rests on it alone
        purposes::COIN.numbers(&mut coin, |byte, last| byte ^ if last { 0x80 } else { 1 });
        Ok(Coin(coin))
    }

    /// Compare the last coin, if that was not done yet.
    pub(crate) fn confirm_coin(&mut self) -> Result<(), Abort> {
        let Some(digest) = self.unconfirmed else { return Ok(()) };
        let mut theirs = [0; 32];
        self.session.recv(DIGEST, self.next, &mut theirs)?;
        let same = self.session.same_digest(&digest, &theirs);
        self.session.require(checks::A4, DIGEST, same, None)?; // [A4] [M0.2]
        self.session.observe(checks::M0_2); // [M0.2]
        self.unconfirmed = None;
        Ok(())
    }

    /// The first coin of a verification, which gives the coefficients \[A8\].
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn first_coin(&mut self, after: &Fixed) -> Result<Coin, Abort> {
        self.coin_ahead(after)
    }

    fn coin_digest(&self, component: &[u8; 16]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 coin v1");
        hasher.update(self.session.id().as_bytes()).update(component);
        hasher.to_compare()
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::adversary::harness::TrioHarness;

    /// A coin of a verification follows the last barrier of its own strand, too.
    #[test]
    fn a_coin_follows_what_a_barrier_fixed() {
        for own in [true, false] {
            let ends = TrioHarness::default().act(|mut trio| {
                let mut other = Trio::new(trio.session().strand()?)?;
                // not the first coin of the session alone
                let first = trio.barrier()?;
                trio.coin_ahead(&first)?;
                trio.confirm_coin()?;
                let (mine, theirs) = (trio.barrier()?, other.barrier()?);
                trio.coin_ahead(if own { &mine } else { &theirs })?;
                trio.confirm_coin()
            });
            let refused = |end: &_| matches!(end, Err(Abort::Misuse { what: Misuse::NotCompared, .. }));
            let right = if own { ends.iter().all(Result::is_ok) } else { ends.iter().any(refused) };
            assert!(right && ends.iter().any(Result::is_ok) == own, "{own}: {ends:?}");
        }
    }
}
