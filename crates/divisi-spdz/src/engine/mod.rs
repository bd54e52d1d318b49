//! The engine on which ciphers compute, among any number of parties.
//!
//! Operations take and return shares that are not verified, and everything opened enters the ledger of the
//! party; [`Spdz::close`] turns outputs into a [`Pending`] that owes the MAC check of everything opened until
//! then.

mod arithmetic;
mod bits;
mod boolean;
mod bytes;
mod decomposition;
mod leave;
mod lookup;
mod polynomial;
mod raw;
mod reserve;
mod sixes;
mod tiny;
mod tiny_bits;
mod values;

use crate::checks;
use crate::exact::Exact;
use crate::part::{Embeds, Host, Shareable};
use crate::party::{Party, unfit};
use crate::share::Auth;
use crate::source::Source;
use divisi_core::{Abort, Debt, Misuse, Pending, Session, Step, Verified, step};

pub(crate) use leave::{combined, rows};

pub use bits::AuthBit;
pub use bytes::AuthByte;
pub use tiny::{Tiny, TinyByte};
pub use tiny_bits::{TinyBit, TinyBits};
pub use values::{AuthValue, PublicTable};

/// The phase of making unit vectors, before keys and inputs are known.
pub const PREPROCESSING_PHASE: &str = "preprocessing";
/// The phase of making tables of unit vectors (those of AES for one direction of the cipher), and of reading
/// a stock.
pub const LOAD_PHASE: &str = "load";

const FOREIGN: Step = step!("settle");
const OUTPUT: Step = step!("output");

/// How S-boxes of AES are computed, and those of DES by the corresponding protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpdzProtocol {
    /// AES-LT and 3DES-LT: masked tables.
    Lookup,
    /// AES-RP: Rivain and Prouff's four products, each power decomposed into bits. (For triple DES this is
    /// 3DES-PV: Pulkus and Vivek's three products.)
    RivainProuff,
    /// AES-BD: six products of powers that all come from one decomposition into bits. (For triple DES this is
    /// 3DES-PV, too.)
    BitDecomposition,
    /// 3DES-Raw, for tables of few bits only: all powers of x in GF(2^6), each by a product.
    Raw,
}

impl SpdzProtocol {
    /// All protocols for S-boxes of AES.
    pub const ALL: [SpdzProtocol; 3] =
        [SpdzProtocol::Lookup, SpdzProtocol::RivainProuff, SpdzProtocol::BitDecomposition];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SpdzProtocol::Lookup => "aes-lt",
            SpdzProtocol::RivainProuff => "aes-rp",
            SpdzProtocol::BitDecomposition => "aes-bd",
            SpdzProtocol::Raw => "3des-raw",
        }
    }
}

/// An engine of one session: it computes, and keeps what its values owe.
pub struct Spdz<F: Host> {
    party: Party<F>,
    source: Box<dyn Source<F>>,
    protocol: SpdzProtocol,
    lookups: lookup::Lookups<F>,
    tables: bits::Stocks<F>,
    polynomials: polynomial::Decompositions,
    interpolated: raw::Polynomials,
    reserve: reserve::Reserve<F>,
    vectors: Vec<values::Vectors<F>>,
}

/// What a value owes: the check of everything that one engine had opened until then.
pub struct Openings<F> {
    party: u64,
    opened: u64,
    field: std::marker::PhantomData<fn() -> F>,
}

impl<F: Host> Spdz<F> {
    /// An engine that takes its preprocessing from `source`, which returns as many lanes as it is asked for,
    /// or ends the session.
    ///
    /// # Errors
    /// If the plain engine cannot compute the table of the S-box, which does not happen in practice.
    #[inline(never)]
    pub fn new(party: Party<F>, source: Box<dyn Source<F>>, protocol: SpdzProtocol) -> Result<Self, Abort> {
        Ok(Spdz {
            party,
            source: Box::new(Exact::new(source)),
            protocol,
            lookups: lookup::Lookups::new()?,
            tables: bits::Stocks::default(),
            polynomials: polynomial::Decompositions::default(),
            interpolated: raw::Polynomials::default(),
            reserve: reserve::Reserve::default(),
            vectors: Vec::new(),
        })
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session {
        &mut self.party.session
    }

    /// Tell the stock, if there is one, that all parties have used everything that was taken from it. If this
    /// process ends before more is taken, it does not count as interrupted.
    ///
    /// # Errors
    /// [`Abort::Unfit`] if the stock cannot record it.
    pub fn rest(&mut self) -> Result<(), Abort> {
        match &self.party.reserve {
            Some(reserve) => {
                let closed = self.party.session.stored(OUTPUT, || reserve.close());
                closed.map_err(|e| unfit(&self.party.session, OUTPUT, &e))
            }
            None => Ok(()),
        }
    }

    /// The bucket size of most of this engine's preprocessing; `None` if none was made in buckets.
    #[must_use]
    pub fn bucket(&self) -> Option<usize> {
        self.party.buckets.map(|(_, size)| size)
    }

    /// Random bytes that nobody knows.
    pub(crate) fn random_bytes(&mut self, count: usize) -> Result<AuthByte<F>, Abort> {
        Ok(crate::table::bytes(&self.random_bits(8 * count)?, count))
    }

    /// The party, and the source of its preprocessing.
    pub(crate) fn parts(&mut self) -> (&mut Party<F>, &mut dyn Source<F>) {
        (&mut self.party, self.source.as_mut())
    }

    /// End a computation: its outputs, which owe the check of everything opened so far.
    pub fn close<T>(&mut self, out: T) -> Pending<T, Openings<F>> {
        let debt = Openings {
            party: self.party.number(),
            opened: self.party.ledger.opened(),
            field: std::marker::PhantomData,
        };
        Pending::owing(out, debt)
    }

    /// **Output** (KOR+17, Fig. 1) to all parties: the value is opened, and returned after its MAC is
    /// checked.
    ///
    /// Cost: the value's bits to each peer, one round, and a check.
    ///
    /// # Errors
    /// The abort that ends the session.
    pub fn output<V: Shareable>(&mut self, value: Verified<Auth<V, F>>) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        self.opened(value.get())
    }

    /// Open a verified value to all, and check this opening.
    #[inline(never)]
    fn opened<V: Shareable>(&mut self, value: &Auth<V, F>) -> Result<Vec<V>, Abort>
    where
        F: Embeds<V>,
    {
        self.party.session.observe(checks::M0_7); // [M0.7]
        let opened = self.party.open(OUTPUT, &value.x, &value.m)?;
        self.party.check_here()?;
        Ok(opened)
    }
}

impl<F: Host> Openings<F> {
    fn fits(&self, payer: &Spdz<F>) -> Result<(), Abort> {
        if self.party == payer.party.number() {
            Ok(())
        } else {
            Err(payer.party.session.misuse(FOREIGN, Misuse::OtherStrand))
        }
    }
}

impl<F: Host> Debt for Openings<F> {
    type Payer = Spdz<F>;

    fn take_over(&mut self, other: Self) {
        if other.party != self.party {
            // no engine has this number, so paying this debt ends the session
            self.party = u64::MAX;
        }
        self.opened = self.opened.max(other.opened);
    }

    fn hand_over(self, payer: &mut Spdz<F>) {
        // the payer's own ledger still has these openings; a debt to another engine would be forgotten, so
        // the session ends
        let _ = self.fits(payer);
    }

    #[inline(never)]
    fn pay(self, payer: &mut Spdz<F>) -> Result<(), Abort> {
        self.fits(payer)?;
        if payer.party.ledger.checked < self.opened {
            payer.party.check()?;
        }
        Ok(())
    }

    fn fail(payer: &mut Spdz<F>, abort: Abort) -> Abort {
        payer.party.session.fail(abort)
    }
}
