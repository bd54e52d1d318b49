//! What only the engine garble has a choice of.

use super::{Engine, EngineChoice};
use clap::{Args, ValueEnum};
use divisi::failure::Failure;
use divisi::garbling::Garbling;
use divisi_garble::Form;
use divisi_ot::Base;
use divisi_rep3::Security;

#[derive(Clone, Copy, ValueEnum)]
enum FormName {
    /// Half-gates, and smaller leaky triples
    Improved,
    /// As in the paper's figures
    Paper,
}

#[derive(Clone, Copy, ValueEnum)]
enum BaseName {
    /// Public-key base OTs in one direction of a pair, the others from a first small extension
    Half,
    /// Public-key base OTs in both directions: fewer rounds
    Both,
}

/// How circuits are garbled.
#[derive(Args, Clone, Copy)]
pub struct Manner {
    /// Of garble: which tables [default: improved]
    #[arg(long, value_enum, value_name = "NAME")]
    form: Option<FormName>,
    /// Of garble: the parameter of SoftSpokenOT, 1 to 8; more of it sends less and computes more [default: 4]
    #[arg(long, value_name = "K")]
    k: Option<u32>,
    /// Of garble: how base OTs are made [default: half]
    #[arg(long, value_enum, value_name = "NAME")]
    base_ot: Option<BaseName>,
    /// Of garble: refuse to keep more MiB of tables than that [default: 1024]
    #[arg(long, value_name = "MIB")]
    budget: Option<u32>,
}

impl Manner {
    /// What is asked of the engine garble; nothing if it is another that is asked.
    pub fn get(
        self,
        engine: EngineChoice,
        security: Security,
        statistical: Option<u32>,
        streamed: bool,
    ) -> Result<Option<Garbling>, Failure> {
        let usual = Garbling::default();
        if let Engine::Rep3 = engine.engine {
            engine.check()?;
            let first = [
                ("--form", self.form.is_some()),
                ("--k", self.k.is_some()),
                ("--base-ot", self.base_ot.is_some()),
                ("--budget", self.budget.is_some()),
                ("--streamed", streamed),
            ]
            .into_iter()
            .find_map(|(name, given)| given.then_some(name));
            return match first {
                Some(name) => Err(Failure::usage(format!(
                    "{name} belongs to the engine garble: give --engine garble, or leave it out"
                ))),
                None => Ok(None),
            };
        }
        if security == Security::SemiHonest {
            return Err(Failure::usage(
                "the engine garble is for malicious parties: leave --security out, or give malicious",
            ));
        }
        let mut garbling = Garbling { streamed, parties: engine.parties.unwrap_or(usual.parties), ..usual };
        garbling.options.form = match self.form {
            Some(FormName::Paper) => Form::Paper,
            Some(FormName::Improved) => Form::Improved,
            None => usual.options.form,
        };
        garbling.options.budget =
            self.budget.map_or(usual.options.budget, |mebibytes| u64::from(mebibytes) << 20);
        garbling.config.k = self.k.unwrap_or(usual.config.k);
        garbling.config.rho = statistical.unwrap_or(usual.config.rho);
        garbling.config.base = match self.base_ot {
            Some(BaseName::Both) => Base::Both,
            Some(BaseName::Half) => Base::Half,
            None => usual.config.base,
        };
        garbling.check()?;
        Ok(Some(garbling))
    }
}
