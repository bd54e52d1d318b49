//! Lies about the products of one S-box, or of its one-hot vector, in eight lanes at once.

use crate::common::prelude::*;

/// Random bytes, their S-box, and its inverse, opened: whether they are right.
fn there_and_back(trio: Trio, protocol: Protocol) -> Result<bool, Abort> {
    let mut e = Rep3::new(trio, protocol, Security::Malicious);
    let x = e.random_bytes(8)?;
    let mut y = x.clone();
    e.sbox(Direction::Encrypt, &mut [&mut y])?;
    e.finish(&mut [&mut y])?;
    let mut back = y.clone();
    e.sbox(Direction::Decrypt, &mut [&mut back])?;
    e.finish(&mut [&mut back])?;
    let opened = e.reveal(vec![x, y, back])?;
    Ok(opened[0].iter().zip(&opened[1]).all(|(x, y)| sbox(*x) == *y) && opened[0] == opened[2])
}

/// All lanes of these planes are flipped in the `nth` message of a step.
#[derive(Clone, Copy)]
struct Lie {
    step: &'static str,
    nth: usize,
    planes: &'static [usize],
}

fn deceived(check: Option<Check>, protocol: Protocol, lie: Lie) -> bool {
    let harness = TrioHarness::without(check).patient();
    let Lie { step, nth, planes } = lie;
    harness.change(party(3), party(2), step, nth, move |share| {
        planes.iter().for_each(|p| share[*p] ^= 0xff);
    });
    let results = harness.act(|trio| there_and_back(trio, protocol));
    results[..2].contains(&Ok(false))
}

macro_rules! lies {
    ($($name:ident: $protocol:ident, $step:literal, $nth:literal, $planes:expr;)*) => {
        $(pub fn $name(check: Option<Check>) -> bool {
            deceived(check, Protocol::$protocol, Lie { step: $step, nth: $nth, planes: $planes })
        })*
    };
}

lies! {
    // over GF(2^4) itself, alpha d_1 + alpha^2 (d_1 + d_2) = 0 for d_1 = X = alpha, d_2 = X + 1
    cancelling_gf4: Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/outer", 0, &[1, 4, 5];
    // with Y = 1, Y d_2 + Y^3 d_3 = 0 for d_2 = d_3
    cancelling_gf8: Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x14 x15", 0, &[0, 8];
    outer_gf4: Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/outer", 0, &[0];
    middle_gf8: Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x14 x15", 0, &[0];
    sixth_gf4: Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/v6", 0, &[0];
    last_gf8: Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x254", 0, &[7];
    decrypting_gf4: Gf4Circuit, "divisi_rep3::sbox::gf4_circuit/a_h a_l", 1, &[0];
    decrypting_gf8: Gf8Circuit, "divisi_rep3::sbox::gf8_circuit/x3", 1, &[0];
    // as with gf4-circuit
    cancelling_lut16: Lut16, "divisi_rep3::sbox::lut16/outer", 0, &[1, 4, 5];
    outer_lut16: Lut16, "divisi_rep3::sbox::lut16/outer", 0, &[0];
    decrypting_lut16: Lut16, "divisi_rep3::sbox::lut16/outer", 1, &[0];
    decrypting_additive: Lut256Additive, "divisi_rep3::engine::chain/finish", 1, &[0];
    vector_lut16: Lut16, "divisi_rep3::ohv::nibble/r_i r_j r_k", 0, &[0];
    vector_lut256: Lut256, "divisi_rep3::ohv::byte/m_S m_T", 0, &[0];
}
