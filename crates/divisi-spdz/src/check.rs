//! The MAC check of everything that was opened.

use crate::checks;
use crate::part::Mac;
use crate::party::Party;
use crate::purposes;
use divisi_core::{Abort, Commitment, Prg, Step, step, taint};
use divisi_field::Field;
use zeroize::Zeroizing;

const COIN: Step = step!("check.2.coin");
const COMMIT: Step = step!("check.3.commit");
const OPEN: Step = step!("check.4.open");

/// The phase in which the meter counts checks.
pub const VERIFICATION_PHASE: &str = "verification";

/// How many values are combined at once.
const CHUNK: usize = 512;

impl<F: Mac> Party<F> {
    /// MACCheck (Damgård, Keller, Larraia, Pastro, Scholl, Smart 2013, Fig. 10; called at the end of every
    /// protocol of KOR+17) of everything that was opened since the last check \[K4\]. It does nothing if
    /// nothing was opened.
    ///
    /// 1. All parties compare the values that they saw opened \[K1\]. 2. A coin gives independent chi_j. 3.
    ///    Each party commits \[K21\] to sigma_i = sum chi_j m_ij + alpha_i sum chi_j x_j, re-randomised among
    ///    three or more parties \[K20\]. 4. They open the sigma_i, whose sum must be zero.
    ///
    /// Adversary: n - 1 malicious, rushing. An honest party accepts a wrong opening with probability at most
    /// n/|F|: either the random combination of the errors is zero, or the adversary guessed alpha. It has one
    /// guess for each honest party, at most n - 1, because commitments are not echoed. (A single honest
    /// party: 2/|F|.) The coin is tossed after all openings, the commitments follow the coin, and no party
    /// can derive its own sigma from the others'. A failure destroys alpha in all strands of the session.
    /// Cost: 3 rounds, 4 among three or more parties.
    ///
    /// After a failure of any kind the session is over, and what was opened is still owed: a second attempt
    /// would otherwise find nothing to check, and pass.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] if a value or a MAC is wrong; [`Abort::Unfit`] if the stock cannot record that
    /// alpha is at risk.
    #[inline(never)]
    pub fn check(&mut self) -> Result<(), Abort> {
        let phase = self.session.detour(VERIFICATION_PHASE);
        let result = self.check_here();
        self.session.back(phase);
        result
    }

    /// The check of what preprocessing opened, before any of its results is handed out: a wrong D, e or rho
    /// would make wrong values with right MACs \[K17\].
    #[inline(never)]
    pub(crate) fn check_opened(&mut self) -> Result<(), Abort> {
        self.session.observe(checks::K17); // [K17]
        self.check_here()
    }

    /// The check, counted under the current phase, as that of outputs is.
    #[inline(never)]
    pub(crate) fn check_here(&mut self) -> Result<(), Abort> {
        if self.ledger.x.is_empty() {
            return Ok(());
        }
        match self.passes() {
            Ok(()) => {
                self.pay_ledger();
                Ok(())
            }
            Err(abort) => Err(self.session.fail(abort)),
        }
    }

    /// The steps of the check; the ledger stays as it is.
    fn passes(&mut self) -> Result<(), Abort> {
        // 1.
        if let Some(views) = self.ledger.views.take() {
            views.send(&mut self.session)?.compare(&mut self.session, checks::K1)?; // [K1]
        }
        // 2.
        let coin = self.coins.toss(&mut self.session, COIN)?;
        // 3.
        let entered = || self.ledger.x.len().min(self.ledger.m.len());
        self.session.covers(checks::K4, || <F as Field>::BITS * entered());
        let [x, m] = combinations(&coin, [&self.ledger.x, &self.ledger.m]);
        let alpha = Zeroizing::new(self.alpha()?);
        let mut sigma = Zeroizing::new([m + *alpha * x]);
        self.randomise(&mut *sigma);
        let ours = Zeroizing::new(sigma[0].to_le_bytes().as_ref().to_vec());
        let index = self.session.count(COMMIT.name);
        let (commitment, nonce) = self.session.commit(COMMIT, index, &ours);
        let peers = self.session.peers();
        for peer in &peers {
            self.session.send(COMMIT, *peer, &commitment.0, 0)?;
        }
        let mut commitments = Vec::with_capacity(peers.len());
        for peer in &peers {
            let mut commitment = Commitment([0; 32]);
            self.session.recv(COMMIT, *peer, &mut commitment.0)?;
            commitments.push(commitment);
        }
        // 4.
        self.at_risk(true)?;
        let mut opening = Zeroizing::new(nonce.as_bytes().to_vec());
        opening.extend_from_slice(&ours);
        for peer in &peers {
            self.session.send(OPEN, *peer, &opening, 0)?;
        }
        let mut sum = *sigma;
        for (peer, commitment) in peers.iter().zip(&commitments) {
            let mut opening = vec![0; 32 + F::BYTES];
            self.session.recv(OPEN, *peer, &mut opening)?;
            let (nonce, theirs) = opening.split_at(32);
            let nonce = nonce.first_chunk().unwrap_or(&[0; 32]);
            self.session.opened(checks::K21, COMMIT, index, *peer, commitment, nonce, theirs)?; // [K21]
            let fine = F::add_packed(theirs, &mut sum);
            self.session.well_formed(OPEN, *peer, opening.len(), fine)?;
        }
        let zero = taint::verdict(OPEN, bool::from(sum[0].ct_eq(&F::ZERO)));
        self.session.require(checks::K4, OPEN, zero, None)?; // [K4]
        self.at_risk(false)?;
        self.session.observe(checks::K9B); // [K9b]
        let error = self.session.parties() as f64 / 2.0_f64.powi(<F as Field>::BITS as i32);
        self.session.meter().verification_error(error);
        Ok(())
    }
}

/// For each of the lists, the sum of chi_j times element j; the chi_j come from the coin.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn combinations<F: Mac>(coin: &[u8; 16], lists: [&[F]; 2]) -> [F; 2] {
    let mut prg = Prg::of(purposes::MACS, coin);
    let mut words = vec![0; CHUNK * F::WORDS];
    let mut chi = [F::ZERO; CHUNK];
    let mut sums = [F::ZERO; 2];
    for (x, m) in lists[0].chunks(CHUNK).zip(lists[1].chunks(CHUNK)) {
        prg.words(&mut words[..x.len() * F::WORDS]);
        let chi = &mut chi[..x.len()];
        F::from_words(chi, &words[..x.len() * F::WORDS]);
        sums = [sums[0] + F::dot(chi, x), sums[1] + F::dot(chi, m)];
    }
    sums
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod long;
#[cfg(test)]
#[cfg(feature = "testing")]
mod tests;
