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
}

/// A bit that stands for a scope code; different codes may share one.
pub(crate) fn scope_bit(scope: u32) -> u64 {
    1 << (scope.wrapping_mul(0x9e37_79b1) >> 26)
}

/// Zones of all blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zones {
    zones: Vec<Zone>,
    /// Every scope code that a row has, ascending.
    codes: Vec<u32>,
}

impl Zones {
    /// The zones of a snapshot with more rows than the `known` ones that these describe.
    pub(crate) fn extended(&self, known: usize, snapshot: &Snapshot) -> Self {
        let keep = known / BLOCK_ROWS;
        let mut zones = Vec::with_capacity(snapshot.blocks());
        zones.extend_from_slice(&self.zones[..keep]);
        zones.extend((keep..snapshot.blocks()).map(|block| Zone::of(snapshot, block)));
        let mut codes = self.codes.clone();
        for code in (keep..snapshot.blocks()).flat_map(|block| snapshot.scopes(block)) {
            if let Err(place) = codes.binary_search(code) {
                codes.insert(place, *code);
            }
        }
        Self { zones, codes }
    }

    pub(crate) fn get(&self, block: usize) -> &Zone {
        &self.zones[block]
    }

    /// Bits of the scopes that are not `wanted`: a block without them holds wanted rows only.
    pub(crate) fn unwanted_bits(&self, wanted: impl Fn(u32) -> bool) -> u64 {
        let unwanted = self.codes.iter().filter(|code| !wanted(**code));
        unwanted.fold(0, |bits, code| bits | scope_bit(*code))
    }
}

impl Zone {
    fn of(snapshot: &Snapshot, block: usize) -> Self {
        let (times, keys) = (snapshot.times(block), snapshot.keys(block));
        Self {
            oldest: times.iter().copied().fold(f64::INFINITY, f64::min),
            newest: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            least_key: keys.iter().copied().min().unwrap_or(u64::MAX),
            most_key: keys.iter().copied().max().unwrap_or(0),
            scopes: snapshot.scopes(block).iter().fold(0, |bits, scope| bits | scope_bit(*scope)),
        }
    }
}
