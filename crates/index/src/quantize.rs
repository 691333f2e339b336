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

/// Makes sign bits of rows, after taking a common direction out of them.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    /// Of unit length; empty when nothing is taken out.
    direction: Vec<f32>,
}

impl Signs {
    pub(crate) fn new(centre: Option<&[f32]>) -> Self {
        let centre = centre.unwrap_or_default();
        let length = centre.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let direction = if length > 0.0 {
            centre.iter().map(|value| (f64::from(*value) / length) as f32).collect()
        } else {
            Vec::new()
        };
        Self { direction }
    }

    /// Identifies the direction in the head: 0 without one.
    pub(crate) fn checksum(&self) -> u32 {
        let bytes: Vec<u8> = self.direction.iter().flat_map(|value| value.to_le_bytes()).collect();
        if bytes.is_empty() { 0 } else { crc32fast::hash(&bytes).max(1) }
    }

    /// Appends the words of one row: bit `i` is set when element `i` is positive.
    pub(crate) fn to_words(&self, row: &[f32], words: &mut Vec<u64>) {
        let along = self.share(row);
        let mut direction = self.direction.iter();
        for chunk in row.chunks(64) {
            let mut word = 0;
            for (i, value) in chunk.iter().enumerate() {
                let removed = direction.next().map_or(0.0, |part| along * part);
                word |= u64::from(value - removed > 0.0) << i;
            }
            words.push(word);
        }
    }

    /// Component of the row along the direction, in eight partial sums.
    fn share(&self, row: &[f32]) -> f32 {
        let mut sums = [0.0_f32; 8];
        for (values, parts) in row.chunks(8).zip(self.direction.chunks(8)) {
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
        Signs::new(None).to_words(&row, &mut plain);
        assert_eq!(plain, [0b111]);
        let mut centred = Vec::new();
        // The direction alone decides, whatever its length.
        Signs::new(Some(&[3.0, 3.0, 3.0])).to_words(&row, &mut centred);
        assert_eq!(centred, [0b001]);
    }

    #[test]
    fn long_rows_are_padded_to_whole_words() {
        let mut words = Vec::new();
        Signs::new(None).to_words(&[1.0; 70], &mut words);
        assert_eq!(words, [u64::MAX, 0x3f]);
    }
}
