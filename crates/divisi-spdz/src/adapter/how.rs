//! The settings of the engine: its protocol, field and preprocessing, from the options of the command line.

use super::place::{self, Taken};
use crate::protocol::{MacField, NAMED, NamedProtocol, Task, by_field};
use crate::{LOAD_PHASE, PREPROCESSING_PHASE, Preparation, SpdzProtocol};
use divisi_core::PublicParameters;
use divisi_engine::job::Cipher;
use divisi_engine::stock::{PEERS, statistical_bits};
use divisi_engine::{EngineSettings, Unsupported, parties};
use divisi_ot::SetupConfig;

pub(super) const PROTOCOL: &str = "protocol";
pub(super) const FIELD: &str = "field";
pub(super) const PREP: &str = "prep";
pub(super) const K: &str = "k";

/// The statistical securities in bits that can be chosen, the default first.
pub(super) const STATISTICAL: [u32; 2] = [40, 64];

/// The settings of the engine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct How {
    /// The number of parties.
    pub parties: usize,
    /// The protocol that was named, if any.
    named: Option<NamedProtocol>,
    pub field: MacField,
    pub prep: Preparation,
    /// Parameters of the set-up of OTs.
    pub config: SetupConfig,
    /// The stock to take preprocessing from, if any.
    pub stock: Option<Taken>,
}

impl How {
    /// The settings from those of the engine.
    ///
    /// # Errors
    /// A sentence that says what to correct.
    pub fn new(settings: &EngineSettings) -> Result<How, Unsupported> {
        let wrong = |what: String| Err(Unsupported::new(what));
        settings.malicious_with_one_thread("spdz")?;
        let own = |name: &str| settings.own.get(name).map(String::as_str);
        let named = own(PROTOCOL).map(|name| {
            NamedProtocol::of(name).ok_or_else(|| {
                let names = NAMED.map(NamedProtocol::shown).join(", ");
                Unsupported::new(format!("the engine spdz has no protocol {name}: choose one of {names}"))
            })
        });
        let named = named.transpose()?;
        let statistical = settings.statistical_of("spdz", STATISTICAL)?;
        let field = match (own(FIELD), statistical) {
            (None, 64) => MacField::F72,
            (Some(bits), 64) => {
                return wrong(format!(
                    "--field {bits} is too small for --statistical 64, which has its own field: leave --field out"
                ));
            }
            (None | Some("48"), _) => MacField::F48,
            (Some("40"), _) => MacField::F40,
            (Some("42"), _) => MacField::F42,
            (Some(other), _) => {
                return wrong(format!("--field is {other}: give 40 or 48, or 42 for triple DES"));
            }
        };
        let prep = settings.one_of(PREP, &Preparation::ALL, Preparation::name)?.unwrap_or_default();
        let mut config = SetupConfig { rho: statistical, ..SetupConfig::default() };
        config.k = settings.number(K, 1..=8)?.unwrap_or(config.k);
        let parties = parties(&super::Authenticated, settings);
        let made = How { parties, named, field, prep, config, stock: None };
        let made = match place::taken(&settings.own)? {
            Some(from) => made.taking(settings, from)?,
            None => made,
        };
        made.suits()?;
        Ok(made)
    }

    /// The statistical security in bits: of the buckets or of the field, the smaller number.
    pub fn statistical_bits(&self) -> u32 {
        statistical_bits(self.config.rho, self.field.bits(), self.parties)
    }

    /// Check that the field of the MACs contains the small field in which the protocol multiplies.
    fn suits(&self) -> Result<(), Unsupported> {
        let raw = self.named.is_some_and(|named| named.protocol == SpdzProtocol::Raw);
        let bits_alone = self.named.is_some_and(|named| {
            named.task == Task::TripleDes
                && matches!(named.protocol, SpdzProtocol::Lookup | SpdzProtocol::Raw)
        });
        match self.field {
            MacField::F42 if !bits_alone => Err(Unsupported::new(
                "--field 42 is for the protocols that multiply no bytes, which GF(2^42) does not contain: give --protocol 3des-lt, 3des-tinytable or 3des-raw with it, or --field 40 or 48",
            )),
            MacField::F40 if raw => Err(Unsupported::new(
                "the protocol 3des-raw multiplies in GF(2^6), which GF(2^40) does not contain: give --field 42 or 48",
            )),
            _ => Ok(()),
        }
    }

    /// These settings with those of a stock, where no option gives another.
    ///
    /// # Errors
    /// A sentence that says in what the stock differs from the options: number of parties, protocol, field,
    /// way of making it, k, or peers.
    fn taking(mut self, settings: &EngineSettings, from: Taken) -> Result<How, Unsupported> {
        let info = &from.info;
        let said = |name: &str| settings.own.contains_key(name);
        let differs = |what: &str, has: String, remedy: String| {
            let dir = from.dir.display();
            Err(Unsupported::new(format!("the stock in {dir} is {what} {has}: {remedy}")))
        };
        if usize::from(info.parties) != self.parties {
            let n = info.parties;
            return differs("that of", format!("{n} parties"), format!("give --parties {n}"));
        }
        let named = NamedProtocol::of(&info.protocol);
        if self.named.is_some_and(|given| given.name != info.protocol) {
            let name = match named {
                Some(named) => named.shown(),
                None => info.protocol.as_str(),
            };
            return differs(
                "for the protocol",
                name.to_owned(),
                format!("give --protocol {name}, or another stock"),
            );
        }
        self.named = named;
        let field = MacField::ALL.into_iter().find(|field| field.bits() == info.field_bits);
        let bits = info.field_bits;
        match field {
            Some(field) if field == self.field || !(said(FIELD) || self.config.rho > info.rho) => {
                self.field = field;
            }
            _ => {
                let has = format!("{bits} bits");
                return differs("one with MACs of", has, "make another with `divisi prep make`".into());
            }
        }
        if said(PREP) && self.prep.name() != info.prep {
            return differs("made by", info.prep.clone(), "leave --prep out".into());
        }
        if said(K) && self.config.k != info.k {
            return differs("made with k =", info.k.to_string(), "leave --k out".into());
        }
        self.prep = Preparation::ALL.into_iter().find(|prep| prep.name() == info.prep).unwrap_or(self.prep);
        (self.config.k, self.config.rho) = (info.k, info.rho);
        let peers = settings.own.get(PEERS).cloned().unwrap_or_else(|| hex::encode([0; 32]));
        if hex::encode(info.peers) != peers {
            let remedy = "give the --config that it was made with, or none if it was made without";
            return differs("that of", "other peers".into(), remedy.into());
        }
        self.stock = Some(from);
        Ok(self)
    }

    /// The phase in which tables and products are made, or read.
    pub fn ahead(&self) -> &'static str {
        if self.stock.is_some() { LOAD_PHASE } else { PREPROCESSING_PHASE }
    }

    /// The protocol that was named, if any.
    pub(super) fn named(&self) -> Option<NamedProtocol> {
        self.named
    }

    /// The protocol for a cipher.
    ///
    /// # Errors
    /// [`Unsupported`] if a protocol for another cipher was named.
    pub fn protocol(&self, cipher: Cipher) -> Result<NamedProtocol, Unsupported> {
        self.protocol_for(if cipher.aes().is_some() { Task::Aes } else { Task::TripleDes })
    }

    /// The protocol for a task.
    ///
    /// # Errors
    /// [`Unsupported`] if a protocol for another task was named.
    pub fn protocol_for(&self, task: Task) -> Result<NamedProtocol, Unsupported> {
        match self.named {
            Some(named) if named.task == task => Ok(named),
            Some(named) => Err(Unsupported::new(format!(
                "the protocol {} is for {} and not for {}: name another, or none",
                named.shown(),
                named.task.name(),
                task.name()
            ))),
            None => {
                let default = NAMED.into_iter().find(|named| named.task == task);
                default.ok_or_else(|| Unsupported::new("no protocol for this cipher"))
            }
        }
    }

    /// The settings that are the same at all parties, as text. A stock stands there by its id, without the
    /// directory of a party's part.
    pub fn common(&self) -> String {
        let How { parties, named, field, prep, config, stock } = self;
        let stock = stock.as_ref().map(|from| from.info.id);
        format!("{parties} {named:?} {field:?} {prep:?} {config:?} {stock:?}")
    }

    /// Add the settings to the parameters that the parties compare.
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("protocol", self.named.map_or("", |named| named.name).as_bytes());
        let stocked = self.stock.as_ref().map_or([0; 32], |from| from.info.id);
        let parameters = parameters.with("stock", &stocked);
        by_field!(self.field, F => self.prep.describe::<F>(self.config, parameters))
    }
}
