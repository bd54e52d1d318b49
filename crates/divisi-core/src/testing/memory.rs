//! Where a planted secret lies in the memory of this process.
//!
//! The scan reads every mapping that can be read and written, as the kernel shows them: heap, stacks and
//! statics, dead or alive. The needle is kept hidden, so that it is not found itself, and what the scan reads
//! with is left out. Nothing else should run meanwhile: a test of its own program, whose other threads wait.

use crate::Prg;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;

/// What hides the bytes of a needle: the plain ones are never in memory but where they were planted.
const HIDE: u8 = 0xa5;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// Sixteen secret bytes that are looked for.
pub struct Needle([u8; 16]);

/// Half a needle was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub address: usize,
    /// Whether it is the second half.
    pub second: bool,
    /// The mapping's name: `[heap]`, `[stack]`, a file, or nothing.
    pub mapping: String,
}

impl Needle {
    /// A needle; the lowest bit of its first byte is given.
    #[must_use]
    pub fn new(seed: u8, lowest: bool) -> Needle {
        let mut hidden = [0; 16];
        Prg::new(&[seed; 16]).fill(&mut hidden);
        hidden[0] = hidden[0] & !1 | (HIDE & 1 ^ u8::from(lowest));
        Needle(hidden)
    }

    /// A secret that is there already, of at most 16 bytes.
    #[must_use]
    pub fn of(secret: &[u8]) -> Needle {
        let mut hidden = [HIDE; 16];
        hidden.iter_mut().zip(secret).for_each(|(hidden, byte)| *hidden = byte ^ HIDE);
        Needle(hidden)
    }

    /// Plant it here.
    pub fn plant(&self, place: &mut [u8; 16]) {
        place.iter_mut().zip(&self.0).for_each(|(byte, hidden)| *byte = hidden ^ HIDE);
    }

    /// The sum of both, bit by bit, which nobody puts together in the open.
    #[must_use]
    pub fn sum(&self, other: &Needle) -> Needle {
        Needle(std::array::from_fn(|i| self.0[i] ^ other.0[i] ^ HIDE))
    }

    /// Where each of its halves lies, in the order of addresses.
    ///
    /// # Errors
    /// If the system does not show this process its memory.
    pub fn copies(&self) -> std::io::Result<Vec<Found>> {
        find(&[self]).map(|mut found| found.swap_remove(0))
    }
}

/// Where the halves of each of these needles lie, in the order of addresses.
///
/// # Errors
/// If the system does not show this process its memory.
pub fn find(needles: &[&Needle]) -> std::io::Result<Vec<Vec<Found>>> {
    let mut found: Vec<Vec<Found>> = vec![Vec::new(); needles.len()];
    let halves = needles.iter().enumerate().flat_map(|(i, n)| [(&n.0[..8], i, false), (&n.0[8..], i, true)]);
    let halves = Halves::of(8, halves);
    chunks(7, |from, bytes, mapping| {
        halves.within(bytes, |at, needle, second| {
            found[needle].push(Found { address: from + at, second, mapping: mapping.to_owned() });
        });
    })?;
    found.iter_mut().for_each(Vec::dedup);
    Ok(found)
}

/// The places of the first `bytes` bytes of each of these needles, in the order of addresses: for secrets of
/// fewer than 16 bytes.
///
/// # Errors
/// If the system does not show this process its memory.
pub fn find_first(bytes: usize, needles: &[&Needle]) -> std::io::Result<Vec<Vec<Found>>> {
    let mut found: Vec<Vec<Found>> = vec![Vec::new(); needles.len()];
    let parts = Halves::of(bytes, needles.iter().enumerate().map(|(i, n)| (&n.0[..bytes], i, false)));
    chunks(bytes - 1, |from, bytes, mapping| {
        parts.within(bytes, |at, needle, second| {
            found[needle].push(Found { address: from + at, second, mapping: mapping.to_owned() });
        });
    })?;
    found.iter_mut().for_each(Vec::dedup);
    Ok(found)
}

/// Read the bytes that lie at an address of this process, whoever owns them now. It allocates nothing, so
/// that what was freed is found as it was left.
///
/// # Errors
/// If no memory is there any more, or the system does not show this process its memory.
pub fn read(address: usize, bytes: &mut [u8]) -> std::io::Result<()> {
    File::open("/proc/self/mem")?.read_exact_at(bytes, address as u64)
}

/// Two words that differ by a needle: who reads both has it, though it stands nowhere itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Where the first word lies.
    pub address: usize,
    /// How many bytes behind it the second one lies.
    pub apart: usize,
    /// The mapping's name.
    pub mapping: String,
}

/// How far apart the words of pairs are looked for, in bytes.
const APART: [usize; 4] = [16, 32, 48, 64];

/// Words of 16 bytes, at multiples of 16, that lie near each other and differ by one of the needles: for each
/// needle, in the order of addresses.
///
/// # Errors
/// If the system does not show this process its memory.
pub fn pairs(needles: &[&Needle]) -> std::io::Result<Vec<Vec<Pair>>> {
    let mut found: Vec<Vec<Pair>> = vec![Vec::new(); needles.len()];
    // turned, so that what is looked for with is no such pair itself
    let hidden: Vec<u128> = needles.iter().map(|n| u128::from_le_bytes(n.0).rotate_left(8)).collect();
    let hide = u128::from_le_bytes([HIDE; 16]);
    chunks(APART[3] + 16, |from, bytes, mapping| {
        let words = bytes.as_chunks::<16>().0;
        for (i, word) in words.iter().enumerate() {
            let word = u128::from_le_bytes(*word) ^ hide;
            for apart in APART {
                let Some(other) = words.get(i + apart / 16) else { continue };
                let difference = (word ^ u128::from_le_bytes(*other)).rotate_left(8);
                if let Some(needle) = hidden.iter().position(|hidden| *hidden == difference) {
                    let mapping = mapping.to_owned();
                    found[needle].push(Pair { address: from + 16 * i, apart, mapping });
                }
            }
        }
    })?;
    // what lies where chunks overlap is seen twice
    found.iter_mut().for_each(|found| {
        found.sort_by_key(|pair| (pair.address, pair.apart));
        found.dedup();
    });
    Ok(found)
}

/// Show all memory that can be read and written, chunk by chunk, each beginning with the last bytes of the
/// one before: where it begins, its bytes, and its mapping's name.
fn chunks(overlap: usize, mut show: impl FnMut(usize, &[u8], &str)) -> std::io::Result<()> {
    let memory = File::open("/proc/self/mem")?;
    let mut chunk = vec![0_u8; CHUNK];
    let own = chunk.as_ptr() as usize..chunk.as_ptr() as usize + CHUNK;
    let maps: Vec<String> =
        BufReader::new(File::open("/proc/self/maps")?).lines().collect::<Result<_, _>>()?;
    for line in &maps {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let Some((from, to)) = range.split_once('-') else { continue };
        let address = |text: &str| usize::from_str_radix(text, 16).map_err(std::io::Error::other);
        let (mut from, to) = (address(from)?, address(to)?);
        while access.starts_with("rw") && from < to {
            let len = CHUNK.min(to - from);
            // what is gone meanwhile holds nothing
            if memory.read_exact_at(&mut chunk[..len], from as u64).is_err() {
                break;
            }
            // of what holds the reader's own chunk only the rest
            let shown = from..from + len;
            for part in [shown.start..shown.end.min(own.start), shown.start.max(own.end)..shown.end] {
                if !part.is_empty() {
                    let name = fields.clone().nth(3).unwrap_or_default();
                    show(part.start, &chunk[part.start - from..part.end - from], name);
                }
            }
            // what lies across the end of a chunk
            from += if len == CHUNK { CHUNK - overlap } else { len };
        }
    }
    chunk.fill(0);
    zeroize::optimization_barrier(&chunk);
    Ok(())
}

/// A hidden part of a needle: its bytes, whose it is, and whether it is the second half.
type Part<'n> = (&'n [u8], usize, bool);

/// Hidden parts of one length, by their first byte as it lies in memory.
struct Halves<'n> {
    len: usize,
    parts: Vec<Vec<Part<'n>>>,
}

impl<'n> Halves<'n> {
    fn of(len: usize, all: impl Iterator<Item = Part<'n>>) -> Halves<'n> {
        let mut parts = vec![Vec::new(); 256];
        all.for_each(|part| parts[usize::from(part.0[0] ^ HIDE)].push(part));
        Halves { len, parts }
    }

    /// Where parts lie among these bytes: whose, and which.
    fn within(&self, bytes: &[u8], mut seen: impl FnMut(usize, usize, bool)) {
        for (at, window) in bytes.windows(self.len).enumerate() {
            for (part, needle, second) in &self.parts[usize::from(window[0])] {
                if window.iter().zip(*part).all(|(x, y)| *x == y ^ HIDE) {
                    seen(at, *needle, *second);
                }
            }
        }
    }
}

/// Whether these are both halves in one place, and nothing else.
#[must_use]
pub fn once(found: &[Found]) -> bool {
    matches!(found, [first, second] if !first.second && second.second && second.address == first.address + 8)
}
