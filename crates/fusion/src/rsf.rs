//! Relative score fusion: keeps the distance between scores, which ranks throw away.

use crate::normalize::Bounds;
use crate::tally::Tally;
use crate::{FusedRanking, FusionError, RankedLists};

/// Sum over the lists of `weight · normalised score`, divided by the number of lists that hold at least one
/// row. `scores` runs parallel to the keys; NaN stands for a row without a score.
pub fn rsf(lists: &RankedLists<'_>, scores: &[f64]) -> Result<FusedRanking, FusionError> {
    if scores.len() != lists.keys.len() {
        return Err(FusionError::ScoreCount);
    }
    if scores.iter().any(|score| score.is_infinite()) {
        return Err(FusionError::Scores);
    }
    let mut tally = Tally::with_capacity(lists.keys.len());
    let mut filled_lists = 0u32;
    for (span, weight) in lists.spans() {
        if span.is_empty() {
            continue;
        }
        filled_lists += 1;
        let list = &scores[span.clone()];
        let bounds = Bounds::of(list);
        for (key, score) in lists.keys[span].iter().zip(list) {
            tally.add(*key, weight * bounds.normalize(*score));
        }
    }
    Ok(tally.into_ranking_divided_by(f64::from(filled_lists.max(1))))
}
