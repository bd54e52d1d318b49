//! Wiping of long vectors of words: with the widest stores there are, where `zeroize` writes word by word.

/// Overwrite all words with zeros, and let the compiler believe that somebody reads them.
#[inline]
pub fn words<T: Copy + Default>(x: &mut [T]) {
    x.fill(T::default());
    zeroize::optimization_barrier(x);
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_left() {
        let (mut bytes, mut wide) = ([7_u8; 33], [u128::MAX; 5]);
        super::words(&mut bytes[..32]);
        super::words(&mut wide[1..]);
        assert_eq!((bytes[..32].iter().max(), bytes[32]), (Some(&0), 7));
        assert_eq!(wide, [u128::MAX, 0, 0, 0, 0]);
    }
}
