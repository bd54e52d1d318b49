//! Steps of a layer of gf4-circuit and of its verification.

/// The step of the products a'_h and a'_l.
pub const OUTER: &str = "divisi_rep3::sbox::gf4_circuit/outer";
/// The values of h.
pub const H: &str = "divisi_rep3::verify::planes/planes.h";
