//! Shared numbers modulo p, one in each lane: operations without messages, and openings.

use crate::origin::Origin;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Lanes, Misuse, PartyId, Session, Step, step, taint};
use divisi_field::zp::Modulus;
use zeroize::Zeroizing;

const GATHER: Step = step!("open.gather");
const TELL: Step = step!("open.tell");
const REDUCED: Step = step!("reduced");

/// One party's share of a number in each lane, reduced modulo p. In each lane the shares of all parties add
/// up to the number. A share that a session made belongs to it, and every other session refuses it. A share
/// that the caller made belongs to no session.
#[derive(Clone, Debug)]
pub struct Num(WipedVec<u64>, Origin);

impl Num {
    /// Shares that a caller made, each below p.
    #[must_use]
    pub fn new(shares: WipedVec<u64>) -> Num {
        Num(shares, Origin::Brought)
    }

    /// Shares of zero.
    #[must_use]
    pub fn zero(lanes: usize) -> Num {
        Num(WipedVec::zeros(lanes), Origin::Brought)
    }

    /// Marks the shares as made by this session.
    pub(crate) fn made(mut self, session: &Session) -> Num {
        self.1 = self.1.and(Origin::of(session));
        self
    }

    /// Demands that this session accepts the shares: no other session made them, and each is below p, because
    /// a mask below p does not hide a larger number. Takes the same time for all shares.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if another session made them, or if a share is not below p.
    pub(crate) fn admit(&self, session: &Session, p: Modulus, step: Step) -> Result<(), Abort> {
        self.1.admit(session, step)?;
        if !taint::verdict(REDUCED, are_below(p, &self.0)) {
            return Err(session.misuse(step, Misuse::OutOfRange));
        }
        Ok(())
    }

    /// Our shares.
    #[must_use]
    pub fn shares(&self) -> &[u64] {
        &self.0
    }

    /// Combines two values lane by lane; `None` if lanes or sessions differ.
    fn zip(&self, other: &Num, f: impl Fn(u64, u64) -> u64) -> Option<Num> {
        let origin = self.1.and(other.1);
        (self.lanes() == other.lanes() && origin != Origin::Nowhere).then(|| {
            let mut out = self.clone();
            out.1 = origin;
            out.0.iter_mut().zip(other.0.iter()).for_each(|(x, y)| *x = f(*x, *y));
            out
        })
    }

    /// x + y; `None` if lanes or sessions differ. No messages.
    #[must_use]
    pub fn add(&self, p: Modulus, other: &Num) -> Option<Num> {
        self.zip(other, |x, y| p.add(x, y))
    }

    /// x - y; `None` if lanes or sessions differ. No messages.
    #[must_use]
    pub fn sub(&self, p: Modulus, other: &Num) -> Option<Num> {
        self.zip(other, |x, y| p.sub(x, y))
    }

    /// c x for a public c below p. No messages.
    #[must_use]
    pub fn scale(&self, p: Modulus, c: u64) -> Num {
        let mut out = self.clone();
        p.scale(&mut out.0, c);
        out
    }

    /// x + c for public numbers below p, one for each lane: the first party adds them. `None` if there is not
    /// one for each lane. No messages.
    #[must_use]
    pub fn add_public(&self, p: Modulus, me: PartyId, c: &[u64]) -> Option<Num> {
        (c.len() == self.lanes()).then(|| {
            let mut out = self.clone();
            if me.index() == 0 {
                p.add_assign(&mut out.0, c);
            }
            out
        })
    }

    /// The sum over all lanes, in one lane. No messages.
    #[must_use]
    pub fn sum(&self, p: Modulus) -> Num {
        let mut out = Num(WipedVec::zeros(1), self.1);
        out.0[0] = self.0.iter().fold(0, |sum, x| p.add(sum, *x));
        out
    }

    /// Removes the lanes from `at` on, and returns them.
    pub(crate) fn split_off(&mut self, at: usize) -> Num {
        let at = at.min(self.lanes());
        let taken = Num(WipedVec::from(&self.0[at..]), self.1);
        self.0 = WipedVec::from(&self.0[..at]);
        taken
    }

    /// The lanes of all parts, one part behind the other.
    #[must_use]
    pub fn join(parts: &[&Num]) -> Num {
        let mut out = WipedVec::zeros(parts.iter().map(|part| part.lanes()).sum());
        let mut rest = &mut out[..];
        for part in parts {
            let (now, later) = rest.split_at_mut(part.lanes());
            now.copy_from_slice(&part.0);
            rest = later;
        }
        Num(out, parts.iter().fold(Origin::Brought, |origin, part| origin.and(part.1)))
    }
}

impl Lanes for Num {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, index: &[usize]) -> Option<Num> {
        let mut out = WipedVec::zeros(index.len());
        for (out, lane) in out.iter_mut().zip(index) {
            *out = *self.0.get(*lane)?;
        }
        Some(Num(out, self.1))
    }
}

/// Opens shared numbers, as in section 3.1: every party sends its shares to one party, which adds them up and
/// sends the sums to all. Another party does so in each opening. Two rounds; for each number every other
/// party sends one number to this party and gets one back.
///
/// # Errors
/// [`Abort::Misuse`] if another session made the shares, or if one is not below p; the abort that ends the
/// session, also if a peer's number is not below p.
pub fn open(session: &mut Session, p: Modulus, x: &Num) -> Result<Vec<u64>, Abort> {
    x.admit(session, p, GATHER)?;
    let turn = session.count("open numbers") as usize % session.parties().max(1);
    let Some(adder) = PartyId::all(session.parties()).nth(turn) else {
        return Err(session.misuse(GATHER, Misuse::PartyCount));
    };
    let bits = x.lanes() as u64 * u64::from(p.bits());
    let mut sum = Zeroizing::new(x.shares().to_vec());
    if session.me() == adder {
        for peer in session.peers() {
            let theirs = receive_numbers(session, p, GATHER, peer, x.lanes())?;
            p.add_assign(&mut sum, &theirs);
        }
        taint::public(GATHER, &mut sum);
        let body = pack(p, &sum);
        for peer in session.peers() {
            session.send(TELL, peer, &body, bits)?;
        }
    } else {
        session.send(GATHER, adder, &pack(p, &sum), bits)?;
        *sum = receive_numbers(session, p, TELL, adder, x.lanes())?;
    }
    session.meter().opened(x.lanes() as u64);
    Ok(sum.to_vec())
}

/// Send all shares to the receivers, which alone learn the numbers; the others get `None`. For outputs
/// \[G11\].
///
/// # Errors
/// It fails as [`open`] does.
pub fn open_to(
    session: &mut Session,
    p: Modulus,
    receivers: &[PartyId],
    x: &Num,
) -> Result<Option<Vec<u64>>, Abort> {
    send_to(session, p, receivers, x)?.receive(session)
}

/// The first half of an output: our shares go to the receivers \[G11\]. Outputs to several groups share a
/// round if all are sent before one is received, in the same order at all parties.
///
/// # Errors
/// It fails as [`open`] does.
pub fn send_to(
    session: &mut Session,
    p: Modulus,
    receivers: &[PartyId],
    x: &Num,
) -> Result<SentNumbers, Abort> {
    x.admit(session, p, TELL)?;
    session.observe(crate::checks::G11); // [G11]
    let told = |party: &PartyId| receivers.contains(party);
    let (body, bits) = (pack(p, x.shares()), x.lanes() as u64 * u64::from(p.bits()));
    for peer in session.peers().into_iter().filter(told) {
        session.send(TELL, peer, &body, bits)?;
    }
    let (is_told, learns) = (told(&session.me()), receivers.contains(&session.me()));
    Ok(SentNumbers { p, sum: Zeroizing::new(x.shares().to_vec()), is_told, learns })
}

/// An output of which our shares were sent, and those of the others are not received yet.
#[must_use]
pub struct SentNumbers {
    p: Modulus,
    sum: Zeroizing<Vec<u64>>,
    is_told: bool,
    learns: bool,
}

impl SentNumbers {
    /// The second half of an output: the numbers, at the receivers.
    ///
    /// # Errors
    /// It fails as [`open`] does.
    pub fn receive(self, session: &mut Session) -> Result<Option<Vec<u64>>, Abort> {
        let SentNumbers { p, mut sum, is_told, learns } = self;
        if !is_told {
            return Ok(None);
        }
        for peer in session.peers() {
            let theirs = receive_numbers(session, p, TELL, peer, sum.len())?;
            p.add_assign(&mut sum, &theirs);
        }
        taint::public(TELL, &mut sum);
        session.meter().opened(sum.len() as u64);
        Ok(learns.then(|| sum.to_vec()))
    }
}

/// Whether all numbers are below p, which is below 2^63: without a branch, and all of them are looked at.
fn are_below(p: Modulus, numbers: &[u64]) -> bool {
    // the highest bit of !x and of x - p: x is below 2^63, and is less than p
    numbers.iter().fold(u64::MAX, |all, x| all & !x & x.wrapping_sub(p.get())) >> 63 == 1
}

/// Packs numbers below p, each in exactly the bits of p, the lowest bit first.
pub(crate) fn pack(p: Modulus, numbers: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(Vec::with_capacity(length(p, numbers.len()) + 8));
    let (mut waiting, mut filled) = (0_u128, 0);
    for number in numbers {
        waiting |= u128::from(*number) << filled;
        filled += p.bits();
        while filled >= 8 {
            out.push(waiting as u8);
            waiting >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(waiting as u8);
    }
    out
}

fn length(p: Modulus, count: usize) -> usize {
    (count * p.bits() as usize).div_ceil(8)
}

fn receive_numbers(
    session: &mut Session,
    p: Modulus,
    step: Step,
    from: PartyId,
    count: usize,
) -> Result<Vec<u64>, Abort> {
    let mut body = Zeroizing::new(vec![0; length(p, count)]);
    session.recv(step, from, &mut body)?;
    let numbers = unpack(p, &body, count);
    session.well_formed(step, from, body.len(), numbers.is_some())?;
    Ok(numbers.unwrap_or_default())
}

/// Reads numbers that [`pack`] wrote; `None` if one is not below p, or if bits after the last one are set.
pub(crate) fn unpack(p: Modulus, body: &[u8], count: usize) -> Option<Vec<u64>> {
    let (mut waiting, mut filled, mut bytes) = (0_u128, 0, body.iter());
    let (mut out, mut reduced) = (Vec::with_capacity(count), body.len() == length(p, count));
    for _ in 0..count {
        while filled < p.bits() {
            waiting |= u128::from(bytes.next().copied().unwrap_or(0)) << filled;
            filled += 8;
        }
        let number = waiting as u64 & ((1 << p.bits()) - 1);
        reduced &= number < p.get();
        out.push(number);
        waiting >>= p.bits();
        filled -= p.bits();
    }
    (reduced && waiting == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::{PublicParameters, local};
    use divisi_field::zp::{P16, P32, P62};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The first party alone adds public numbers, one for each lane, in each call.
    #[test]
    fn public_numbers_are_added_by_the_first_party() {
        let (p, share) = (Modulus::new(P16).unwrap(), Num::new(WipedVec::from(&[5, P16 - 1][..])));
        for (me, sums) in [(0, [8, 1]), (1, [5, P16 - 1]), (2, [5, P16 - 1]), (0, [8, 1])] {
            let me = PartyId::from_index(me).unwrap();
            assert_eq!(share.add_public(p, me, &[3, 2]).unwrap().shares(), sums);
            for wrong in [0, 1, 3, 258] {
                assert!(share.add_public(p, me, &vec![0; wrong]).is_none(), "{wrong}");
            }
        }
    }

    #[test]
    fn numbers_take_exactly_their_bits() {
        for p in [P16, P32, P62].map(|p| Modulus::new(p).unwrap()) {
            for count in [0, 1, 2, 9] {
                let numbers: Vec<u64> = (0..count as u64).map(|i| p.get() - 1 - i * 77).collect();
                assert_eq!(pack(p, &numbers).len(), length(p, count));
            }
        }
    }

    #[test]
    fn a_number_that_is_not_below_p_is_found_anywhere() {
        for p in [P16, P32, P62].map(|p| Modulus::new(p).unwrap()) {
            let small = [0, 1, p.get() - 1, p.get() / 2, 2];
            assert!(are_below(p, &small) && are_below(p, &[]));
            for large in [p.get(), p.get() + 1, 2 * p.get(), 1 << 62, 1 << 63, (1 << 63) + 1, u64::MAX] {
                for at in 0..small.len() {
                    let mut numbers = small;
                    numbers[at] = large;
                    assert!(!are_below(p, &numbers), "{large} at {at}");
                }
            }
        }
    }

    /// The same in a long list, also of a peer.
    #[test]
    fn a_number_that_is_not_below_p_is_found_in_a_long_list() {
        let p = Modulus::new(P16).unwrap();
        let (count, powers) = (1 << 17, (0..17).map(|i| 1 << i));
        let mut numbers = vec![p.get() - 1; count];
        assert!(are_below(p, &numbers) && unpack(p, &pack(p, &numbers), count).is_some());
        for at in powers.chain([0, count - 1]) {
            numbers[at] = p.get();
            assert!(!are_below(p, &numbers) && unpack(p, &pack(p, &numbers), count).is_none(), "at {at}");
            numbers[at] = p.get() - 1;
        }
    }

    /// And among the shares that a session accepts.
    #[test]
    fn shares_are_below_p_in_all_their_lanes() {
        let (p, looked) = (Modulus::new(P16).unwrap(), AtomicUsize::new(0));
        // whoever is first ends the session, perhaps before the other one is in it
        let _ = local::run(2, &PublicParameters::new("shares"), |session| {
            for at in [0, 63, 64, 130, 4999] {
                let mut shares = vec![p.get() - 1; 5000];
                shares[at] = p.get();
                let end = Num::new(WipedVec::from(&shares[..])).admit(&session, p, REDUCED);
                assert!(matches!(end, Err(Abort::Misuse { what: Misuse::OutOfRange, .. })), "{at}");
                looked.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        assert!(looked.into_inner() >= 5);
    }

    #[test]
    fn sums_and_lanes() {
        let p = Modulus::new(P32).unwrap();
        let x = Num::new(WipedVec::from(&[1, P32 - 1, 5][..]));
        assert_eq!(x.sum(p).shares(), [5]);
        assert_eq!(x.scale(p, 2).shares(), [2, P32 - 2, 10]);
        assert_eq!(x.add(p, &x).unwrap().sub(p, &x).unwrap().shares(), x.shares());
        assert!(x.add(p, &Num::zero(2)).is_none() && x.gather(&[3]).is_none());
        assert_eq!(Num::join(&[&x, &Num::zero(1)]).gather(&[2, 3]).unwrap().shares(), [5, 0]);
    }
}
