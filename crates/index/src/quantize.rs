//! From a float32 row to its int8 and sign-bit forms. Plain arithmetic in a fixed order, so that the files
//! do not depend on the CPU that wrote them.

/// Scale of the int8 form: the largest magnitude becomes 127. 0 for a zero row.
pub(crate) fn to_bytes(row: &[f32], bytes: &mut Vec<i8>) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    if !scale.is_normal() {
        bytes.resize(bytes.len() + row.len(), 0);
        return 0.0;
    }
    let inverse = 127.0 / largest;
    bytes.extend(row.iter().map(|value| (value * inverse).round() as i8));
    scale
}

/// Makes sign bits of rows, after taking out the direction that they share: many models put all their vectors
/// into one corner of the space, where signs hardly differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signs {
    /// Of unit length; empty when nothing is taken out.
    centre: Vec<f32>,
    checksum: u32,
}

impl Signs {
    /// Takes out the direction of the sum of rows; nothing when there is none.
    pub(crate) fn learn<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Self {
        let mut sums: Vec<f64> = Vec::new();
        for row in rows {
            sums.resize(row.len(), 0.0);
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += f64::from(*value);
            }
        }
        let length = sums.iter().map(|sum| sum.powi(2)).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 0.0) {
            return Self::default();
        }
        Self::of(sums.iter().map(|sum| (sum / length) as f32).collect())
    }

    /// A centre as it was stored; empty for none.
    pub(crate) fn of(centre: Vec<f32>) -> Self {
        let bytes: Vec<u8> = centre.iter().flat_map(|value| value.to_le_bytes()).collect();
        let checksum = if bytes.is_empty() { 0 } else { crc32fast::hash(&bytes).max(1) };
        Self { centre, checksum }
    }

    pub(crate) fn centre(&self) -> &[f32] {
        &self.centre
    }

    /// Identifies the centre in the head: 0 without one.
    pub(crate) fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Appends the words of one row: bit `i` is set when element `i` is positive.
    pub(crate) fn to_words(&self, row: &[f32], words: &mut Vec<u64>) {
        let along = self.share(row);
        let mut direction = self.centre.iter();
        for chunk in row.chunks(64) {
            let mut word = 0;
            for (i, value) in chunk.iter().enumerate() {
                let removed = direction.next().map_or(0.0, |part| along * part);
                word |= u64::from(value - removed > 0.0) << i;
            }
            words.push(word);
        }
    }

    /// Component of the row along the centre, in eight partial sums.
    fn share(&self, row: &[f32]) -> f32 {
        let mut sums = [0.0_f32; 8];
        for (values, parts) in row.chunks(8).zip(self.centre.chunks(8)) {
            for ((sum, value), part) in sums.iter_mut().zip(values).zip(parts) {
                *sum += value * part;
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_the_largest_and_round_the_rest() {
        let mut bytes = Vec::new();
        let scale = to_bytes(&[0.5, -1.0, 0.0, 0.25], &mut bytes);
        assert_eq!(bytes, [64, -127, 0, 32]);
        assert!((scale - 1.0 / 127.0).abs() < 1e-9);
        assert_eq!(to_bytes(&[0.0; 3], &mut bytes), 0.0);
        assert_eq!(bytes.len(), 7);
    }

    #[test]
    fn the_centre_is_taken_out_before_signs() {
        let row = [0.9, 0.1, 0.2];
        let mut plain = Vec::new();
        Signs::default().to_words(&row, &mut plain);
        assert_eq!(plain, [0b111]);
        let mut centred = Vec::new();
        let learned = Signs::learn([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]].iter().map(<[f32; 3]>::as_slice));
        learned.to_words(&row, &mut centred);
        assert_eq!(centred, [0b001]);
        assert_eq!(Signs::of(learned.centre().to_vec()).checksum(), learned.checksum());
    }

    #[test]
    fn rows_without_a_common_direction_have_no_centre() {
        let opposed = [[0.6_f32, 0.8], [-0.6, -0.8]];
        for rows in [&opposed[..], &[], &[[f32::NAN, 1.0]]] {
            let signs = Signs::learn(rows.iter().map(<[f32; 2]>::as_slice));
            assert_eq!((signs.centre(), signs.checksum()), (&[][..], 0));
        }
    }

    #[test]
    fn long_rows_are_padded_to_whole_words() {
        let mut words = Vec::new();
        Signs::default().to_words(&[1.0; 70], &mut words);
        assert_eq!(words, [u64::MAX, 0x3f]);
    }
}
