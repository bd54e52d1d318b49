//! Memory of polynomials that were dropped, for new ones: setting it to zero first, or getting it from the
//! system page by page, takes a tenth of the time. Each thread keeps some, wiped unless it was public.

use std::cell::RefCell;

/// The most words that a thread keeps.
const MOST: usize = 1 << 20;

thread_local! {
    static SPARE: RefCell<Vec<Box<[u64]>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a list of words, or frees it if there are too many already.
pub(super) fn give(words: Box<[u64]>) {
    // a thread that ends keeps nothing
    let _ = SPARE.try_with(|spare| {
        if let Ok(mut spare) = spare.try_borrow_mut() {
            let kept: usize = spare.iter().map(|words| words.len()).sum();
            if !words.is_empty() && kept + words.len() <= MOST {
                spare.push(words);
            }
        }
    });
}

/// A list of this length with any words: those of a list that was kept, or zeros.
pub(super) fn take(len: usize) -> Box<[u64]> {
    let kept = SPARE.try_with(|spare| {
        let mut spare = spare.try_borrow_mut().ok()?;
        let at = spare.iter().rposition(|words| words.len() == len)?;
        Some(spare.swap_remove(at))
    });
    kept.ok().flatten().unwrap_or_else(|| vec![0; len].into_boxed_slice())
}
