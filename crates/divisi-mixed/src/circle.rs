//! A ciphertext passes around the ring of parties: GYKW, Figures 6 and 7, step 3, with section 7.1.
//!
//! Each party multiplies it by its own signs and hides them \[G1\]. If the chain of moduli has ended, the
//! party of the next hop has the ciphertext refreshed ([`divisi_bgv::refresh`]). All parties answer the
//! refreshes of a batch in their order: those before that party in the ring have finished their own hop,
//! those after it still wait for theirs. Batches on other strands continue meanwhile.

use divisi_bgv::{Ciphertext, Keys, Sampler, wire};
use divisi_core::{Abort, Misuse, PartyId, Session, Step, step};

const PASS: Step = step!("pass");
const ORDER: Step = step!("order");

/// The order of the parties in a batch; each batch begins with another party.
pub(crate) struct Order {
    pub(crate) parties: Vec<PartyId>,
    pub(crate) me: usize,
}

impl Order {
    pub(crate) fn new(session: &Session, batch: u64) -> Order {
        let mut parties: Vec<PartyId> = PartyId::all(session.parties()).collect();
        let by = (batch % parties.len().max(1) as u64) as usize;
        parties.rotate_left(by);
        let me = parties.iter().position(|party| *party == session.me()).unwrap_or(0);
        Order { parties, me }
    }

    pub(crate) fn at(&self, session: &Session, position: usize) -> Result<PartyId, Abort> {
        let none = || session.misuse(ORDER, Misuse::PartyCount);
        self.parties.get(position).copied().ok_or_else(none)
    }
}

/// The party that holds the product, the ciphertext at that party, and its factor.
pub(crate) type Product = (PartyId, Option<Ciphertext>, u64);

/// Step 3: passes a ciphertext around the ring; the last party gets the result. `first` is the first party's
/// ciphertext, at the top and with factor 1; other parties pass `None`. The ciphertext is multiplied by the
/// signs of all other parties, and by those of the first one if the parameters have a hop for it.
pub(crate) fn permute(
    session: &mut Session,
    keys: &Keys,
    sampler: &mut Sampler,
    order: &Order,
    first: Option<Ciphertext>,
    signs: &[u64],
) -> Result<Product, Abort> {
    let (ring, p) = (keys.ring(), keys.ring().parameters());
    // a party late in the order waits while all before it take their turns; those before it, after their own
    // turns, wait as long for its refresh or for the decryption
    session.set_patience(order.parties.len());
    let (me, last) = (order.me, order.parties.len().saturating_sub(1));
    // the factor of the ciphertext after this hop
    let factor_after = |hop: Option<usize>| {
        let start = hop.map_or(p.top(), |hop| p.start_of(hop));
        Ciphertext::factor_after(ring, 1, start, p.level_after(hop))
    };
    let refreshed = |position: usize| p.hop_of(position).filter(|hop| p.is_refreshed(*hop));
    let before = |hop: usize| factor_after(hop.checked_sub(1));
    let serve = |session: &mut Session, sampler: &mut Sampler, positions: std::ops::Range<usize>| {
        for position in positions {
            if let Some(hop) = refreshed(position) {
                let holder = order.at(session, position)?;
                keys.refresh(session, sampler, holder, None, before(hop), p.level_of(hop))?; // [G3]
            }
        }
        Ok::<_, Abort>(())
    };
    serve(session, sampler, 0..me)?;
    // (a) get c_{i-1}
    let mut x = match (first, me.checked_sub(1)) {
        (Some(x), None) => x,
        (None, Some(from)) => {
            let (hop, from) = (p.hop_of(from), order.at(session, from)?);
            Ciphertext::receive(session, ring, PASS, from, p.level_after(hop), factor_after(hop))? // [G10]
        }
        _ => return Err(session.misuse(PASS, Misuse::NotTheOwner)),
    };
    if let Some(hop) = refreshed(me) {
        let holder = session.me();
        let fresh = keys.refresh(session, sampler, holder, Some(&x), before(hop), p.level_of(hop))?;
        x = fresh.ok_or_else(|| session.misuse(PASS, Misuse::NotTheOwner))?;
    }
    // (b) to (d) multiply by our signs, and hide them
    if p.hop_of(me).is_some() {
        x = keys.hop(session, sampler, x, signs)?; // [G1]
    }
    let (holder, factor) = (order.at(session, last)?, factor_after(p.hop_of(last)));
    if me == last {
        return Ok((holder, Some(x), factor));
    }
    // (e) send c_i on
    let next = order.at(session, me + 1)?;
    wire::send(session, ring, PASS, next, &x.components())?;
    drop(x);
    serve(session, sampler, me + 1..last + 1)?;
    Ok((holder, None, factor))
}
