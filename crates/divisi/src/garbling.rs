//! Authenticated garbling as a command asks for it: how many parties, which tables, what the set-up is made with.
//!
//! Everything here is public, the same at all parties, and refused before a secret is touched if it makes no sense.

use crate::circuit::Held;
use crate::failure::Failure;
use divisi_circuit::Program;
use divisi_core::{Parameters, PartyId};
use divisi_garble::{Form, MOST_PARTIES, Options, Plan, Unfit};
use divisi_ot::{Base, Config};
use serde::{Deserialize, Serialize};

/// How a circuit is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbling {
    /// How many parties.
    pub parties: usize,
    /// Form of the tables, and what may be kept of them.
    pub options: Options,
    /// Parameters of the set-up.
    pub config: Config,
    /// Whether triples, tables and evaluation go batch by batch, after the inputs.
    pub streamed: bool,
    /// Whether k of the set-up is still to be chosen by the amount of work: see [`Garbling::settled`].
    pub any_k: bool,
}

/// From how many ANDs on, all instances together, SoftSpokenOT's k is 5 and not 4: it sends a fifth less, and its larger trees have to be
/// paid for first.
const MANY_ANDS: usize = 1 << 18;

impl Default for Garbling {
    fn default() -> Self {
        Garbling {
            parties: 3,
            options: Options::default(),
            config: Config::default(),
            streamed: false,
            any_k: false,
        }
    }
}

/// The name of a way to make base OTs, as on the command line.
#[must_use]
pub fn base_name(base: Base) -> &'static str {
    match base {
        Base::Both => "both",
        Base::Half => "half",
    }
}

impl Garbling {
    /// The same with k chosen for so many ANDs, if nobody chose one.
    #[must_use]
    pub fn settled(mut self, ands: usize) -> Garbling {
        if self.any_k {
            self.config.k = if ands < MANY_ANDS { Config::default().k } else { 5 };
            self.any_k = false;
        }
        self
    }

    /// That it makes sense.
    ///
    /// # Errors
    /// What to correct.
    pub fn check(&self) -> Result<(), Failure> {
        if !(2..=MOST_PARTIES).contains(&self.parties) {
            return Err(Failure::usage(format!(
                "the engine garble has 2 to {MOST_PARTIES} parties, not {}: give another --parties",
                self.parties
            )));
        }
        if !(1..=8).contains(&self.config.k) {
            return Err(Failure::usage(format!("--k is {}: give 1 to 8", self.config.k)));
        }
        if ![40, 64].contains(&self.config.rho) {
            return Err(Failure::usage(format!(
                "--statistical is {}: the engine garble has 40 and 64",
                self.config.rho
            )));
        }
        Ok(())
    }

    /// What is computed for whom, so often, if it can be: all receivers learn all outputs.
    ///
    /// # Errors
    /// Owners or receivers that do not fit; tables beyond the budget.
    pub fn plan<'p>(
        &self,
        program: &'p Program,
        owners: &[PartyId],
        receivers: &[PartyId],
        count: usize,
    ) -> Result<Plan<'p>, Failure> {
        let lists = vec![receivers.to_vec(); program.outputs().len()];
        self.admitted(count, || Plan::new(program, self.parties, owners, &lists))
    }

    /// The same of a circuit wherever it is.
    ///
    /// # Errors
    /// Those of [`Garbling::plan`]; a circuit that stays in its file where this is not streamed.
    pub fn plan_of<'p>(
        &self,
        circuit: &'p Held,
        owners: &[PartyId],
        receivers: &[PartyId],
        count: usize,
    ) -> Result<Plan<'p>, Failure> {
        match circuit {
            Held::Program(circuit) => self.plan(&circuit.program, owners, receivers, count),
            Held::File { stream, .. } => {
                let lists = vec![receivers.to_vec(); stream.outputs().len()];
                self.admitted(count, || Plan::streamed(stream, self.parties, owners, &lists))
            }
        }
    }

    fn admitted<'p>(
        &self,
        count: usize,
        plan: impl FnOnce() -> Result<Plan<'p>, Unfit>,
    ) -> Result<Plan<'p>, Failure> {
        self.check()?;
        let usage = |unfit: Unfit| Failure::usage(unfit.to_string());
        let plan = plan().map_err(usage)?;
        if !self.streamed {
            plan.ahead().map_err(usage)?;
            self.options.admit(&plan, self.config.rho, count).map_err(usage)?;
        }
        Ok(plan)
    }

    /// All of it among the parameters that the parties compare at the start of a session.
    #[must_use]
    pub fn describe(&self, parameters: Parameters) -> Parameters {
        let parameters = parameters.with("streamed", &[u8::from(self.streamed)]);
        self.options.describe(self.config.describe(parameters))
    }
}

/// The same between processes of this program.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Told {
    parties: u8,
    paper: bool,
    budget: u64,
    k: u32,
    both: bool,
    rho: u32,
    streamed: bool,
}

impl From<&Garbling> for Told {
    fn from(garbling: &Garbling) -> Self {
        Told {
            parties: u8::try_from(garbling.parties).unwrap_or(u8::MAX),
            paper: garbling.options.form == Form::Paper,
            budget: garbling.options.budget,
            k: garbling.config.k,
            both: garbling.config.base == Base::Both,
            rho: garbling.config.rho,
            streamed: garbling.streamed,
        }
    }
}

impl From<Told> for Garbling {
    fn from(told: Told) -> Self {
        let form = if told.paper { Form::Paper } else { Form::Improved };
        Garbling {
            parties: usize::from(told.parties),
            options: Options { form, budget: told.budget, ..Options::default() },
            config: Config {
                k: told.k,
                base: if told.both { Base::Both } else { Base::Half },
                rho: told.rho,
            },
            streamed: told.streamed,
            any_k: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_was_meant() {
        for (form, base, streamed) in [(Form::Paper, Base::Half, true), (Form::Improved, Base::Both, false)] {
            let meant = Garbling {
                parties: 5,
                options: Options { form, budget: 77, ..Options::default() },
                config: Config { k: 3, base, rho: 64 },
                streamed,
                any_k: false,
            };
            assert_eq!(Garbling::from(Told::from(&meant)), meant);
        }
    }

    #[test]
    fn k_is_chosen_by_the_amount_unless_it_was_given() {
        let given = Garbling { config: Config { k: 2, ..Config::default() }, ..Garbling::default() };
        assert_eq!(given.settled(1 << 30), given);
        let open = Garbling { any_k: true, ..given };
        assert_eq!([MANY_ANDS - 1, MANY_ANDS].map(|ands| open.settled(ands).config.k), [4, 5]);
        assert!(!open.settled(0).any_k);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let usual = Garbling::default();
        assert!(usual.check().is_ok());
        for parties in [0, 1, MOST_PARTIES + 1] {
            assert!(Garbling { parties, ..usual }.check().is_err(), "{parties}");
        }
        for (k, rho) in [(0, 40), (9, 40), (4, 39), (4, 0)] {
            let config = Config { k, rho, ..usual.config };
            assert!(Garbling { config, ..usual }.check().is_err(), "{k} {rho}");
        }
    }
}
