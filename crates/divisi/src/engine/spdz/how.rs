//! How the engine computes: its protocol, field and preprocessing, from what was said on the command line.

use super::super::job::Cipher;
use super::super::{Settings, Unsupported, parties};
use divisi_core::Parameters;
use divisi_field::{Gf40, Gf48, Gf72};
use divisi_ot::Config;
use divisi_rep3::Security;
use divisi_spdz::{Preparation, Protocol};

/// The options that belong to this engine.
pub(super) const OPTIONS: &[&str] = &[PROTOCOL, FIELD, PREP, K, STATISTICAL];
const PROTOCOL: &str = "protocol";
const FIELD: &str = "field";
const PREP: &str = "prep";
const K: &str = "k";
const STATISTICAL: &str = "statistical";

/// A protocol by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub name: &'static str,
    /// Whether it is of AES; else of triple DES.
    pub aes: bool,
    /// How S-boxes are computed.
    pub protocol: Protocol,
    /// Whether the cipher runs over masks first.
    pub tiny: bool,
}

const fn named(name: &'static str, aes: bool, protocol: Protocol, tiny: bool) -> Named {
    Named { name, aes, protocol, tiny }
}

/// All protocols; of each cipher the first is what nobody has to name.
pub(super) const NAMED: [Named; 7] = [
    named("aes-lt", true, Protocol::Lookup, false),
    named("aes-tinytable", true, Protocol::Lookup, true),
    named("aes-rp", true, Protocol::RivainProuff, false),
    named("aes-bd", true, Protocol::BitDecomposition, false),
    named("3des-lt", false, Protocol::Lookup, false),
    named("3des-tinytable", false, Protocol::Lookup, true),
    named("3des-pv", false, Protocol::RivainProuff, false),
];

/// The field of the MACs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// GF(2^40): that of KOR+17.
    F40,
    /// GF(2^48).
    F48,
    /// GF(2^72), for 64 bits of security.
    F72,
}

impl Field {
    /// Its bits.
    pub fn bits(self) -> u32 {
        match self {
            Field::F40 => 40,
            Field::F48 => 48,
            Field::F72 => 72,
        }
    }
}

/// All of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct How {
    /// How many parties.
    pub parties: usize,
    /// The protocol that was named.
    named: Option<Named>,
    pub field: Field,
    pub prep: Preparation,
    /// Parameters of the rows.
    pub config: Config,
}

impl How {
    /// What these settings say.
    ///
    /// # Errors
    /// What to correct.
    pub fn new(settings: &Settings) -> Result<How, Unsupported> {
        let wrong = |what: String| Err(Unsupported::new(what));
        if settings.security == Security::SemiHonest {
            return wrong(
                "the engine spdz is for malicious parties: leave --security out, or give malicious".into(),
            );
        }
        if settings.threads != 1 {
            return wrong("the engine spdz has one thread a party: leave --threads out".into());
        }
        let own = |name: &str| settings.own.get(name).map(String::as_str);
        let named = match own(PROTOCOL) {
            None => None,
            Some(name) => {
                let known = NAMED.iter().find(|named| named.name == name).copied();
                if known.is_none() {
                    let names: Vec<&str> = NAMED.iter().map(|named| named.name).collect();
                    return wrong(format!(
                        "the engine spdz has no protocol {name}: choose one of {}",
                        names.join(", ")
                    ));
                }
                known
            }
        };
        let statistical = settings.statistical.unwrap_or(40);
        if ![40, 64].contains(&statistical) {
            return wrong(format!("--statistical is {statistical}: the engine spdz has 40 and 64"));
        }
        let field = match (own(FIELD), statistical) {
            (None, 64) => Field::F72,
            (Some(bits), 64) => {
                return wrong(format!(
                    "--field {bits} does not give --statistical 64, which takes a field of its own: leave --field out"
                ));
            }
            (None | Some("48"), _) => Field::F48,
            (Some("40"), _) => Field::F40,
            (Some("42"), _) => {
                return wrong(
                    "--field 42 is of the protocol 3des-raw alone, which is not in this version: give 40 or 48".into(),
                );
            }
            (Some(other), _) => return wrong(format!("--field is {other}: give 40 or 48")),
        };
        let prep = match own(PREP) {
            None => Preparation::default(),
            Some(name) => match Preparation::ALL.into_iter().find(|prep| prep.name() == name) {
                Some(prep) => prep,
                None => return wrong(format!("--prep is {name}: give bucketed or mascot")),
            },
        };
        let mut config = Config { rho: statistical, ..Config::default() };
        if let Some(k) = own(K) {
            match k.parse() {
                Ok(number) if (1..=8).contains(&number) => config.k = number,
                _ => return wrong(format!("--k is {k}: give 1 to 8")),
            }
        }
        let parties = parties(&super::Authenticated, settings);
        Ok(How { parties, named, field, prep, config })
    }

    /// The protocol for a cipher.
    ///
    /// # Errors
    /// If one was named that is for another.
    pub fn protocol(&self, cipher: Cipher) -> Result<Named, Unsupported> {
        let aes = cipher.aes().is_some();
        match self.named {
            Some(named) if named.aes == aes => Ok(named),
            Some(named) => {
                let (is, not) = if named.aes { ("AES", "triple DES") } else { ("triple DES", "AES") };
                Err(Unsupported::new(format!(
                    "the protocol {} is for {is} and not for {not}: name another, or none",
                    named.name
                )))
            }
            None => {
                let usual = NAMED.into_iter().find(|named| named.aes == aes);
                usual.ok_or_else(|| Unsupported::new("no protocol for this cipher"))
            }
        }
    }

    /// The name that was given, or that of AES.
    pub fn name(&self) -> Option<&'static str> {
        self.named.map(|named| named.name)
    }

    /// Among what the parties compare.
    pub fn describe(&self, parameters: Parameters) -> Parameters {
        let parameters = parameters.with("protocol", self.name().unwrap_or_default().as_bytes());
        match self.field {
            Field::F40 => self.prep.describe::<Gf40>(self.config, parameters),
            Field::F48 => self.prep.describe::<Gf48>(self.config, parameters),
            Field::F72 => self.prep.describe::<Gf72>(self.config, parameters),
        }
    }
}
