//! The settings of garbling, from the options of the engine. They are public and the same at all parties;
//! those that make no sense are refused before a secret is used.

use crate::{GarbleOptions, GarblingForm};
use divisi_engine::settings::{SOFT_SPOKEN_K, STREAMED};
use divisi_engine::{EngineOption, EngineSettings, OptionScope, Unsupported, parties};
use divisi_ot::{Base, SetupConfig};

const FORM: &str = "form";
const K: &str = "k";
const BASE_OT: &str = "base-ot";
const BUDGET: &str = "budget";
/// The option for statistical security, which commands declare themselves. This engine takes it for the
/// parties' own inputs, too.
const STATISTICAL: &str = "statistical";
/// The statistical securities in bits that can be chosen, the default first.
pub(super) const STATISTICAL_BITS: [u32; 2] = [40, 64];

/// The options of this engine.
pub(super) fn options() -> Vec<EngineOption> {
    let about = |form| match form {
        GarblingForm::Improved => "half-gates, and smaller leaky triples",
        GarblingForm::Paper => "as in the paper's figures",
    };
    let forms = GarblingForm::ALL.map(|form| (form.name(), about(form)));
    let about = |base| match base {
        Base::Half => {
            "public-key base OTs in one direction of each pair; those of the other direction from a small OT \
             extension"
        }
        Base::Both => "public-key base OTs in both directions: fewer rounds",
    };
    let bases = Base::ALL.map(|base| (base.name(), about(base)));
    let budget = "the limit of memory for tables, in MiB; a run that needs more is refused";
    let streamed = "take the inputs first, then garble and evaluate the circuit piece by piece, in memory that does \
                    not grow with the circuit";
    vec![
        EngineOption::one_of(FORM, forms, "the form of the tables").with_default("improved"),
        EngineOption::number(K, "K", SOFT_SPOKEN_K).with_default("4; 5 from 262144 ANDs on"),
        EngineOption::one_of(BASE_OT, bases, "how base OTs are made").with_default("half"),
        EngineOption::number(BUDGET, "MIB", budget).with_default("1024"),
        EngineOption::switch(STREAMED, streamed).at(&[OptionScope::Run, OptionScope::Circuits]),
        EngineOption::declared(STATISTICAL),
    ]
}

/// How circuits are garbled.
pub(super) struct Garbling {
    /// The number of parties.
    pub parties: usize,
    /// The form of the tables, and the budget for them.
    pub options: GarbleOptions,
    /// Parameters of the set-up.
    pub config: SetupConfig,
    /// Whether triples, tables and evaluation are made batch by batch, after the inputs.
    pub streamed: bool,
    /// Whether a circuit whose tables exceed the budget is streamed, instead of being refused.
    pub streams_large: bool,
    /// Whether k was not given: the amount of work chooses it.
    pub any_k: bool,
}

impl Garbling {
    /// The settings of garbling from those of the engine.
    ///
    /// # Errors
    /// [`Unsupported`] with a sentence that says what to correct.
    pub fn new(settings: &EngineSettings) -> Result<Garbling, Unsupported> {
        settings.malicious_with_one_thread("garble")?;
        let (mut options, mut config) = (GarbleOptions::default(), SetupConfig::default());
        let form = settings.one_of(FORM, &GarblingForm::ALL, GarblingForm::name)?;
        options.form = form.unwrap_or(options.form);
        config.base = settings.one_of(BASE_OT, &Base::ALL, Base::name)?.unwrap_or(config.base);
        if let Some(mebibytes) = settings.number(BUDGET, 0..=u32::MAX)? {
            options.budget = u64::from(mebibytes) << 20;
        }
        let k = settings.number(K, 1..=8)?;
        config.k = k.unwrap_or(config.k);
        config.rho = settings.statistical_of("garble", STATISTICAL_BITS)?;
        let (parties, streamed) = (parties(&super::GarbleEngine, settings), settings.is_streamed());
        Ok(Garbling { parties, options, config, streamed, streams_large: false, any_k: k.is_none() })
    }
}
