//! What goes into the index and what comes out: plain slices in, plain vectors out.

use cpersona_kernels::Kernels;

/// What an index is opened with. Dimension and identity must match what the files were made with; otherwise
/// the index counts as empty, and is emptied by the next holder of the writer's lock.
#[derive(Clone, Debug)]
pub struct Options {
    /// Elements of a vector, 1 to [`cpersona_limits::MAX_DIMENSION`].
    pub dimension: usize,
    /// Names the source of the vectors.
    pub identity: [u8; 16],
    /// The instruction set of the scans. Default: the best of this CPU.
    pub kernels: Kernels,
}

impl Options {
    /// The best instruction set.
    #[must_use]
    pub fn new(dimension: usize, identity: [u8; 16]) -> Self {
        Self { dimension, identity, kernels: Kernels::best() }
    }
}

/// Index rows as parallel slices, one row per embedded block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    /// Record of the row; its low bit is the record's class.
    pub keys: &'a [u64],
    /// Position of the block inside its record.
    pub blocks: &'a [u32],
    /// Scope code of the record.
    pub scopes: &'a [u32],
    /// Time of the record. A NaN is refused.
    pub times: &'a [f64],
    /// Unit vectors, `keys.len()` × dimension, row after row.
    pub vectors: &'a [f32],
}

/// The oldest record that still counts, for each class of record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgeCut {
    /// By class: the time of that record; −∞ admits everything.
    pub times: [f64; 2],
    /// By class: its key, which decides among equal times.
    pub keys: [f64; 2],
}

impl AgeCut {
    /// From `[time of class 0, key of class 0, time of class 1, key of class 1]`.
    #[must_use]
    pub const fn from_pairs([time0, key0, time1, key1]: [f64; 4]) -> Self {
        Self { times: [time0, time1], keys: [key0, key1] }
    }

    /// Whether a row of this key and time is at or after the cut.
    #[must_use]
    pub fn admits(&self, time: f64, key: u64) -> bool {
        let class = (key & 1) as usize;
        time > self.times[class] || (time == self.times[class] && key as f64 >= self.keys[class])
    }
}

/// How a search finds its candidates. All but the raw ones end in exact float32 scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// The cheapest of the three below, by the costs measured in earlier searches of this handle.
    #[default]
    Auto,
    /// float32 products of all rows.
    Exact,
    /// int8 products of all rows, then float32 for the best.
    Int8,
    /// Hamming distances of all rows, then int8, then float32 for the best.
    Bits,
    /// int8 products alone; scores are approximate cosines. For benchmarks.
    Int8Raw,
    /// Hamming distances alone; scores are `1 - 2 · distance / dimension`. For benchmarks.
    BitsRaw,
}

impl Method {
    /// Reads `auto`, `exact`, `int8`, `bits`, `int8-raw` and `bits-raw`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "exact" => Self::Exact,
            "int8" => Self::Int8,
            "bits" => Self::Bits,
            "int8-raw" => Self::Int8Raw,
            "bits-raw" => Self::BitsRaw,
            _ => return None,
        })
    }

    /// The name that [`Method::from_name`] reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Int8 => "int8",
            Self::Bits => "bits",
            Self::Int8Raw => "int8-raw",
            Self::BitsRaw => "bits-raw",
        }
    }
}

/// One search. [`SearchRequest::new`] gives the widest one: every scope, one list, no floor.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// A unit vector of the index's dimension.
    pub query: &'a [f32],
    /// Scope codes that may be seen, in any order; `None` sees all.
    pub scopes: Option<&'a [u32]>,
    /// Rows at or after this cut form the near list; `None` puts all rows there.
    pub near: Option<AgeCut>,
    /// Rows before `near` and at or after this cut form the far list; `None` means there is none.
    pub far: Option<AgeCut>,
    /// Most records in the near list.
    pub near_limit: usize,
    /// Most records in the far list.
    pub far_limit: usize,
    /// Rows that score below this are left out.
    pub floor: f32,
    /// Ascending keys whose rows inside the index are ignored.
    pub masked: Option<&'a [u64]>,
    /// Ascending keys to which the search is restricted, extra rows included.
    pub only: Option<&'a [u64]>,
    /// Rows outside the index, scored exactly and ranked with the rest; `masked` does not touch them.
    pub extra: Rows<'a>,
    /// How candidates are found.
    pub method: Method,
    /// Threads that share the scan of the index. Default 1.
    pub threads: usize,
}

impl<'a> SearchRequest<'a> {
    /// The best `limit` records of all.
    #[must_use]
    pub fn new(query: &'a [f32], limit: usize) -> Self {
        Self {
            query,
            scopes: None,
            near: None,
            far: None,
            near_limit: limit,
            far_limit: 0,
            floor: f32::NEG_INFINITY,
            masked: None,
            only: None,
            extra: Rows::default(),
            method: Method::Auto,
            threads: 1,
        }
    }
}

/// The best records, near list first. A record's score is its best block, at equal scores the first block.
/// Inside each list: score descending, newer time, class 0 before class 1, larger key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// Length of the near part; the rest is the far list.
    pub near_count: usize,
    /// Record keys.
    pub keys: Vec<u64>,
    /// The block that gave the score.
    pub blocks: Vec<u32>,
    /// float32 dot products of unit vectors.
    pub scores: Vec<f32>,
    /// How the candidates were found: never [`Method::Auto`].
    pub method: Method,
}

/// Where an index stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexInfo {
    /// Rows published, removed ones included.
    pub rows: u64,
    /// Rows published and not removed.
    pub live: u64,
    /// The last change applied, 0 for an empty index.
    pub sequence: u64,
    /// Rows that the index held when it last learned what they have in common, which sign bits leave out. A
    /// compaction learns it anew; when rows have multiplied, that makes searches faster.
    pub centred_rows: u64,
    /// Number of the generation folder in use, 0 when there is none.
    pub generation: u64,
    /// Bytes of the mapped files.
    pub bytes: u64,
}
