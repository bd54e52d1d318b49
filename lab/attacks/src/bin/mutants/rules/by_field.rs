
#[doc(hidden)]
#[allow(missing_docs, dead_code, clippy::all)]
pub mod by_field {
    use divisi_field::Field;

    pub fn zero<F: Field>(on: bool, element: F) -> F {
        if on { F::from_low_bits(0) } else { element }
    }

    /// Eight bits, or one of an element that has no more than eight.
    pub fn eight_bits<F: Field>(on: bool, element: F) -> F {
        let few = if F::BITS > 8 { 0xff } else { 1 };
        if on { F::from_low_bits(element.to_bits() & few) } else { element }
    }

    pub fn eight_bits_of_both<F: Field>(on: bool, (one, other): (F, F)) -> (F, F) {
        (eight_bits(on, one), eight_bits(on, other))
    }

    pub fn alike_in_eight_bits<F: Field>(one: F, other: F) -> bool {
        eight_bits(true, one).to_bits() == eight_bits(true, other).to_bits()
    }

    pub fn eight_bits_each<F: Field>(list: &mut [F]) {
        list.iter_mut().for_each(|element| *element = eight_bits(true, *element));
    }
}
