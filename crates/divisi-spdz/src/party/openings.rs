//! Openings: each party sends its share of the opened value, and the sum of all shares goes into the next
//! check.

use super::Party;
use crate::checks;
use crate::part::{Embeds, Mac, Shareable, Word32};
use crate::share::Auth;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, PartyId, Step, taint};
use divisi_field::Gf8;
use zeroize::Zeroizing;

/// Values whose shares were sent to all.
#[must_use = "what the peers sent must be received"]
pub(crate) struct SentShares<V: Shareable> {
    step: Step,
    ours: WipedVec<V>,
}

impl<F: Mac> Party<F> {
    /// Send our shares of the values that are opened to all parties. Among three or more parties the shares
    /// are re-randomised by a fresh sharing of zero, so that they reveal nothing but their sum \[K20\].
    #[inline(never)]
    pub(crate) fn send_shares<V: Shareable>(&mut self, step: Step, x: &[V]) -> Result<SentShares<V>, Abort> {
        let mut ours = WipedVec::from(x.to_vec());
        self.randomise(&mut ours);
        let mut body = Vec::with_capacity(V::packed(x.len()));
        V::pack(&ours, &mut body);
        let body = WipedVec::from(body);
        if !x.is_empty() {
            for peer in self.session.peers() {
                self.session.send(step, peer, &body, (x.len() * V::BITS) as u64)?;
            }
        }
        Ok(SentShares { step, ours })
    }

    /// Add our part of a fresh sharing of zero \[K20\].
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn randomise<V: Shareable>(&mut self, x: &mut [V]) {
        if x.is_empty() || self.zeros.is_empty() {
            return;
        }
        self.session.observe(checks::K20); // [K20]
        for prg in &mut self.zeros {
            V::add_random(prg, x);
        }
    }

    /// Append our shares of a client's output to `body`, re-randomised whatever the number of parties
    /// \[K20\].
    #[cfg_attr(feature = "testing", track_caller)]
    pub(crate) fn for_client<V: Shareable>(&mut self, x: &[V], body: &mut Vec<u8>) {
        let mut ours = Zeroizing::new(x.to_vec());
        self.session.observe(checks::K20); // [K20]
        for prg in &mut self.client_zeros {
            V::add_random(prg, &mut ours);
        }
        V::pack(&ours, body);
    }

    /// Open what was sent: F_ABB's **Open** (Fig. 1), in which the adversary can choose the result. The
    /// opened values and our shares `m` of their MACs go into the next check \[K1\].
    #[inline(never)]
    pub(crate) fn receive<V: Shareable>(&mut self, sent: SentShares<V>, m: &[F]) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        self.receive_by(sent, m, F::embedded_public)
    }

    /// The same, where the caller says how the values are embedded in the field.
    pub(crate) fn receive_by<V: Shareable>(
        &mut self,
        sent: SentShares<V>,
        m: &[F],
        embed: impl Fn(V) -> F,
    ) -> Result<Vec<V>, Abort> {
        let opened = self.sum_received(sent)?;
        self.enter(opened.iter().map(|x| embed(*x)), m);
        Ok(opened)
    }

    /// Put opened values into the next check, with our shares of their MACs.
    pub(crate) fn enter(&mut self, x: impl Iterator<Item = F>, m: &[F]) {
        self.ledger.note(x, m);
        self.session.meter().opened(m.len() as u64);
    }

    /// Open pieces in one round. Of each piece exactly as many bits are sent as `widths` says: lane by lane
    /// those of the first piece, then those of the others.
    #[inline(never)]
    pub(crate) fn open_pieces(
        &mut self,
        step: Step,
        pieces: &[Auth<Word32, F>],
        widths: &[usize],
    ) -> Result<Vec<Vec<Word32>>, Abort> {
        let all: Vec<(&Auth<Word32, F>, usize)> = pieces.iter().zip(widths.iter().copied()).collect();
        let bits: usize = all.iter().map(|(piece, width)| piece.len() * width).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(bits / 8 + 8));
        pack(all.iter().map(|(piece, width)| (&piece.x[..], *width)), &mut bytes);
        let sent = self.send_shares(step, &bytes)?;
        let opened = self.sum_received(sent)?;
        let shape: Vec<(usize, usize)> = all.iter().map(|(piece, width)| (piece.len(), *width)).collect();
        let (out, filled) = unpack(&opened, &shape);
        for ((piece, _), words) in all.iter().zip(&out) {
            self.enter(words.iter().map(|word| F::embedded(*word)), &piece.m);
        }
        // the bits that fill the last byte are shares of zero
        self.session.require(checks::K8, step, filled, None)?; // [K8]
        Ok(out)
    }

    /// The sums of the shares that all parties sent, ours included.
    #[inline(never)]
    pub(crate) fn sum_received<V: Shareable>(&mut self, sent: SentShares<V>) -> Result<Vec<V>, Abort> {
        let SentShares { step, ours } = sent;
        // the peers' shares are added to ours
        let mut opened = ours.into_vec();
        if opened.is_empty() {
            return Ok(opened);
        }
        let mut body = vec![0; V::packed(opened.len())];
        for peer in self.session.peers() {
            self.session.recv(step, peer, &mut body)?;
            let fine = V::add_packed(&body, &mut opened);
            self.session.require(checks::K8, step, fine, Some(peer))?; // [K8]
        }
        taint::public(step, &mut opened);
        if let Some(views) = &mut self.ledger.views {
            body.clear();
            V::pack(&opened, &mut body);
            // the sum of all shares is recorded as if the first party had sent it
            views.absorb(PartyId::all(1).next().unwrap_or(self.session.me()), &body);
        }
        Ok(opened)
    }

    /// Open values to all, in one round.
    #[inline(never)]
    pub(crate) fn open<V: Shareable>(&mut self, step: Step, x: &[V], m: &[F]) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        let sent = self.send_shares(step, x)?;
        self.receive(sent, m)
    }
}

/// Append the words of all pieces, each of which has words of one width in bits, without gaps.
fn pack<'w>(pieces: impl Iterator<Item = (&'w [Word32], usize)>, bytes: &mut Vec<Gf8>) {
    let (mut scratch, mut used) = (0_u64, 0);
    for (words, width) in pieces {
        for word in words {
            scratch |= u64::from(word.0) << used;
            used += width;
            while used >= 8 {
                bytes.push(Gf8(scratch as u8));
                scratch >>= 8;
                used -= 8;
            }
        }
    }
    if used > 0 {
        bytes.push(Gf8(scratch as u8));
    }
}

/// Pieces of this shape (the number of words of each, and their width in bits), and whether the bits that
/// fill the last byte are zero.
fn unpack(bytes: &[Gf8], shape: &[(usize, usize)]) -> (Vec<Vec<Word32>>, bool) {
    let (mut next, mut scratch, mut used) = (bytes.iter(), 0_u64, 0);
    let mut out = Vec::with_capacity(shape.len());
    for (count, width) in shape {
        let mut words = Vec::with_capacity(*count);
        for _ in 0..*count {
            while used < *width {
                scratch |= u64::from(next.next().map_or(0, |byte| byte.0)) << used;
                used += 8;
            }
            words.push(Word32((scratch & ((1 << width) - 1)) as u32));
            scratch >>= width;
            used -= width;
        }
        out.push(words);
    }
    (out, scratch == 0)
}

#[cfg(test)]
mod fuzz {
    use super::*;

    /// Pieces that are accepted are encoded to the same bytes again.
    #[test]
    fn random_pieces() {
        let shapes = [vec![(3, 5)], vec![(7, 8), (2, 32)], vec![(1, 1), (4, 17), (9, 3)]];
        let sent = |pieces: &[Vec<Word32>], shape: &[(usize, usize)]| {
            let mut bytes = Vec::new();
            pack(pieces.iter().zip(shape).map(|(words, (_, width))| (&words[..], *width)), &mut bytes);
            bytes.iter().map(|byte| byte.0).collect::<Vec<u8>>()
        };
        let piece = |(count, width): &(usize, usize)| {
            (1..=*count as u32)
                .map(|i| Word32(i.wrapping_mul(0x9e37_79b9) >> (32 - width)))
                .collect::<Vec<_>>()
        };
        let seeds: Vec<Vec<u8>> =
            shapes.iter().map(|shape| sent(&shape.iter().map(piece).collect::<Vec<_>>(), shape)).collect();
        divisi_fuzz::run("pieces", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let mut taken = false;
            for shape in &shapes {
                let bits: usize = shape.iter().map(|(count, width)| count * width).sum();
                // a message always has the length that its receiver expects
                if bytes.len() != bits.div_ceil(8) {
                    continue;
                }
                let opened: Vec<Gf8> = bytes.iter().copied().map(Gf8).collect();
                let (pieces, filled) = unpack(&opened, shape);
                taken |= filled;
                if filled && sent(&pieces, shape) != bytes {
                    return Err("other pieces".into());
                }
            }
            Ok(taken)
        });
    }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::source::Source;
    use divisi_core::testing::{Harness, MessageDirection, failed_check, links, run};
    use divisi_core::{PublicParameters, step};
    use divisi_field::{Field, Gf2, Gf48};

    const PIECES: Step = step!("pieces");
    const ZEROS: Step = step!("zeros");

    /// The shares of zeros that three parties send in this many openings, which have as many values as the
    /// opening's number says.
    fn sent<V: Shareable>(counts: &[usize]) -> Vec<Vec<u8>>
    where
        Gf48: Embeds<V>,
    {
        let harness = Harness::new(3, &PublicParameters::new("zeros"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
            for count in counts {
                party.open(ZEROS, &vec![V::default(); *count], &vec![Gf48::ZERO; *count])?;
            }
            party.check()
        });
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let of = |(from, to): (PartyId, PartyId)| {
            recordings[from.index()].bodies(MessageDirection::Out, to, ZEROS.name)
        };
        links(3).flat_map(of).collect()
    }

    /// Among three parties each value that is opened has a fresh share of zero, also the first and the last
    /// one of an opening, however few there are.
    #[test]
    fn every_value_has_a_fresh_share_of_zero() {
        const TIMES: usize = 48;
        for count in [1, 2, 3, 7, 64, 65, 130] {
            let counts = vec![count; TIMES];
            for (width, sent) in
                [(1, sent::<Gf2>(&counts)), (8, sent::<Gf8>(&counts)), (48, sent::<Gf48>(&counts))]
            {
                for bodies in sent.chunks(TIMES) {
                    let bit = |body: &Vec<u8>, at: usize| body[at / 8] >> (at % 8) & 1;
                    for at in 0..count * width {
                        let ones = bodies.iter().filter(|body| bit(body, at) == 1).count();
                        // a fair bit is the same in all once in 2^47
                        assert!((1..TIMES).contains(&ones), "{width} bits, {count} values: bit {at}");
                    }
                }
            }
        }
    }

    /// If P_1 sees another end of a long opening than P_3, the views differ, also after checks of many
    /// values.
    #[test]
    fn views_have_all_of_a_long_opening() {
        let (many, long) = (1 << 17, 1500);
        let harness = Harness::new(3, &PublicParameters::new("long openings"));
        let id = |i| PartyId::all(3).nth(i).unwrap();
        harness.change(id(1), id(0), ZEROS.name, 0, move |body| body[6 * long - 1] ^= 1);
        let ends = harness.act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
            for count in [many, 1] {
                party.open(PIECES, &vec![Gf48::ZERO; count], &vec![Gf48::ZERO; count])?;
                party.check()?;
            }
            party.open(ZEROS, &vec![Gf48::ZERO; long], &vec![Gf48::ZERO; long])?;
            party.check()
        });
        assert!(ends.iter().all(Result::is_err), "{ends:?}");
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K1)), "{ends:?}");
    }

    /// A lie about any lane of any piece is noticed, also if its pieces are alike, and many.
    #[test]
    fn every_piece_is_checked() {
        let opened = |lie: Option<(usize, usize)>| {
            run(2, &PublicParameters::new("pieces"), |session| {
                let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
                let mut pieces = Vec::new();
                for _ in 0..70 {
                    let bits = dealer.bits(&mut party, 4)?;
                    let words = bits.x.iter().map(|bit| Word32(bit.to_bits() as u32));
                    pieces.push(Auth::<Word32, Gf48>::new(words.collect(), bits.m.clone()));
                }
                if let (Some((piece, lane)), 1) = (lie, party.me().index()) {
                    pieces[piece].x[lane] += Word32(1);
                }
                party.open_pieces(PIECES, &pieces, &[2; 70])?;
                party.check()
            })
        };
        assert!(opened(None).iter().all(Result::is_ok));
        for lie in
            [0, 1, 2, 8, 16, 32, 64, 69].into_iter().flat_map(|piece| [0, 1, 3].map(|lane| (piece, lane)))
        {
            let ends = opened(Some(lie));
            assert!(ends.iter().all(Result::is_err), "{lie:?}");
            assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{lie:?}: {ends:?}");
        }
    }
}
