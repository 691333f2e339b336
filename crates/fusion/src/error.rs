//! What can be wrong with the input of a fusion.

use thiserror::Error;

/// Why lists cannot be fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FusionError {
    /// There is not one offset more than there are weights.
    #[error("offsets must have one entry more than weights")]
    OffsetCount,
    /// The offsets do not cut the keys into lists.
    #[error("offsets must ascend from 0 to the number of keys")]
    Offsets,
    /// A weight is negative or not finite.
    #[error("weights must be finite and not negative")]
    Weights,
    /// The constant of reciprocal rank fusion is not above 0, or not finite.
    #[error("k must be finite and greater than 0")]
    RankConstant,
    /// There is not one score for each key.
    #[error("scores must have one entry for each key")]
    ScoreCount,
    /// A score is infinite.
    #[error("scores must be finite or NaN")]
    Scores,
}

impl FusionError {
    /// Name of the argument that broke its rule.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::OffsetCount | Self::Offsets => "offsets",
            Self::Weights => "weights",
            Self::RankConstant => "k",
            Self::ScoreCount | Self::Scores => "scores",
        }
    }
}
