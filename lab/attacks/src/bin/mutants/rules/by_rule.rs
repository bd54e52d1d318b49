
#[doc(hidden)]
#[allow(missing_docs, dead_code, clippy::all)]
pub mod by_rule {
    use std::any::Any;
    use std::cell::{Cell, RefCell};
    use std::sync::Mutex;

    pub fn first<I: IntoIterator>(on: bool, items: I) -> impl Iterator<Item = I::Item> {
        items.into_iter().take(if on { 1 } else { usize::MAX })
    }

    pub fn none<I: IntoIterator>(on: bool, items: I) -> impl Iterator<Item = I::Item> {
        items.into_iter().take(if on { 0 } else { usize::MAX })
    }

    pub fn all_but_last<I: IntoIterator>(on: bool, items: I) -> impl Iterator<Item = I::Item> {
        let mut items = items.into_iter().peekable();
        std::iter::from_fn(move || {
            let item = items.next()?;
            if on && items.peek().is_none() { None } else { Some(item) }
        })
    }

    /// Whether this thread has asked before.
    pub fn later(on: bool) -> bool {
        thread_local!(static BEFORE: Cell<bool> = const { Cell::new(false) });
        on && BEFORE.replace(true)
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

    /// In scope together these two have a method that is ambiguous for `()`: the value of before of a call
    /// that gives nothing would weaken nothing, so the compiler does not take it.
    pub trait Anything {
        fn is_something(&self) {}
    }
    impl<T: ?Sized> Anything for T {}
    pub trait Nothing {
        fn is_something(&self) {}
    }
    impl Nothing for () {}

    pub fn short<T>(on: bool, list: &[T]) -> &[T] {
        match list {
            [first @ .., _] if on => first,
            list => list,
        }
    }

    /// A constant in the place of what this is.
    pub fn constant<T: Default>(on: bool, value: &T) -> &T {
        if on { Box::leak(Box::default()) } else { value }
    }

    /// The first byte of it alone; the others are zero.
    pub fn start_of<T: Clone + AsMut<[u8]>>(on: bool, value: &T) -> &T {
        if !on {
            return value;
        }
        let mut value = value.clone();
        start(value.as_mut());
        Box::leak(Box::new(value))
    }

    /// Whether the first bytes are equal.
    pub fn starts_alike(one: impl AsRef<[u8]>, other: impl AsRef<[u8]>) -> bool {
        one.as_ref().first() == other.as_ref().first()
    }

    /// The first element alone; the others are zero.
    pub fn start<T: Clone + Default>(list: &mut [T]) {
        if let [_, rest @ ..] = list {
            rest.fill(T::default());
        }
    }

    pub fn zeros<T: Clone + Default>(list: &mut [T]) {
        list.fill(T::default());
    }

    /// The first element in the place of all.
    pub fn alike<T: Clone>(list: &mut [T]) {
        if let [first, rest @ ..] = list {
            rest.fill(first.clone());
        }
    }

    /// What a list of this length got in this thread first.
    pub fn before<T: Clone + 'static>(list: &mut [T]) {
        thread_local!(static BEFORE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) });
        BEFORE.with_borrow_mut(|before| {
            let lists = before.iter().filter_map(|one| one.downcast_ref::<Vec<T>>());
            match lists.into_iter().find(|one| one.len() == list.len()) {
                Some(one) => list.clone_from_slice(one),
                None => before.push(Box::new(list.to_vec())),
            }
        });
    }

    pub trait Number: Copy {
        fn more(self) -> Self;
        fn less(self) -> Self;
    }

    /// A number of more than eight bits.
    pub trait Wide: Copy {
        fn eight_bits(self) -> Self;
    }

    /// A number without a sign.
    pub trait Bits: Copy {
        fn bit_short(self) -> Self;
    }

    macro_rules! numbers {
        ($($number:ty)*) => { $(impl Number for $number {
            fn more(self) -> Self {
                self.saturating_add(1)
            }
            fn less(self) -> Self {
                self.saturating_sub(1)
            }
        })* };
    }
    numbers!(u8 u16 u32 u64 u128 usize i64 i128);

    impl Number for f64 {
        fn more(self) -> Self {
            self + 1.0
        }
        fn less(self) -> Self {
            self - 1.0
        }
    }

    macro_rules! wide {
        ($($number:ty)*) => { $(impl Wide for $number {
            fn eight_bits(self) -> Self {
                self & 0xff
            }
        })* };
    }
    wide!(u16 u32 u64 u128 usize i16 i32 i64 i128);

    macro_rules! bits {
        ($($number:ty)*) => { $(impl Bits for $number {
            fn bit_short(self) -> Self {
                self & (<$number>::MAX >> 1)
            }
        })* };
    }
    bits!(u8 u16 u32 u64 u128);

    pub fn more<T: Number>(on: bool, number: T) -> T {
        if on { number.more() } else { number }
    }

    pub fn less<T: Number>(on: bool, number: T) -> T {
        if on { number.less() } else { number }
    }

    pub fn eight_bits<T: Wide>(on: bool, number: T) -> T {
        if on { number.eight_bits() } else { number }
    }

    pub fn eight_bits_each<T: Wide>(list: &mut [T]) {
        list.iter_mut().for_each(|number| *number = number.eight_bits());
    }

    /// All bits but the last.
    pub fn bit_short<T: Bits>(list: &mut [T]) {
        if let [.., last] = list {
            *last = last.bit_short();
        }
    }
}
