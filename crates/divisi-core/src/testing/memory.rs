//! A search for copies of a planted secret in the memory of this process.
//!
//! The scan reads every mapping that can be read and written, as the kernel shows them: heap, stacks and
//! statics, dead or alive. The secret that is searched for, the needle, is kept masked, so that the scan does
//! not find the needle itself; and the scan leaves out its own buffer. Nothing else should run meanwhile:
//! such a test is a program of its own, whose other threads wait. Small ones that share a program hold
//! [`alone`].

use crate::Prg;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The mask that is added to each byte of a needle, so that its plain bytes are in memory only where they
/// were planted.
const HIDE: u8 = 0xa5;
/// How many bytes are read at once.
const CHUNK: usize = 1 << 20;

/// Of the tests of a program that hold this from the planting of a needle to the end of the search, one runs
/// at a time: a scan copies into its buffer whatever it reads, the needles of other tests, too.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sixteen secret bytes that are searched for, masked with `HIDE`.
pub struct Needle([u8; 16]);

/// A place where one half of a needle was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The address of the half's first byte.
    pub address: usize,
    /// Whether it is the second half.
    pub second: bool,
    /// The mapping's name: `[heap]`, `[stack]`, a file, or nothing.
    pub mapping: String,
}

impl Needle {
    /// A needle that is derived from a seed, with the given lowest bit of its first byte.
    #[must_use]
    pub fn new(seed: u8, lowest: bool) -> Needle {
        let mut hidden = [0; 16];
        Prg::new(&[seed; 16]).fill(&mut hidden);
        hidden[0] = hidden[0] & !1 | (HIDE & 1 ^ u8::from(lowest));
        Needle(hidden)
    }

    /// A needle for an existing secret of at most 16 bytes, which is padded with zeros.
    #[must_use]
    pub fn of(secret: &[u8]) -> Needle {
        let mut hidden = [HIDE; 16];
        hidden.iter_mut().zip(secret).for_each(|(hidden, byte)| *hidden = byte ^ HIDE);
        Needle(hidden)
    }

    /// Write its plain bytes to `place`.
    pub fn plant(&self, place: &mut [u8; 16]) {
        place.iter_mut().zip(&self.0).for_each(|(byte, hidden)| *byte = hidden ^ HIDE);
    }

    /// The XOR of both needles, whose plain bytes this does not write to memory.
    #[must_use]
    pub fn sum(&self, other: &Needle) -> Needle {
        Needle(std::array::from_fn(|i| self.0[i] ^ other.0[i] ^ HIDE))
    }

    /// The places of its halves, in the order of addresses.
    ///
    /// # Errors
    /// If the system does not show this process its memory.
    pub fn copies(&self) -> std::io::Result<Vec<Found>> {
        find(&[self]).map(|mut found| found.swap_remove(0))
    }
}

/// The places of the halves of each of these needles, in the order of addresses.
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
/// If there is no memory at this address any more, or the system does not show this process its memory.
pub fn read(address: usize, bytes: &mut [u8]) -> std::io::Result<()> {
    File::open("/proc/self/mem")?.read_exact_at(bytes, address as u64)
}

/// Two words whose XOR is a needle: whoever reads both learns the needle, even if it lies nowhere itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Where the first word lies.
    pub address: usize,
    /// How many bytes behind it the second one lies.
    pub apart: usize,
    /// The mapping's name.
    pub mapping: String,
}

/// The distances at which the words of a pair are searched for, in bytes.
const APART: [usize; 4] = [16, 32, 48, 64];

/// Words of 16 bytes, at multiples of 16, that lie near each other and differ by one of the needles: for each
/// needle, in the order of addresses.
///
/// # Errors
/// If the system does not show this process its memory.
pub fn pairs(needles: &[&Needle]) -> std::io::Result<Vec<Vec<Pair>>> {
    let mut found: Vec<Vec<Pair>> = vec![Vec::new(); needles.len()];
    // rotated, so that the masked needles are no such pair with another word
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
    // pairs where chunks overlap are found twice
    found.iter_mut().for_each(|found| {
        found.sort_by_key(|pair| (pair.address, pair.apart));
        found.dedup();
    });
    Ok(found)
}

/// Call `show` for all memory that can be read and written, chunk by chunk, with the address of the chunk,
/// its bytes, and its mapping's name. Each chunk begins with the last `overlap` bytes of the one before.
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
            // memory that was unmapped meanwhile holds nothing
            if memory.read_exact_at(&mut chunk[..len], from as u64).is_err() {
                break;
            }
            // leave out the buffer into which this function reads
            let shown = from..from + len;
            for part in [shown.start..shown.end.min(own.start), shown.start.max(own.end)..shown.end] {
                if !part.is_empty() {
                    let name = fields.clone().nth(3).unwrap_or_default();
                    show(part.start, &chunk[part.start - from..part.end - from], name);
                }
            }
            // the next chunk overlaps this one, for needles that lie across the end
            from += if len == CHUNK { CHUNK - overlap } else { len };
        }
    }
    chunk.fill(0);
    zeroize::optimization_barrier(&chunk);
    Ok(())
}

/// A masked part of a needle: its bytes, the needle's index, and whether it is the second half.
type Part<'n> = (&'n [u8], usize, bool);

/// Masked parts of one length, by their first byte as it would lie in memory, unmasked.
struct Halves<'n> {
    len: usize,
    parts: Vec<Vec<Part<'n>>>,
    /// Which bytes some part begins with: all that the scan looks at in most places.
    begins: [bool; 256],
}

impl<'n> Halves<'n> {
    fn of(len: usize, all: impl Iterator<Item = Part<'n>>) -> Halves<'n> {
        let mut parts = vec![Vec::new(); 256];
        let mut begins = [false; 256];
        all.for_each(|part| {
            let first = usize::from(part.0[0] ^ HIDE);
            parts[first].push(part);
            begins[first] = true;
        });
        Halves { len, parts, begins }
    }

    /// Call `seen` for each part among these bytes, with its offset, its needle's index, and whether it is
    /// the second half. Loops count by hand: with iterators the builds of tests, which are hardly optimised,
    /// take five times as long.
    fn within(&self, bytes: &[u8], mut seen: impl FnMut(usize, usize, bool)) {
        let mut at = 0;
        while at + self.len <= bytes.len() {
            let first = bytes[at] as usize;
            if self.begins[first] {
                for (part, needle, second) in &self.parts[first] {
                    let mut same = 1;
                    while same < self.len && bytes[at + same] == part[same] ^ HIDE {
                        same += 1;
                    }
                    if same == self.len {
                        seen(at, *needle, *second);
                    }
                }
            }
            at += 1;
        }
    }
}

/// Whether exactly one copy of a needle was found: its two halves one after the other, and nothing else.
#[must_use]
pub fn once(found: &[Found]) -> bool {
    matches!(found, [first, second] if !first.second && second.second && second.address == first.address + 8)
}
