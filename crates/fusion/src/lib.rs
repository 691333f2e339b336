//! Merges ranked lists of keys into one ranking: reciprocal rank fusion and relative score fusion.
//! It knows keys, ranks and numbers only; it does no gating, no cutting and no I/O.
//!
//! ```text
//! lists (best first) ──> rrf: weight / (k + rank)         ──┐
//!                        rsf: weight · min-max(score) / n ──┴─> sum per key ──> score descending
//! ```
//!
//! All arithmetic is f64 and runs through the lists in the order given, list by list, row by row, so that
//! another implementation that does the same gets the same bits. Equal scores keep the order in which the
//! lists first named their keys. A key that a list names twice is counted twice.

#![forbid(unsafe_code)]

mod error;
mod normalize;
mod rrf;
mod rsf;
mod tally;

pub use error::FusionError;
pub use rrf::rrf;
pub use rsf::rsf;

/// Ranked lists to fuse: list `i` is `keys[offsets[i]..offsets[i + 1]]`, best first.
#[derive(Debug, Clone, Copy)]
pub struct RankedLists<'a> {
    keys: &'a [u64],
    offsets: &'a [u32],
    weights: &'a [f64],
}

impl<'a> RankedLists<'a> {
    /// Checks the shape once, so that the fusion itself can't fail on it: one offset more than there are
    /// weights, the first 0, none smaller than the one before, the last the number of keys; weights finite
    /// and not negative.
    pub fn new(keys: &'a [u64], offsets: &'a [u32], weights: &'a [f64]) -> Result<Self, FusionError> {
        if offsets.len() != weights.len() + 1 {
            return Err(FusionError::OffsetCount);
        }
        let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = (offsets[0], offsets[offsets.len() - 1]);
        if !ascending || ends.0 != 0 || ends.1 as usize != keys.len() {
            return Err(FusionError::Offsets);
        }
        if !weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) {
            return Err(FusionError::Weights);
        }
        Ok(Self { keys, offsets, weights })
    }

    /// The position of each list in `keys`, with its weight, in order.
    fn spans(&self) -> impl Iterator<Item = (std::ops::Range<usize>, f64)> + '_ {
        self.offsets
            .windows(2)
            .zip(self.weights)
            .map(|(pair, weight)| (pair[0] as usize..pair[1] as usize, *weight))
    }
}

/// Fused rows, score descending; `keys[i]` has `scores[i]`.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedRanking {
    /// Each key once.
    pub keys: Vec<u64>,
    /// Score of the key at the same place.
    pub scores: Vec<f64>,
}
