//! Pi_aBit (WRK17, Figure 14) for all parties at once, with SoftSpokenOT's check and the paper's in one.

use super::AuthBits;
use super::consistency::Proof;
use crate::delta::Deltas;
use crate::softspoken::TILE;
use crate::vole::{Ends, Rows, hash_bits};
use divisi_core::{Abort, Check, Coins, Echo, PartyId, Prg, Session, Step, step};
use divisi_field::Gf128;
use zeroize::Zeroizing;

const COIN: Step = step!("coin");
const ECHO: Step = step!("echo");

/// Authenticated bits at `count` positions; with `prove` equations every party proves first that its Delta is the same towards all.
///
/// Adversary: malicious, all parties but one. Cost: (tiles of 128 positions, and one, and one for the proof) times ceil(128 / k) times
/// 16 bytes to each peer, and the check; 3 rounds between two parties, 4 among more, 5 with the proof.
///
/// 1. P_i picks the bits of all positions; the last tile is sacrificed to the check, one bit for each of its 128 equations, and the
///    one before to the proof.
/// 2. Each pair makes rows, both directions at once: P_i has M_k\[x_m\], P_k has K_k\[x_m\].
/// 3. (a) A coin z, after all corrections. (b) X = h(x) is broadcast, with (d) the MACs of its 128 bits under each Delta_k, which
///    P_k checks. The echo of all X is compared before anything depends on the bits.
/// 4. The sacrificed tiles are dropped.
pub(crate) fn produce(
    session: &mut Session,
    ends: &mut Ends,
    deltas: &Deltas,
    coins: &mut Coins,
    count: usize,
    prove: Option<u32>,
) -> Result<AuthBits, Abort> {
    let (n, me) = (session.parties(), session.me());
    // 1.
    let tiles = count.div_ceil(TILE) + usize::from(prove.is_some()) + 1;
    let bits = Zeroizing::new(random_bits(session, tiles));
    let x = vec![bits.as_slice(); n];
    #[cfg(feature = "fault")]
    let other = ends.deviation.other(&bits);
    #[cfg(feature = "fault")]
    let x = ends.deviation.towards(x, &other);
    // 2.
    let made = ends.extend(session, tiles, &x, deltas)?;
    // 3. (a), and beside it the commitments of the proof, whose rows are fixed as well
    session.observe(Check::W3); // [W3]
    coins.ready(session)?;
    let (coin, proof) = session.exchange(|session| {
        let mut coin = [2; 16];
        let mut opened = if session.mutated(Check::W3) { None } else { Some(coins.open(session, COIN)?) };
        // who waits for the others' openings waits for the coin before
        #[cfg(feature = "fault")]
        if let Some(opened) = opened.take_if(|_| ends.deviation.rushing) {
            coin = coins.hear(session, opened)?;
        }
        let commit = |rho| Proof::commit(session, rho, tiles - 2, &bits, &made, &deltas.delta, ends);
        let proof = prove.map(commit).transpose()?;
        if let Some(opened) = opened.take() {
            coin = coins.hear(session, opened)?;
        }
        Ok((coin, proof))
    })?;
    let heard = proof.map(|proof| proof.hear(session)).transpose()?;
    // 3. (b), (d), and beside it the echo of the commitments
    let (mut checked, confirmed) = session.exchange(|session| {
        let told = made.tell(session, coin, &x)?;
        let confirmed = heard.map(|heard| heard.confirm(session)).transpose()?;
        Ok((told.hear(session, Check::W5, deltas)?, confirmed))
    })?;
    checked.sums[me.index()] = hash_bits(session, &bits, Gf128(u128::from_le_bytes(coin)));
    let mut echo = Echo::new(session, ECHO);
    for (party, sum) in PartyId::all(n).zip(&checked.sums) {
        echo.absorb(party, &sum.to_le_bytes());
    }
    let echoed = echo.send(session)?;
    let opened = confirmed.map(|proof| proof.open_bits(session)).transpose()?;
    echoed.compare(session, Check::W4)?; // [W4]
    if let Some(opened) = opened {
        opened.settle(session, deltas)?;
    }
    // 4.
    let words = bits.iter().flat_map(|word| [*word as u64, (*word >> 64) as u64]).collect();
    let own = |rows: Vec<Option<Rows>>| {
        rows.into_iter().map(|rows| rows.map_or_else(Default::default, |rows| rows.into_words())).collect()
    };
    let (macs, keys) = (own(checked.rows.macs), own(checked.rows.keys));
    let all = tiles * TILE;
    let mut made = AuthBits::from_rows(me, all, words, macs, keys);
    // [W11] the positions of the proof go too; the mutants of W6 and W11 leave theirs at the end
    let keep = match (session.mutated(Check::W6), session.mutated(Check::W11)) {
        (true, _) => all,
        (_, true) => all - TILE,
        _ => count,
    };
    made.truncate(keep);
    Ok(made)
}

/// Fresh bits of ours alone, one word a tile.
pub(crate) fn random_bits(session: &Session, tiles: usize) -> Vec<u128> {
    let mut seed = Zeroizing::new([0; 16]);
    session.entropy(seed.as_mut_slice());
    let mut words = Zeroizing::new(vec![0; 2 * tiles]);
    Prg::new(&seed).words(&mut words);
    words.chunks_exact(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64).collect()
}
