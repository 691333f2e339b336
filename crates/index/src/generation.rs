//! One generation folder as a reader sees it: open files, their mappings, and the state published last.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::IndexError;
use crate::format::{
    self, BLOCK_ROWS, DEAD_BYTES, Field, HEAD_BYTES, Head, Kind, Layout, META_BYTES, Region, Slot,
};
use crate::map::Map;
use crate::quantize::Signs;
use crate::zones::Zones;

/// File name of the head inside a generation folder.
pub(crate) const HEAD: &str = "head";
/// File name of the pointer inside the index folder.
pub(crate) const POINTER: &str = "current";
/// How often a head is read again when both slots look torn: a writer can only be in one of them.
const HEAD_ATTEMPTS: usize = 20;

/// Folder of a generation.
pub(crate) fn folder_of(index: &Path, generation: u64) -> PathBuf {
    index.join(format!("gen-{generation}"))
}

/// The generation that the pointer file names; `None` without a pointer file.
pub(crate) fn read_pointer(index: &Path) -> Result<Option<u64>, IndexError> {
    match std::fs::read(index.join(POINTER)) {
        Ok(bytes) => format::parse_pointer(&bytes)
            .map(Some)
            .ok_or_else(|| IndexError::damaged(POINTER, "it is not a pointer")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IndexError::io(POINTER, "cannot read")(error)),
    }
}

/// Opens a file of a generation. One that is missing is damage.
pub(crate) fn open_file(folder: &Path, name: &str, options: &OpenOptions) -> Result<File, IndexError> {
    options.open(folder.join(name)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => IndexError::damaged(name, "it is missing"),
        _ => IndexError::io(name, "cannot open")(error),
    })
}

/// Opens the files of all regions, in the order of [`Region::ALL`].
pub(crate) fn open_regions(folder: &Path, options: &OpenOptions) -> Result<[File; 5], IndexError> {
    let open = |region: Region| open_file(folder, region.name(), options);
    let [vectors, bytes, bits, meta, dead] = Region::ALL.map(open);
    Ok([vectors?, bytes?, bits?, meta?, dead?])
}

/// A generation whose kind is the one asked for.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) layout: Layout,
    /// Makes the sign bits of its rows, and of what they are compared with.
    pub(crate) signs: Arc<Signs>,
    kind: Kind,
    head: File,
    files: [File; 5],
    /// The last snapshot, replaced when more rows are published.
    last: Mutex<Arc<Snapshot>>,
}

/// What the head of a generation says now.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    Current(Head),
    /// Marked by a writer that moves to a newer generation; the pointer tells whether it got there.
    Superseded(Head),
    /// Its folder was removed.
    Removed,
}

/// Published rows, mapped. Immutable, except for removal flags.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) layout: Layout,
    pub(crate) rows: usize,
    pub(crate) zones: Zones,
    pub(crate) signs: Arc<Signs>,
    maps: Arc<[Map; 5]>,
}

impl Generation {
    /// Opens a generation for reading. `Ok(None)`: intact, but of another kind.
    pub(crate) fn open(index: &Path, number: u64, kind: Kind) -> Result<Option<Self>, IndexError> {
        let folder = folder_of(index, number);
        let head = open_file(&folder, HEAD, File::options().read(true))?;
        let Some(state) = read_head(&head)? else { return Ok(None) };
        if state.kind != kind {
            return Ok(None);
        }
        let layout = Layout::new(kind.dimension as usize);
        let files = open_regions(&folder, File::options().read(true))?;
        let signs = Arc::new(read_signs(&head, &state)?);
        let nothing = Snapshot {
            layout,
            rows: 0,
            zones: Zones::default(),
            signs: Arc::clone(&signs),
            maps: Arc::new([const { Map::empty() }; 5]),
        };
        let last = Mutex::new(Arc::new(nothing));
        let this = Self { number, layout, signs, kind, head, files, last };
        this.check(&state)?;
        Ok(Some(this))
    }

    /// The newest published state.
    pub(crate) fn state(&self) -> Result<State, IndexError> {
        let head = read_head(&self.head)?
            .ok_or_else(|| IndexError::damaged(HEAD, "it changed to another version"))?;
        self.check_kind(&head)?;
        if is_unlinked(&self.head).map_err(IndexError::io(HEAD, "cannot stat"))? {
            return Ok(State::Removed);
        }
        Ok(if head.superseded { State::Superseded(head) } else { State::Current(head) })
    }

    /// The rows that `head` publishes, after checking that the files still hold them.
    pub(crate) fn snapshot(&self, head: &Head) -> Result<Arc<Snapshot>, IndexError> {
        let lengths = self.check(head)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = usize::try_from(head.published).map_err(|_| IndexError::damaged(HEAD, "too many rows"))?;
        if rows == last.rows {
            return Ok(Arc::clone(&last));
        }
        if rows < last.rows {
            // Another thread has seen a later state since `head` was read. Zones of more rows are still true.
            return Ok(Arc::new(self.snapshot_of(rows, last.zones.clone(), Arc::clone(&last.maps))));
        }
        let mut maps = Arc::clone(&last.maps);
        if self.needs(head.published)?.iter().zip(maps.iter()).any(|(need, map)| *need > map.len() as u64) {
            maps = Arc::new(self.map(lengths)?);
        }
        let mut next = self.snapshot_of(rows, Zones::default(), maps);
        next.zones = last.zones.extended(last.rows, &next);
        *last = Arc::new(next);
        Ok(Arc::clone(&last))
    }

    fn snapshot_of(&self, rows: usize, zones: Zones, maps: Arc<[Map; 5]>) -> Snapshot {
        Snapshot { layout: self.layout, rows, zones, signs: Arc::clone(&self.signs), maps }
    }

    fn map(&self, lengths: [u64; 5]) -> Result<[Map; 5], IndexError> {
        let mut maps = [const { Map::empty() }; 5];
        for (i, region) in Region::ALL.into_iter().enumerate() {
            maps[i] =
                Map::new(&self.files[i], lengths[i]).map_err(IndexError::io(region.name(), "cannot map"))?;
        }
        Ok(maps)
    }

    /// Sum of the files' lengths.
    pub(crate) fn bytes(&self) -> Result<u64, IndexError> {
        Ok(self.lengths()?.iter().sum::<u64>() + HEAD_BYTES as u64)
    }

    fn lengths(&self) -> Result<[u64; 5], IndexError> {
        let mut lengths = [0; 5];
        for ((length, file), region) in lengths.iter_mut().zip(&self.files).zip(Region::ALL) {
            *length = file.metadata().map_err(IndexError::io(region.name(), "cannot stat"))?.len();
        }
        Ok(lengths)
    }

    fn needs(&self, rows: u64) -> Result<[u64; 5], IndexError> {
        let mut needs = [0; 5];
        for (need, region) in needs.iter_mut().zip(Region::ALL) {
            *need = self
                .layout
                .bytes(region, rows)
                .ok_or_else(|| IndexError::damaged(HEAD, "no file could hold its rows"))?;
        }
        Ok(needs)
    }

    fn check_kind(&self, head: &Head) -> Result<(), IndexError> {
        if head.kind != self.kind || head.centre != self.signs.checksum() || head.generation != self.number {
            return Err(IndexError::damaged(HEAD, "it belongs to another index"));
        }
        Ok(())
    }

    /// Checks a state against the real lengths of the files, which it returns.
    fn check(&self, head: &Head) -> Result<[u64; 5], IndexError> {
        self.check_kind(head)?;
        let lengths = self.lengths()?;
        for ((length, need), region) in lengths.iter().zip(self.needs(head.published)?).zip(Region::ALL) {
            if *length < need {
                let what = format!("{length} bytes where {need} are published");
                return Err(IndexError::damaged(region.name(), what));
            }
        }
        Ok(lengths)
    }

    /// Both slots and the centre must be intact: a check for `verify`, stricter than reading.
    pub(crate) fn check_head(&self) -> Result<(), IndexError> {
        for attempt in 0..HEAD_ATTEMPTS {
            let bytes = read_start(&self.head)?;
            let slots = [format::parse_slot(&bytes), format::parse_slot(&bytes[format::SLOT_STRIDE..])];
            if let [Slot::Valid(head), Slot::Valid(_)] = slots {
                return read_signs(&self.head, &head).map(drop);
            }
            pause(attempt);
        }
        Err(IndexError::damaged(HEAD, "one of its copies fails its checksum"))
    }
}

/// The newest state in an open head; `None` when it is of another version or byte order.
pub(crate) fn read_head(file: &File) -> Result<Option<Head>, IndexError> {
    for attempt in 0..HEAD_ATTEMPTS {
        match format::newest(&read_start(file)?) {
            Slot::Valid(head) => return Ok(Some(head)),
            Slot::Foreign => return Ok(None),
            Slot::Damaged => pause(attempt),
        }
    }
    Err(IndexError::damaged(HEAD, "no copy of it passes its checksum"))
}

/// Gives a writer in the middle of a slot the time to finish.
fn pause(attempt: usize) {
    if attempt > 2 {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}

/// The slots of a head, zeros where the file is short.
fn read_start(file: &File) -> Result<[u8; HEAD_BYTES], IndexError> {
    let mut bytes = [0; HEAD_BYTES];
    read_part(file, &mut bytes, 0)?;
    Ok(bytes)
}

/// The centre that a head names.
fn read_signs(file: &File, head: &Head) -> Result<Signs, IndexError> {
    if head.centre == 0 {
        return Ok(Signs::default());
    }
    let mut bytes = vec![0; head.kind.dimension as usize * 4];
    read_part(file, &mut bytes, HEAD_BYTES as u64)?;
    let signs = Signs::of(bytes.as_chunks::<4>().0.iter().map(|value| f32::from_ne_bytes(*value)).collect());
    if signs.checksum() != head.centre {
        return Err(IndexError::damaged(HEAD, "its centre fails its checksum"));
    }
    Ok(signs)
}

/// Fills `bytes` from the file; what the file does not have stays as it is.
fn read_part(file: &File, bytes: &mut [u8], offset: u64) -> Result<(), IndexError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match read_at(file, &mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(IndexError::io(HEAD, "cannot read")(error)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Whether the file has lost its name: somebody deleted the folder while it was open.
#[cfg(unix)]
fn is_unlinked(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) == 0)
}

#[cfg(not(unix))]
fn is_unlinked(_: &File) -> io::Result<bool> {
    // An open file keeps its name there.
    Ok(false)
}

impl Snapshot {
    fn map(&self, region: Region) -> &Map {
        let [vectors, bytes, bits, meta, dead] = &*self.maps;
        match region {
            Region::Vectors => vectors,
            Region::Bytes => bytes,
            Region::Bits => bits,
            Region::Meta => meta,
            Region::Dead => dead,
        }
    }

    /// All float32 rows.
    pub(crate) fn vectors(&self) -> &[f32] {
        self.map(Region::Vectors).values(0, self.rows * self.layout.dimension)
    }

    /// All int8 rows.
    pub(crate) fn bytes(&self) -> &[i8] {
        self.map(Region::Bytes).values(0, self.rows * self.layout.dimension)
    }

    /// All rows of sign bits.
    pub(crate) fn bits(&self) -> &[u64] {
        self.map(Region::Bits).values(0, self.rows * self.layout.words)
    }

    /// Blocks of 64 rows, the last one perhaps partly filled.
    pub(crate) fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK_ROWS)
    }

    /// Published rows of a block, 64 but for the last.
    pub(crate) fn rows_of(&self, block: usize) -> usize {
        self.rows.saturating_sub(block * BLOCK_ROWS).min(BLOCK_ROWS)
    }

    fn field<T: crate::map::Plain>(&self, block: usize, field: Field) -> &[T] {
        self.map(Region::Meta).values(block * META_BYTES + field.place().0, self.rows_of(block))
    }

    pub(crate) fn keys(&self, block: usize) -> &[u64] {
        self.field(block, Field::Keys)
    }

    pub(crate) fn times(&self, block: usize) -> &[f64] {
        self.field(block, Field::Times)
    }

    pub(crate) fn scopes(&self, block: usize) -> &[u32] {
        self.field(block, Field::Scopes)
    }

    pub(crate) fn positions(&self, block: usize) -> &[u32] {
        self.field(block, Field::Blocks)
    }

    pub(crate) fn scales(&self, block: usize) -> &[f32] {
        self.field(block, Field::Scales)
    }

    pub(crate) fn sums(&self, block: usize) -> &[u32] {
        self.field(block, Field::Sums)
    }

    /// Bits of the published rows of a block that are not removed.
    pub(crate) fn alive(&self, block: usize) -> u64 {
        self.published(block) & !self.flags(block)
    }

    /// Bits of the published rows of a block that are removed.
    pub(crate) fn removed(&self, block: usize) -> u64 {
        self.published(block) & self.flags(block)
    }

    fn published(&self, block: usize) -> u64 {
        u64::MAX >> (BLOCK_ROWS - self.rows_of(block))
    }

    fn flags(&self, block: usize) -> u64 {
        self.map(Region::Dead).word(block * DEAD_BYTES).load(Ordering::Relaxed)
    }

    /// Rows not removed.
    pub(crate) fn live(&self) -> u64 {
        (0..self.blocks()).map(|block| u64::from(self.alive(block).count_ones())).sum()
    }

    /// Checks every published row against its checksum.
    pub(crate) fn verify(&self) -> Result<(), IndexError> {
        for block in 0..self.blocks() {
            self.verify_flags(block)?;
            let sums = self.sums(block);
            for (i, sum) in sums.iter().enumerate() {
                if self.row(block, i).checksum() != *sum {
                    let what = format!("row {} fails its checksum", block * BLOCK_ROWS + i);
                    return Err(IndexError::damaged(Region::Meta.name(), what));
                }
            }
        }
        Ok(())
    }

    /// The two copies of a word are equal, but for the moment in which a writer changes them.
    fn verify_flags(&self, block: usize) -> Result<(), IndexError> {
        let dead = self.map(Region::Dead);
        let at = block * DEAD_BYTES;
        for attempt in 0..HEAD_ATTEMPTS {
            let differ = dead.word(at).load(Ordering::Acquire) ^ dead.word(at + 8).load(Ordering::Acquire);
            if differ & self.published(block) == 0 {
                return Ok(());
            }
            pause(attempt);
        }
        Err(IndexError::damaged(Region::Dead.name(), format!("flags of block {block} contradict each other")))
    }

    /// Everything stored of one row.
    pub(crate) fn row(&self, block: usize, i: usize) -> StoredRow<'_> {
        let row = block * BLOCK_ROWS + i;
        let Layout { dimension, words } = self.layout;
        StoredRow {
            key: self.keys(block)[i],
            time: self.times(block)[i],
            scope: self.scopes(block)[i],
            position: self.positions(block)[i],
            scale: self.scales(block)[i],
            vector: &self.vectors()[row * dimension..][..dimension],
            bytes: &self.bytes()[row * dimension..][..dimension],
            bits: &self.bits()[row * words..][..words],
        }
    }
}

/// A row in all its forms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow<'a> {
    pub(crate) key: u64,
    pub(crate) time: f64,
    pub(crate) scope: u32,
    pub(crate) position: u32,
    pub(crate) scale: f32,
    pub(crate) vector: &'a [f32],
    pub(crate) bytes: &'a [i8],
    pub(crate) bits: &'a [u64],
}

impl StoredRow<'_> {
    /// CRC-32 over all fields. It does not depend on the row's place, so that compaction copies it and
    /// cannot give damaged bytes a fresh checksum.
    pub(crate) fn checksum(&self) -> u32 {
        let mut hash = crc32fast::Hasher::new();
        hash.update(&self.key.to_ne_bytes());
        hash.update(&self.time.to_ne_bytes());
        hash.update(&self.scope.to_ne_bytes());
        hash.update(&self.position.to_ne_bytes());
        hash.update(&self.scale.to_ne_bytes());
        hash.update(crate::map::as_bytes(self.vector));
        hash.update(crate::map::as_bytes(self.bytes));
        hash.update(crate::map::as_bytes(self.bits));
        hash.finalize()
    }
}
