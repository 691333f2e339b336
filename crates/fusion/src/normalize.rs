//! Brings the scores of one list to [0, 1], so that lists of different scales can be added.

/// Bounds of the numbers of a list; NaN marks a row without a score.
pub(crate) struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    pub(crate) fn of(scores: &[f64]) -> Self {
        let mut bounds = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for score in scores {
            // Comparisons with NaN are false, which leaves the missing scores out.
            if *score < bounds.low {
                bounds.low = *score;
            }
            if *score > bounds.high {
                bounds.high = *score;
            }
        }
        bounds
    }

    /// `(score - low) / (high - low)`. A list of equal scores, or without any, says nothing about its rows'
    /// distance, so each gets 1. A missing score among numbers gets 0.
    pub(crate) fn normalize(&self, score: f64) -> f64 {
        let scored = self.low <= self.high;
        if score.is_nan() {
            return if scored { 0.0 } else { 1.0 };
        }
        if self.low == self.high {
            return 1.0;
        }
        (score - self.low) / (self.high - self.low)
    }
}
