//! What nearly every module of these tests uses.

pub use super::{
    DIRECTIONS, LOOKUPS, Noise, SECURITIES, affine, bits, byte_product, bytes, in_the_clear, is_misuse,
    is_misuse_of_all, linear, others, parts, random_program, random_sbox, run_one, sbox, settled, spent,
    times,
};
pub use divisi_circuit::{Build, Gates, Program};
pub use divisi_core::testing::Outputs;
pub use divisi_core::{
    Abort, Blocks, Boolean, Bytes, Check, Convert, Counts, Direction, Matrix, Opens, PartyId, Pending, Plain,
    ProgramRun, PublicParameters, Session, Settles, Step, Verified, settle,
};
pub use divisi_field::{Field, Gf2, Gf4, Gf8, Gf64, Gf128, Plane};
pub use divisi_fuzz::repetitions;
pub use divisi_net::Fault;
pub use divisi_rep3::adversary::harness::{
    LIMIT, MessageDirection, Recording, TrioHarness, failed_check, links, many, party,
};
pub use divisi_rep3::blackbox::{BlackBox, Element, Shared};
pub use divisi_rep3::deal::Part;
pub use divisi_rep3::lab::{Rep3Lab, deal_all};
pub use divisi_rep3::{
    Ahead, Bit, Block, Byte, OneHots, Passes, Protocol, Rep3, Rounds, Security, Trio, checks,
};
