//! The configuration of a gateway.
//!
//! ```toml
//! mesh = "mesh.toml"            # the configuration of the three servers
//! identity = "client-app.key"   # the identity by which they know this gateway
//! listen = "127.0.0.1:8200"     # an address, which needs [tls] unless it is loopback ..
//! # socket = "/run/gateway.sock" # .. or a unix socket
//! tokens = "tokens.toml"        # see `tokens`
//! # tokenless_socket = true     # .. or whoever may open the socket may use the keys
//! connections = 31              # optional: the most connections with the servers
//! queue = 256                   # optional: the most requests that wait for the servers
//! body_bytes = 4194304          # optional: the longest body of a request
//! log_keys = false              # optional: whether the log names keys
//!
//! [tls]                         # optional
//! certificate = "gateway.pem"   # the chain, the gateway's own certificate first
//! key = "gateway-key.pem"
//!
//! [[mount]]
//! path = "transit"              # keys are at /v1/transit
//! prefix = "app-"               # optional: key K is the servers' key app-K
//! upsert = false                # optional: whether `encrypt` makes a key that is not there
//!
//! [kms]                         # optional: KMS v2 of Kubernetes, beside the HTTP API
//! socket = "/run/kms.sock"      # a unix socket of its own, for its owner alone
//! key = "cluster-etcd"          # the servers' full name of a key of type aes-256 or aes-128
//! ```
//!
//! Paths are seen from the folder of the file.

use crate::backend::MOST_CONNECTIONS;
use crate::files::{Readers, line, parse, read_text};
use divisi_node::KeyName;
use serde::Deserialize;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use toml::Spanned;

const QUEUE: usize = 256;
/// More would wait for longer than any client does.
const QUEUES: RangeInclusive<usize> = 1..=65_536;
const BODY: usize = 4 << 20;
/// The limits of a body that make sense: more is no request for a service of short messages.
const BODIES: RangeInclusive<usize> = 1024..=(64 << 20);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    mesh: PathBuf,
    identity: PathBuf,
    listen: Option<Spanned<String>>,
    socket: Option<Spanned<PathBuf>>,
    tokens: Option<PathBuf>,
    #[serde(default)]
    tokenless_socket: bool,
    connections: Option<Spanned<usize>>,
    queue: Option<Spanned<usize>>,
    body_bytes: Option<Spanned<usize>>,
    #[serde(default)]
    log_keys: bool,
    tls: Option<TlsForm>,
    kms: Option<KmsForm>,
    #[serde(default)]
    mount: Vec<MountForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsForm {
    certificate: PathBuf,
    key: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KmsForm {
    socket: Spanned<PathBuf>,
    key: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MountForm {
    path: Spanned<String>,
    #[serde(default)]
    prefix: Option<Spanned<String>>,
    #[serde(default)]
    upsert: bool,
}

/// Where the gateway listens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "its values are all there can be")]
pub enum Listen {
    /// At an address.
    Address(SocketAddr),
    /// At a unix socket.
    Socket(PathBuf),
}

/// A place at which the keys of a prefix stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its path, without a slash at either end.
    pub path: String,
    /// What the servers' names of its keys begin with.
    pub prefix: String,
    /// Whether `encrypt` makes a key that is not there.
    pub upsert: bool,
}

/// The files of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain of certificates in PEM.
    pub certificate: PathBuf,
    /// The private key in PEM.
    pub key: PathBuf,
}

/// What KMS v2 needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmsConfig {
    /// Its unix socket.
    pub socket: PathBuf,
    /// The key, by its full name at the servers.
    pub key: KeyName,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// The configuration of the servers.
    pub mesh: PathBuf,
    /// The gateway's identity.
    pub identity: PathBuf,
    /// Where it listens.
    pub listen: Listen,
    /// The file of tokens; `None` for a socket without.
    pub tokens: Option<PathBuf>,
    /// The most connections with the servers.
    pub connections: usize,
    /// The most requests that wait for the servers.
    pub queue: usize,
    /// The longest body of a request.
    pub body_bytes: usize,
    /// Whether the log names keys.
    pub log_keys: bool,
    /// The files of TLS.
    pub tls: Option<TlsFiles>,
    /// KMS v2, if the gateway serves it.
    pub kms: Option<KmsConfig>,
    /// The mounts.
    pub mounts: Vec<Mount>,
}

impl GatewayConfig {
    /// Read a file.
    ///
    /// # Errors
    /// One sentence, with the line if there is one.
    pub fn load(path: &Path) -> Result<GatewayConfig, String> {
        let text = read_text(path, "the configuration", Readers::All)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        GatewayConfig::parse(&text, folder).map_err(|e| format!("in {}: {e}", path.display()))
    }

    /// Read a text whose paths are seen from a folder.
    ///
    /// # Errors
    /// One sentence, with the line if there is one.
    pub fn parse(text: &str, folder: &Path) -> Result<GatewayConfig, String> {
        let form: FileForm = parse(text)?;
        let at = |span: std::ops::Range<usize>| format!("line {}", line(text, &span));
        let listen = match (form.listen, form.socket) {
            (Some(address), None) => {
                let place = at(address.span());
                let address = address.get_ref().parse::<SocketAddr>().map_err(|_| {
                    format!("{place}: listen is no address with a port: write it like \"127.0.0.1:8200\"")
                })?;
                if !address.ip().is_loopback() && form.tls.is_none() {
                    return Err(format!(
                        "{place}: {address} can be reached from other machines: add [tls] with a certificate and a \
                         key, or listen at 127.0.0.1"
                    ));
                }
                Listen::Address(address)
            }
            (None, Some(path)) => {
                if form.tls.is_some() {
                    return Err(format!("{}: a socket has no TLS: take out [tls]", at(path.span())));
                }
                Listen::Socket(folder.join(path.into_inner()))
            }
            (Some(_), Some(path)) => {
                return Err(format!("{}: there are `listen` and `socket`: keep one", at(path.span())));
            }
            (None, None) => {
                return Err("it does not say where to listen: add listen = \"127.0.0.1:8200\"".into());
            }
        };
        let is_socket = matches!(listen, Listen::Socket(_));
        let tokens = match (form.tokens, form.tokenless_socket) {
            (Some(path), false) => Some(folder.join(path)),
            (None, true) if is_socket => None,
            (None, true) => {
                return Err("tokenless_socket is only for a unix socket: add tokens = \"FILE\"".into());
            }
            (Some(_), true) => return Err("there are `tokens` and `tokenless_socket`: keep one".into()),
            (None, false) => return Err("there is no file of tokens: add tokens = \"FILE\"".into()),
        };
        let connections =
            number(form.connections, MOST_CONNECTIONS, &(1..=MOST_CONNECTIONS), "connections", &at)?;
        let queue = number(form.queue, QUEUE, &QUEUES, "queue", &at)?;
        let body_bytes = number(form.body_bytes, BODY, &BODIES, "body_bytes", &at)?;
        let tls = form
            .tls
            .map(|tls| TlsFiles { certificate: folder.join(tls.certificate), key: folder.join(tls.key) });
        let kms = form.kms.map(|kms| kms_of(kms, folder, &listen, &at)).transpose()?;
        Ok(GatewayConfig {
            mesh: folder.join(form.mesh),
            identity: folder.join(form.identity),
            listen,
            tokens,
            connections,
            queue,
            body_bytes,
            log_keys: form.log_keys,
            tls,
            kms,
            mounts: mounts(form.mount, &at)?,
        })
    }
}

type Place<'a> = &'a dyn Fn(std::ops::Range<usize>) -> String;

fn number(
    given: Option<Spanned<usize>>,
    usual: usize,
    good: &RangeInclusive<usize>,
    name: &str,
    at: Place<'_>,
) -> Result<usize, String> {
    let Some(given) = given else { return Ok(usual) };
    if good.contains(given.get_ref()) {
        return Ok(given.into_inner());
    }
    Err(format!("{}: {name} is not between {} and {}", at(given.span()), good.start(), good.end()))
}

fn kms_of(form: KmsForm, folder: &Path, listen: &Listen, at: Place<'_>) -> Result<KmsConfig, String> {
    let place = at(form.socket.span());
    let socket = folder.join(form.socket.into_inner());
    if *listen == Listen::Socket(socket.clone()) {
        return Err(format!("{place}: the API has this socket already: give KMS another one"));
    }
    let place = at(form.key.span());
    let key = form.key.into_inner().parse();
    let key = key.map_err(|why| format!("{place}: this is no name of a key: {why}"))?;
    Ok(KmsConfig { socket, key })
}

fn mounts(forms: Vec<MountForm>, at: Place<'_>) -> Result<Vec<Mount>, String> {
    let mut mounts: Vec<Mount> = Vec::new();
    for form in forms {
        let place = at(form.path.span());
        let path = form.path.into_inner();
        let good = |segment: &str| {
            !segment.is_empty()
                && !segment.starts_with('.')
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if !path.split('/').all(good) {
            return Err(format!(
                "{place}: the path of a mount is words of letters, digits, -, _ and . with / between them, \
                 like \"transit\""
            ));
        }
        if ["sys", "auth", "cubbyhole", "identity"].contains(&path.split('/').next().unwrap_or("")) {
            return Err(format!(
                "{place}: no mount begins with sys, auth, cubbyhole or identity: choose another path"
            ));
        }
        let below = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        if let Some(other) = mounts.iter().find(|m| below(&m.path, &path) || below(&path, &m.path)) {
            let other = &other.path;
            return Err(format!(
                "{place}: the mounts {other} and {path} are the same, or one is below the other"
            ));
        }
        let prefix = match form.prefix {
            None => String::new(),
            Some(prefix) => {
                let place = at(prefix.span());
                let prefix = prefix.into_inner();
                // a key is named by a prefix and at least one letter
                format!("{prefix}x")
                    .parse::<KeyName>()
                    .map_err(|why| format!("{place}: no key's name can begin with the prefix: {why}"))?;
                prefix
            }
        };
        mounts.push(Mount { path, prefix, upsert: form.upsert });
    }
    if mounts.is_empty() {
        return Err("there is no [[mount]]: add one with path = \"transit\"".into());
    }
    Ok(mounts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "mesh = \"m\"\nidentity = \"i\"\nlisten = \"127.0.0.1:8200\"\ntokens = \"t\"\n";
    const MOUNT: &str = "[[mount]]\npath = \"transit\"\n";

    fn error(text: &str) -> String {
        GatewayConfig::parse(text, Path::new("/etc")).unwrap_err()
    }

    #[test]
    fn defaults_and_folders() {
        let config =
            GatewayConfig::parse(&format!("{GOOD}{MOUNT}prefix = \"app-\"\n"), Path::new("/etc")).unwrap();
        assert_eq!(config.mesh, Path::new("/etc/m"));
        assert_eq!((config.connections, config.queue, config.body_bytes), (31, 256, 4 << 20));
        let mount = Mount { path: "transit".into(), prefix: "app-".into(), upsert: false };
        assert_eq!(config.mounts, [mount]);
        // as many connections as there may be
        let most = format!("connections = {MOST_CONNECTIONS}\n{GOOD}{MOUNT}");
        let most = GatewayConfig::parse(&most, Path::new("/etc")).map(|config| config.connections);
        assert_eq!(most, Ok(MOST_CONNECTIONS));
        for queue in [1, 300, 65_536] {
            let config = GatewayConfig::parse(&format!("queue = {queue}\n{GOOD}{MOUNT}"), Path::new("/etc"));
            assert_eq!(config.map(|config| config.queue), Ok(queue));
        }
        // mounts that begin alike are apart
        let two = format!("{GOOD}{MOUNT}[[mount]]\npath = \"transit2\"\n");
        assert_eq!(GatewayConfig::parse(&two, Path::new("/etc")).unwrap().mounts.len(), 2);
    }

    #[test]
    fn errors_name_the_line_and_unknown_members_are_refused() {
        for (text, what) in [
            (format!("{GOOD}colour = 1\n{MOUNT}"), "line 5: unknown field `colour`"),
            (format!("{GOOD}{MOUNT}colour = 1\n"), "line 7: unknown field `colour`"),
            (GOOD.replace("127.0.0.1", "0.0.0.0"), "line 3: 0.0.0.0:8200 can be reached"),
            (GOOD.replace("127.0.0.1:8200", "here"), "line 3: listen is no address"),
            (
                GOOD.replace("listen = \"127.0.0.1:8200\"", "socket = \"s\"")
                    + MOUNT
                    + "[tls]\ncertificate = \"c\"\nkey = \"k\"\n",
                "line 3: a socket has no TLS",
            ),
            (format!("socket = \"s\"\n{GOOD}{MOUNT}"), "line 1: there are `listen` and `socket`"),
            (GOOD.replace("listen = \"127.0.0.1:8200\"\n", "") + MOUNT, "does not say where to listen"),
            (format!("{GOOD}connections = 99\n{MOUNT}"), "line 5: connections is not between"),
            (
                format!("{GOOD}queue = 9223372036854775807\n{MOUNT}"),
                "line 5: queue is not between 1 and 65536",
            ),
            (format!("{GOOD}queue = 0\n{MOUNT}"), "line 5: queue is not between 1 and 65536"),
            (format!("{GOOD}queue = 65537\n{MOUNT}"), "line 5: queue is not between 1 and 65536"),
            (format!("{GOOD}queue = -1\n{MOUNT}"), "line 5: "),
            (format!("{GOOD}queue = 18446744073709551616\n{MOUNT}"), "line 5: "),
            (format!("{GOOD}body_bytes = 9223372036854775807\n{MOUNT}"), "line 5: body_bytes is not between"),
            (format!("{GOOD}{MOUNT}{MOUNT}"), "line 8: the mounts transit and transit"),
            (
                format!("{GOOD}{MOUNT}[[mount]]\npath = \"transit/a\"\n"),
                "line 8: the mounts transit and transit/a",
            ),
            (
                format!("{GOOD}[[mount]]\npath = \"transit/a\"\n{MOUNT}"),
                "line 8: the mounts transit/a and transit",
            ),
            (format!("{GOOD}[[mount]]\npath = \"/a\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"a!\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"a//b\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"a/\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"a/.b\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"a/b!c\"\n"), "line 6: the path of a mount"),
            (format!("{GOOD}[[mount]]\npath = \"sys/a\"\n"), "line 6: no mount begins"),
            (format!("{GOOD}{MOUNT}prefix = \"é\"\n"), "line 7: no key's name"),
            (GOOD.replace("tokens", "tokenless_socket").replace("\"t\"", "true"), "only for a unix socket"),
            (GOOD.to_owned(), "there is no [[mount]]"),
            (format!("{GOOD}{MOUNT}[kms]\nsocket = \"s\"\n"), "line 7: missing field `key`"),
            (
                format!("{GOOD}{MOUNT}[kms]\nsocket = \"s\"\nkey = \"a b\"\n"),
                "line 9: this is no name of a key",
            ),
            (format!("{GOOD}{MOUNT}[kms]\nmode = 1\n"), "line 8: unknown field `mode`"),
            (
                GOOD.replace("listen = \"127.0.0.1:8200\"", "socket = \"s\"")
                    + MOUNT
                    + "[kms]\nsocket = \"s\"\nkey = \"k\"\n",
                "line 8: the API has this socket",
            ),
        ] {
            let error = error(&text);
            assert!(error.contains(what), "{error}\n{text}");
        }
        // networks of one's own are reached from other machines, too
        for first in (1..=255).filter(|first| *first != 127) {
            for rest in ["0.0.1", "16.0.1", "17.0.2", "64.0.1", "168.1.1", "254.1.1"] {
                let other = format!("{first}.{rest}");
                assert!(error(&GOOD.replace("127.0.0.1", &other)).contains("can be reached"), "{other}");
            }
        }
        for other in
            ["10.0.0.1", "192.168.0.1", "169.254.0.1", "[::]", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]"]
        {
            assert!(error(&GOOD.replace("127.0.0.1", other)).contains("can be reached"), "{other}");
        }
    }
}
