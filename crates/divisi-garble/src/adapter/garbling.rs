//! The settings of garbling: the number of parties, the form of the tables, the parameters of the set-up.
//!
//! All settings are public and the same at all parties. Settings that make no sense are refused before a
//! secret is used.

use crate::{GarbleOptions, GarblingForm, Plan, Unfit};
use divisi_circuit::Program;
use divisi_core::{PartyId, PublicParameters};
use divisi_engine::circuit::HeldCircuit;
use divisi_engine::settings::{SOFT_SPOKEN_K, STREAMED};
use divisi_engine::{EngineOption, EngineSettings, OptionScope, Unsupported, parties};
use divisi_ot::{Base, SetupConfig};

/// How a circuit is garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Garbling {
    /// The number of parties.
    pub parties: usize,
    /// The form of the tables, and the budget for them.
    pub options: GarbleOptions,
    /// Parameters of the set-up.
    pub config: SetupConfig,
    /// Whether triples, tables and evaluation are made batch by batch, after the inputs.
    pub streamed: bool,
    /// Whether k of the set-up still has to be chosen by the amount of work: see [`Garbling::settled`].
    pub any_k: bool,
}

/// With at least this many ANDs in all instances together, SoftSpokenOT's default k is 5, otherwise 4. With 5
/// a fifth less is sent, but the larger trees cost more at first.
const MANY_ANDS: usize = 1 << 18;

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    let forms = [
        (GarblingForm::Improved.name(), "half-gates, and smaller leaky triples"),
        (GarblingForm::Paper.name(), "as in the paper's figures"),
    ];
    let bases = [
        (
            base_name(Base::Half),
            "public-key base OTs in one direction of each pair; those of the other direction from a small OT \
             extension",
        ),
        (base_name(Base::Both), "public-key base OTs in both directions: fewer rounds"),
    ];
    vec![
        EngineOption::one_of(FORM, forms, "the form of the tables").usually("improved"),
        EngineOption::number(K, "K", SOFT_SPOKEN_K).usually("4; 5 from 262144 ANDs on"),
        EngineOption::one_of(BASE_OT, bases, "how base OTs are made").usually("half"),
        EngineOption::number(
            BUDGET,
            "MIB",
            "the limit of memory for tables, in MiB; a run that needs more is refused",
        )
        .usually("1024"),
        EngineOption::switch(
            STREAMED,
            "take the inputs first, then garble and evaluate the circuit piece by piece, in memory that does \
             not grow with the circuit",
        )
        .at(&[OptionScope::Run, OptionScope::Circuits]),
        EngineOption::declared(STATISTICAL),
    ]
}

const FORM: &str = "form";
const K: &str = "k";
const BASE_OT: &str = "base-ot";
const BUDGET: &str = "budget";
/// The option for statistical security, which commands declare themselves. This engine takes it for the
/// parties' own inputs, too.
const STATISTICAL: &str = "statistical";
/// The statistical securities in bits that can be chosen, the default first.
pub(super) const STATISTICAL_BITS: [u32; 2] = [40, 64];

/// The name of a way to make base OTs, as on the command line.
#[must_use]
pub(super) fn base_name(base: Base) -> &'static str {
    match base {
        Base::Both => "both",
        Base::Half => "half",
    }
}

impl Garbling {
    /// These settings with k chosen for this number of ANDs, unless it was given.
    #[must_use]
    pub fn settled(mut self, ands: usize) -> Garbling {
        if self.any_k {
            self.config.k = if ands < MANY_ANDS { SetupConfig::default().k } else { 5 };
            self.any_k = false;
        }
        self
    }

    /// The settings of garbling from those of the engine.
    ///
    /// # Errors
    /// [`Unsupported`] with a sentence that says what to correct.
    pub fn new(settings: &EngineSettings) -> Result<Garbling, Unsupported> {
        settings.malicious_with_one_thread("garble")?;
        let (mut options, mut config) = (GarbleOptions::default(), SetupConfig::default());
        let forms = [GarblingForm::Improved, GarblingForm::Paper];
        options.form = settings.one_of(FORM, &forms, GarblingForm::name)?.unwrap_or(options.form);
        let base = settings.one_of(BASE_OT, &[Base::Half, Base::Both], base_name)?;
        config.base = base.unwrap_or(config.base);
        if let Some(mebibytes) = settings.number(BUDGET, 0..=u32::MAX)? {
            options.budget = u64::from(mebibytes) << 20;
        }
        let k = settings.number(K, 1..=8)?;
        config.k = k.unwrap_or(config.k);
        config.rho = settings.statistical.unwrap_or(config.rho);
        if !STATISTICAL_BITS.contains(&config.rho) {
            return Err(Unsupported::new(format!(
                "--statistical is {}: the engine garble has 40 and 64",
                config.rho
            )));
        }
        let parties = parties(&super::GarbleEngine, settings);
        Ok(Garbling { parties, options, config, streamed: settings.is_streamed(), any_k: k.is_none() })
    }

    /// The plan of an evaluation: the circuit, the owners of inputs, the number of instances; all receivers
    /// learn all outputs.
    ///
    /// # Errors
    /// [`Unsupported`] for wrong owners or receivers, or if the tables exceed the budget.
    pub fn plan<'p>(
        &self,
        program: &'p Program,
        owners: &[PartyId],
        receivers: &[PartyId],
        count: usize,
    ) -> Result<Plan<'p>, Unsupported> {
        let lists = vec![receivers.to_vec(); program.outputs().len()];
        self.admitted(count, || Plan::new(program, self.parties, owners, &lists))
    }

    /// The plan of an evaluation of a circuit in memory or in its file, each of whose output values has
    /// receivers of its own.
    ///
    /// # Errors
    /// [`Unsupported`] as from [`Garbling::plan`]; also for a circuit that stays in its file without the
    /// streamed mode.
    pub fn plan_of<'p>(
        &self,
        circuit: &'p HeldCircuit,
        owners: &[PartyId],
        receivers: &[Vec<PartyId>],
        count: usize,
    ) -> Result<Plan<'p>, Unsupported> {
        self.admitted(count, || match circuit {
            HeldCircuit::Program(circuit) => Plan::new(&circuit.program, self.parties, owners, receivers),
            HeldCircuit::File { stream, .. } => Plan::streamed(stream, self.parties, owners, receivers),
        })
    }

    fn admitted<'p>(
        &self,
        count: usize,
        plan: impl FnOnce() -> Result<Plan<'p>, Unfit>,
    ) -> Result<Plan<'p>, Unsupported> {
        let usage = |unfit: Unfit| Unsupported::new(unfit.to_string());
        let plan = plan().map_err(usage)?;
        if !self.streamed {
            plan.ahead().map_err(usage)?;
            self.options.admit(&plan, self.config.rho, count).map_err(usage)?;
        }
        Ok(plan)
    }

    /// Add the settings to the parameters that the parties compare at the start of a session.
    #[must_use]
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("streamed", &[u8::from(self.streamed)]);
        self.options.describe(self.config.describe(parameters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Security;

    #[test]
    fn settings_are_read_as_they_were_meant() {
        let settings =
            EngineSettings::default().among(5).with(FORM, "paper").with(BASE_OT, "both").with(STREAMED, "");
        let settings = EngineSettings { statistical: Some(64), ..settings.with(K, 3).with(BUDGET, 7) };
        let meant = Garbling {
            parties: 5,
            options: GarbleOptions { form: GarblingForm::Paper, budget: 7 << 20, ..GarbleOptions::default() },
            config: SetupConfig { k: 3, base: Base::Both, rho: 64 },
            streamed: true,
            any_k: false,
        };
        assert_eq!(Garbling::new(&settings).unwrap(), meant);
        let usual = Garbling::new(&EngineSettings::default()).unwrap();
        assert_eq!(
            (usual.parties, usual.options, usual.config),
            (3, GarbleOptions::default(), SetupConfig::default())
        );
        assert!(usual.any_k && !usual.streamed);
    }

    #[test]
    fn k_is_chosen_by_the_amount_unless_it_was_given() {
        let given = Garbling::new(&EngineSettings::default().with(K, 2)).unwrap();
        assert_eq!(given.settled(1 << 30), given);
        let open = Garbling::new(&EngineSettings::default()).unwrap();
        assert_eq!([MANY_ANDS - 1, MANY_ANDS].map(|ands| open.settled(ands).config.k), [4, 5]);
        assert!(!open.settled(0).any_k);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let usual = EngineSettings::default();
        for bad in [
            usual.clone().with(K, 0),
            usual.clone().with(K, 9),
            usual.clone().with(K, "x"),
            usual.clone().with(FORM, "round"),
            usual.clone().with(BASE_OT, "none"),
            EngineSettings { statistical: Some(39), ..usual.clone() },
            EngineSettings { threads: 2, ..usual.clone() },
            EngineSettings { security: Security::SemiHonest, ..usual.clone() },
        ] {
            assert!(Garbling::new(&bad).is_err(), "{bad:?}");
        }
    }
}
