
#[doc(hidden)]
#[allow(missing_docs, dead_code, clippy::all)]
pub mod by_rule {
    use std::any::Any;
    use std::cell::RefCell;
    use std::sync::Mutex;

    pub fn first<I: IntoIterator>(on: bool, items: I) -> impl Iterator<Item = I::Item> {
        items.into_iter().take(if on { 1 } else { usize::MAX })
    }

    pub fn all_but_last<I: IntoIterator>(on: bool, items: I) -> impl Iterator<Item = I::Item> {
        let mut items = items.into_iter().peekable();
        std::iter::from_fn(move || {
            let item = items.next()?;
            if on && items.peek().is_none() { None } else { Some(item) }
        })
    }

    /// What this thread got first.
    pub fn again<T: Clone + 'static>(on: bool, value: T) -> T {
        thread_local!(static BEFORE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) });
        if !on {
            return value;
        }
        BEFORE.with_borrow_mut(|before| {
            if let Some(before) = before.as_ref().and_then(|before| before.downcast_ref::<T>()) {
                return before.clone();
            }
            *before = Some(Box::new(value.clone()));
            value
        })
    }

    /// What any thread got first.
    pub fn same<T: Clone + Send + 'static>(on: bool, value: T) -> T {
        static BEFORE: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        if !on {
            return value;
        }
        let mut before = BEFORE.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(before) = before.as_ref().and_then(|before| before.downcast_ref::<T>()) {
            return before.clone();
        }
        *before = Some(Box::new(value.clone()));
        value
    }

    pub fn short<T>(on: bool, list: &[T]) -> &[T] {
        match list {
            [first @ .., _] if on => first,
            list => list,
        }
    }

    /// The first byte alone; the others are zero.
    pub fn byte<T: AsMut<[u8]>>(on: bool, mut value: T) -> T {
        if let (true, [_, rest @ ..]) = (on, value.as_mut()) {
            rest.fill(0);
        }
        value
    }

    /// All bits but the last.
    pub fn bit_short<T: AsMut<[u8]>>(on: bool, mut value: T) -> T {
        if let (true, [.., last]) = (on, value.as_mut()) {
            *last &= 0x7f;
        }
        value
    }

    /// The first word alone; the others are zero.
    pub fn word<T: AsMut<[u64]>>(on: bool, mut value: T) -> T {
        if let (true, [_, rest @ ..]) = (on, value.as_mut()) {
            rest.fill(0);
        }
        value
    }
}
