//! Operations on bytes: linear ones are local, a layer of S-boxes runs the chosen protocol.

use super::Rep3;
use super::one_hots::OneHots;
use super::pack::{self, shape_of};
use super::vector_stock::Use;
use crate::checks;
use crate::record::Record;
use crate::sbox::{Layer, LayerKind, Owed};
use crate::share::{Byte, Form, Link};
use divisi_core::{Abort, Bytes, Direction, Matrix, Misuse, Step, Verified, step};
use divisi_field::kernel::{Task, run};
use divisi_field::plane::LANES;
use divisi_field::{Plane, Word, gf8};

const VECTORS: Step = step!("sbox_with");
const MIXED: Step = step!("linear");
const SUM: Step = step!("add");
const SBOX: Step = step!("sbox");
const JOIN: Step = step!("join");
const FINISH: Step = step!("finish_layer");

impl Rep3 {
    /// Compute one layer of S-boxes with these one-hot vectors, which are consumed.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if the vectors were made for another session, security, protocol or shape of layer;
    /// the abort that ends the session.
    pub fn sbox_with(
        &mut self,
        d: Direction,
        x: &mut [&mut Byte],
        vectors: Verified<OneHots>,
    ) -> Result<(), Abort> {
        self.lookup_layer(d, x, vectors.into_inner())
    }

    fn lookup_layer(&mut self, d: Direction, x: &mut [&mut Byte], vectors: OneHots) -> Result<(), Abort> {
        let now = self.trio.admit(SBOX, x.iter().map(|byte| byte.origin))?;
        x.iter_mut().for_each(|byte| byte.origin = now);
        if !vectors.fit(self.engine_id(), self.protocol, &shape_of(x)) {
            return Err(self.trio.session.misuse(VECTORS, Misuse::NotMade));
        }
        self.finish_others(x)?;
        if self.records() {
            // the parties agree on which vectors are used [A18]
            self.trio.session.observe(checks::A18);
            self.trio.absorb("one-hot vectors", &vectors.number.to_le_bytes());
        }
        self.layer(d, x, Some(&vectors.made))
    }

    /// If the present protocol leaves replicated shares, end the chains of these bytes, which another
    /// protocol began.
    fn finish_others(&mut self, x: &mut [&mut Byte]) -> Result<(), Abort> {
        match self.protocol.sbox().layer_kind() {
            LayerKind::Replicated(_) => self.finish(x),
            LayerKind::Chained(_) => Ok(()),
        }
    }

    /// One layer of S-boxes, with these vectors if it takes any: the protocol is asked once a layer.
    fn layer(&mut self, d: Direction, x: &mut [&mut Byte], vectors: Option<&Record>) -> Result<(), Abort> {
        let replace = match self.protocol.sbox().layer_kind() {
            LayerKind::Replicated(replace) => replace,
            LayerKind::Chained(link) => return self.chain_layer(d, x, link, vectors),
        };
        let records = self.records();
        self.packed(x, |rep, x| {
            let mut layer = Layer::new(x, d, rep.trio.me());
            match replace(&mut rep.trio, &mut layer, vectors, records)? {
                Owed::Products(made) => {
                    if rep.recorded(d) {
                        rep.owed.made.push(made);
                    }
                }
                Owed::Openings => rep.owed.lookups += u64::from(records),
            }
            Ok(())
        })
    }

    /// Apply `layer` to these bytes, packed if they go into one tile.
    pub(super) fn packed(
        &mut self,
        x: &mut [&mut Byte],
        layer: impl FnOnce(&mut Self, &mut [&mut Byte]) -> Result<(), Abort>,
    ) -> Result<(), Abort> {
        let Some(mut whole) = pack::pack(x.iter().map(|byte| &**byte)) else {
            return layer(self, x);
        };
        layer(self, &mut [&mut whole])?;
        pack::unpack(&whole, x.iter_mut().map(|byte| &mut **byte));
        Ok(())
    }

    /// Whether the products of this layer are recorded: the inverse S-box is owed like the S-box \[A23\].
    pub(super) fn recorded(&mut self, d: Direction) -> bool {
        let recorded = self.records();
        if recorded && d == Direction::Decrypt {
            self.trio.session.observe(checks::A23); // [A23]
        }
        recorded
    }

    /// The next vectors for a layer of this shape: made ahead, or now.
    fn next_vectors(&mut self, x: &[&mut Byte]) -> Result<OneHots, Abort> {
        let (protocol, shape) = (self.protocol, shape_of(x));
        if self.stocks.missing(protocol, &shape, 1) > 0 {
            self.stock_up(1, &shape)?;
        }
        let Some((_, vectors)) = self.stocks.take(protocol, &shape, &self.calls.account) else {
            return Err(self.trio.session.misuse(VECTORS, Misuse::NotMade));
        };
        Ok(vectors)
    }

    /// Make the missing vectors for this many layers, counted as preprocessing.
    fn stock_up(&mut self, layers: usize, shape: &crate::wire::Shape) -> Result<(), Abort> {
        let missing = self.stocks.missing(self.protocol, shape, layers);
        if missing == 0 {
            return Ok(());
        }
        let place = self.trio.session.detour("preprocessing");
        let vectors = self.vectors_of(missing, shape);
        self.trio.session.back(place);
        self.stocks.put(self.protocol, shape, vectors?, Use::Now);
        Ok(())
    }
}

impl Bytes for Rep3 {
    type Byte = Byte;

    fn public(&mut self, values: &[u8]) -> Byte {
        let mut byte = Byte::zero(values.len()).of(self.trio.origin());
        add_constants(&mut byte, self.constant(), values);
        byte
    }

    fn add(&mut self, x: &mut Byte, y: &Byte) -> Result<(), Abort> {
        x.origin = self.trio.admit(SUM, [x.origin, y.origin])?;
        if y.lanes != 1 && y.lanes != x.lanes {
            return Err(self.lanes_differ());
        }
        if x.is_replicated() && !y.is_replicated() {
            // the sum belongs to the chain
            if y.lanes != x.lanes {
                return Err(self.trio.session.misuse(SUM, Misuse::ChainUnfinished));
            }
            let x_was = std::mem::replace(x, y.clone());
            return self.add(x, &x_was);
        }
        match (&mut x.form, &y.form) {
            (Form::Replicated, _) => {}
            (Form::Additive(link), Form::Replicated) => link.add_replicated(y, add_shares)?,
            (Form::Additive(link), Form::Additive(other)) => link.add_link(other, add_shares)?,
        }
        add_shares(x, y)
    }

    fn add_public(&mut self, x: &mut Byte, c: &[u8]) -> Result<(), Abort> {
        if !x.is_replicated() {
            let y = self.public(c);
            return self.add(x, &y);
        }
        x.origin = self.trio.admit(SUM, [x.origin])?;
        let constant = self.constant();
        if c.len() == x.lanes {
            add_constants(x, constant, c);
        } else if let [c] = c {
            add_constants(x, constant, &vec![*c; x.lanes]);
        } else {
            return Err(self.lanes_differ());
        }
        Ok(())
    }

    fn linear<const N: usize>(&mut self, m: &Matrix<N>, x: &mut [Byte; N]) -> Result<(), Abort> {
        let now = self.trio.admit(MIXED, x.iter().map(|byte| byte.origin))?;
        x.iter_mut().for_each(|byte| byte.origin = now);
        let lanes = x.first().map_or(0, |b| b.lanes);
        if x.iter().any(|b| b.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        let components = match x.iter().filter(|byte| byte.is_replicated()).count() {
            n if n == N => 2,
            0 => 1,
            _ => {
                return Err(self.trio.session.misuse(MIXED, Misuse::ChainUnfinished));
            }
        };
        for t in 0..lanes.div_ceil(LANES) {
            for c in 0..components {
                run(Linear { m, x, t, c });
            }
        }
        if components == 1 {
            let links = x.each_mut().map(Byte::take_link);
            let links = Link::combine(&m.0, &links, |offsets| self.linear(m, offsets), lanes, now)?;
            x.iter_mut().zip(links).for_each(|(byte, link)| byte.form = Form::Additive(link));
        }
        Ok(())
    }

    fn sbox(&mut self, d: Direction, x: &mut [&mut Byte]) -> Result<(), Abort> {
        let now = self.trio.admit(SBOX, x.iter().map(|byte| byte.origin))?;
        x.iter_mut().for_each(|byte| byte.origin = now);
        self.finish_others(x)?;
        if self.protocol.has_vectors() {
            let vectors = self.next_vectors(x)?;
            return self.lookup_layer(d, x, vectors);
        }
        self.layer(d, x, None)
    }

    fn prepare(&mut self, layers: usize, bytes: usize, lanes: usize) -> Result<(), Abort> {
        if self.protocol.has_vectors() {
            self.stock_up(layers, &pack::shape(bytes, lanes))?;
        }
        Ok(())
    }

    fn join_bytes(&mut self, parts: &[&Byte]) -> Result<Byte, Abort> {
        let now = self.trio.admit(JOIN, parts.iter().map(|byte| byte.origin))?;
        if parts.is_empty() {
            return Ok(Byte::zero(0).of(now));
        }
        let all = Byte::join(parts);
        all.ok_or_else(|| self.trio.session.misuse(JOIN, Misuse::ChainUnfinished))
    }

    fn blocks_at_once(&self) -> usize {
        self.protocol.blocks_at_once()
    }

    fn finish(&mut self, x: &mut [&mut Byte]) -> Result<(), Abort> {
        let now = self.trio.admit(FINISH, x.iter().map(|byte| byte.origin))?;
        x.iter_mut().for_each(|byte| byte.origin = now);
        self.finish_chain(x)
    }
}

/// `x += y`, whatever the form; a `y` of one lane is added to all lanes. In a chain only the first components
/// mean something.
fn add_shares(x: &mut Byte, y: &Byte) -> Result<(), Abort> {
    if y.lanes == x.lanes {
        for (x, y) in x.tiles.iter_mut().flatten().flatten().zip(y.tiles.iter().flatten().flatten()) {
            *x ^= *y;
        }
        return Ok(());
    }
    let fits = y.tiles.first().filter(|_| y.lanes == 1);
    let Some(one) = fits else {
        return Err(Abort::Misuse { step: SUM, what: Misuse::LanesDiffer });
    };
    // one lane for all: its bit in every lane in use
    let splat = one.map(|planes| planes.map(|p| Plane::splat(p.lane(0))));
    let lanes = x.lanes;
    for (t, tile) in x.tiles.iter_mut().enumerate() {
        let used = (lanes - t * LANES).min(LANES);
        for (x, y) in tile.iter_mut().flatten().zip(splat.iter().flatten()) {
            let mut y = *y;
            if used < LANES {
                y.keep(used);
            }
            *x ^= y;
        }
    }
    Ok(())
}

/// Add public values, to the one component that carries them.
fn add_constants(x: &mut Byte, constant: Option<usize>, values: &[u8]) {
    let Some(c) = constant else { return };
    for (tile, values) in x.tiles.iter_mut().zip(values.chunks(LANES)) {
        let mut planes = [Plane::ZERO; 8];
        divisi_field::transpose::to_planes(values, &mut planes);
        for (x, y) in tile[c].iter_mut().zip(&planes) {
            *x ^= *y;
        }
    }
}

/// One tile of one component of `x = m x`: for each power of X, the multiples it adds to each row.
struct Linear<'a, const N: usize> {
    m: &'a Matrix<N>,
    x: &'a mut [Byte; N],
    t: usize,
    c: usize,
}

impl<const N: usize> Task for Linear<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Word>(self) {
        let mut out = [[W::zero(); 8]; N];
        for (j, byte) in self.x.iter().enumerate() {
            let mut multiple: [W; 8] = W::load_all(&byte.tiles[self.t][self.c]);
            for bit in 0..8 {
                let mut more = false;
                for (row, out) in self.m.0.iter().zip(&mut out) {
                    if row[j] >> bit & 1 == 1 {
                        *out = gf8::add(out, &multiple);
                    }
                    more |= row[j] >> bit > 1;
                }
                if !more {
                    break; // the matrix is public
                }
                multiple = gf8::times_x(&multiple);
            }
        }
        for (byte, out) in self.x.iter_mut().zip(&out) {
            W::store_all(out, &mut byte.tiles[self.t][self.c]);
        }
    }
}
