//! From bits to numbers: GYKW, Figures 8 and 9, for public tables of size 2.
//!
//! Adversary: semi-honest, all but one. An opened u = x xor r is uniform, for r is, and is used once \[G7\].
//! Cost online: one opening (section 3.1): a bit an item from each party to one of them, and a bit back; two
//! rounds. With T'\[j\] = T\[r xor j\] and u public, T\[x\] = T'\[u\] = T\[u\] + r (T\[1 - u\] - T\[u\]):
//! shares of r serve every public table.

use crate::bits::RandomBits;
use divisi_bgv::hidden::Hidden;
use divisi_core::{Abort, PartyId, Session, Step, step};
use divisi_field::zp::Modulus;

const LOOKUP: Step = step!("lookup");
const GATHER: Step = step!("open.gather");
const TELL: Step = step!("open.tell");

/// Open of section 3.1, of shared bits: everybody sends its share to one party, which adds up and tells all.
/// Which party it is goes round from opening to opening.
///
/// # Errors
/// Whatever a broken peer causes; bits beyond the last are malformed.
pub fn open_bits(session: &mut Session, share: &[u64]) -> Result<Vec<u64>, Abort> {
    let turn = session.count("open bits") as usize % session.parties().max(1);
    let parties: Vec<PartyId> = PartyId::all(session.parties()).collect();
    let Some(adder) = parties.get(turn).copied() else {
        return Err(session.misuse(GATHER, "a session without parties"));
    };
    let (mut sum, bits) = (pack(share), share.len() as u64);
    if session.me() == adder {
        for peer in session.peers() {
            let theirs = hear(session, GATHER, peer, share.len())?;
            sum.iter_mut().zip(&theirs).for_each(|(sum, theirs)| *sum ^= theirs);
        }
        for peer in session.peers() {
            session.send(TELL, peer, &sum, bits)?;
        }
    } else {
        session.send(GATHER, adder, &sum, bits)?;
        sum = hear(session, TELL, adder, share.len())?;
    }
    session.meter().opened(bits);
    Ok((0..share.len()).map(|i| u64::from(sum.get(i / 8).map_or(0, |byte| byte >> (i % 8) & 1))).collect())
}

/// Receive so many packed bits.
fn hear(session: &mut Session, step: Step, from: PartyId, bits: usize) -> Result<Vec<u8>, Abort> {
    let mut body = vec![0; bits.div_ceil(8)];
    session.recv(step, from, &mut body)?;
    let over = if bits.is_multiple_of(8) { 0 } else { body.last().map_or(0, |last| last >> (bits % 8)) };
    session.well_formed(step, from, body.len(), over == 0)?;
    Ok(body)
}

fn pack(bits: &[u64]) -> Vec<u8> {
    let byte = |bits: &[u64]| bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | ((bit & 1) as u8) << i);
    bits.chunks(8).map(byte).collect()
}

/// Figure 8, case 1: `tables` are public, one for each shared bit of `x`; what comes are shares of their
/// entries.
///
/// # Errors
/// [`Abort::Misuse`] if there are not as many masks and tables as bits, or an entry is not below p; as
/// [`open_bits`].
pub fn lookup(
    session: &mut Session,
    plain: Modulus,
    tables: &[[u64; 2]],
    x: &[u64],
    masks: RandomBits,
) -> Result<Hidden<u64>, Abort> {
    masks.admit(session, LOOKUP)?;
    if tables.len() != x.len() || masks.len() != x.len() {
        return Err(session.misuse(LOOKUP, "a table and a mask for each bit"));
    }
    if tables.as_flattened().iter().any(|entry| *entry >= plain.get()) {
        return Err(session.misuse(LOOKUP, "entries of tables are below p"));
    }
    // 1. <u> = <x> xor <r>, opened
    let (r, mut shares) = masks.open();
    let masked: Hidden<u64> =
        Hidden::from(&*x.iter().zip(r.iter()).map(|(x, r)| (x ^ r) & 1).collect::<Vec<_>>());
    let u = open_bits(session, &masked)?;
    // 2. <T[x]> = <T'[u]>
    let first = session.me().index() == 0;
    for ((share, table), u) in shares.iter_mut().zip(tables).zip(u) {
        // u and the table are public
        let (at, other) = if u == 0 { (table[0], table[1]) } else { (table[1], table[0]) };
        *share = plain.mul(*share, plain.sub(other, at));
        if first {
            *share = plain.add(*share, at);
        }
    }
    Ok(shares)
}

/// Figure 9, B2A: numbers of `width` shared bits each, the lowest first, become shares modulo p.
///
/// # Errors
/// [`Abort::Misuse`] if the bits do not fill numbers of 1 to 32 bits; as [`lookup`].
pub fn to_numbers(
    session: &mut Session,
    plain: Modulus,
    width: usize,
    x: &[u64],
    masks: RandomBits,
) -> Result<Hidden<u64>, Abort> {
    if !(1..=32).contains(&width) || !x.len().is_multiple_of(width) {
        return Err(session.misuse(LOOKUP, "numbers of 1 to 32 bits, all of one width"));
    }
    // 1. T = (0, 1) for each bit; 2. <x> = sum of 2^j <T[x[j]]>
    let bits = lookup(session, plain, &vec![[0, 1]; x.len()], x, masks)?;
    let mut numbers = Hidden::zeros(x.len() / width);
    for (number, bits) in numbers.iter_mut().zip(bits.chunks_exact(width)) {
        *number = bits.iter().rev().fold(0, |sum, bit| plain.add(plain.add(sum, sum), *bit));
    }
    Ok(numbers)
}
