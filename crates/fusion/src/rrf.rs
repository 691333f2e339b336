//! Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

use crate::tally::Tally;
use crate::{FusedRanking, FusionError, RankedLists};

/// Sum over the lists of `weight / (k + rank)`, rank from 1. `k` is greater than 0.
pub fn rrf(lists: &RankedLists<'_>, k: f64) -> Result<FusedRanking, FusionError> {
    if !(k.is_finite() && k > 0.0) {
        return Err(FusionError::RankConstant);
    }
    let mut tally = Tally::with_capacity(lists.keys.len());
    for (span, weight) in lists.spans() {
        for (place, key) in lists.keys[span].iter().enumerate() {
            tally.add(*key, weight / (k + (place + 1) as f64));
        }
    }
    Ok(tally.into_ranking())
}
