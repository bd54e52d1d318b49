//! The engine: what a cipher computes on, three parties at a time.
//!
//! Inside an engine values are plain and every product enters its ledger; [`Rep3::close`] turns outputs into a [`Pending`]
//! that owes them. With [`Security::SemiHonest`], an explicit choice, nothing is recorded and nothing is verified.

mod blocks;

use crate::Trio;
use crate::sbox::{Layer, Protocol, gf4_circuit, gf8_circuit};
use crate::share::{Byte, Rep, constant_component};
use crate::verify::{Dot, Products};
use divisi_core::{Abort, Bytes, Check, Debt, Direction, Matrix, Pending, Step, step};
use divisi_field::kernel::{Task, run};
use divisi_field::plane::LANES;
use divisi_field::{Gf128, Plane, Word, gf8};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// Against whom a computation is secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Security {
    /// One malicious party of three: the others abort or are right.
    Malicious,
    /// One curious party of three, who follows the protocol: nothing is verified.
    SemiHonest,
}

impl Security {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Security::Malicious => "malicious",
            Security::SemiHonest => "semi-honest",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Security {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "malicious" => Ok(Security::Malicious),
            "semi-honest" => Ok(Security::SemiHonest),
            _ => Err(format!("unknown security {name:?}: there are malicious, semi-honest")),
        }
    }
}

/// An engine on one strand: computes, and keeps what it owes.
pub struct Rep3 {
    trio: Trio,
    protocol: Protocol,
    security: Security,
    owed: Products,
    /// How many computations were closed and not settled: what is linear in their values is not verified.
    unsettled: u64,
}

const LANES_DIFFER: Step = step!("lanes");
const LINEAR: Step = step!("close_linear");
const FORGOTTEN: Step = step!("into_trio");
const DOWNGRADE: Step = step!("discharge");

impl Rep3 {
    /// An engine with an empty ledger.
    pub fn new(trio: Trio, protocol: Protocol, security: Security) -> Self {
        Rep3 {
            trio,
            protocol,
            security,
            owed: Products::none(security == Security::SemiHonest),
            unsettled: 0,
        }
    }

    /// Compute the S-boxes that follow in this way; all three parties at the same place.
    pub fn use_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// End a computation: its outputs, with all that is owed for them. What else was computed must not be used again: its
    /// debt goes with these outputs.
    pub fn close<T>(&mut self, out: T) -> Pending<T, Products> {
        let none = Products::none(self.security == Security::SemiHonest);
        let mut owed = std::mem::replace(&mut self.owed, none);
        // what is linear in values that are not settled is not verified, even if something linear was resumed meanwhile
        owed.linear &= self.unsettled == 0;
        self.unsettled += 1;
        owed.compared_in(&self.trio);
        Pending::owing(out, owed)
    }

    /// End a computation that was linear in verified values: no product is owed for it.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if a product was made since the last close, or what was closed is not settled: it would go unverified
    /// \[A11\].
    pub fn close_linear<T>(&mut self, out: T) -> Result<Pending<T, Products>, Abort> {
        if self.owes() || self.unsettled > 0 {
            return Err(self.trio.session.misuse(LINEAR, "products were made: close and settle them first"));
        }
        self.unsettled += 1;
        let mut owed = Products { linear: true, ..Products::none(self.security == Security::SemiHonest) };
        owed.compared_in(&self.trio);
        Ok(Pending::owing(out, owed))
    }

    /// Whether products were made since the last close.
    #[must_use]
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// The strand again, for another engine. What is still owed would be forgotten, so the session ends if anything is.
    #[must_use]
    pub fn into_trio(self) -> Trio {
        if self.owes() {
            let _ = self
                .trio
                .session
                .misuse(FORGOTTEN, "products were made: close and settle what rests on them");
        }
        self.trio
    }

    /// The strand underneath.
    pub fn trio(&mut self) -> &mut Trio {
        &mut self.trio
    }

    /// A fresh random byte in every lane, that nobody knows.
    pub fn random_bytes(&mut self, lanes: usize) -> Result<Byte, Abort> {
        let (mut a, mut b) = (Zeroizing::new(vec![0; lanes]), Zeroizing::new(vec![0; lanes]));
        self.trio.streams.rand_bytes([&mut a, &mut b]);
        Byte::from_components([&a, &b])
    }

    /// A fresh random block in every lane, that nobody knows.
    pub fn random_blocks(&mut self, lanes: usize) -> Rep<Gf128> {
        let mut out = Rep::zero(lanes);
        for (a, b) in out.a.iter_mut().zip(&mut out.b) {
            (*a, *b) = self.trio.streams.rand();
        }
        out
    }

    fn lanes_differ(&self) -> Abort {
        self.trio.session.misuse(LANES_DIFFER, "values of different numbers of lanes")
    }

    fn constant(&self) -> Option<usize> {
        constant_component(self.trio.me())
    }

    /// Whether products are recorded: not where the caller chose security against the curious only, by name.
    fn records(&self) -> bool {
        self.security == Security::Malicious
    }

    /// Record inner products for the verification.
    fn owe_dots(&mut self, dots: impl Iterator<Item = Dot>) {
        if self.records() {
            self.owed.dots.extend(dots);
        }
    }
}

impl Debt for Products {
    type Payer = Rep3;

    fn take_over(&mut self, other: Self) {
        self.add(other);
    }

    fn hand_over(self, payer: &mut Rep3) {
        payer.unsettled = payer.unsettled.saturating_sub(1);
        payer.owed.add(self);
    }

    fn pay(self, payer: &mut Rep3) -> Result<(), Abort> {
        if self.semi_honest != (payer.security == Security::SemiHonest) {
            // of a value of a semi-honest engine nothing was recorded, so that nothing could be verified
            let what = "values with and without active security in one computation";
            return Err(payer.trio.session.misuse(DOWNGRADE, what));
        }
        payer.trio.verify(self)?;
        payer.unsettled = payer.unsettled.saturating_sub(1);
        Ok(())
    }
}

impl Bytes for Rep3 {
    type Byte = Byte;

    fn public(&mut self, values: &[u8]) -> Byte {
        let mut byte = Byte::zero(values.len());
        add_constants(&mut byte, self.constant(), values);
        byte
    }

    fn add(&mut self, x: &mut Byte, y: &Byte) -> Result<(), Abort> {
        if y.lanes != 1 && y.lanes != x.lanes {
            return Err(self.lanes_differ());
        }
        if y.lanes == x.lanes {
            for (x, y) in x.tiles.iter_mut().flatten().flatten().zip(y.tiles.iter().flatten().flatten()) {
                *x ^= *y;
            }
            return Ok(());
        }
        let Some(one) = y.tiles.first() else { return Err(self.lanes_differ()) };
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

    fn add_public(&mut self, x: &mut Byte, c: &[u8]) -> Result<(), Abort> {
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
        let lanes = x.first().map_or(0, |b| b.lanes);
        if x.iter().any(|b| b.lanes != lanes) {
            return Err(self.lanes_differ());
        }
        for t in 0..lanes.div_ceil(LANES) {
            for c in 0..2 {
                run(Linear { m, x, t, c });
            }
        }
        Ok(())
    }

    fn sbox(&mut self, d: Direction, x: &mut [&mut Byte]) -> Result<(), Abort> {
        let mut layer = Layer::new(x, d, self.trio.me());
        // [A23] the inverse S-box is owed like the S-box; the mutant forgets it
        let recorded = self.records() && !(d == Direction::Decrypt && self.trio.session.mutated(Check::A23));
        if recorded && d == Direction::Decrypt {
            self.trio.session.observe(Check::A23); // [A23]
        }
        match self.protocol {
            Protocol::Gf8Circuit => {
                let made = gf8_circuit::layer(&mut self.trio, &mut layer)?;
                if recorded {
                    self.owed.gf8.0.push(made);
                }
            }
            Protocol::Gf4Circuit => {
                let made = gf4_circuit::layer(&mut self.trio, &mut layer)?;
                if recorded {
                    self.owed.gf4.0.push(made);
                }
            }
        }
        Ok(())
    }
}

/// Public values go to one component only.
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
