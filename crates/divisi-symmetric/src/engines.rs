//! Names for the combinations of engine traits that modes, hashes and MACs need.

use divisi_core::{Blocks, Boolean, Bytes, Compares, ComparesBytes, Convert, Opens};

/// An engine that can convert bytes to bits, and bits to bytes.
pub trait BitEngine:
    Bytes<Byte: Clone>
    + Boolean
    + Convert<<Self as Bytes>::Byte, [<Self as Boolean>::Bit; 8]>
    + Convert<[<Self as Boolean>::Bit; 8], <Self as Bytes>::Byte>
{
}

impl<E> BitEngine for E where
    E: Bytes<Byte: Clone>
        + Boolean
        + Convert<<E as Bytes>::Byte, [<E as Boolean>::Bit; 8]>
        + Convert<[<E as Boolean>::Bit; 8], <E as Bytes>::Byte>
{
}

/// An engine that can compute all MACs: it can also convert 16 bytes to an element of GF(2^128), and back.
pub trait MacEngine:
    BitEngine
    + Blocks
    + Convert<[<Self as Bytes>::Byte; 16], <Self as Blocks>::Block>
    + Convert<<Self as Blocks>::Block, [<Self as Bytes>::Byte; 16]>
{
}

impl<E> MacEngine for E where
    E: BitEngine
        + Blocks
        + Convert<[<E as Bytes>::Byte; 16], <E as Blocks>::Block>
        + Convert<<E as Blocks>::Block, [<E as Bytes>::Byte; 16]>
{
}

/// An engine that can open bytes, and can tell which blocks of bytes are zero. Modes that accept or refuse a
/// text need both.
pub trait Releases:
    BitEngine + ComparesBytes + Opens<Vec<<Self as Bytes>::Byte>, Public = Vec<Vec<u8>>>
{
}

impl<E> Releases for E where
    E: BitEngine + ComparesBytes + Opens<Vec<<E as Bytes>::Byte>, Public = Vec<Vec<u8>>>
{
}

/// An engine that can open bytes and compare elements of GF(2^128). GCM needs both.
pub trait GcmEngine:
    MacEngine + Compares<<Self as Blocks>::Block> + Opens<Vec<<Self as Bytes>::Byte>, Public = Vec<Vec<u8>>>
{
}

impl<E> GcmEngine for E where
    E: MacEngine + Compares<<E as Blocks>::Block> + Opens<Vec<<E as Bytes>::Byte>, Public = Vec<Vec<u8>>>
{
}
