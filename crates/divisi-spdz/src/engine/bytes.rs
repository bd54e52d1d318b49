//! Bytes: elements of GF(2^8) under MACs of a field that contains it. All operations but the S-box are local.

use super::{Spdz, SpdzProtocol};
use crate::part::{Host, Projects};
use crate::share::Auth;
use divisi_core::wipe::WipedVec;
use divisi_core::{Abort, Bytes, Direction, Lanes, Matrix, Misuse, Step, step};
use divisi_field::Gf8;

const LANES: Step = step!("lanes");
const SBOX: Step = step!("sbox");

/// A secret byte in every lane.
pub type AuthByte<F> = Auth<Gf8, F>;

impl<F: Host> Spdz<F> {
    /// Refuse products of bytes if the embedding of bytes in the field of MACs does not preserve products
    /// \[K10\].
    pub(crate) fn multiplies_bytes(&self) -> Result<(), Abort> {
        if <F as Projects<Gf8>>::FIELD {
            Ok(())
        } else {
            Err(self.party.session.misuse(SBOX, Misuse::Unsupported))
        }
    }

    fn lanes_differ(&self) -> Abort {
        self.party.session.misuse(LANES, Misuse::LanesDiffer)
    }
}

impl<F: Host> Bytes for Spdz<F> {
    type Byte = AuthByte<F>;

    #[inline(never)]
    fn public(&mut self, values: &[u8]) -> AuthByte<F> {
        let mut byte = Auth::zeros(values.len());
        let values: Vec<Gf8> = values.iter().copied().map(Gf8).collect();
        // this fails only in a session that has ended, in which nothing can be sent or settled any more
        let _ = self.party.add_public(&mut byte, &values);
        byte
    }

    #[inline(never)]
    fn add(&mut self, x: &mut AuthByte<F>, y: &AuthByte<F>) -> Result<(), Abort> {
        if x.add(y) { Ok(()) } else { Err(self.lanes_differ()) }
    }

    #[inline(never)]
    fn add_public(&mut self, x: &mut AuthByte<F>, c: &[u8]) -> Result<(), Abort> {
        if let [c] = c {
            return self.party.add_constant(x, Gf8(*c));
        }
        let c: Vec<Gf8> = c.iter().copied().map(Gf8).collect();
        self.party.add_public(x, &c)
    }

    #[inline(never)]
    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [AuthByte<F>; N]) -> Result<(), Abort> {
        let lanes = x.first().map_or(0, Lanes::lanes);
        if x.iter().any(|x| x.lanes() != lanes) {
            return Err(self.lanes_differ());
        }
        self.multiplies_bytes()?;
        let mut y = [const { Auth { x: WipedVec::new(), m: WipedVec::new() } }; N];
        for (row, y) in m.0.iter().zip(&mut y) {
            *y = Auth::zeros(lanes);
            for (c, x) in row.iter().zip(x.iter()) {
                divisi_field::gf8::add_scaled(&mut y.x, &x.x, Gf8(*c));
            }
            let coefficients = row.map(|c| F::embedded(Gf8(c)));
            let macs = std::array::from_fn::<_, N, _>(|j| x[j].m.as_slice());
            F::combine(&mut y.m, &coefficients, &macs);
        }
        *x = y;
        Ok(())
    }

    #[inline(never)]
    fn sbox(&mut self, d: Direction, x: &mut [&mut AuthByte<F>]) -> Result<(), Abort> {
        match self.protocol {
            SpdzProtocol::Lookup => self.lookup(d, x),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => self.powers(d, x),
            SpdzProtocol::Raw => Err(self.party.session.misuse(SBOX, Misuse::Unsupported)),
        }
    }

    #[inline(never)]
    fn prepare(&mut self, layers: usize, bytes: usize, lanes: usize) -> Result<(), Abort> {
        let sboxes = layers.saturating_mul(bytes).saturating_mul(lanes);
        match self.protocol {
            SpdzProtocol::Lookup => Spdz::foresee(self, sboxes),
            SpdzProtocol::RivainProuff | SpdzProtocol::BitDecomposition => self.foresee_powers(sboxes),
            SpdzProtocol::Raw => {}
        }
        Ok(())
    }

    #[inline(never)]
    fn join_bytes(&mut self, parts: &[&AuthByte<F>]) -> Result<AuthByte<F>, Abort> {
        let mut all = Auth::with_capacity(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| all.append(part));
        Ok(all)
    }
}
