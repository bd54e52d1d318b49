//! Frames: the units that are sent on a link.
//!
//! A frame is a header of 20 bytes, little-endian `session | strand | step | depth | length`, and at most 64
//! KiB of body. A longer body is sent as several frames; the highest bit of `length` says that more of the
//! same body follows. The receiver knows the length of a whole body from the protocol, so that no frame
//! contains it, and a length that a peer sent makes it allocate 64 KiB at most.
//!
//! On emulated links eight bytes with the time of sending precede each header.

use crate::body::Body;
use crate::fault::Loss;
use std::fmt;

/// The longest body of one frame.
pub(crate) const SEGMENT: usize = 64 * 1024;
/// The length of a header.
pub(crate) const HEAD: usize = 20;
/// The bytes that a message with a body of this length hands to its link, with a header for every segment.
#[must_use]
pub fn wire_bytes(body: usize) -> u64 {
    (body + HEAD * body.div_ceil(SEGMENT).max(1)) as u64
}

/// The longest body of one message.
pub(crate) const MAX_BODY: usize = 1 << 30;
/// The strand number of control frames.
pub(crate) const CONTROL: u32 = u32::MAX;
/// The bit of the length that says that more of this body follows.
const MORE: u32 = 1 << 31;
/// The length of the stamp on emulated links.
const STAMP: usize = 8;

/// A message of a session as an interceptor sees it: whole, whatever its length.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    /// Session number.
    pub session: u32,
    /// Strand number.
    pub strand: u32,
    /// Hash of the step ([`crate::Step::id`]).
    pub step: u32,
    /// One more than the greatest depth of the messages that the sender had read.
    pub depth: u32,
    /// The payload.
    pub body: Vec<u8>,
}

/// Without the body, which may be a share.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, strand, step, depth, body } = self;
        write!(
            f,
            "Frame(session {session}, strand {strand}, step {step:08x}, depth {depth}, {} bytes)",
            body.len()
        )
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub session: u32,
    pub strand: u32,
    pub step: u32,
    pub depth: u32,
    pub len: u32,
    pub more: bool,
}

impl Head {
    pub fn encode(&self) -> [u8; HEAD] {
        let mut out = [0; HEAD];
        let len = self.len | if self.more { MORE } else { 0 };
        let words = [self.session, self.strand, self.step, self.depth, len];
        for (to, word) in out.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    pub fn decode(bytes: &[u8; HEAD]) -> Result<Self, Loss> {
        let mut words = [0_u32; 5];
        for (word, from) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes(<[u8; 4]>::try_from(from).map_err(|_| Loss::Garbage)?);
        }
        let [session, strand, step, depth, len] = words;
        let head = Self { session, strand, step, depth, len: len & !MORE, more: len & MORE != 0 };
        let whole = !head.more || head.len as usize == SEGMENT;
        if head.len as usize > SEGMENT || !whole { Err(Loss::Garbage) } else { Ok(head) }
    }
}

/// A message from one party to another that is not part of a session's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// This session is over, because of this party; 0 for no party.
    Abort { blames: u8 },
    /// Whom does this strand of yours wait for?
    Ask { strand: u32 },
    /// This strand of mine waits for this party's message of this step; or it works, if the party is the one
    /// that answers.
    Answer { strand: u32, party: u8, step: u32 },
    /// Nothing more will come on this link.
    Close,
}

impl Control {
    /// The frame of a control message about `session`.
    pub fn encode(self, session: u32) -> (Head, Body) {
        let (step, depth, body) = match self {
            // version 2 ignores the depth
            Self::Abort { blames } => (1, u32::from(blames), Vec::new()),
            Self::Ask { strand } => (2, strand, Vec::new()),
            Self::Answer { strand, party, step } => {
                let mut body = vec![party];
                body.extend_from_slice(&step.to_le_bytes());
                (3, strand, body)
            }
            Self::Close => (4, 0, Vec::new()),
        };
        (
            Head { session, strand: CONTROL, step, depth, len: body.len() as u32, more: false },
            Body::from(&*body),
        )
    }

    pub fn decode(head: &Head, body: &[u8]) -> Result<Self, Loss> {
        let strand = head.depth;
        match (head.step, body) {
            (1, []) => Ok(Self::Abort { blames: u8::try_from(strand).map_err(|_| Loss::Garbage)? }),
            (2, []) => Ok(Self::Ask { strand }),
            (3, [party, step @ ..]) => {
                let step = u32::from_le_bytes(step.try_into().map_err(|_| Loss::Garbage)?);
                Ok(Self::Answer { strand, party: *party, step })
            }
            (4, []) => Ok(Self::Close),
            _ => Err(Loss::Garbage),
        }
    }
}

/// Takes a byte stream apart into frames, as the bytes come.
#[derive(Debug)]
pub(crate) struct Parser {
    stamped: bool,
    prefix: Vec<u8>,
    open: Option<(Head, Option<u64>, Body)>,
}

impl Parser {
    /// A parser of a stream that carries a time stamp before each header, or not.
    pub fn new(stamped: bool) -> Self {
        Self { stamped, prefix: Vec::with_capacity(HEAD + STAMP), open: None }
    }

    /// Feeds bytes; `sink` gets each complete frame and the stamp of its sender's clock in nanoseconds.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        sink: &mut dyn FnMut(Head, Option<u64>, Body) -> Result<(), Loss>,
    ) -> Result<(), Loss> {
        loop {
            match self.open.take() {
                None => {
                    let want = HEAD + if self.stamped { STAMP } else { 0 };
                    let (now, rest) = bytes.split_at(bytes.len().min(want - self.prefix.len()));
                    self.prefix.extend_from_slice(now);
                    bytes = rest;
                    if self.prefix.len() < want {
                        return Ok(());
                    }
                    let (stamp, head) = self.prefix.split_at(want - HEAD);
                    let stamp = <[u8; STAMP]>::try_from(stamp).ok().map(u64::from_le_bytes);
                    let head = Head::decode(head.try_into().map_err(|_| Loss::Garbage)?)?;
                    self.prefix.clear();
                    self.open = Some((head, stamp, Body::with_capacity((head.len as usize).min(SEGMENT))));
                }
                Some((head, stamp, mut body)) => {
                    let missing = (head.len as usize).saturating_sub(body.len());
                    let (now, rest) = bytes.split_at(bytes.len().min(missing));
                    body.append(now);
                    bytes = rest;
                    if now.len() < missing {
                        self.open = Some((head, stamp, body));
                        return Ok(());
                    }
                    sink(head, stamp, body)?;
                }
            }
        }
    }
}

/// A message as its frames, without copying the body.
pub(crate) fn segments(
    session: u32,
    strand: u32,
    step: u32,
    depth: u32,
    body: &[u8],
) -> impl Iterator<Item = (Head, &[u8])> {
    let count = body.len().div_ceil(SEGMENT).max(1);
    (0..count).map(move |i| {
        let from = i * SEGMENT;
        let part = body.get(from..body.len().min(from + SEGMENT)).unwrap_or_default();
        (Head { session, strand, step, depth, len: part.len() as u32, more: i + 1 < count }, part)
    })
}

/// The bytes that a body of this length takes on a link, headers included.
pub(crate) fn wire_len(body: usize) -> u64 {
    (body + HEAD * body.div_ceil(SEGMENT).max(1)) as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn parse(stamped: bool, pieces: &[&[u8]]) -> Result<Vec<(Head, Option<u64>, Body)>, Loss> {
        let (mut parser, mut out) = (Parser::new(stamped), Vec::new());
        for piece in pieces {
            parser.feed(piece, &mut |h, s, b| {
                out.push((h, s, b));
                Ok(())
            })?;
        }
        Ok(out)
    }

    #[test]
    fn an_oversized_length_is_garbage_before_any_allocation() {
        for len in [SEGMENT as u32 + 1, u32::MAX, MORE, MORE | 5, i32::MAX as u32] {
            let mut head = Head { session: 1, strand: 2, step: 3, depth: 4, len: 0, more: false }.encode();
            head[16..].copy_from_slice(&len.to_le_bytes());
            assert_eq!(parse(false, &[&head]), Err(Loss::Garbage));
        }
    }

    #[test]
    fn golden_end_of_a_session() {
        let (head, body) = Control::Abort { blames: 3 }.encode(7);
        assert!(body.is_empty());
        assert_eq!(hex::encode(head.encode()), "07000000ffffffff010000000300000000000000");
        // no party has a larger number
        let beyond = Head { depth: 256, ..head };
        assert_eq!(Control::decode(&beyond, &[]), Err(Loss::Garbage));
    }

    #[test]
    fn golden_header() {
        let head = Head { session: 1, strand: 2, step: 0xaabb_ccdd, depth: 3, len: 65536, more: true };
        assert_eq!(hex::encode(head.encode()), "0100000002000000ddccbbaa0300000000000180");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..4096),
            cut in 0_usize..4096,
            stamped: bool,
        ) {
            let (a, b) = bytes.split_at(cut.min(bytes.len()));
            let _ = parse(stamped, &[a, b]);
            let (head, body) = bytes.split_at(HEAD.min(bytes.len()));
            if let Ok(head) = head.try_into().map_err(|_| Loss::Garbage).and_then(Head::decode) {
                let _ = Control::decode(&head, body);
            }
        }

        #[test]
        fn frames_come_back(len in 0_usize..200_000, cut in 0_usize..200_000) {
            let body: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut wire = Vec::new();
            for (head, part) in segments(7, 8, 9, 10, &body) {
                wire.extend_from_slice(&head.encode());
                wire.extend_from_slice(part);
            }
            prop_assert_eq!(wire.len() as u64, wire_len(len));
            let (a, b) = wire.split_at(cut.min(wire.len()));
            let frames = parse(false, &[a, b]).unwrap();
            prop_assert_eq!(frames.iter().filter(|f| !f.0.more).count(), 1);
            let back: Vec<u8> = frames.into_iter().flat_map(|f| f.2.to_vec()).collect();
            prop_assert_eq!(back, body);
        }

        #[test]
        fn control_comes_back(session: u32, strand: u32, party: u8, step: u32) {
            let answer = Control::Answer { strand, party, step };
            for c in [Control::Abort { blames: party }, Control::Ask { strand }, answer, Control::Close] {
                let (head, body) = c.encode(session);
                prop_assert_eq!(Control::decode(&Head::decode(&head.encode()).unwrap(), &body), Ok(c));
            }
        }
    }
}
