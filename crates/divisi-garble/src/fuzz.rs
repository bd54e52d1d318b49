//! Random inputs for bits in messages, and for openings.

use crate::bits::{pack, unpack};
use crate::checks;
use crate::open::Opening;
use crate::share::{Seats, spread};
use divisi_core::{PublicParameters, local, step};

/// Bits that `unpack` accepts are written by `pack` as they were.
#[test]
fn random_bits() {
    let lengths = [1, 7, 8, 9, 64, 65];
    let seeds = lengths.map(|len| {
        let mut out = Vec::new();
        pack(&(0..len).map(|i| u8::from(i % 3 == 0)).collect::<Vec<_>>(), &mut out);
        out
    });
    divisi_fuzz::run("bits", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut taken = false;
        for len in lengths {
            let Some(bits) = unpack(bytes, len) else { continue };
            taken = true;
            let mut again = Vec::new();
            pack(&bits, &mut again);
            if bits.len() != len || again != bytes {
                return Err(format!("{len} other bits"));
            }
        }
        Ok(taken)
    });
}

/// Of all messages of the right length, only the one that the sender made is accepted, with the bits that
/// were sent.
#[test]
#[cfg_attr(miri, ignore = "a session takes randomness from the library of TLS")]
fn random_openings() {
    const BITS: usize = 13;
    let (bits, delta) = ([1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1], 0x9e37_79b9_7f4a_7c15_u128);
    let key = |i: usize| (i as u128 + 1).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
    let done = local::run(2, &PublicParameters::new("openings"), |mut session| {
        let (me, peer) = (session.me(), session.peers()[0]);
        let opening = Opening::new(&mut session, Seats { me: me.index(), n: 2 }, step!("opening"));
        let mut body = Vec::new();
        if me.index() == 1 {
            let macs = |i: usize| key(i) ^ spread(bits[i]) & delta;
            opening.append_bits(
                &session,
                0,
                &bits,
                |tags| (0..BITS).for_each(|i| tags.push(macs(i))),
                &mut body,
            );
            return session.send(step!("sent"), peer, &body, 0);
        }
        body.resize(Opening::len(BITS), 0);
        session.recv(step!("sent"), peer, &mut body)?;
        divisi_fuzz::run("openings", env!("CARGO_MANIFEST_DIR"), std::slice::from_ref(&body), |bytes| {
            // a message has the length that its receiver made room for
            if bytes.len() != body.len() {
                return Ok(false);
            }
            let read = opening.read_bits(
                &session,
                checks::W16,
                0,
                BITS,
                |bits, tags| (0..BITS).for_each(|i| tags.push(key(i) ^ spread(bits[i]) & delta)),
                bytes,
            );
            match read {
                Ok(found) if found == bits && bytes == body => Ok(true),
                Ok(_) => Err("what was not sent is accepted".into()),
                Err(_) => Ok(false),
            }
        });
        Ok(())
    });
    assert!(done.is_ok(), "{done:?}");
}
