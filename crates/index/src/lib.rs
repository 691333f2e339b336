//! A vector index on disk: append rows, mark them removed, publish, and search what is published. One
//! process writes, any number read. Knows keys, scope codes and times as numbers; has never heard of what
//! they stand for.
//!
//! ```text
//! <folder>/
//!   current          names the generation in use; replaced by a rename
//!   writer.lock      locked by the one writer; the system frees it with the process
//!   gen-<n>/
//!     head           two checksummed copies of: kind, published rows, sequence; and the centre
//!     vectors.f32    float32 rows
//!     vectors.i8     int8 rows, largest magnitude 127
//!     bits.u64       sign bits without what all rows share (the centre), rows padded to 64 bits
//!     meta           per 64 rows: keys, times, scopes, blocks, int8 scales, checksums
//!     dead           per 64 rows: removal flags, twice
//! ```
//!
//! Architecture Invariants
//! - Published bytes never change, except removal flags, which only go from 0 to 1.
//! - No file is ever cut. A mapping outlives growth, compaction and the removal of its folder.
//! - Files are written with ordinary writes, never through a mapping: a full disk is an error, not a signal.
//! - A byte is trusted only after the head's checksum and the files' real lengths were checked, before each
//!   search anew.
//! - Nothing here is the truth: a damaged index says so, and is emptied to be filled again.

#![deny(unsafe_code)]

mod costs;
mod error;
mod estimate;
mod format;
mod generation;
mod key_set;
#[expect(unsafe_code, reason = "memory mapping and views of plain values as bytes")]
mod map;
mod private;
mod quantize;
mod request;
mod scan;
mod select;
mod top_k;
mod writer;
mod zones;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

pub use cpersona_kernels::{Isa, Kernels};
pub use error::IndexError;
pub use request::{AgeCut, IndexInfo, Method, Options, Rows, SearchRequest, SearchResult};

use costs::Costs;
use cpersona_limits::MAX_DIMENSION;
use format::{Head, Kind};
use generation::{Generation, Snapshot, State, read_pointer};
use key_set::KeySet;
use scan::{Lists, Scan};
use select::{Filter, List};
use top_k::{Hit, TopRecords};
use writer::Writer;

/// The generation in use, its newest state and the rows it publishes.
type Current = (Arc<Generation>, Head, Arc<Snapshot>);

/// How often a reader follows the pointer again when the generation vanishes under it.
const REOPEN_ATTEMPTS: usize = 8;

/// A vector index in a folder. Calls may come from several threads at once.
#[derive(Debug)]
pub struct VectorIndex {
    folder: PathBuf,
    kernels: Kernels,
    kind: Kind,
    costs: Costs,
    open: RwLock<Option<Arc<Generation>>>,
    writer: Mutex<Option<Writer>>,
    interrupted: AtomicBool,
}

impl VectorIndex {
    /// Opens the index in `folder`, which need not exist. Writes nothing: a missing index, or one of another
    /// kind, counts as empty until the lock is taken. Damage is reported by the calls that meet it.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for a dimension out of range.
    pub fn open(folder: &Path, options: Options) -> Result<Self, IndexError> {
        let Options { dimension, identity, kernels } = options;
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            return Err(IndexError::Invalid { what: "the dimension is out of range" });
        }
        Ok(Self {
            folder: folder.to_owned(),
            kernels,
            kind: Kind { dimension: dimension as u32, identity },
            costs: Costs::new(dimension),
            open: RwLock::new(None),
            writer: Mutex::new(None),
            interrupted: AtomicBool::new(false),
        })
    }

    /// Elements of a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.kind.dimension as usize
    }

    /// The kernels that searches use.
    #[must_use]
    pub fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// What is published now; zeros for an index that is missing or of another kind.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] or [`IndexError::Io`].
    pub fn info(&self) -> Result<IndexInfo, IndexError> {
        let Some((generation, head, snapshot)) = self.current()? else { return Ok(IndexInfo::default()) };
        Ok(IndexInfo {
            rows: snapshot.rows as u64,
            live: snapshot.live(),
            sequence: head.sequence,
            centred_rows: u64::from(head.centred_rows),
            generation: generation.number,
            bytes: generation.bytes()?,
        })
    }

    /// Tries to become the one writer among all handles and processes; does not wait. True when this handle
    /// holds the lock, also from before. An index that is missing, damaged or of another kind is replaced by
    /// an empty one, with sequence 0, so look at [`VectorIndex::info`] after taking the lock.
    ///
    /// # Errors
    /// [`IndexError::Io`] when the folder cannot be written.
    pub fn try_lock(&self) -> Result<bool, IndexError> {
        let mut writer = self.writer();
        if writer.is_none() {
            let known = self.open.read().unwrap_or_else(PoisonError::into_inner).clone();
            *writer = Writer::try_new(&self.folder, self.kind, known)?;
            if let Some(writer) = &*writer {
                self.keep(Some(Arc::clone(writer.generation())));
            }
        }
        Ok(writer.is_some())
    }

    /// Gives the lock up. Rows that were not published are lost.
    pub fn unlock(&self) {
        *self.writer() = None;
    }

    /// Writes rows behind the published ones, invisible to searches until [`VectorIndex::publish`].
    ///
    /// # Errors
    /// [`IndexError::NotLocked`]; [`IndexError::WrongDimension`] or [`IndexError::Invalid`] for slices that
    /// do not fit together or hold numbers that are not finite; [`IndexError::Io`]. Nothing was appended then.
    pub fn append(&self, rows: Rows<'_>) -> Result<(), IndexError> {
        self.check_rows(&rows)?;
        check_finite(rows.vectors, "a vector holds a number that is not finite")?;
        self.with_writer(|writer| writer.append(&rows))
    }

    /// Marks all rows of these keys as removed, at once and for all readers, and counts them. Rows appended
    /// later under the same key stay.
    ///
    /// # Errors
    /// [`IndexError::NotLocked`], [`IndexError::Damaged`], [`IndexError::Io`].
    pub fn remove(&self, keys: &[u64]) -> Result<u64, IndexError> {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        let keys = KeySet::new(&sorted).ok_or(IndexError::Invalid { what: "keys do not ascend" })?;
        self.with_writer(|writer| writer.remove(&keys))
    }

    /// Makes appended rows durable and then visible, and records `sequence` as applied.
    ///
    /// # Errors
    /// [`IndexError::NotLocked`], [`IndexError::Io`]; the former state stays published then.
    pub fn publish(&self, sequence: u64) -> Result<(), IndexError> {
        self.with_writer(|writer| writer.publish(sequence))
    }

    /// Drops removed rows by writing a new generation, with sign bits that leave out what the others have in
    /// common now. Rows not yet published move along and stay so. Searches go on meanwhile. False when
    /// [`VectorIndex::interrupt`] ended it: nothing has changed then.
    ///
    /// # Errors
    /// [`IndexError::NotLocked`], [`IndexError::Damaged`] when a row fails its checksum, [`IndexError::Io`];
    /// the former generation stays in use then.
    pub fn compact(&self) -> Result<bool, IndexError> {
        self.with_writer(|writer| writer.compact(&self.interrupted))
    }

    /// Makes a compaction that runs, and all later ones of this handle, give up soon: the process wants to end.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Empties the index into a new generation with sequence 0.
    ///
    /// # Errors
    /// [`IndexError::NotLocked`], [`IndexError::Io`].
    pub fn reset(&self) -> Result<(), IndexError> {
        self.with_writer(Writer::reset)
    }

    /// Reads everything published and checks it against its checksums.
    ///
    /// # Errors
    /// [`IndexError::Damaged`] naming the first fault, or [`IndexError::Io`].
    pub fn verify(&self) -> Result<(), IndexError> {
        let Some((generation, _, snapshot)) = self.current()? else { return Ok(()) };
        generation.check_head()?;
        snapshot.verify()
    }

    /// The best records by the request's conditions.
    ///
    /// # Errors
    /// [`IndexError::WrongDimension`] or [`IndexError::Invalid`] for a request that does not fit;
    /// [`IndexError::Damaged`] or [`IndexError::Io`] when the files cannot be trusted.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchResult, IndexError> {
        check_length(self.dimension(), request.query.len())?;
        self.check_rows(&request.extra)?;
        let filter = Filter::new(self.kernels, request)?;
        let limits = Lists { near: request.near_limit, far: request.far_limit };
        let (mut records, method) = match self.current()? {
            Some((_, _, snapshot)) => {
                let scan = Scan {
                    kernels: self.kernels,
                    snapshot: &snapshot,
                    selection: &filter.select(&snapshot),
                    query: request.query,
                    costs: &self.costs,
                    limits,
                    floor: request.floor,
                    threads: request.threads,
                };
                scan.run(request.method)
            }
            None => {
                let empty = |limit| TopRecords::new(limit, request.floor);
                (Lists { near: empty(limits.near), far: empty(limits.far) }, Method::Exact)
            }
        };
        self.add_extra(request, &filter, &mut records);
        let (near, far) = (records.near.into_sorted(), records.far.into_sorted());
        let mut result = SearchResult { near_count: near.len(), method, ..SearchResult::default() };
        for hit in near.into_iter().chain(far) {
            result.keys.push(hit.key);
            result.blocks.push(hit.block);
            result.scores.push(hit.score);
        }
        Ok(result)
    }

    fn add_extra(&self, request: &SearchRequest<'_>, filter: &Filter<'_>, records: &mut Lists<TopRecords>) {
        let extra = &request.extra;
        for (i, vector) in extra.vectors.chunks_exact(self.dimension()).enumerate() {
            let (key, time) = (extra.keys[i], extra.times[i]);
            let list = match filter.list_of(key, extra.scopes[i], time) {
                Some(List::Near) => &mut records.near,
                Some(List::Far) => &mut records.far,
                None => continue,
            };
            let score = self.kernels.dot_f32(request.query, vector);
            list.push(Hit { score, time, key, block: extra.blocks[i] });
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            // A panic in the middle of a change: drop what it left, with the lock.
            let mut writer = poisoned.into_inner();
            *writer = None;
            self.writer.clear_poison();
            writer
        })
    }

    fn with_writer<T>(
        &self,
        change: impl FnOnce(&mut Writer) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let mut guard = self.writer();
        let writer = guard.as_mut().ok_or(IndexError::NotLocked)?;
        let before = writer.generation().number;
        let done = change(writer);
        if writer.generation().number != before {
            self.keep(Some(Arc::clone(writer.generation())));
        }
        done
    }

    /// The generation in use, its newest state and the rows it publishes.
    fn current(&self) -> Result<Option<Current>, IndexError> {
        let known = self.open.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(generation) = known {
            match self.look(generation) {
                Ok(None) | Err(IndexError::Damaged { .. }) => {
                    // Replaced, or perhaps replaced: another process may have put a sound one in its place.
                }
                found => return found,
            }
        }
        self.reopen()
    }

    /// The newest state of a generation, or `None` when it is no longer in use.
    fn look(&self, generation: Arc<Generation>) -> Result<Option<Current>, IndexError> {
        let head = match generation.state()? {
            State::Current(head) => head,
            State::Superseded(head) if read_pointer(&self.folder)? == Some(generation.number) => head,
            State::Superseded(_) | State::Removed => return Ok(None),
        };
        let snapshot = generation.snapshot(&head)?;
        Ok(Some((generation, head, snapshot)))
    }

    /// Follows the pointer, again when a compaction overtakes it.
    fn reopen(&self) -> Result<Option<Current>, IndexError> {
        let mut attempt = 0;
        loop {
            let pointed = read_pointer(&self.folder)?;
            match self.follow(pointed) {
                Err(IndexError::Damaged { .. })
                    if attempt < REOPEN_ATTEMPTS && read_pointer(&self.folder)? != pointed =>
                {
                    attempt += 1;
                }
                found => {
                    let generation = found.as_ref().ok().and_then(Option::as_ref).map(|found| &found.0);
                    self.keep(generation.map(Arc::clone));
                    return found;
                }
            }
        }
    }

    fn follow(&self, number: Option<u64>) -> Result<Option<Current>, IndexError> {
        let Some(number) = number else { return Ok(None) };
        let Some(generation) = Generation::open(&self.folder, number, self.kind)? else { return Ok(None) };
        let (State::Current(head) | State::Superseded(head)) = generation.state()? else {
            return Err(IndexError::damaged(generation::HEAD, "it was removed while it was opened"));
        };
        let snapshot = generation.snapshot(&head)?;
        Ok(Some((Arc::new(generation), head, snapshot)))
    }

    fn keep(&self, generation: Option<Arc<Generation>>) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let number = |generation: &Option<Arc<Generation>>| generation.as_ref().map(|found| found.number);
        if number(&open) != number(&generation) {
            // Its signs are others, and may tell more.
            self.costs.forget_level();
        }
        *open = generation;
    }

    fn check_rows(&self, rows: &Rows<'_>) -> Result<(), IndexError> {
        let count = rows.keys.len();
        if [rows.blocks.len(), rows.scopes.len(), rows.times.len()] != [count; 3] {
            return Err(IndexError::Invalid { what: "the slices of rows differ in length" });
        }
        if rows.times.iter().any(|time| time.is_nan()) {
            return Err(IndexError::Invalid { what: "a time is not a number" });
        }
        check_length(count * self.dimension(), rows.vectors.len())
    }
}

fn check_length(expected: usize, found: usize) -> Result<(), IndexError> {
    if expected == found { Ok(()) } else { Err(IndexError::WrongDimension { expected, found }) }
}

fn check_finite(values: &[f32], what: &'static str) -> Result<(), IndexError> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(IndexError::Invalid { what }) }
}
