//! Small files of the gateway: read whole, with a limit, and with the line of an error.

use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use zeroize::Zeroizing;

/// No file of the gateway is longer.
const LONGEST: u64 = 1 << 20;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Anybody.
    All,
    /// Its owner alone: it names who may use keys, or is a key.
    Owner,
}

/// The bytes of a file.
pub(crate) fn read(path: &Path, what: &str, readers: Readers) -> Result<Zeroizing<Vec<u8>>, String> {
    let failed = |why: &dyn std::fmt::Display| {
        format!("{what} {} cannot be read ({why}): check its path, and who may read it", path.display())
    };
    // a pipe, which is refused below, would otherwise be waited for
    let at_once = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(at_once).open(path).map_err(|e| failed(&e))?;
    let meta = file.metadata().map_err(|e| failed(&e))?;
    if !meta.is_file() {
        return Err(failed(&"it is no file"));
    }
    if readers == Readers::Owner && meta.mode() & 0o077 != 0 {
        let (path, mode) = (path.display(), meta.mode() & 0o7777);
        return Err(format!("{what} {path} can be read by others (mode {mode:04o}): run `chmod 600 {path}`"));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(meta.len().min(LONGEST) as usize + 1));
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(failed(&format!("it has more than {LONGEST} bytes")));
    }
    Ok(bytes)
}

/// The text of a file.
pub(crate) fn read_text(path: &Path, what: &str, readers: Readers) -> Result<Zeroizing<String>, String> {
    let bytes = read(path, what, readers)?;
    let text = std::str::from_utf8(&bytes);
    text.map(|text| Zeroizing::new(text.to_owned()))
        .map_err(|_| format!("{what} {} is no text in UTF-8", path.display()))
}

/// The number of the line at which a part of a text begins.
pub(crate) fn line(text: &str, span: &Range<usize>) -> usize {
    text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1)
}

/// What a text in TOML says; unknown members are refused by the type.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e| {
        let at = e.span().map_or(1, |span| line(text, &span));
        let message = e.message().lines().collect::<Vec<_>>().join(", ");
        format!("line {at}: {message}")
    })
}
