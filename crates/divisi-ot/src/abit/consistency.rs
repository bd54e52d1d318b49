//! The proof that each party uses the same Delta towards all others (WRK17, Figure 15, step 3). It runs once
//! in each session of three or more parties.
//!
//! It uses up rho positions r; x^k_r is party k's bit there.
//!
//! (a) P_i commits to S = sum over k of K_i\[x^k_r\], to S + Delta_i, and to its own bits with their MACs;
//! the commitments are broadcast.
//! (b) When all commitments are here and their echoes agree, P_i opens its bits and MACs.
//! (c) P_i demands that each opened bit has its MAC under Delta_i. With b = sum over k of x^k_r it then opens
//! S + b Delta_i, and not the other commitment.
//! (d) For each j, the value that P_j opened must be the sum of all M_j\[x^k_r\].
//!
//! The paper's figure lacks the demand in (c). Without it the opening reveals Delta_i: a party that opens a
//! flipped bit gets S + (b + 1) Delta_i, and it computes S + b Delta_i from the MACs (docs/garbling.md, 5).

use crate::checks;
use crate::delta::{Delta, Deltas, mask};
use crate::softspoken::TILE;
use crate::softspoken::layout::MACS;
use crate::vole::{ByGroup, Columns, PairRows};
use divisi_core::{
    Abort, Check, Commitment, Difference, Echo, Echoed, Nonce, PartyId, Session, Step, step, taint,
};
use zeroize::{Zeroize, Zeroizing};

const COMMIT: Step = step!("commit");
const ECHO: Step = step!("echo");
const BITS: Step = step!("bits");
const SUMS: Step = step!("sums");

/// A party's commitments of (a), and what we keep of a peer's.
struct Commitments {
    /// For each r the commitments to S and to S + Delta.
    sums: Vec<[Commitment; 2]>,
    bits: Commitment,
}

impl Commitments {
    fn write(&self) -> Vec<u8> {
        self.sums.iter().flatten().chain([&self.bits]).flat_map(|commitment| commitment.0).collect()
    }

    fn read(bytes: &[u8]) -> Commitments {
        let all: Vec<Commitment> = bytes.as_chunks().0.iter().map(|hash| Commitment(*hash)).collect();
        let (pairs, last) = all.as_chunks::<2>();
        Commitments { sums: pairs.to_vec(), bits: last.first().copied().unwrap_or(Commitment([0; 32])) }
    }
}

/// Our state in the proof, after (a).
pub(crate) struct Proof {
    rho: usize,
    /// Our bits: bit r of the word is x^i_r.
    x: u128,
    /// M_k\[x^i_r\] and K_i\[x^k_r\], by index of party k and by r.
    macs: Vec<Vec<u128>>,
    keys: Vec<Vec<u128>>,
    /// S and S + Delta for each r, with the nonces that open their commitments.
    sums: Vec<[(u128, Nonce); 2]>,
    ours: Commitments,
    nonce: Option<Nonce>,
    /// The peers' commitments, by party index.
    theirs: Vec<Option<Commitments>>,
    /// What the peers opened in (b), by party index.
    opened: Vec<Vec<u8>>,
}

/// The state when all commitments are here and we have sent our echo of them.
pub(crate) struct EchoSent(Proof, Echoed);

/// The state when all parties have received the same commitments.
pub(crate) struct Confirmed(Proof);

/// The state when we have opened our bits and MACs.
pub(crate) struct Opened(Proof);

impl Proof {
    /// (a): commits to the values at the positions of one tile.
    pub(crate) fn commit(
        session: &mut Session,
        rho: u32,
        tile: usize,
        bits: &[u128],
        made: &PairRows<Columns>,
        delta: &Delta,
    ) -> Result<Proof, Abort> {
        let rho = (rho as usize).min(TILE);
        let rows = |columns: &ByGroup<Columns>| match &columns[MACS] {
            Some(columns) => columns.peek(tile)[..rho].to_vec(),
            None => Vec::new(),
        };
        let macs: Vec<_> = made.macs.iter().map(rows).collect();
        let keys: Vec<_> = made.keys.iter().map(rows).collect();
        // positions of the sacrificed tile beyond rho are not used
        let x = bits.get(tile).copied().unwrap_or(0) & low_bits(rho);
        let sums = (0..rho).map(|r| keys.iter().filter_map(|keys| keys.get(r)).fold(0, |sum, key| sum ^ key));
        let sums: Zeroizing<Vec<[u128; 2]>> =
            Zeroizing::new(sums.map(|sum| [sum, sum ^ delta.get()]).collect());
        let parties = session.parties();
        let mut proof = Proof {
            rho,
            x,
            macs,
            keys,
            // the capacity is complete at once: a vector that grows would leave copies of S beside S + Delta
            // behind
            sums: Vec::with_capacity(rho),
            ours: Commitments { sums: Vec::new(), bits: Commitment([0; 32]) },
            nonce: None,
            theirs: (0..parties).map(|_| None).collect(),
            opened: vec![Vec::new(); parties],
        };
        for (r, values) in sums.iter().enumerate() {
            let commit = |b: usize| session.commit(SUMS, (2 * r + b) as u64, &values[b].to_le_bytes());
            let [(zero, open_zero), (one, open_one)] = [commit(0), commit(1)];
            proof.ours.sums.push([zero, one]);
            proof.sums.push([(values[0], open_zero), (values[1], open_one)]);
        }
        let payload = Zeroizing::new(payload(x, &proof.macs));
        let (bits, nonce) = session.commit(BITS, 0, &payload);
        (proof.ours.bits, proof.nonce) = (bits, Some(nonce));
        let message = proof.ours.write();
        for peer in session.peers() {
            session.send(COMMIT, peer, &message, 0)?;
        }
        Ok(proof)
    }

    /// Receives all commitments and echoes them.
    pub(crate) fn receive(mut self, session: &mut Session) -> Result<EchoSent, Abort> {
        self.receive_commitments(session)?;
        let mut echo = Echo::new(session, ECHO);
        for party in PartyId::all(session.parties()) {
            let theirs = self.theirs[party.index()].as_ref().unwrap_or(&self.ours);
            echo.absorb(party, &theirs.write());
        }
        session.observe(checks::W8); // [W8] we have opened nothing yet
        let echoed = echo.send(session)?;
        Ok(EchoSent(self, echoed))
    }

    fn send_bits(&self, session: &mut Session) -> Result<(), Abort> {
        let mut message = self.nonce.as_ref().map_or(Vec::new(), |nonce| nonce.as_bytes().to_vec());
        message.extend_from_slice(&payload(self.x, &self.macs));
        for peer in session.peers() {
            session.send(BITS, peer, &message, 0)?;
        }
        message.zeroize();
        Ok(())
    }

    fn receive_commitments(&mut self, session: &mut Session) -> Result<(), Abort> {
        let mut message = vec![0; 32 * (2 * self.rho + 1)];
        for peer in session.peers() {
            session.recv(COMMIT, peer, &mut message)?;
            self.theirs[peer.index()] = Some(Commitments::read(&message));
        }
        Ok(())
    }

    fn receive_bits(&mut self, session: &mut Session) -> Result<(), Abort> {
        for peer in session.peers() {
            let message = &mut self.opened[peer.index()];
            message.resize(32 + 16 + (session.parties() - 1) * self.rho * 16, 0);
            session.recv(BITS, peer, message)?;
        }
        Ok(())
    }
}

impl EchoSent {
    /// Compares the echoes of the commitments.
    pub(crate) fn confirm(self, session: &mut Session) -> Result<Confirmed, Abort> {
        let EchoSent(proof, echoed) = self;
        echoed.compare(session, checks::W7)?; // [W7]
        Ok(Confirmed(proof))
    }
}

impl Confirmed {
    /// (b): opens our bits and their MACs.
    pub(crate) fn open_bits(self, session: &mut Session) -> Result<Opened, Abort> {
        self.0.send_bits(session)?;
        Ok(Opened(self.0))
    }
}

impl Opened {
    /// (c) and (d): receives all bits, opens our sums, and checks everybody's.
    ///
    /// Failures are reported as `check`: \[W10\], or \[K12\] over a field.
    pub(crate) fn settle(self, session: &mut Session, check: Check, deltas: &Deltas) -> Result<(), Abort> {
        let mut proof = self.0;
        let (n, me, rho) = (session.parties(), session.me(), proof.rho);
        // opened bits and MACs of all parties, with ours
        let mut bits = vec![0; n];
        let mut macs = vec![vec![Vec::new(); n]; n];
        taint::public(BITS, std::slice::from_mut(&mut proof.x));
        bits[me.index()] = proof.x;
        macs[me.index()] = std::mem::take(&mut proof.macs);
        proof.receive_bits(session)?;
        for peer in session.peers() {
            let (nonce, rest) = proof.opened[peer.index()].split_at(32);
            let nonce = nonce.try_into().unwrap_or([0; 32]);
            let Some(theirs) = &proof.theirs[peer.index()] else { continue };
            session.opened(checks::W8, BITS, 0, peer, &theirs.bits, &nonce, rest)?; // [W8]
            let words: Vec<u128> = rest.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word)).collect();
            let x = words[0] & low_bits(rho);
            // (c), with the demand that the paper lacks: each bit has its MAC under our Delta
            let others = PartyId::all(n).filter(|party| *party != peer);
            for (party, rows) in others.zip(words[1..].chunks_exact(rho)) {
                macs[peer.index()][party.index()] = rows.to_vec();
            }
            let mut wrong = Difference::default();
            wrong.add(x ^ words[0]);
            for (r, (mac, key)) in
                macs[peer.index()][me.index()].iter().zip(&proof.keys[peer.index()]).enumerate()
            {
                wrong.add(mac ^ key ^ (deltas.macs(peer) & mask((x >> r) as u64)));
            }
            let right = taint::verdict(BITS, wrong.is_zero());
            session.require(check, BITS, right, Some(peer))?; // [W10] [K12]
            bits[peer.index()] = x;
        }
        // (c): exactly one commitment of each pair is opened
        session.observe(checks::W9); // [W9]
        let others = |party: PartyId| {
            PartyId::all(n).filter(move |k| *k != party).fold(0, |sum, k| sum ^ bits[k.index()])
        };
        let ours = others(me);
        let mut message = Vec::with_capacity(rho * 48);
        for (r, pair) in proof.sums.iter().enumerate() {
            let (value, nonce) = &pair[(ours >> r & 1) as usize];
            message.extend_from_slice(nonce.as_bytes());
            message.extend_from_slice(&value.to_le_bytes());
        }
        for peer in session.peers() {
            session.send(SUMS, peer, &message, 0)?;
        }
        // (d)
        for peer in session.peers() {
            session.recv(SUMS, peer, &mut message)?;
            let Some(theirs) = &proof.theirs[peer.index()] else { continue };
            let b = others(peer);
            let mut wrong = Difference::default();
            for (r, (opened, committed)) in message.chunks_exact(48).zip(&theirs.sums).enumerate() {
                let bit = (b >> r & 1) as usize;
                let (nonce, value) = opened.split_at(32);
                let nonce = nonce.try_into().unwrap_or([0; 32]);
                let index = (2 * r + bit) as u64;
                session.opened(checks::W9, SUMS, index, peer, &committed[bit], &nonce, value)?; // [W9]
                let value = value.try_into().map_or(0, u128::from_le_bytes);
                let sum = PartyId::all(n)
                    .filter(|k| *k != peer)
                    .fold(0, |sum, k| sum ^ macs[k.index()][peer.index()].get(r).copied().unwrap_or(0));
                wrong.add(value ^ sum);
            }
            // the cheater is the prover, or one of the parties whose MACs were added: nobody is named
            let right = taint::verdict(SUMS, wrong.is_zero());
            session.require(check, SUMS, right, None)?; // [W10] [K12]
        }
        session.observe(checks::W11); // [W11] the caller drops the rho positions that were used
        // a party with two Deltas passes each of the rho equations with probability 1/2
        session.meter().verification_error((-(rho as f64)).exp2());
        Ok(())
    }
}

impl Drop for Proof {
    fn drop(&mut self) {
        self.x.zeroize();
        self.macs.iter_mut().chain(&mut self.keys).for_each(Zeroize::zeroize);
        self.sums.iter_mut().flatten().for_each(|(value, _)| value.zeroize());
    }
}

/// The message of (b): our bits, then our MACs, peer by peer.
fn payload(x: u128, macs: &[Vec<u128>]) -> Vec<u8> {
    let words = [x].into_iter().chain(macs.iter().flatten().copied());
    words.flat_map(u128::to_le_bytes).collect()
}

/// A word whose lowest `count` bits are one.
fn low_bits(count: usize) -> u128 {
    u128::MAX.checked_shr(128 - count as u32).unwrap_or(0)
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use divisi_core::PublicParameters;
    use divisi_core::testing::memory::{Needle, alone};
    use divisi_core::testing::{Harness, MessageDirection, failed_check, many, party, run};

    /// Exactly as many bits of the sacrificed tile are opened as there are repetitions.
    #[test]
    fn as_many_bits_as_repetitions() {
        for count in 0..=128_u32 {
            let word = low_bits(count as usize);
            assert_eq!((word.count_ones(), word.trailing_ones()), (count, count));
        }
    }

    /// What a liar has of another value than its own, in one bit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Other {
        Nothing,
        Delta,
        /// A MAC under the Delta of the last party, or of P_1 if the liar is the last.
        Mac,
    }

    const RHO: u32 = 40;

    fn delta_of(party: PartyId) -> u128 {
        word("delta", [party; 2], 0) & !1 | crate::delta::lowest_bit(party)
    }

    /// Whose bit, whose key, and which row: a word that looks random.
    fn word(what: &str, of: [PartyId; 2], row: usize) -> u128 {
        let name = format!("{what} {} {} {row}", of[0], of[1]);
        blake3::hash(name.as_bytes()).as_bytes().first_chunk().map_or(0, |word| u128::from_le_bytes(*word))
    }

    /// How each of n parties ends the proof over rows of which the liar has something else, in this bit.
    fn ends(n: usize, liar: PartyId, other: Other, bit: usize) -> Vec<Result<(), Abort>> {
        let harness = Harness::new(n, &PublicParameters::new("tests of one delta"));
        let last = party(n as u8);
        let deceived = if liar == last { party(1) } else { last };
        let told = harness.recording(deceived);
        let ends = harness.act(|mut session| {
            let session = &mut session;
            let me = session.me();
            let lies = |what| u128::from(other == what && me == liar) << bit;
            let x = |owner| word("x", [owner; 2], 0);
            let rows = |peer: PartyId, row: &dyn Fn(usize) -> u128| {
                [(peer != me).then(|| Columns::of_rows(std::array::from_fn(row))), None]
            };
            let lie = |peer, r| {
                if (peer, r) == (deceived, bit % RHO as usize) { lies(Other::Mac) } else { 0 }
            };
            let mac = |peer, r| {
                word("key", [me, peer], r) ^ delta_of(peer) & mask((x(me) >> r) as u64) ^ lie(peer, r)
            };
            let made = PairRows {
                macs: PartyId::all(n).map(|peer| rows(peer, &|r| mac(peer, r))).collect(),
                keys: PartyId::all(n).map(|peer| rows(peer, &|r| word("key", [peer, me], r))).collect(),
            };
            let used = Delta::uniform(128, |out| *out = delta_of(me).to_le_bytes());
            let told = Delta::uniform(128, |out| *out = (delta_of(me) ^ lies(Other::Delta)).to_le_bytes());
            let proof = Proof::commit(session, RHO, 0, &[x(me)], &made, &told)?;
            let confirmed = proof.receive(session)?.confirm(session)?;
            confirmed.open_bits(session)?.settle(session, checks::W10, &Deltas::labels(4, used))
        });
        // whoever opened a flipped bit learns the Delta from the sums
        assert!(other != Other::Mac || told.of(MessageDirection::Out, SUMS.name).is_empty(), "{bit}");
        ends
    }

    /// \[Q17\] The bits, MACs, keys and sums of every proof are wiped at its end, not of the first one alone.
    #[test]
    fn nothing_is_left_of_a_proof() {
        let _alone = alone();
        let needle = Needle::new(82, true);
        let ends = run(2, &PublicParameters::new("tests of one delta"), |session| {
            let nonce = || session.commit(SUMS, 0, &[]).1;
            let proof = || Proof {
                rho: 1,
                x: 0,
                macs: vec![vec![0; 3]; 2],
                keys: vec![vec![0; 3]; 2],
                sums: (0..3).map(|_| [(0, nonce()), (0, nonce())]).collect(),
                ours: Commitments { sums: Vec::new(), bits: Commitment([0; 32]) },
                nonce: None,
                theirs: Vec::new(),
                opened: Vec::new(),
            };
            let mut proofs = vec![proof(), proof()];
            for proof in &mut proofs {
                let rows = proof.macs.iter_mut().chain(&mut proof.keys).flatten();
                let sums = proof.sums.iter_mut().flatten().map(|(value, _)| value);
                for place in rows.chain(sums).chain([&mut proof.x]) {
                    let mut bytes = Zeroizing::new([0; 16]);
                    needle.plant(&mut bytes);
                    *place = u128::from_le_bytes(*bytes);
                }
            }
            drop(std::hint::black_box(proofs));
            Ok(())
        });
        assert!(ends.iter().all(Result::is_ok));
        assert_eq!(needle.copies().ok(), Some(Vec::new()));
    }

    /// A Delta or a MAC that differs in one bit is found by an honest party, whichever bit it is.
    #[test]
    fn every_bit_of_a_delta_is_looked_at() {
        assert!(ends(3, party(1), Other::Nothing, 0).iter().all(Result::is_ok));
        many(128, 2, |bit| {
            for other in [Other::Delta, Other::Mac] {
                let ends = ends(3, party(1), other, bit);
                let mut found = ends[1..].iter().filter(|end| failed_check(end) == Some(checks::W10));
                assert!(found.next().is_some(), "{other:?} {bit}: {ends:?}");
                assert!(ends[1..].iter().all(Result::is_err), "{other:?} {bit}: {ends:?}");
            }
        });
    }

    /// The same of a liar at any place among five parties.
    #[test]
    fn every_party_is_held_to_one_delta() {
        for (at, other) in (0..5).flat_map(|at| [Other::Delta, Other::Mac].map(|other| (at, other))) {
            let ends = ends(5, party(1 + at), other, 77);
            let honest = || (0..).zip(&ends).filter(|(place, _)| *place != at).map(|(_, end)| end);
            assert!(honest().all(Result::is_err), "{other:?} {at}: {ends:?}");
            assert!(honest().any(|end| failed_check(end) == Some(checks::W10)), "{other:?} {at}: {ends:?}");
        }
    }
}
