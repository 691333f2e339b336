//! Which rows a search may see: scopes, keys, removal and the two age cuts, answered per block of 64 rows
//! before any vector is read. Blocks that hold nothing are not in the answer at all.

use cpersona_kernels::Kernels;

use crate::error::IndexError;
use crate::generation::Snapshot;
use crate::key_set::KeySet;
use crate::request::{AgeCut, SearchRequest};
use crate::zones::{Zone, scope_bit};

/// Up to this many scope codes are compared one by one; more are looked up.
const FEW_SCOPES: usize = 8;
/// Codes below this are looked up in a table of bits, 128 KB at most.
const MOST_TABLE_CODES: u32 = 1 << 20;

/// Numbers of the set bits, ascending.
pub(crate) fn bits_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}

/// Rows of one block that are candidates for either list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected {
    pub(crate) block: u32,
    pub(crate) near: u64,
    pub(crate) far: u64,
}

/// All candidates.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) blocks: Vec<Selected>,
    /// Rows in the near list's part.
    pub(crate) near: usize,
    /// Rows in the far list's part.
    pub(crate) far: usize,
}

/// Which list a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Near,
    Far,
}

/// The conditions of a request, prepared.
#[derive(Debug)]
pub(crate) struct Filter<'a> {
    kernels: Kernels,
    scopes: Option<Scopes>,
    near: Option<AgeCut>,
    far: Option<AgeCut>,
    wants_near: bool,
    wants_far: bool,
    masked: Option<KeySet<'a>>,
    only: Option<KeySet<'a>>,
}

#[derive(Debug)]
struct Scopes {
    /// Ascending, without duplicates.
    codes: Vec<u32>,
    /// Union of their [`scope_bit`]s.
    bits: u64,
    /// One bit for each code up to the largest, when that is small enough.
    table: Vec<u64>,
}

impl<'a> Filter<'a> {
    pub(crate) fn new(kernels: Kernels, request: &SearchRequest<'a>) -> Result<Self, IndexError> {
        let key_set = |keys: Option<&'a [u64]>, what| match keys {
            Some(keys) => KeySet::new(keys).map(Some).ok_or(IndexError::Invalid { what }),
            None => Ok(None),
        };
        Ok(Self {
            kernels,
            scopes: request.scopes.map(|codes| {
                let mut codes = codes.to_vec();
                codes.sort_unstable();
                codes.dedup();
                let bits = codes.iter().fold(0, |bits, code| bits | scope_bit(*code));
                Scopes { table: table_of(&codes), codes, bits }
            }),
            near: request.near,
            far: request.far,
            wants_near: request.near_limit > 0,
            wants_far: request.far_limit > 0 && request.near.is_some() && request.far.is_some(),
            masked: key_set(request.masked, "masked keys do not ascend")?,
            only: key_set(request.only, "keys to search do not ascend")?,
        })
    }

    /// All rows of the index that pass.
    pub(crate) fn select(&self, snapshot: &Snapshot) -> Selection {
        let mut selection = Selection::default();
        if !(self.wants_near || self.wants_far) {
            return selection;
        }
        let unwanted = match &self.scopes {
            Some(scopes) => snapshot.zones.unwanted_bits(|code| scopes.contains(code)),
            None => 0,
        };
        for block in 0..snapshot.blocks() {
            let (near, far) = self.split(snapshot, block, self.admitted(snapshot, block, unwanted));
            if near | far != 0 {
                selection.near += near.count_ones() as usize;
                selection.far += far.count_ones() as usize;
                selection.blocks.push(Selected { block: block as u32, near, far });
            }
        }
        selection
    }

    /// The list of a row outside the index, if it passes. Masked keys are the caller's concern there.
    pub(crate) fn list_of(&self, key: u64, scope: u32, time: f64) -> Option<List> {
        let admitted = self.scopes.as_ref().is_none_or(|scopes| scopes.contains(scope))
            && self.only.as_ref().is_none_or(|only| only.contains(key));
        if !admitted {
            return None;
        }
        let list = match (&self.near, &self.far) {
            (None, _) => List::Near,
            (Some(near), _) if near.admits(time, key) => List::Near,
            (_, Some(far)) if far.admits(time, key) => List::Far,
            _ => return None,
        };
        Some(list)
    }

    /// Rows of a block that pass everything but the age cuts. `unwanted`: bits of scopes that are not searched.
    fn admitted(&self, snapshot: &Snapshot, block: usize, unwanted: u64) -> u64 {
        let zone = snapshot.zones.get(block);
        if self.scopes.as_ref().is_some_and(|scopes| scopes.bits & zone.scopes == 0) {
            return 0;
        }
        if self.only.as_ref().is_some_and(|only| !only.any_between(zone.least_key, zone.most_key)) {
            return 0;
        }
        let mut rows = snapshot.alive(block);
        if let (Some(scopes), true) = (&self.scopes, rows != 0 && zone.scopes & unwanted != 0) {
            rows &= scopes.mask(self.kernels, snapshot.scopes(block));
        }
        if let (Some(only), true) = (&self.only, rows != 0) {
            rows &= only.mask(snapshot.keys(block));
        }
        if let (Some(masked), true) = (&self.masked, rows != 0)
            && masked.any_between(zone.least_key, zone.most_key)
        {
            rows &= !masked.mask(snapshot.keys(block));
        }
        rows
    }

    /// Near and far rows among `rows`.
    fn split(&self, snapshot: &Snapshot, block: usize, rows: u64) -> (u64, u64) {
        let Some(near_cut) = &self.near else {
            return (if self.wants_near { rows } else { 0 }, 0);
        };
        if rows == 0 {
            return (0, 0);
        }
        let near = passing(near_cut, snapshot, block, rows);
        let far = match &self.far {
            Some(cut) if self.wants_far && near != rows => passing(cut, snapshot, block, rows & !near),
            _ => 0,
        };
        (if self.wants_near { near } else { 0 }, far)
    }
}

/// Those of `rows` that are at or after the cut.
fn passing(cut: &AgeCut, snapshot: &Snapshot, block: usize, rows: u64) -> u64 {
    let zone: &Zone = snapshot.zones.get(block);
    let [a, b] = cut.times;
    if zone.oldest > a.max(b) {
        return rows;
    }
    if zone.newest < a.min(b) {
        return 0;
    }
    let (times, keys) = (snapshot.times(block), snapshot.keys(block));
    bits_of(rows).filter(|i| cut.admits(times[*i], keys[*i])).fold(0, |mask, i| mask | 1 << i)
}

impl Scopes {
    fn contains(&self, code: u32) -> bool {
        if self.table.is_empty() {
            return self.codes.binary_search(&code).is_ok();
        }
        self.table.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    fn mask(&self, kernels: Kernels, codes: &[u32]) -> u64 {
        if self.codes.len() <= FEW_SCOPES {
            return self.codes.iter().fold(0, |mask, wanted| mask | kernels.mask_equal(codes, *wanted));
        }
        codes.iter().enumerate().fold(0, |mask, (i, code)| mask | u64::from(self.contains(*code)) << i)
    }
}

/// Bits of many small codes, ascending; empty when a look-up needs none or the table would be large.
fn table_of(codes: &[u32]) -> Vec<u64> {
    let most = codes.last().copied().unwrap_or(0);
    if codes.len() <= FEW_SCOPES || most >= MOST_TABLE_CODES {
        return Vec::new();
    }
    let mut table = vec![0; most as usize / 64 + 1];
    for code in codes {
        table[*code as usize / 64] |= 1 << (code % 64);
    }
    table
}
