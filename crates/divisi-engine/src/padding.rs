//! Padding to whole blocks (PKCS #7; RFC 5652, 6.3), which the client adds and removes.

/// The text with `n` bytes of value `n` behind it, `n` from 1 to the length of a block.
#[must_use]
pub fn add(text: &[u8], block: usize) -> Vec<u8> {
    let n = block - text.len() % block;
    let mut padded = Vec::with_capacity(text.len() + n);
    padded.extend_from_slice(text);
    padded.resize(text.len() + n, u8::try_from(n).unwrap_or(0));
    padded
}

/// The text without its padding; `None` if the padding is not valid. Only the client learns whether it is.
#[must_use]
pub fn remove(padded: &[u8], block: usize) -> Option<Vec<u8>> {
    let n = usize::from(*padded.last()?);
    if !padded.len().is_multiple_of(block) || n == 0 || n > block {
        return None;
    }
    let (text, padding) = padded.split_at_checked(padded.len().checked_sub(n)?)?;
    padding.iter().all(|byte| usize::from(*byte) == n).then(|| text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_removed_and_nothing_else_is() {
        for length in 0..40 {
            let text: Vec<u8> = (0..length).collect();
            for block in [8, 16] {
                let padded = add(&text, block);
                assert!(padded.len().is_multiple_of(block) && padded.len() > text.len());
                assert_eq!(remove(&padded, block), Some(text.clone()));
            }
        }
        for wrong in [&[][..], &[0; 16], &[17; 16], &[2, 1, 2], &[1, 2, 3, 4, 5, 6, 3, 2]] {
            assert_eq!(remove(wrong, 8), None, "{wrong:?}");
        }
    }

    /// A padding that is accepted is the one that the client would add.
    #[test]
    fn random_paddings() {
        let seeds = [add(b"", 16), add(b"a text", 16), add(&[16; 16], 16), add(&[1; 7], 8)];
        divisi_fuzz::run("paddings", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let mut taken = false;
            for block in [8, 16] {
                let Some(text) = remove(bytes, block) else { continue };
                taken = true;
                if add(&text, block) != bytes {
                    return Err(format!("another padding of blocks of {block} bytes"));
                }
            }
            Ok(taken)
        });
    }
}
