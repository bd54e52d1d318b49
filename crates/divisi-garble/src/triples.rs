//! Results of the function-independent phase: masks of wires, and AND triples that no party knows.

use crate::share::Shares;
use divisi_core::{Abort, Bound, Session, Step};

/// Authenticated AND triples: z = x y. Each triple is used once.
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

    /// Removes the first `n` triples and returns them.
    pub fn take(&mut self, n: usize) -> Triples {
        Triples { x: self.x.take(n), y: self.y.take(n), z: self.z.take(n) }
    }

    /// Appends other triples.
    pub fn append(&mut self, mut other: Triples) {
        self.x.append(std::mem::take(&mut other.x));
        self.y.append(std::mem::take(&mut other.y));
        self.z.append(std::mem::take(&mut other.z));
    }
}

/// Masks and triples, without their session.
#[derive(Default)]
pub(crate) struct MasksAndTriples {
    pub masks: Shares,
    pub triples: Triples,
}

impl MasksAndTriples {
    /// Appends other masks and triples.
    pub fn append(&mut self, other: MasksAndTriples) {
        let MasksAndTriples { masks, triples } = other;
        self.masks.append(masks);
        self.triples.append(triples);
    }
}

/// Masks and triples that were made ahead, without knowing the circuit. They belong to the session that made
/// them and end with it. The function-dependent phase consumes them, each once \[M0.5, W26\].
///
/// It cannot be cloned:
/// ```compile_fail
/// fn again(made: &divisi_garble::Preprocessed) -> divisi_garble::Preprocessed {
///     made.clone()
/// }
/// ```
/// and its contents cannot be printed:
/// ```compile_fail
/// fn print(made: &divisi_garble::Preprocessed) {
///     println!("{made:?}");
/// }
/// ```
pub struct Preprocessed(Bound<MasksAndTriples>);

impl Preprocessed {
    pub(crate) fn new(session: &Session, made: MasksAndTriples) -> Preprocessed {
        Preprocessed(session.bind(made))
    }

    /// Removes all masks and triples, for use in their session.
    pub(crate) fn take(&mut self, session: &Session, step: Step) -> Result<MasksAndTriples, Abort> {
        self.0.take(session, step)
    }

    /// Puts back what was not used.
    pub(crate) fn put(&mut self, session: &Session, made: MasksAndTriples) {
        self.0.put(session, made);
    }

    /// For how many ANDs triples are left.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.0.peek(|made| made.triples.len()).unwrap_or(0)
    }

    /// For how many wires masks are left.
    #[must_use]
    pub fn masks(&self) -> usize {
        self.0.peek(|made| made.masks.len()).unwrap_or(0)
    }
}
