//! The associated data of a text: bytes, given as text, as a file or as hexadecimal digits.

use clap::Args;
use divisi::failure::Failure;
use divisi::source;
use divisi_node::AAD;
use std::path::{Path, PathBuf};

/// Associated data. For siv an empty string is a string: `--aad ""` is not the same as no `--aad`.
#[derive(Args)]
#[group(multiple = false)]
pub struct AssociatedArgs {
    /// Associated data, for gcm and siv: not encrypted, but decryption fails unless they are the same. For
    /// siv "" is one empty string, which is not the same as none
    #[arg(long, value_name = "TEXT")]
    aad: Option<String>,
    /// The file or pipe that holds the associated data; `-` is standard input
    #[arg(long, value_name = "FILE")]
    aad_file: Option<PathBuf>,
    /// The associated data as hexadecimal digits
    #[arg(long, value_name = "HEX")]
    aad_hex: Option<String>,
}

impl AssociatedArgs {
    /// The associated data, if there are any. `stdin_is_text` says that standard input is the text.
    pub fn read(&self, stdin_is_text: bool) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(text) = &self.aad {
            return Ok(Some(text.clone().into_bytes()));
        }
        if let Some(digits) = &self.aad_hex {
            let bytes = hex::decode(digits).map_err(|e| {
                Failure::usage(format!("--aad-hex is not hexadecimal ({e}): give two digits for each byte"))
            })?;
            return Ok(Some(bytes));
        }
        self.aad_file.as_deref().map(|path| read(path, stdin_is_text)).transpose()
    }
}

/// All bytes of a file, at most as many as any mode takes.
fn read(path: &Path, stdin_is_text: bool) -> Result<Vec<u8>, Failure> {
    if source::is_stdin(path) && stdin_is_text {
        let error = "both the text and --aad-file are standard input: give one of them as a file";
        return Err(Failure::usage(error));
    }
    let bytes = source::read(path, AAD as u64).map_err(|e| {
        let shown = path.display();
        Failure::usage(format!(
            "the associated data in {shown} cannot be read ({e}): give another --aad-file"
        ))
    })?;
    Ok(bytes.to_vec())
}
