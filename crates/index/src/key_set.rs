//! Sorted keys with a small filter in front, for asking about many rows that are mostly not in the set.

/// Bits of the filter per key, about.
const BITS_PER_KEY: usize = 16;

/// A set of record keys.
#[derive(Debug)]
pub(crate) struct KeySet<'a> {
    sorted: &'a [u64],
    filter: Vec<u64>,
    /// How far a hash is shifted to give a bit number.
    shift: u32,
}

impl<'a> KeySet<'a> {
    /// `sorted` must ascend; `None` when it does not.
    pub(crate) fn new(sorted: &'a [u64]) -> Option<Self> {
        if !sorted.is_sorted() {
            return None;
        }
        let bits = (sorted.len() * BITS_PER_KEY).next_power_of_two().max(64);
        let mut this = Self { sorted, filter: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() };
        for key in sorted {
            let bit = this.bit(*key);
            this.filter[bit / 64] |= 1 << (bit % 64);
        }
        Some(this)
    }

    /// Whether any key lies between the two, ends included.
    pub(crate) fn any_between(&self, least: u64, most: u64) -> bool {
        let next = self.sorted.partition_point(|key| *key < least);
        self.sorted.get(next).is_some_and(|key| *key <= most)
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        let bit = self.bit(key);
        self.filter[bit / 64] >> (bit % 64) & 1 == 1 && self.sorted.binary_search(&key).is_ok()
    }

    /// Bit `i` is set when `keys[i]` is in the set.
    pub(crate) fn mask(&self, keys: &[u64]) -> u64 {
        keys.iter().enumerate().fold(0, |mask, (i, key)| mask | (u64::from(self.contains(*key)) << i))
    }

    fn bit(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_like_the_slice() {
        let keys: Vec<u64> = (0..500).map(|i| i * i).collect();
        let set = KeySet::new(&keys).unwrap();
        for key in 0..3000 {
            assert_eq!(set.contains(key), keys.contains(&key));
        }
        assert!(set.any_between(5, 9));
        assert!(!set.any_between(5, 8));
        assert!(!set.any_between(499 * 499 + 1, u64::MAX));
        assert!(KeySet::new(&[2, 1]).is_none());
        assert!(!KeySet::new(&[]).unwrap().contains(0));
    }
}
