//! The vector index over typed arrays. A call borrows its arrays; a task owns copies and a share of the index,
//! so that `close` never pulls a mapping from under a running search.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cpersona_index::{IndexInfo, Options, SearchResult, VectorIndex};
use cpersona_kernels::Kernels;
use napi::Env;
use napi::bindgen_prelude::{AsyncTask, Float32Array, Float64Array, Uint32Array};
use napi_derive::napi;

use crate::arguments::{self, CheckedRows, CheckedSearch, RowArrays, SearchArguments};
use crate::error::{Code, Failure, Result, from_index, thrown};
use crate::simd;
use crate::task::{Guarded, Job, start};

/// One open index.
#[napi]
pub struct NativeVectorIndex {
    /// `None` after `close`.
    index: Mutex<Option<Arc<VectorIndex>>>,
    dimension: usize,
}

/// Counts are exact up to 2^53.
#[napi(object, object_from_js = false)]
pub struct InfoNumbers {
    /// Rows published, removed ones included.
    pub rows: f64,
    /// Rows published and not removed.
    pub live: f64,
    /// The last change applied.
    pub sequence: f64,
    /// Rows that the index held when it last learned what they share.
    pub centred_rows: f64,
    /// Number of the generation in use.
    pub generation: f64,
    /// Bytes of the mapped files.
    pub bytes: f64,
}

/// Best records as parallel arrays, near list first.
#[napi(object, object_from_js = false)]
pub struct SearchArrays {
    /// Length of the near part.
    pub near_count: u32,
    /// Record keys.
    pub keys: Float64Array,
    /// The block that gave the score.
    pub blocks: Uint32Array,
    /// Dot products of unit vectors.
    pub scores: Float32Array,
}

#[napi]
impl NativeVectorIndex {
    /// Opens the index in a folder, which need not exist.
    #[napi(factory, catch_unwind)]
    pub fn open(env: &Env, folder: String, dimension: f64, identity: &[u8]) -> napi::Result<Self> {
        thrown(env, || {
            let dimension = arguments::dimension(dimension)?;
            let mut options = Options::new(dimension, arguments::identity(identity)?);
            if let Some(kernels) = Kernels::for_isa(simd::current()) {
                options.kernels = kernels;
            }
            let index = VectorIndex::open(Path::new(&folder), options).map_err(from_index)?;
            Ok(Self { index: Mutex::new(Some(Arc::new(index))), dimension })
        })
    }

    /// What is published now.
    #[napi(catch_unwind)]
    pub fn info(&self, env: &Env) -> napi::Result<InfoNumbers> {
        thrown(env, || Ok(self.index()?.info().map_err(from_index)?.into()))
    }

    /// Tries to become the one writer; does not wait.
    #[napi(catch_unwind)]
    pub fn lock(&self, env: &Env) -> napi::Result<bool> {
        thrown(env, || self.index()?.try_lock().map_err(from_index))
    }

    /// Gives the lock up; rows that were not published are lost.
    #[napi(catch_unwind)]
    pub fn unlock(&self) {
        if let Ok(index) = self.index() {
            index.unlock();
        }
    }

    /// Writes rows behind the published ones.
    #[napi(catch_unwind)]
    pub fn append(&self, env: &Env, rows: RowArrays<'_>) -> napi::Result<()> {
        thrown(env, || {
            let rows = CheckedRows::of("rows", &rows, self.dimension)?;
            self.index()?.append(rows.as_rows()).map_err(from_index)
        })
    }

    /// Marks all rows of these keys as removed, and counts them.
    #[napi(catch_unwind)]
    pub fn remove(&self, env: &Env, keys: &[f64]) -> napi::Result<f64> {
        thrown(env, || {
            let keys = arguments::keys("keys", keys)?;
            Ok(self.index()?.remove(&keys).map_err(from_index)? as f64)
        })
    }

    /// Makes appended rows durable and visible.
    #[napi(catch_unwind)]
    pub fn publish(&self, env: &Env, sequence: f64) -> napi::Result<()> {
        thrown(env, || {
            let sequence = arguments::sequence(sequence)?;
            self.index()?.publish(sequence).map_err(from_index)
        })
    }

    /// `publish` off the main thread, which would wait for the disk.
    #[napi(catch_unwind)]
    pub fn publish_async(&self, env: &Env, sequence: f64) -> napi::Result<AsyncTask<Guarded<FileJob>>> {
        thrown(env, || {
            let sequence = arguments::sequence(sequence)?;
            self.start(Files::Publish(sequence))
        })
    }

    /// Drops removed rows. Resolves to false when `close` ended it.
    #[napi(catch_unwind)]
    pub fn compact(&self, env: &Env) -> napi::Result<AsyncTask<Guarded<FileJob>>> {
        thrown(env, || self.start(Files::Compact))
    }

    /// Empties the index into a new generation with sequence 0.
    #[napi(catch_unwind)]
    pub fn reset(&self, env: &Env) -> napi::Result<()> {
        thrown(env, || self.index()?.reset().map_err(from_index))
    }

    /// Checks every published byte against its checksums.
    #[napi(catch_unwind)]
    pub fn verify(&self, env: &Env) -> napi::Result<AsyncTask<Guarded<FileJob>>> {
        thrown(env, || self.start(Files::Verify))
    }

    /// The best records; borrows its arrays for the call.
    #[napi(catch_unwind)]
    pub fn search(&self, env: &Env, search: SearchArguments<'_>) -> napi::Result<SearchArrays> {
        thrown(env, || {
            let search = CheckedSearch::of(&search, self.dimension)?;
            Ok(self.index()?.search(&search.as_request()).map_err(from_index)?.into())
        })
    }

    /// `search` off the main thread, over copies of its arrays.
    #[napi(catch_unwind)]
    pub fn search_async(
        &self,
        env: &Env,
        search: SearchArguments<'_>,
    ) -> napi::Result<AsyncTask<Guarded<SearchJob>>> {
        thrown(env, || {
            let search = CheckedSearch::of(&search, self.dimension)?.into_owned();
            Ok(start(SearchJob { index: self.index()?, search }))
        })
    }

    /// Gives up the writer's lock as soon as a compaction that runs has noticed. Searches that run go on; later
    /// calls fail.
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
        index.clone().ok_or_else(|| Failure::new(Code::IndexUnavailable, "the vector index is closed"))
    }
}

/// Work whose time the disk decides.
enum Files {
    Publish(u64),
    Compact,
    Verify,
}

/// A call on the index's files.
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

/// A search.
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
