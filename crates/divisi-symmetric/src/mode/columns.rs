//! Converts a stream of public bytes to the columns of a batch and back: byte `i` of block `l` is lane `l` of
//! column `i`.

/// Splits a stream into blocks; the last one is padded with zeros. Lane `l` of column `i` is byte `16 l + i`.
#[must_use]
pub fn from_stream(stream: &[u8]) -> [Vec<u8>; 16] {
    let blocks = stream.len().div_ceil(16);
    std::array::from_fn(|i| {
        let mut column = Vec::with_capacity(blocks);
        column.extend(stream.iter().skip(i).step_by(16));
        column.resize(blocks, 0);
        column
    })
}

/// The first `len` bytes of the stream in these columns; `None` if there are fewer, or the columns' lengths
/// differ.
#[must_use]
pub fn to_stream(columns: &[impl AsRef<[u8]>; 16], len: usize) -> Option<Vec<u8>> {
    let columns = columns.each_ref().map(AsRef::as_ref);
    let blocks = columns[0].len();
    if columns.iter().any(|column| column.len() != blocks) || len.div_ceil(16) > blocks {
        return None;
    }
    Some((0..len).map(|at| columns[at % 16][at / 16]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_at_every_length_around_a_block() {
        for len in 0..50 {
            let stream: Vec<u8> = (1..=len).collect();
            let columns = from_stream(&stream);
            assert!(columns.iter().all(|column| column.len() == stream.len().div_ceil(16)));
            assert_eq!(to_stream(&columns, stream.len()).unwrap(), stream);
            let whole = to_stream(&columns, 16 * columns[0].len()).unwrap();
            assert!(whole[stream.len()..].iter().all(|&byte| byte == 0));
            assert_eq!(to_stream(&columns, 16 * columns[0].len() + 1), None);
        }
    }

    #[test]
    fn columns_of_different_lengths_are_no_stream() {
        let mut columns = from_stream(&[7; 32]);
        columns[9].pop();
        assert_eq!(to_stream(&columns, 16), None);
    }
}
