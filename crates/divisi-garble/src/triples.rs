//! What the function-independent phase makes: masks of wires, and AND triples that nobody knows anything
//! about.

use crate::share::Shares;
use divisi_core::{Abort, Bound, Session, Step};

/// Authenticated AND triples: z = x y. Each is used once.
#[derive(Default)]
pub(crate) struct Triples {
    pub x: Shares,
    pub y: Shares,
    pub z: Shares,
}

impl Triples {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.z.len()
    }

    /// Take the first `n` away.
    pub fn take(&mut self, n: usize) -> Triples {
        Triples { x: self.x.take(n), y: self.y.take(n), z: self.z.take(n) }
    }

    /// Put others behind these.
    pub fn append(&mut self, mut other: Triples) {
        self.x.append(std::mem::take(&mut other.x));
        self.y.append(std::mem::take(&mut other.y));
        self.z.append(std::mem::take(&mut other.z));
    }
}

/// Masks and triples.
#[derive(Default)]
pub(crate) struct Made {
    pub masks: Shares,
    pub triples: Triples,
}

impl Made {
    /// Put more behind it.
    pub fn append(&mut self, other: Made) {
        let Made { masks, triples } = other;
        self.masks.append(masks);
        self.triples.append(triples);
    }
}

/// Masks and triples, made ahead: function-independent, for the session that made them, with whose end they
/// go; consumed by the function-dependent phase, each once \[M0.5, W26\].
///
/// There is no second one of it:
/// ```compile_fail
/// fn again(made: &divisi_garble::Preprocessed) -> divisi_garble::Preprocessed {
///     made.clone()
/// }
/// ```
/// and nothing in it can be printed:
/// ```compile_fail
/// fn print(made: &divisi_garble::Preprocessed) {
///     println!("{made:?}");
/// }
/// ```
pub struct Preprocessed(Bound<Made>);

impl Preprocessed {
    pub(crate) fn new(session: &Session, made: Made) -> Preprocessed {
        Preprocessed(session.bind(made))
    }

    /// All of it, to be used in its session.
    pub(crate) fn take(&mut self, session: &Session, step: Step) -> Result<Made, Abort> {
        self.0.take(session, step)
    }

    /// What is left.
    pub(crate) fn put(&mut self, session: &Session, made: Made) {
        self.0.put(session, made);
    }

    /// ANDs that can be garbled with it.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.0.peek(|made| made.triples.len()).unwrap_or(0)
    }

    /// Wires that can be masked with it.
    #[must_use]
    pub fn masks(&self) -> usize {
        self.0.peek(|made| made.masks.len()).unwrap_or(0)
    }
}
