//! Operations on blocks of GHASH's field: linear ones are local, products enter the ledger.

use super::Rep3;
use crate::multiply;
use crate::origin::Origin;
use crate::share::{Block, Byte, Rep};
use crate::verify::Dot;
use divisi_core::{Abort, Blocks, Convert, Lanes, Step, step};
use divisi_field::{BigField, Field, Gf128};
use zeroize::Zeroizing;

const MULTIPLY: Step = step!("multiply");
const DOT: Step = step!("dot");
const SUM: Step = step!("sum");
const CONVERT: Step = step!("convert");

impl Blocks for Rep3 {
    type Block = Block;

    fn add_block(&mut self, x: &mut Block, y: &Block) -> Result<(), Abort> {
        x.origin = self.trio.admit(SUM, [x.origin, y.origin])?;
        let (x, y) = (&mut x.rep, &y.rep);
        match y.len() {
            n if n == x.len() => {
                Gf128::add_assign(&mut x.a, &y.a);
                Gf128::add_assign(&mut x.b, &y.b);
            }
            1 => {
                x.a.iter_mut().for_each(|x| *x += y.a[0]);
                x.b.iter_mut().for_each(|x| *x += y.b[0]);
            }
            _ => return Err(self.lanes_differ()),
        }
        Ok(())
    }

    fn add_public_block(&mut self, x: &mut Block, c: &[u128]) -> Result<(), Abort> {
        x.origin = self.trio.admit(SUM, [x.origin])?;
        let x = &mut x.rep;
        if c.len() != 1 && c.len() != x.len() {
            return Err(self.lanes_differ());
        }
        let component = match self.constant() {
            Some(0) => &mut x.a,
            Some(_) => &mut x.b,
            None => return Ok(()),
        };
        for (x, c) in component.iter_mut().zip(c.iter().cycle()) {
            *x += Gf128(*c);
        }
        Ok(())
    }

    fn combine(&mut self, x: &Block, c: &[u128]) -> Result<Block, Abort> {
        let origin = self.trio.admit(SUM, [x.origin])?;
        let x = &x.rep;
        if c.len() != x.len() {
            return Err(self.lanes_differ());
        }
        let c: Vec<Gf128> = c.iter().map(|c| Gf128(*c)).collect();
        let rep = Rep { a: vec![Gf128::dot(&x.a, &c)], b: vec![Gf128::dot(&x.b, &c)] };
        Ok(Block { rep, origin })
    }

    fn square(&mut self, x: &Block) -> Block {
        Block { rep: x.rep.map(Field::square), origin: self.admit_or_end(SUM, &[x]) }
    }

    fn multiply(&mut self, x: &Block, y: &Block) -> Result<Block, Abort> {
        let origin = self.trio.admit(MULTIPLY, [x.origin, y.origin])?;
        let (x, y) = (&x.rep, &y.rep);
        if x.len() != y.len() {
            return Err(self.lanes_differ());
        }
        let share = |i: usize| x.a[i] * y.a[i] + (x.a[i] + x.b[i]) * (y.a[i] + y.b[i]);
        let z = self.trio.reshare_elements(MULTIPLY, (0..x.len()).map(share).collect())?;
        let one = |v: &Rep<Gf128>, i: usize| Rep { a: vec![v.a[i]], b: vec![v.b[i]] };
        self.owe_dots((0..x.len()).map(|i| Dot { x: one(x, i), y: one(y, i), z: one(&z, i) }));
        Ok(Block { rep: z, origin })
    }

    fn dot(&mut self, sums: &[(&Block, &Block)]) -> Result<Block, Abort> {
        let origin = self.trio.admit(DOT, sums.iter().flat_map(|(x, y)| [x.origin, y.origin]))?;
        let sums: Vec<_> = sums.iter().map(|(x, y)| (&x.rep, &y.rep)).collect();
        if sums.iter().any(|(x, y)| x.len() != y.len()) {
            return Err(self.lanes_differ());
        }
        let mut scratch = Zeroizing::new([Vec::new(), Vec::new()]);
        let shares =
            sums.iter().map(|(x, y)| multiply::dot_local([&x.a, &x.b], [&y.a, &y.b], &mut scratch)).collect();
        let z = self.trio.reshare_elements(DOT, shares)?;
        self.owe_dots(sums.iter().enumerate().map(|(i, (x, y))| Dot {
            x: Rep::clone(x),
            y: Rep::clone(y),
            z: Rep { a: vec![z.a[i]], b: vec![z.b[i]] },
        }));
        Ok(Block { rep: z, origin })
    }

    fn join(&mut self, parts: &[&Block]) -> Block {
        let mut rep = Rep::zero(0);
        parts.iter().for_each(|part| rep.extend(&part.rep));
        Block { rep, origin: self.admit_or_end(SUM, parts) }
    }
}

impl Rep3 {
    /// Like [`Trio::admit`](crate::Trio), for a function that cannot return an error: a value of another
    /// engine ends the session, and no engine accepts the result.
    fn admit_or_end(&mut self, step: Step, blocks: &[&Block]) -> Origin {
        self.trio.admit(step, blocks.iter().map(|block| block.origin)).unwrap_or(Origin::NONE)
    }
}

impl Convert<[Byte; 16], Block> for Rep3 {
    /// Local: a block is its 16 bytes in GHASH's order, component by component.
    fn convert(&mut self, x: [Byte; 16]) -> Result<Block, Abort> {
        let origin = self.trio.admit(CONVERT, x.iter().map(|byte| byte.origin))?;
        let lanes = x[0].lanes();
        if x.iter().any(|byte| byte.lanes() != lanes) {
            return Err(self.lanes_differ());
        }
        let side = |c: usize| {
            let mut columns: [Zeroizing<Vec<u8>>; 16] =
                [(); 16].map(|()| Zeroizing::new(Vec::with_capacity(lanes)));
            x.iter().zip(&mut columns).try_for_each(|(byte, column)| byte.component(c, column))?;
            Ok::<_, Abort>(
                (0..lanes).map(|l| Gf128::from_ghash(std::array::from_fn(|i| columns[i][l]))).collect(),
            )
        };
        Ok(Block { rep: Rep { a: side(0)?, b: side(1)? }, origin })
    }
}

impl Convert<Block, [Byte; 16]> for Rep3 {
    /// The conversion from a block back to its bytes; local, too.
    fn convert(&mut self, x: Block) -> Result<[Byte; 16], Abort> {
        let origin = self.trio.admit(CONVERT, [x.origin])?;
        let x = x.rep;
        let side = |elements: &[Gf128], i: usize| {
            Zeroizing::new(elements.iter().map(|x| x.to_ghash()[i]).collect::<Vec<u8>>())
        };
        let mut bytes: [Byte; 16] = std::array::from_fn(|_| Byte::zero(0));
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = Byte::from_components([&side(&x.a, i), &side(&x.b, i)])?.of(origin);
        }
        Ok(bytes)
    }
}
