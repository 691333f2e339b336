//! The vector index over typed arrays. A call borrows its arrays; a task owns copies and a share of the index,
//! so that `close` never pulls a mapping from under a running search.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cpersona_index::{IndexInfo, Options, SearchResult, VectorIndex};
use cpersona_kernels::Kernels;
use napi::bindgen_prelude::{AsyncTask, Float32Array, Float64Array, Uint32Array};
use napi_derive::napi;

use crate::arguments::{self, CheckedRows, CheckedSearch, RowArrays, SearchArguments};
use crate::error::{Code, Failure, Result, from_index};
use crate::simd;
use crate::task::{Guarded, Job, start};

#[napi]
pub struct NativeVectorIndex {
    /// `None` after `close`.
    index: Mutex<Option<Arc<VectorIndex>>>,
    dimension: usize,
}

/// Counts are exact up to 2^53.
#[napi(object, object_from_js = false)]
pub struct InfoNumbers {
    pub rows: f64,
    pub live: f64,
    pub sequence: f64,
    pub centred_rows: f64,
    pub generation: f64,
    pub bytes: f64,
}

/// Best records as parallel arrays, near list first.
#[napi(object, object_from_js = false)]
pub struct SearchArrays {
    pub near_count: u32,
    pub keys: Float64Array,
    pub blocks: Uint32Array,
    pub scores: Float32Array,
}

#[napi]
impl NativeVectorIndex {
    #[napi(factory, catch_unwind)]
    pub fn open(folder: String, dimension: f64, identity: &[u8]) -> Result<Self> {
        let dimension = arguments::dimension(dimension)?;
        let mut options = Options::new(dimension, arguments::identity(identity)?);
        if let Some(kernels) = Kernels::for_isa(simd::current()) {
            options.kernels = kernels;
        }
        let index = VectorIndex::open(Path::new(&folder), options).map_err(from_index)?;
        Ok(Self { index: Mutex::new(Some(Arc::new(index))), dimension })
    }

    #[napi(catch_unwind)]
    pub fn info(&self) -> Result<InfoNumbers> {
        Ok(self.index()?.info().map_err(from_index)?.into())
    }

    #[napi(catch_unwind)]
    pub fn lock(&self) -> Result<bool> {
        self.index()?.try_lock().map_err(from_index)
    }

    #[napi(catch_unwind)]
    pub fn unlock(&self) {
        if let Ok(index) = self.index() {
            index.unlock();
        }
    }

    #[napi(catch_unwind)]
    pub fn append(&self, rows: RowArrays<'_>) -> Result<()> {
        let rows = CheckedRows::of("rows.", &rows, self.dimension)?;
        self.index()?.append(rows.as_rows()).map_err(from_index)
    }

    #[napi(catch_unwind)]
    pub fn remove(&self, keys: &[f64]) -> Result<f64> {
        let keys = arguments::keys("keys", keys)?;
        Ok(self.index()?.remove(&keys).map_err(from_index)? as f64)
    }

    #[napi(catch_unwind)]
    pub fn publish(&self, sequence: f64) -> Result<()> {
        self.index()?.publish(arguments::sequence(sequence)?).map_err(from_index)
    }

    /// `publish` off the main thread, which would wait for the disk.
    #[napi(catch_unwind)]
    pub fn publish_async(&self, sequence: f64) -> Result<AsyncTask<Guarded<FileJob>>> {
        self.start(Files::Publish(arguments::sequence(sequence)?))
    }

    /// Resolves to false when `close` ended it.
    #[napi(catch_unwind)]
    pub fn compact(&self) -> Result<AsyncTask<Guarded<FileJob>>> {
        self.start(Files::Compact)
    }

    #[napi(catch_unwind)]
    pub fn reset(&self) -> Result<()> {
        self.index()?.reset().map_err(from_index)
    }

    #[napi(catch_unwind)]
    pub fn verify(&self) -> Result<AsyncTask<Guarded<FileJob>>> {
        self.start(Files::Verify)
    }

    #[napi(catch_unwind)]
    pub fn search(&self, search: SearchArguments<'_>) -> Result<SearchArrays> {
        let search = CheckedSearch::of(&search, self.dimension)?;
        Ok(self.index()?.search(&search.as_request()).map_err(from_index)?.into())
    }

    #[napi(catch_unwind)]
    pub fn search_async(&self, search: SearchArguments<'_>) -> Result<AsyncTask<Guarded<SearchJob>>> {
        let search = CheckedSearch::of(&search, self.dimension)?.into_owned();
        Ok(start(SearchJob { index: self.index()?, search }))
    }

    /// Gives up the writer's lock as soon as a compaction that runs has noticed. Searches that run go on; later calls fail.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        if let Ok(index) = self.index() {
            index.interrupt();
        }
        self.unlock();
        self.index.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn start(&self, work: Files) -> Result<AsyncTask<Guarded<FileJob>>> {
        Ok(start(FileJob { index: self.index()?, work }))
    }

    fn index(&self) -> Result<Arc<VectorIndex>> {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index
            .clone()
            .ok_or_else(|| Failure::new(Code::IndexUnavailable, "the vector index is closed".to_owned()))
    }
}

/// Work whose time the disk decides.
enum Files {
    Publish(u64),
    Compact,
    Verify,
}

pub struct FileJob {
    index: Arc<VectorIndex>,
    work: Files,
}

impl Job for FileJob {
    type Output = bool;
    type Js = bool;

    fn run(&mut self) -> Result<bool> {
        match self.work {
            Files::Publish(sequence) => self.index.publish(sequence).map(|()| true),
            Files::Compact => self.index.compact(),
            Files::Verify => self.index.verify().map(|()| true),
        }
        .map_err(from_index)
    }
}

pub struct SearchJob {
    index: Arc<VectorIndex>,
    search: CheckedSearch<'static>,
}

impl Job for SearchJob {
    type Output = SearchResult;
    type Js = SearchArrays;

    fn run(&mut self) -> Result<SearchResult> {
        self.index.search(&self.search.as_request()).map_err(from_index)
    }
}

impl From<IndexInfo> for InfoNumbers {
    fn from(info: IndexInfo) -> Self {
        Self {
            rows: info.rows as f64,
            live: info.live as f64,
            sequence: info.sequence as f64,
            centred_rows: info.centred_rows as f64,
            generation: info.generation as f64,
            bytes: info.bytes as f64,
        }
    }
}

impl From<SearchResult> for SearchArrays {
    fn from(result: SearchResult) -> Self {
        let keys: Vec<f64> = result.keys.into_iter().map(|key| key as f64).collect();
        Self {
            near_count: result.near_count as u32,
            keys: keys.into(),
            blocks: result.blocks.into(),
            scores: result.scores.into(),
        }
    }
}
