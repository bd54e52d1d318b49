//! Who may do what: the file of tokens.
//!
//! ```toml
//! [[token]]
//! name = "billing"
//! sha256 = "..."                      # of the token: printf %s TOKEN | sha256sum
//! keys = ["transit/billing-*"]        # MOUNT/NAME; `*` stands for anything
//! operations = ["encrypt", "decrypt"] # or ["*"]
//! ```
//!
//! The file has no token in it, and yet it says who is let in: nobody but its owner may read or change it.
//! All hashes are compared, each in constant time, so that neither a prefix of a token nor its place in the
//! file shows.

use crate::files::{Readers, line, parse, read_text};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use sha2::{Digest, Sha256};
use std::path::Path;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use toml::Spanned;

/// What a token lets its owner do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "each route names the one that it needs")]
pub enum Permission {
    /// `encrypt`
    Encrypt,
    /// `decrypt`
    Decrypt,
    /// `rewrap`
    Rewrap,
    /// `datakey/plaintext` and `datakey/wrapped`
    Datakey,
    /// `hmac`
    Hmac,
    /// `verify`
    Verify,
    /// `random`
    Random,
    /// `hash`
    Hash,
    /// To make a key, by `keys` or by `encrypt` with a key that is not there yet.
    Create,
    /// To read a key's entry.
    Read,
    /// To list keys.
    List,
    /// To change or delete a key: refused anyway, with another sentence.
    Manage,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    #[serde(default)]
    token: Vec<TokenForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenForm {
    name: Spanned<String>,
    sha256: Spanned<String>,
    keys: Vec<String>,
    operations: toml::Value,
}

/// The words of [`Permission`], for a sentence.
const CHOICES: &str =
    "encrypt, decrypt, rewrap, datakey, hmac, verify, random, hash, create, read, list or manage";

/// What an array of words permits; `None` for everything.
fn operations(given: &toml::Value) -> Result<Option<Vec<Permission>>, String> {
    let choose = |what: &str| format!("{what}: choose {CHOICES}, or [\"*\"] for all of them");
    let Some(given) = given.as_array() else { return Err(choose("operations that are no list")) };
    let mut all = Some(Vec::new());
    for word in given {
        let Some(word) = word.as_str() else {
            return Err(choose("an operation that is no text"));
        };
        let one =
            Permission::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(word));
        match one {
            Ok(one) => all.iter_mut().for_each(|all| all.push(one)),
            Err(_) if word == "*" => all = None,
            Err(_) => {
                return Err(choose(&format!("the operation \"{}\", which is none", word.escape_default())));
            }
        }
    }
    Ok(all)
}

/// A token without the token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    name: String,
    sha256: [u8; 32],
    keys: Vec<String>,
    /// `None` for all.
    operations: Option<Vec<Permission>>,
}

impl Token {
    /// Whoever reaches the socket of a gateway that asks for no token.
    #[must_use]
    pub fn of_the_socket() -> Token {
        Token { name: "socket".into(), sha256: [0; 32], keys: vec!["*".into()], operations: None }
    }

    /// Its name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may do everything.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.operations.is_none() && self.keys.iter().any(|pattern| pattern == "*")
    }

    /// A name for it that does not change and says nothing of the token.
    #[must_use]
    pub fn accessor(&self) -> String {
        let hash = Sha256::new().chain_update(b"accessor").chain_update(self.sha256).finalize();
        hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether it may do this with a key of a mount; without a key, whether it may do it at all.
    #[must_use]
    pub fn permits(&self, operation: Permission, mount: &str, key: Option<&str>) -> bool {
        let may = self.operations.as_ref().is_none_or(|operations| operations.contains(&operation));
        let path = key.map(|key| format!("{mount}/{key}"));
        may && path.is_none_or(|path| self.keys.iter().any(|pattern| matches(pattern, &path)))
    }
}

/// Whether a text fits a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for piece in pieces {
        // the piece before this one may stand anywhere, the earliest place leaves the most
        if let Some(piece) = last.replace(piece) {
            let Some((_, after)) = rest.split_once(piece) else { return false };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

/// All tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    tokens: Vec<Token>,
}

impl Tokens {
    /// Read a file that only its owner may read.
    ///
    /// # Errors
    /// One sentence, with the line if there is one.
    pub fn load(path: &Path) -> Result<Tokens, String> {
        let text = read_text(path, "the file of tokens", Readers::Owner)?;
        Tokens::parse(&text).map_err(|e| format!("in {}: {e}", path.display()))
    }

    /// Read a text.
    ///
    /// # Errors
    /// One sentence, with the line.
    pub fn parse(text: &str) -> Result<Tokens, String> {
        let form: FileForm = parse(text)?;
        let mut tokens: Vec<Token> = Vec::new();
        for token in form.token {
            let at = |span: std::ops::Range<usize>| format!("line {}", line(text, &span));
            let named = at(token.name.span());
            let name = token.name.into_inner();
            let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if name.is_empty() || name.len() > 64 || !name.bytes().all(good) {
                return Err(format!("{named}: a token's name is 1 to 64 letters, digits, or any of -_."));
            }
            let hashed = at(token.sha256.span());
            let sha256 = hash_of(token.sha256.get_ref()).ok_or_else(|| {
                format!("{hashed}: sha256 is not 64 hexadecimal digits: run `printf %s TOKEN | sha256sum`")
            })?;
            // whoever presents no token presents an empty one
            if sha256 == *Sha256::digest(b"") {
                return Err(format!(
                    "{hashed}: sha256 is that of an empty text, so that everybody would be let in: draw a token \
                     with `openssl rand -hex 32`"
                ));
            }
            if tokens.iter().any(|other| other.name == name || other.sha256 == sha256) {
                return Err(format!("{named}: token {name} is there twice, by its name or by its hash"));
            }
            let operations =
                operations(&token.operations).map_err(|what| format!("{named}: token {name} has {what}"))?;
            tokens.push(Token { name, sha256, keys: token.keys, operations });
        }
        if tokens.is_empty() {
            return Err("line 1: there is no [[token]]: nobody could use the gateway".into());
        }
        Ok(Tokens { tokens })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    /// The token that somebody presents.
    #[must_use]
    pub fn find(&self, presented: &[u8]) -> Option<&Token> {
        if presented.is_empty() {
            return None;
        }
        let hash: [u8; 32] = Sha256::digest(presented).into();
        // 0 for none
        let mut found = 0_u32;
        for (number, token) in (1..).zip(&self.tokens) {
            found.conditional_assign(&number, token.sha256.ct_eq(&hash));
        }
        self.tokens.get((found as usize).checked_sub(1)?)
    }
}

fn hash_of(digits: &str) -> Option<[u8; 32]> {
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests;
