//! Memory of polynomials that were dropped, for new ones: getting it from the system, page by page, takes a
//! tenth of the time. The process keeps some, wiped unless it was public.

use std::sync::{Mutex, PoisonError};

/// The most words that are kept: 16 MiB.
const MOST: usize = 2 << 20;

/// The lists that are kept, the oldest first, and how many words they have.
static SPARE: Mutex<(Vec<Box<[u64]>>, usize)> = Mutex::new((Vec::new(), 0));

/// Keeps a list of words; the oldest ones are freed if there are too many.
pub(super) fn give(words: Box<[u64]>) {
    if words.is_empty() || words.len() > MOST {
        return;
    }
    let mut guard = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let (lists, kept) = &mut *guard;
    *kept += words.len();
    lists.push(words);
    let mut oldest = 0;
    while *kept > MOST {
        *kept -= lists[oldest].len();
        oldest += 1;
    }
    let freed: Vec<_> = lists.drain(..oldest).collect();
    // nobody waits while they are freed
    drop(guard);
    drop(freed);
}

/// A list of this length with any words: those of the newest list that was kept, or zeros.
pub(super) fn take(len: usize) -> Box<[u64]> {
    let mut guard = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let (lists, kept) = &mut *guard;
    if let Some(at) = lists.iter().rposition(|words| words.len() == len) {
        *kept -= len;
        return lists.remove(at);
    }
    drop(guard);
    vec![0; len].into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept is bounded, and the oldest goes first. Other tests use the same lists.
    #[test]
    fn the_newest_are_kept() {
        let len = MOST / 8 + 1;
        (0..20).for_each(|i| give(vec![i; len].into_boxed_slice()));
        give(vec![0; MOST + 1].into_boxed_slice());
        let (lists, kept) = &*SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(*kept <= MOST && *kept == lists.iter().map(|words| words.len()).sum::<usize>());
        assert!(lists.iter().all(|words| words.len() <= MOST));
        // seven of them are within the bound
        assert!(lists.iter().filter(|words| words.len() == len).all(|words| words[0] >= 13));
    }
}
