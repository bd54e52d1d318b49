//! A plan: a circuit, the owner of each input value, and the receivers of each output value.
//!
//! A plan is public, and is checked in full before any secret is used. The parties compare its digest: it is
//! among the session's parameters, or, in a session for many circuits, it leads the first message that
//! depends on the plan \[M0.4, W26\].
//!
//! Constants, x AND x, and x XOR x are folded when a plan is made \[W29\], so that no wire has a value that
//! everybody knows. The labels of such a wire could depend on a garbler's Delta. In a circuit that stays in
//! its file they are folded whenever the file is read ([`divisi_circuit::stream`]).

use crate::batch::{Batch, batches};
use crate::circuit::{Circuit, Result, has_public_wires};
use divisi_circuit::{Program, Stream};
use divisi_core::{ComparedDigest, PartyId};
use std::fmt;
use std::sync::OnceLock;

/// The largest number of parties that can run one circuit.
pub const MOST_PARTIES: usize = 128;

/// Why a plan cannot be made or run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// The number of parties is not 2 to [`MOST_PARTIES`].
    Parties {
        /// The number of parties that was asked for.
        parties: usize,
    },
    /// The number of owners is not the number of input values.
    Owners {
        /// How many input values the circuit has.
        values: usize,
        /// How many owners were given.
        owners: usize,
    },
    /// The number of receivers' lists is not the number of output values.
    Receivers {
        /// How many output values the circuit has.
        values: usize,
        /// How many lists were given.
        lists: usize,
    },
    /// An owner or receiver is not one of the parties, or a list of receivers names it twice.
    Stranger {
        /// The party that was named.
        party: PartyId,
    },
    /// The number of input bits that a party gave is not the number of its input wires.
    Input {
        /// The party.
        party: PartyId,
        /// How many input wires it owns.
        want: usize,
        /// How many bits it gave.
        got: usize,
    },
    /// The tables that a party would keep are larger than the budget.
    Budget {
        /// How many bytes they take.
        need: u64,
        /// How many bytes are allowed.
        budget: u64,
    },
    /// The circuit stays in its file, so only the streamed mode can run it.
    Streamed,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Parties { parties } => {
                write!(f, "a circuit is garbled by 2 to {MOST_PARTIES} parties, not by {parties}")
            }
            Unfit::Owners { values, owners } => {
                write!(
                    f,
                    "the circuit has {values} input values, each with one owner; {owners} owners are named"
                )
            }
            Unfit::Receivers { values, lists } => {
                write!(f, "the circuit has {values} output values; receivers are named for {lists}")
            }
            Unfit::Stranger { party } => {
                write!(f, "{party} is not among the parties, or is named twice in a list")
            }
            Unfit::Input { party, want, got } => {
                write!(f, "{party} owns {want} input wires and gave {got} bits")
            }
            Unfit::Budget { need, budget } => {
                write!(
                    f,
                    "the tables need {need} bytes of memory, and {budget} are allowed: use the streamed mode"
                )
            }
            Unfit::Streamed => f.write_str(
                "a circuit that stays in its file cannot be garbled ahead: use the streamed mode, or read it into memory",
            ),
        }
    }
}

impl std::error::Error for Unfit {}

/// A circuit with the owners of its inputs and the receivers of its outputs.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    circuit: Circuit<'p>,
    parties: usize,
    owners: Vec<PartyId>,
    receivers: Vec<Vec<PartyId>>,
    pub(crate) results: Vec<Result>,
    digest: [u8; 32],
    public_wires: bool,
    whole: OnceLock<Batch>,
}

impl<'p> Plan<'p> {
    /// A plan for a circuit in memory. `owners` has one party for each input value, `receivers` one list of
    /// parties for each output value.
    ///
    /// # Errors
    /// [`Unfit`] if owners or receivers do not fit the circuit or the parties, or if there are too few or too
    /// many parties.
    pub fn new(
        program: &'p Program,
        parties: usize,
        owners: &[PartyId],
        receivers: &[Vec<PartyId>],
    ) -> std::result::Result<Plan<'p>, Unfit> {
        let receivers = fit([program.inputs(), program.outputs()], parties, owners, receivers)?;
        Ok(Self::of(Circuit::program(program), parties, owners, receivers))
    }

    /// A plan for a circuit that stays in its file; only the streamed mode can run it. The plan's digest
    /// contains the file's digest.
    ///
    /// # Errors
    /// It fails as [`Plan::new`] does.
    pub fn streamed(
        stream: &'p Stream,
        parties: usize,
        owners: &[PartyId],
        receivers: &[Vec<PartyId>],
    ) -> std::result::Result<Plan<'p>, Unfit> {
        let receivers = fit([stream.inputs(), stream.outputs()], parties, owners, receivers)?;
        Ok(Self::of(Circuit::Stream(stream), parties, owners, receivers))
    }

    fn of(
        circuit: Circuit<'p>,
        parties: usize,
        owners: &[PartyId],
        receivers: Vec<Vec<PartyId>>,
    ) -> Plan<'p> {
        let results = circuit.results();
        let digest = digest(&circuit, parties, owners, &receivers);
        let public_wires = has_public_wires(&circuit, &results);
        let (owners, whole) = (owners.to_vec(), OnceLock::new());
        Plan { circuit, parties, owners, receivers, results, digest, public_wires, whole }
    }

    /// A plan in which every party learns every output.
    ///
    /// # Errors
    /// It fails as [`Plan::new`] does.
    pub fn for_all(
        program: &'p Program,
        parties: usize,
        owners: &[PartyId],
    ) -> std::result::Result<Plan<'p>, Unfit> {
        let all: Vec<PartyId> = PartyId::all(parties).collect();
        Self::new(program, parties, owners, &vec![all; program.outputs().len()])
    }

    /// The same plan over the circuit with its constants not folded: for tests of the check that refuses it.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn unfolded(mut self, program: &'p Program) -> Plan<'p> {
        self.results = program.results().iter().map(|slot| Result::Wire(slot.index())).collect();
        self.circuit = Circuit::Program(std::borrow::Cow::Borrowed(program));
        self.digest = digest(&self.circuit, self.parties, &self.owners, &self.receivers);
        self.public_wires = has_public_wires(&self.circuit, &self.results);
        self.whole = OnceLock::new();
        self
    }

    /// The same plan, but treated as free of constants: for tests of the check of each batch.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn believed(mut self) -> Plan<'p> {
        self.public_wires = false;
        self
    }

    /// Whether a gate reads, or a result is, a wire whose value everybody knows. A folded circuit has no such
    /// wire \[W29\].
    pub(crate) fn has_public_wires(&self) -> bool {
        self.public_wires
    }

    /// The whole circuit as one batch; empty for a circuit in a file, which is never evaluated as a whole.
    pub(crate) fn whole(&self) -> &Batch {
        self.whole.get_or_init(|| {
            let mut whole = Batch::default();
            if !self.circuit.is_streamed() {
                let taken = batches(&self.circuit, usize::MAX, |batch| {
                    whole.ops.clone_from(&batch.ops);
                    whole.ands = batch.ands;
                    Ok::<(), std::convert::Infallible>(())
                });
                debug_assert!(taken.is_ok(), "a program in memory is always there");
            }
            whole
        })
    }

    /// The circuit.
    pub(crate) fn program(&self) -> &Circuit<'p> {
        &self.circuit
    }

    /// Accepts circuits that can be garbled ahead, which a circuit in a file cannot.
    ///
    /// # Errors
    /// [`Unfit::Streamed`] for a circuit in a file.
    pub fn ahead(&self) -> std::result::Result<(), Unfit> {
        if self.circuit.is_streamed() { Err(Unfit::Streamed) } else { Ok(()) }
    }

    /// How many parties there are.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// How many ANDs the circuit has.
    #[must_use]
    pub fn and_count(&self) -> usize {
        self.circuit.and_count()
    }

    /// How many input wires all parties have together.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.circuit.inputs().iter().sum()
    }

    /// How many wires of one instance need a fresh mask: inputs and results of ANDs.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.input_bits() + self.and_count()
    }

    /// A digest of all that the parties must agree on: circuit, owners, receivers, number of parties.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The numbers of the input wires that a party owns, in order.
    pub fn wires_of(&self, party: PartyId) -> impl Iterator<Item = usize> + '_ {
        let mut start = 0;
        self.circuit
            .inputs()
            .iter()
            .zip(&self.owners)
            .map(move |(width, owner)| {
                start += width;
                (*owner, start - width..start)
            })
            .filter(move |(owner, _)| *owner == party)
            .flat_map(|(_, wires)| wires)
    }

    /// The numbers of the output bits that a party learns, in order.
    pub fn results_of(&self, party: PartyId) -> impl Iterator<Item = usize> + '_ {
        let mut start = 0;
        self.circuit
            .outputs()
            .iter()
            .zip(&self.receivers)
            .map(move |(width, receivers)| {
                start += width;
                (receivers, start - width..start)
            })
            .filter(move |(receivers, _)| receivers.contains(&party))
            .flat_map(|(_, bits)| bits)
    }

    /// The numbers of the output values that a party learns.
    pub fn values_of(&self, party: PartyId) -> impl Iterator<Item = usize> + '_ {
        self.receivers.iter().enumerate().filter(move |(_, r)| r.contains(&party)).map(|(value, _)| value)
    }
}

/// The lists of receivers, each in order, if receivers and owners fit the circuit.
fn fit(
    [inputs, outputs]: [&[usize]; 2],
    parties: usize,
    owners: &[PartyId],
    receivers: &[Vec<PartyId>],
) -> std::result::Result<Vec<Vec<PartyId>>, Unfit> {
    if !(2..=MOST_PARTIES).contains(&parties) {
        return Err(Unfit::Parties { parties });
    }
    if owners.len() != inputs.len() {
        return Err(Unfit::Owners { values: inputs.len(), owners: owners.len() });
    }
    if receivers.len() != outputs.len() {
        return Err(Unfit::Receivers { values: outputs.len(), lists: receivers.len() });
    }
    let mut receivers = receivers.to_vec();
    for list in &mut receivers {
        list.sort_unstable();
        if let Some(twice) = list.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Unfit::Stranger { party: twice[0] });
        }
    }
    let named = owners.iter().chain(receivers.iter().flatten());
    match named.into_iter().find(|party| party.index() >= parties) {
        Some(&party) => Err(Unfit::Stranger { party }),
        None => Ok(receivers),
    }
}

fn digest(circuit: &Circuit<'_>, parties: usize, owners: &[PartyId], receivers: &[Vec<PartyId>]) -> [u8; 32] {
    let name = match circuit {
        Circuit::Program(_) => "divisi 2026 garble plan v2",
        Circuit::Stream(_) => "divisi 2026 garble streamed plan v1",
    };
    let mut hasher = blake3::Hasher::new_derive_key(name);
    let mut word = |word: usize| {
        hasher.update(&(word as u64).to_le_bytes());
    };
    word(parties);
    word(owners.len());
    circuit.inputs().iter().zip(owners).for_each(|(width, owner)| {
        word(*width);
        word(owner.index());
    });
    word(receivers.len());
    circuit.outputs().iter().zip(receivers).for_each(|(width, list)| {
        word(*width);
        word(list.len());
        list.iter().for_each(|party| word(party.index()));
    });
    hasher.update(&match circuit {
        Circuit::Program(program) => program.digest(),
        Circuit::Stream(stream) => stream.digest(),
    });
    hasher.to_compare()
}
