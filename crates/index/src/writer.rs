//! The one writer of an index: holds the lock, appends behind what is published, then publishes.
//!
//! Order of a publication: rows are written behind the published ones, their files are flushed, the head's
//! other slot is written and flushed. A crash before the last step leaves the former state; rows behind the
//! published count are garbage, and the next writer writes over them.
//!
//! Order of a new generation: its files and head are written and flushed, the old head is marked as
//! superseded, the pointer is replaced by a rename, the old folder is removed. The mark comes first, so that
//! no reader stays with a generation that the pointer has left: a marked head only makes readers look at the
//! pointer before each search.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cpersona_limits::MAX_ROWS;

use crate::error::IndexError;
use crate::format::{
    self, BLOCK_ROWS, DEAD_BYTES, Field, HEAD_BYTES, Head, Kind, Layout, META_BYTES, Region,
};
use crate::generation::{
    Generation, HEAD, POINTER, Snapshot, State, StoredRow, folder_of, open_file, open_regions, read_pointer,
};
use crate::key_set::KeySet;
use crate::map::{Plain, as_bytes};
use crate::private;
use crate::quantize::{self, Signs};
use crate::request::Rows;
use crate::select::bits_of;

const LOCK: &str = "writer.lock";
/// Rows from which a compaction learns the centre, at most: enough to know it to a hundredth of its length.
const SAMPLE_ROWS: usize = 4096;
/// Rows that are gathered before a write, in appends and in compaction.
const BATCH_ROWS: usize = 512;

/// Holds the lock for as long as it lives.
#[derive(Debug)]
pub(crate) struct Writer {
    _lock: File,
    folder: PathBuf,
    kind: Kind,
    generation: Arc<Generation>,
    sink: Sink,
    head: Head,
    /// Keys of rows behind the published ones.
    pending: Vec<u64>,
    /// Removal flags of all written rows.
    dead: Vec<u64>,
}

/// A generation to write to.
struct Found {
    generation: Arc<Generation>,
    sink: Sink,
    head: Head,
    dead: Vec<u64>,
}

/// Tries to take the lock: `None` when another handle or process has it.
fn take_lock(folder: &Path) -> Result<Option<File>, IndexError> {
    private::create_folder(folder).map_err(IndexError::io(LOCK, "cannot make the folder of"))?;
    let file = private::file_options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(LOCK))
        .map_err(IndexError::io(LOCK, "cannot open"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(IndexError::io(LOCK, "cannot lock")(error)),
    }
}

impl Writer {
    /// Becomes the writer, or `None`. An index that is missing, damaged or of another kind is replaced by an
    /// empty one. A `known` generation that is still in use is taken over with its mapping.
    pub(crate) fn try_new(
        folder: &Path,
        kind: Kind,
        known: Option<Arc<Generation>>,
    ) -> Result<Option<Self>, IndexError> {
        let Some(lock) = take_lock(folder)? else { return Ok(None) };
        let found = match Self::recover(folder, kind, known) {
            Ok(Some(found)) => found,
            Ok(None) | Err(IndexError::Damaged { .. }) => Self::create(folder, kind)?,
            Err(error) => return Err(error),
        };
        let Found { generation, sink, head, dead } = found;
        let this = Self {
            _lock: lock,
            folder: folder.to_owned(),
            kind,
            generation,
            sink,
            head,
            pending: Vec::new(),
            dead,
        };
        this.remove_strays();
        Ok(Some(this))
    }

    /// The generation that the pointer names, with the flags of a crashed writer's rows cleared.
    fn recover(
        folder: &Path,
        kind: Kind,
        known: Option<Arc<Generation>>,
    ) -> Result<Option<Found>, IndexError> {
        let Some(number) = read_pointer(folder)? else { return Ok(None) };
        let generation = match known {
            Some(known) if known.number == number && !matches!(known.state()?, State::Removed) => known,
            _ => match Generation::open(folder, number, kind)? {
                Some(opened) => Arc::new(opened),
                None => return Ok(None),
            },
        };
        let (State::Current(head) | State::Superseded(head)) = generation.state()? else { return Ok(None) };
        let snapshot = generation.snapshot(&head)?;
        let mut sink = Sink::open(folder, number, generation.layout, false)?;
        let dead: Vec<u64> = (0..snapshot.blocks()).map(|block| snapshot.removed(block)).collect();
        sink.restore_flags(&dead, snapshot.rows)?;
        Ok(Some(Found { generation, sink, head, dead }))
    }

    /// An empty generation in place of whatever the folder holds.
    fn create(folder: &Path, kind: Kind) -> Result<Found, IndexError> {
        let mut sink = Sink::create(folder, next_number(folder, 0), kind)?;
        let (generation, head) = sink.finish(folder, kind, &Contents::default())?;
        point_to(folder, generation.number)?;
        Ok(Found { generation: Arc::new(generation), sink, head, dead: Vec::new() })
    }

    pub(crate) fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    fn snapshot(&self) -> Result<Arc<Snapshot>, IndexError> {
        self.generation.snapshot(&self.head)
    }

    fn written(&self) -> u64 {
        self.head.published + self.pending.len() as u64
    }

    /// Writes rows behind the published ones. On an error nothing was appended.
    pub(crate) fn append(&mut self, rows: &Rows<'_>) -> Result<(), IndexError> {
        let layout = self.generation.layout;
        let end = self.written() + rows.keys.len() as u64;
        if end > MAX_ROWS {
            return Err(IndexError::Invalid { what: "the index cannot hold more rows" });
        }
        self.sink.reserve(end)?;
        let mut batch = Batch::default();
        for (i, vector) in rows.vectors.chunks_exact(layout.dimension).enumerate() {
            batch.encode(rows, i, vector, &self.generation.signs);
            if batch.len() == BATCH_ROWS {
                self.sink.write(self.written() + (i + 1 - BATCH_ROWS) as u64, &batch)?;
                batch.clear();
            }
        }
        self.sink.write(end - batch.len() as u64, &batch)?;
        self.pending.extend_from_slice(rows.keys);
        self.dead.resize((end as usize).div_ceil(BLOCK_ROWS), 0);
        Ok(())
    }

    /// Marks rows as removed, published and pending ones, and counts them.
    pub(crate) fn remove(&mut self, keys: &KeySet<'_>) -> Result<u64, IndexError> {
        let snapshot = self.snapshot()?;
        let mut removed = 0;
        for block in 0..snapshot.blocks() {
            let zone = snapshot.zones.get(block);
            if keys.any_between(zone.least_key, zone.most_key) {
                removed += self.mark(block, keys.mask(snapshot.keys(block)))?;
            }
        }
        let pending: Vec<u64> = (self.head.published..)
            .zip(&self.pending)
            .filter(|(_, key)| keys.contains(**key))
            .map(|(row, _)| row)
            .collect();
        for row in pending {
            removed += self.mark(row as usize / BLOCK_ROWS, 1 << (row % BLOCK_ROWS as u64))?;
        }
        Ok(removed)
    }

    fn mark(&mut self, block: usize, rows: u64) -> Result<u64, IndexError> {
        let fresh = rows & !self.dead[block];
        if fresh != 0 {
            self.sink.write_flags(block, self.dead[block] | fresh)?;
            self.dead[block] |= fresh;
        }
        Ok(u64::from(fresh.count_ones()))
    }

    /// Makes written rows durable, then visible.
    pub(crate) fn publish(&mut self, sequence: u64) -> Result<(), IndexError> {
        self.sink.flush()?;
        let published = self.written();
        let serial = self.head.serial + 1;
        let next = Head { superseded: false, published, sequence, serial, ..self.head };
        self.sink.write_head(&next)?;
        self.head = next;
        self.pending.clear();
        Ok(())
    }

    /// Writes the rows that are not removed into a new generation, pending ones behind the published ones.
    /// False when `stop` was set on the way: the former generation stays in use.
    pub(crate) fn compact(&mut self, stop: &AtomicBool) -> Result<bool, IndexError> {
        // Reads published and pending rows through a mapping of its own: the shared one ends at the
        // published rows.
        let everything = Head { published: self.written(), ..self.head };
        let source = Generation::open(&self.folder, self.generation.number, self.kind)?
            .ok_or_else(|| IndexError::damaged(HEAD, "it changed to another version"))?
            .snapshot(&everything)?;
        let sink = self.prepare()?;
        let number = sink.number;
        let done = self.move_to(sink, &source, stop);
        if !matches!(done, Ok(true)) && read_pointer(&self.folder)? != Some(number) {
            // Best effort: on a full disk the room is wanted back.
            let _ = fs::remove_dir_all(folder_of(&self.folder, number));
        }
        done
    }

    fn move_to(&mut self, mut sink: Sink, source: &Snapshot, stop: &AtomicBool) -> Result<bool, IndexError> {
        let first_pending = self.head.published as usize;
        let signs = learn_from(source);
        let mut bits = Vec::new();
        let mut published = 0;
        let mut pending = Vec::new();
        let mut batch = Batch::default();
        let mut written = 0;
        for block in 0..source.blocks() {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            for i in bits_of(source.alive(block)) {
                let row = source.row(block, i);
                if row.checksum() != source.sums(block)[i] {
                    let what = format!("row {} fails its checksum", block * BLOCK_ROWS + i);
                    return Err(IndexError::damaged(Region::Meta.name(), what));
                }
                if block * BLOCK_ROWS + i < first_pending {
                    published += 1;
                } else {
                    pending.push(row.key);
                }
                bits.clear();
                signs.to_words(row.vector, &mut bits);
                batch.push(&StoredRow { bits: &bits, ..row });
            }
            if batch.len() >= BATCH_ROWS {
                sink.append(&mut written, &mut batch)?;
            }
        }
        sink.append(&mut written, &mut batch)?;
        let centred_rows = written as u32;
        let contents = Contents { signs, centred_rows, published, sequence: self.head.sequence };
        self.replace(sink, &contents, pending)?;
        Ok(true)
    }

    /// Starts an empty generation with sequence 0.
    pub(crate) fn reset(&mut self) -> Result<(), IndexError> {
        let sink = self.prepare()?;
        self.replace(sink, &Contents::default(), Vec::new())
    }

    fn prepare(&self) -> Result<Sink, IndexError> {
        Sink::create(&self.folder, next_number(&self.folder, self.generation.number), self.kind)
    }

    /// Moves to a generation whose rows are written.
    fn replace(&mut self, mut sink: Sink, contents: &Contents, pending: Vec<u64>) -> Result<(), IndexError> {
        let (generation, head) = sink.finish(&self.folder, self.kind, contents)?;
        let marked = Head { superseded: true, serial: self.head.serial + 1, ..self.head };
        self.sink.write_head(&marked)?;
        self.head = marked;
        point_to(&self.folder, head.generation)?;
        let written = contents.published as usize + pending.len();
        self.generation = Arc::new(generation);
        self.sink = sink;
        self.head = head;
        self.pending = pending;
        self.dead = vec![0; written.div_ceil(BLOCK_ROWS)];
        self.remove_strays();
        Ok(())
    }

    /// Removes generations that the pointer does not name: left by crashes, or still mapped at the time on a
    /// system that does not delete open files. Best effort: what stays is tried again by the next writer.
    fn remove_strays(&self) {
        for number in numbers(&self.folder) {
            if number != self.generation.number {
                let _ = fs::remove_dir_all(folder_of(&self.folder, number));
            }
        }
    }
}

/// What the rows that are not removed have in common, from a sample all over them.
fn learn_from(source: &Snapshot) -> Signs {
    let step = (source.live() as usize).div_ceil(SAMPLE_ROWS).max(1);
    let alive = (0..source.blocks()).flat_map(|block| bits_of(source.alive(block)).map(move |i| (block, i)));
    Signs::learn(alive.step_by(step).map(|(block, i)| source.row(block, i).vector))
}

/// Numbers of the generation folders that exist.
fn numbers(folder: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("gen-")?.parse().ok())
        .collect()
}

/// A number that no generation has had, as far as the folder tells.
fn next_number(folder: &Path, current: u64) -> u64 {
    let pointed = read_pointer(folder).ok().flatten().unwrap_or(0);
    numbers(folder).into_iter().fold(current.max(pointed), u64::max).saturating_add(1)
}

/// Makes the pointer name a generation, in one step.
fn point_to(folder: &Path, generation: u64) -> Result<(), IndexError> {
    let temporary = folder.join("current.new");
    // What a killed writer left may have another mode.
    let _ = fs::remove_file(&temporary);
    let mut file = private::file_options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .map_err(IndexError::io(POINTER, "cannot create"))?;
    file.write_all(&format::encode_pointer(generation)).map_err(IndexError::io(POINTER, "cannot write"))?;
    file.sync_all().map_err(IndexError::io(POINTER, "cannot flush"))?;
    drop(file);
    fs::rename(&temporary, folder.join(POINTER)).map_err(IndexError::io(POINTER, "cannot replace"))?;
    sync_folder(folder)
}

/// Makes names in a folder durable, where the system has such a call.
fn sync_folder(folder: &Path) -> Result<(), IndexError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(IndexError::io(POINTER, "cannot flush the folder of"))?;
    }
    Ok(())
}

/// Rows in all their forms, ready to be written.
#[derive(Debug, Default)]
struct Batch {
    keys: Vec<u64>,
    times: Vec<f64>,
    scopes: Vec<u32>,
    positions: Vec<u32>,
    scales: Vec<f32>,
    sums: Vec<u32>,
    vectors: Vec<f32>,
    bytes: Vec<i8>,
    bits: Vec<u64>,
}

impl Batch {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.times.clear();
        self.scopes.clear();
        self.positions.clear();
        self.scales.clear();
        self.sums.clear();
        self.vectors.clear();
        self.bytes.clear();
        self.bits.clear();
    }

    fn push(&mut self, row: &StoredRow<'_>) {
        self.keys.push(row.key);
        self.times.push(row.time);
        self.scopes.push(row.scope);
        self.positions.push(row.position);
        self.scales.push(row.scale);
        self.sums.push(row.checksum());
        self.vectors.extend_from_slice(row.vector);
        self.bytes.extend_from_slice(row.bytes);
        self.bits.extend_from_slice(row.bits);
    }

    /// Adds row `i` of `rows` with its int8 and sign-bit forms.
    fn encode(&mut self, rows: &Rows<'_>, i: usize, vector: &[f32], signs: &Signs) {
        let (mut bytes, mut bits) = (Vec::with_capacity(vector.len()), Vec::new());
        let scale = quantize::to_bytes(vector, &mut bytes);
        signs.to_words(vector, &mut bits);
        self.push(&StoredRow {
            key: rows.keys[i],
            // Negative zero is an equal of zero; one form of it makes equal rows equal bytes.
            time: rows.times[i] + 0.0,
            scope: rows.scopes[i],
            position: rows.blocks[i],
            scale,
            vector,
            bytes: &bytes,
            bits: &bits,
        });
    }
}

/// What a new generation is about to say of itself.
#[derive(Debug, Default)]
struct Contents {
    signs: Signs,
    centred_rows: u32,
    published: u64,
    sequence: u64,
}

/// Files of a generation, open for writing.
#[derive(Debug)]
struct Sink {
    number: u64,
    layout: Layout,
    head: File,
    files: [File; 5],
    /// Rows for which every file is long enough.
    capacity: u64,
    /// By region: written since the last flush.
    dirty: [bool; 5],
}

impl Sink {
    /// Makes the folder and empty files of a generation.
    fn create(index: &Path, number: u64, kind: Kind) -> Result<Self, IndexError> {
        private::create_folder(&folder_of(index, number))
            .map_err(IndexError::io(HEAD, "cannot make the folder of"))?;
        Self::open(index, number, Layout::new(kind.dimension as usize), true)
    }

    fn open(index: &Path, number: u64, layout: Layout, create: bool) -> Result<Self, IndexError> {
        let folder = folder_of(index, number);
        let mut options = private::file_options();
        options.read(true).write(true).create(create).truncate(false);
        let files = open_regions(&folder, &options)?;
        let head = open_file(&folder, HEAD, &options)?;
        Ok(Self { number, layout, head, files, capacity: 0, dirty: [create; 5] })
    }

    /// Writes both slots of a new generation, makes everything durable and opens it for reading.
    fn finish(
        &mut self,
        index: &Path,
        kind: Kind,
        contents: &Contents,
    ) -> Result<(Generation, Head), IndexError> {
        self.flush()?;
        self.head.set_len(HEAD_BYTES as u64).map_err(IndexError::io(HEAD, "cannot grow"))?;
        let Contents { signs, centred_rows, published, sequence } = contents;
        write_at(&self.head, HEAD_BYTES as u64, as_bytes(signs.centre()))
            .map_err(IndexError::io(HEAD, "cannot write"))?;
        let mut head = Head {
            kind,
            centre: signs.checksum(),
            centred_rows: *centred_rows,
            superseded: false,
            generation: self.number,
            published: *published,
            sequence: *sequence,
            serial: 0,
        };
        self.write_head(&head)?;
        head.serial = 1;
        self.write_head(&head)?;
        sync_folder(&folder_of(index, self.number))?;
        let generation = Generation::open(index, self.number, kind)?
            .ok_or_else(|| IndexError::damaged(HEAD, "it changed while it was made"))?;
        Ok((generation, head))
    }

    /// Makes room for `rows` rows and some more, so that readers need not map anew at each publication.
    /// The room is a hole in the files and takes no space on most file systems.
    fn reserve(&mut self, rows: u64) -> Result<(), IndexError> {
        if rows <= self.capacity {
            return Ok(());
        }
        let wanted = (rows + rows / 8 + 256).next_multiple_of(BLOCK_ROWS as u64);
        for (file, region) in self.files.iter().zip(Region::ALL) {
            let bytes = self
                .layout
                .bytes(region, wanted)
                .ok_or(IndexError::Invalid { what: "no file could hold so many rows" })?;
            let length = file.metadata().map_err(IndexError::io(region.name(), "cannot stat"))?.len();
            if length < bytes {
                file.set_len(bytes).map_err(IndexError::io(region.name(), "cannot grow"))?;
            }
        }
        self.capacity = wanted;
        Ok(())
    }

    /// Writes a batch behind the rows written so far, and empties it.
    fn append(&mut self, written: &mut u64, batch: &mut Batch) -> Result<(), IndexError> {
        self.reserve(*written + batch.len() as u64)?;
        self.write(*written, batch)?;
        *written += batch.len() as u64;
        batch.clear();
        Ok(())
    }

    /// Writes rows from row number `first` on.
    fn write(&mut self, first: u64, batch: &Batch) -> Result<(), IndexError> {
        if batch.len() == 0 {
            return Ok(());
        }
        let width = self.layout.dimension as u64;
        self.put(Region::Vectors, first * width * 4, &batch.vectors)?;
        self.put(Region::Bytes, first * width, &batch.bytes)?;
        self.put(Region::Bits, first * self.layout.words as u64 * 8, &batch.bits)?;
        // Flags are read through the mapping, and a hole there is a signal on a full memory file system.
        let (fresh, end) = (first as usize, first as usize + batch.len());
        let fresh = fresh.div_ceil(BLOCK_ROWS)..end.div_ceil(BLOCK_ROWS);
        if !fresh.is_empty() {
            self.put(Region::Dead, (fresh.start * DEAD_BYTES) as u64, &vec![0_u64; fresh.len() * 2])?;
        }
        let mut done = 0;
        while done < batch.len() {
            let row = first as usize + done;
            let (block, at) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
            let part = done..batch.len().min(done + BLOCK_ROWS - at);
            self.put_field(block, at, Field::Keys, &batch.keys[part.clone()])?;
            self.put_field(block, at, Field::Times, &batch.times[part.clone()])?;
            self.put_field(block, at, Field::Scopes, &batch.scopes[part.clone()])?;
            self.put_field(block, at, Field::Blocks, &batch.positions[part.clone()])?;
            self.put_field(block, at, Field::Scales, &batch.scales[part.clone()])?;
            self.put_field(block, at, Field::Sums, &batch.sums[part.clone()])?;
            done = part.end;
        }
        Ok(())
    }

    fn put_field<T: Plain>(
        &mut self,
        block: usize,
        at: usize,
        field: Field,
        values: &[T],
    ) -> Result<(), IndexError> {
        let (offset, width) = field.place();
        self.put(Region::Meta, (block * META_BYTES + offset + at * width) as u64, values)
    }

    fn put<T: Plain>(&mut self, region: Region, offset: u64, values: &[T]) -> Result<(), IndexError> {
        self.dirty[region as usize] = true;
        write_at(&self.files[region as usize], offset, as_bytes(values))
            .map_err(IndexError::io(region.name(), "cannot write"))
    }

    /// Both copies of a word of removal flags in one write.
    fn write_flags(&mut self, block: usize, word: u64) -> Result<(), IndexError> {
        self.put(Region::Dead, (block * DEAD_BYTES) as u64, &[word, word])
    }

    /// Brings the stored flags to `words` for published rows and to zero behind them. Copies that contradict
    /// each other about published rows are damage.
    fn restore_flags(&mut self, words: &[u64], published: usize) -> Result<(), IndexError> {
        let name = Region::Dead.name();
        let mut bytes = Vec::new();
        let mut file = &self.files[Region::Dead as usize];
        file.seek(SeekFrom::Start(0)).map_err(IndexError::io(name, "cannot read"))?;
        file.read_to_end(&mut bytes).map_err(IndexError::io(name, "cannot read"))?;
        for (block, pair) in bytes.as_chunks::<DEAD_BYTES>().0.iter().enumerate() {
            let [first, second] = [0, 8]
                .map(|at| u64::from_ne_bytes(*pair[at..].first_chunk().expect("eight of sixteen bytes")));
            let rows = published.saturating_sub(block * BLOCK_ROWS).min(BLOCK_ROWS) as u32;
            let mask = u64::MAX.checked_shr(BLOCK_ROWS as u32 - rows).unwrap_or(0);
            if (first ^ second) & mask != 0 {
                return Err(IndexError::damaged(
                    name,
                    format!("flags of block {block} contradict each other"),
                ));
            }
            let word = words.get(block).copied().unwrap_or(0);
            if [first, second] != [word, word] {
                self.write_flags(block, word)?;
            }
        }
        Ok(())
    }

    /// Makes everything written durable.
    fn flush(&mut self) -> Result<(), IndexError> {
        for ((file, dirty), region) in self.files.iter().zip(&mut self.dirty).zip(Region::ALL) {
            if *dirty {
                file.sync_data().map_err(IndexError::io(region.name(), "cannot flush"))?;
                *dirty = false;
            }
        }
        Ok(())
    }

    fn write_head(&mut self, head: &Head) -> Result<(), IndexError> {
        write_at(&self.head, head.offset(), &head.encode()).map_err(IndexError::io(HEAD, "cannot write"))?;
        self.head.sync_data().map_err(IndexError::io(HEAD, "cannot flush"))
    }
}

fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
