//! Rows of bytes: the inputs and outputs of a job's instances.

use zeroize::Zeroizing;

/// Rows of bytes, of any lengths, which are wiped when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Rows {
    bytes: Zeroizing<Vec<u8>>,
    ends: Vec<usize>,
}

impl Rows {
    /// Split bytes into rows of these widths. If there are too few bytes, the last rows are shorter or empty.
    #[must_use]
    pub fn cut(bytes: Vec<u8>, widths: impl Iterator<Item = usize>) -> Rows {
        let (mut end, length) = (0_usize, bytes.len());
        let mut next = |width: usize| {
            end = length.min(end.saturating_add(width));
            end
        };
        Rows { ends: widths.map(&mut next).collect(), bytes: Zeroizing::new(bytes) }
    }

    /// Append a row, concatenated from its parts.
    pub fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len());
    }

    /// The number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Row `i`; an empty one if there is none.
    #[must_use]
    pub fn row(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(i).copied()).map(|(start, end)| start..end);
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(|i| self.row(i))
    }

    /// All bytes, row after row.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A column for each byte position below `width`, one after the other, with one lane for each row of the
    /// range; rows that are too short are padded with zeros.
    #[must_use]
    pub fn columns(&self, rows: std::ops::Range<usize>, width: usize) -> Vec<u8> {
        let lanes = rows.len();
        let mut columns = vec![0; lanes * width];
        for (lane, row) in rows.map(|i| self.row(i)).enumerate() {
            for (j, byte) in row.iter().take(width).enumerate() {
                if let Some(place) = columns.get_mut(j * lanes + lane) {
                    *place = *byte;
                }
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_and_put_together() {
        let mut rows = Rows::default();
        rows.push(&[&[1], &[2, 3]]);
        rows.push(&[]);
        rows.push(&[&[4]]);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [&[1, 2, 3][..], &[], &[4]]);
        assert_eq!((rows.row(3), rows.count()), (&[][..], 3));
        assert!(rows == Rows::cut(vec![1, 2, 3, 4], [3, 0, 1].into_iter()));
        assert_eq!(
            Rows::cut(vec![1, 2], [1, 5, 5].into_iter()).iter().collect::<Vec<_>>(),
            [&[1][..], &[2], &[]]
        );
        assert_eq!(rows.columns(0..3, 2), [1, 0, 4, 2, 0, 0]);
        assert!(rows.columns(1..1, 2).is_empty());
    }
}
