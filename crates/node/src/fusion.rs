//! Rank fusion over typed arrays. Keys are opaque here: their bits are enough.

use cpersona_fusion::{FusedRanking, RankedLists};
use napi::Env;
use napi::bindgen_prelude::Float64Array;
use napi_derive::napi;

use crate::error::{Result, from_fusion, invalid, thrown};

/// Fused rows, score descending.
#[napi(object, object_from_js = false)]
pub struct FusedRows {
    /// Each key once.
    pub keys: Float64Array,
    /// Score of the key at the same place.
    pub scores: Float64Array,
}

/// Reciprocal rank fusion.
#[napi(catch_unwind)]
pub fn fuse_rrf(
    env: &Env,
    keys: &[f64],
    offsets: &[u32],
    weights: &[f64],
    k: f64,
) -> napi::Result<FusedRows> {
    thrown(env, || {
        let keys = key_bits(keys)?;
        let lists = RankedLists::new(&keys, offsets, weights).map_err(from_fusion)?;
        Ok(cpersona_fusion::rrf(&lists, k).map_err(from_fusion)?.into())
    })
}

/// Relative score fusion.
#[napi(catch_unwind)]
pub fn fuse_rsf(
    env: &Env,
    keys: &[f64],
    offsets: &[u32],
    weights: &[f64],
    scores: &[f64],
) -> napi::Result<FusedRows> {
    thrown(env, || {
        let keys = key_bits(keys)?;
        let lists = RankedLists::new(&keys, offsets, weights).map_err(from_fusion)?;
        Ok(cpersona_fusion::rsf(&lists, scores).map_err(from_fusion)?.into())
    })
}

fn key_bits(keys: &[f64]) -> Result<Vec<u64>> {
    if keys.iter().any(|key| key.is_nan()) {
        return Err(invalid("keys", "must be numbers"));
    }
    // Adding zero turns -0 into 0, which JavaScript takes for the same key.
    Ok(keys.iter().map(|key| (key + 0.0).to_bits()).collect())
}

impl From<FusedRanking> for FusedRows {
    fn from(ranking: FusedRanking) -> Self {
        let keys: Vec<f64> = ranking.keys.into_iter().map(f64::from_bits).collect();
        Self { keys: keys.into(), scores: ranking.scores.into() }
    }
}
