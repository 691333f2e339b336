//! A summary of each block of 64 rows, kept in memory: lets a search pass over blocks that cannot hold an
//! answer without reading them. Built from the metadata when rows are first seen.

use crate::format::BLOCK_ROWS;
use crate::generation::Snapshot;

/// Ranges over the published rows of a block, removed ones included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zone {
    pub(crate) oldest: f64,
    pub(crate) newest: f64,
    pub(crate) least_key: u64,
    pub(crate) most_key: u64,
    /// One bit per scope present, by [`scope_bit`].
    pub(crate) scopes: u64,
    /// The scope that all rows share, where they do.
    pub(crate) only_scope: Option<u32>,
}

/// A bit that stands for a scope code; different codes may share one.
pub(crate) fn scope_bit(scope: u32) -> u64 {
    1 << (scope.wrapping_mul(0x9e37_79b1) >> 26)
}

/// Zones of all blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zones(Vec<Zone>);

impl Zones {
    /// The zones of a snapshot with more rows than the `known` ones that these describe.
    pub(crate) fn extended(&self, known: usize, snapshot: &Snapshot) -> Self {
        let keep = known / BLOCK_ROWS;
        let mut zones = Vec::with_capacity(snapshot.blocks());
        zones.extend_from_slice(&self.0[..keep]);
        zones.extend((keep..snapshot.blocks()).map(|block| Zone::of(snapshot, block)));
        Self(zones)
    }

    pub(crate) fn get(&self, block: usize) -> &Zone {
        &self.0[block]
    }
}

impl Zone {
    fn of(snapshot: &Snapshot, block: usize) -> Self {
        let (times, keys, scopes) = (snapshot.times(block), snapshot.keys(block), snapshot.scopes(block));
        Self {
            oldest: times.iter().copied().fold(f64::INFINITY, f64::min),
            newest: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            least_key: keys.iter().copied().min().unwrap_or(u64::MAX),
            most_key: keys.iter().copied().max().unwrap_or(0),
            scopes: scopes.iter().fold(0, |bits, scope| bits | scope_bit(*scope)),
            only_scope: scopes.first().copied().filter(|first| scopes.iter().all(|scope| scope == first)),
        }
    }
}
