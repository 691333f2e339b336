//! What can be wrong with the input of a fusion. A message starts with the argument's name.

use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FusionError {
    #[error("offsets must be one longer than weights")]
    OffsetCount,
    #[error("offsets must ascend from 0 to the number of keys")]
    Offsets,
    #[error("weights must be finite and not negative")]
    Weights,
    #[error("k must be a number above 0")]
    RankConstant,
    #[error("scores must be as long as lists.keys")]
    ScoreCount,
    #[error("scores must be finite or NaN")]
    Scores,
}
