//! The one place where arrays from JavaScript are checked: lengths, ranges, finiteness. What leaves this
//! module is fit for the crates below. Messages name the argument as the reference implementation in TypeScript does.

use std::borrow::Cow;

use cpersona_index::{AgeCut, Method, Rows, SearchRequest};
use cpersona_limits::{IDENTITY_BYTES, MAX_DIMENSION, MAX_KEY, MAX_LIST, MAX_THREADS};
use napi::bindgen_prelude::{Float32ArraySlice, Float64ArraySlice, Uint32ArraySlice};
use napi_derive::napi;

use crate::error::{Result, invalid};

/// A field that is there and may be null. The macro takes a literal `Option` for a field that may be left out,
/// and then refuses null.
type Nullable<T> = Option<T>;

/// Parallel arrays, one element for each row.
#[napi(object, object_to_js = false)]
pub struct RowArrays<'env> {
    /// Record keys.
    pub keys: Float64ArraySlice<'env>,
    /// Position of the block inside its record.
    pub blocks: Uint32ArraySlice<'env>,
    /// Scope codes of the records.
    pub scopes: Uint32ArraySlice<'env>,
    /// Times of the records, in ms since the epoch, finite.
    pub times: Float64ArraySlice<'env>,
    /// Unit vectors, row after row.
    pub vectors: Float32ArraySlice<'env>,
}

/// One search, in the shape of the TypeScript contract.
#[napi(object, object_to_js = false)]
pub struct SearchArguments<'env> {
    /// A unit vector.
    pub query: Float32ArraySlice<'env>,
    /// Scope codes that may be seen; null sees all.
    pub scopes: Nullable<Uint32ArraySlice<'env>>,
    /// The oldest record of the near list; null puts all rows there.
    pub near: Nullable<Float64ArraySlice<'env>>,
    /// The oldest record of the far list; null means there is none.
    pub far: Nullable<Float64ArraySlice<'env>>,
    /// Most records in the near list.
    pub near_limit: f64,
    /// Most records in the far list.
    pub far_limit: f64,
    /// Rows that score less are left out; -1 admits all.
    pub floor: f64,
    /// Ascending keys whose rows inside the index are ignored.
    pub masked: Nullable<Float64ArraySlice<'env>>,
    /// Ascending keys to which the search is restricted.
    pub only: Nullable<Float64ArraySlice<'env>>,
    /// Rows outside the index.
    pub extra: Nullable<RowArrays<'env>>,
    /// How candidates are found.
    pub method: String,
    /// Threads that share the scan; 1 when it is left out.
    pub threads: Option<f64>,
}

/// Checked rows; borrowed for a call, owned for a task.
pub struct CheckedRows<'a> {
    keys: Vec<u64>,
    blocks: Cow<'a, [u32]>,
    scopes: Cow<'a, [u32]>,
    times: Cow<'a, [f64]>,
    vectors: Cow<'a, [f32]>,
}

impl<'a> CheckedRows<'a> {
    /// `field` names the rows in an error: `rows`, or `extra`.
    pub(crate) fn of(field: &str, rows: &'a RowArrays<'_>, dimension: usize) -> Result<Self> {
        let count = rows.keys.len();
        for (name, length) in
            [("blocks", rows.blocks.len()), ("scopes", rows.scopes.len()), ("times", rows.times.len())]
        {
            if length != count {
                return Err(invalid(format!("{field}.{name}"), "must be as long as keys"));
            }
        }
        let keys = keys(format!("{field}.keys"), &rows.keys)?;
        if !rows.times.iter().all(|time| time.is_finite()) {
            return Err(invalid(format!("{field}.times"), "must be finite"));
        }
        let length = count.checked_mul(dimension);
        vectors(format!("{field}.vectors"), &rows.vectors, length)?;
        Ok(Self {
            keys,
            blocks: Cow::Borrowed(&rows.blocks),
            scopes: Cow::Borrowed(&rows.scopes),
            times: Cow::Borrowed(&rows.times),
            vectors: Cow::Borrowed(&rows.vectors),
        })
    }

    pub(crate) fn as_rows(&self) -> Rows<'_> {
        Rows {
            keys: &self.keys,
            blocks: &self.blocks,
            scopes: &self.scopes,
            times: &self.times,
            vectors: &self.vectors,
        }
    }

    fn into_owned(self) -> CheckedRows<'static> {
        CheckedRows {
            keys: self.keys,
            blocks: owned(self.blocks),
            scopes: owned(self.scopes),
            times: owned(self.times),
            vectors: owned(self.vectors),
        }
    }
}

/// A checked search; borrowed for a call, owned for a task.
pub struct CheckedSearch<'a> {
    query: Cow<'a, [f32]>,
    scopes: Option<Cow<'a, [u32]>>,
    near: Option<AgeCut>,
    far: Option<AgeCut>,
    near_limit: usize,
    far_limit: usize,
    floor: f32,
    masked: Option<Vec<u64>>,
    only: Option<Vec<u64>>,
    extra: Option<CheckedRows<'a>>,
    method: Method,
    threads: usize,
}

impl<'a> CheckedSearch<'a> {
    pub(crate) fn of(search: &'a SearchArguments<'_>, dimension: usize) -> Result<Self> {
        vectors("query", &search.query, Some(dimension))?;
        let extra = search.extra.as_ref();
        Ok(Self {
            query: Cow::Borrowed(&search.query),
            scopes: search.scopes.as_ref().map(|scopes| Cow::Borrowed(&**scopes)),
            near: search.near.as_ref().map(|cut| age_cut("near", cut)).transpose()?,
            far: search.far.as_ref().map(|cut| age_cut("far", cut)).transpose()?,
            near_limit: limit("nearLimit", search.near_limit)?,
            far_limit: limit("farLimit", search.far_limit)?,
            floor: floor(search.floor)?,
            masked: search.masked.as_ref().map(|list| ascending("masked", list)).transpose()?,
            only: search.only.as_ref().map(|list| ascending("only", list)).transpose()?,
            extra: extra.map(|rows| CheckedRows::of("extra", rows, dimension)).transpose()?,
            method: Method::from_name(&search.method)
                .ok_or_else(|| invalid("method", "must be one of the known methods"))?,
            threads: threads(search.threads)?,
        })
    }

    pub(crate) fn as_request(&self) -> SearchRequest<'_> {
        SearchRequest {
            scopes: self.scopes.as_deref(),
            near: self.near,
            far: self.far,
            far_limit: self.far_limit,
            floor: self.floor,
            masked: self.masked.as_deref(),
            only: self.only.as_deref(),
            extra: self.extra.as_ref().map(CheckedRows::as_rows).unwrap_or_default(),
            method: self.method,
            threads: self.threads,
            ..SearchRequest::new(&self.query, self.near_limit)
        }
    }

    pub(crate) fn into_owned(self) -> CheckedSearch<'static> {
        CheckedSearch {
            query: owned(self.query),
            scopes: self.scopes.map(owned),
            extra: self.extra.map(CheckedRows::into_owned),
            near: self.near,
            far: self.far,
            near_limit: self.near_limit,
            far_limit: self.far_limit,
            floor: self.floor,
            masked: self.masked,
            only: self.only,
            method: self.method,
            threads: self.threads,
        }
    }
}

fn owned<T: Clone>(values: Cow<'_, [T]>) -> Cow<'static, [T]> {
    Cow::Owned(values.into_owned())
}

pub(crate) fn dimension(dimension: f64) -> Result<usize> {
    match whole(dimension) {
        Some(whole) if (1..=MAX_DIMENSION as u64).contains(&whole) => Ok(whole as usize),
        _ => Err(invalid("dimension", &format!("must be a whole number from 1 to {MAX_DIMENSION}"))),
    }
}

pub(crate) fn identity(identity: &[u8]) -> Result<[u8; IDENTITY_BYTES]> {
    identity.try_into().map_err(|_| invalid("identity", &format!("must be {IDENTITY_BYTES} bytes")))
}

pub(crate) fn sequence(sequence: f64) -> Result<u64> {
    whole(sequence).ok_or_else(|| invalid("sequence", "must be a whole number from 0 to 2^53 - 1"))
}

pub(crate) fn keys(field: impl Into<Cow<'static, str>>, keys: &[f64]) -> Result<Vec<u64>> {
    let exact: Option<Vec<u64>> = keys.iter().map(|key| whole(*key)).collect();
    exact.ok_or_else(|| invalid(field, "must be whole numbers from 0 to 2^53 - 1"))
}

fn ascending(field: &'static str, list: &[f64]) -> Result<Vec<u64>> {
    let keys = keys(field, list)?;
    if keys.is_sorted() { Ok(keys) } else { Err(invalid(field, "must be ascending")) }
}

/// Finite vectors of this length; `None` is a length that no array can have.
pub(crate) fn vectors(
    field: impl Into<Cow<'static, str>>,
    vectors: &[f32],
    length: Option<usize>,
) -> Result<()> {
    if Some(vectors.len()) != length {
        let length = length.unwrap_or(usize::MAX);
        return Err(invalid(field, &format!("must hold {length} numbers")));
    }
    if !vectors.iter().all(|number| number.is_finite()) {
        return Err(invalid(field, "must be finite"));
    }
    Ok(())
}

fn age_cut(field: &'static str, cut: &[f64]) -> Result<AgeCut> {
    let pairs: [f64; 4] = cut.try_into().map_err(|_| invalid(field, "must hold four numbers"))?;
    if pairs.iter().any(|number| number.is_nan()) {
        return Err(invalid(field, "must not hold NaN"));
    }
    Ok(AgeCut::from_pairs(pairs))
}

fn limit(field: &'static str, limit: f64) -> Result<usize> {
    match whole(limit) {
        Some(limit) if limit <= MAX_LIST => Ok(limit as usize),
        _ => Err(invalid(field, "must be a whole number from 0 to 2^32 - 1")),
    }
}

pub(crate) fn threads(threads: Option<f64>) -> Result<usize> {
    match whole(threads.unwrap_or(1.0)) {
        Some(whole) if (1..=MAX_THREADS as u64).contains(&whole) => Ok(whole as usize),
        _ => Err(invalid("threads", &format!("must be a whole number from 1 to {MAX_THREADS}"))),
    }
}

/// Scores are float32, so the floor is too; rounding can take a cosine just below -1, and -1 means no floor.
fn floor(floor: f64) -> Result<f32> {
    if floor.is_nan() {
        return Err(invalid("floor", "must be a number"));
    }
    Ok(if floor <= -1.0 { f32::NEG_INFINITY } else { floor as f32 })
}

fn whole(number: f64) -> Option<u64> {
    let is_whole = (0.0..=MAX_KEY as f64).contains(&number) && number.fract() == 0.0;
    is_whole.then_some(number as u64)
}
