//! F_RandOHV: one-hot vectors of random positions, made ahead and used once (MAESTRO Figure 6, Protocol 5,
//! Protocol 8).
//!
//! A vector e^(r) of length 2^k is kept as its monomials: the bits r_i and the products m_S = prod over S of
//! r_i for every set S of at least two bits. Each entry is a sum of them (Eq. 4 multiplied out), so that a
//! party computes either form from the other without a message; a lookup needs sums of entries only, and gets
//! them from the monomials with fewer operations ([`crate::lookup`]). It takes 2^k - k - 1 products, as many
//! as the paper's, in as many bits.
//!
//! Adversary: that of [`crate::multiply`], who can add an error to each product until it is verified.
//! [`crate::Rep3::vectors`] verifies what it makes before anybody gets it \[A17\]; a vector cannot be copied,
//! and a lookup consumes it \[A18\]. Its place r is drawn by F_rand and known to nobody.
//!
//! There are three kinds, by the lookup for which they are: 16 entries ([`nibble`], for lut16), two of 16
//! whose tensor product is additively shared (for lut256-additive), 256 replicated ([`byte`], for lut256).
//!
//! [`crate::ohverture`] makes vectors in a way of its own, because they have any length and the bits of one
//! of them stand side by side in words; here each monomial is a bit plane of 512 vectors, the form in which
//! S-boxes compute.

pub(crate) mod byte;
pub(crate) mod nibble;
