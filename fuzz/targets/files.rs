//! Any change to the files of an index, one after the other: whatever a reader or the next writer says of
//! them, nothing panics or reads outside a file, and a writer can always fill the index anew.
//!
//! An input is a list of changes, eight bytes each: file, kind, place (4), value (2).

#![no_main]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cpersona_index::{Method, Options, Rows, SearchRequest, VectorIndex};
use libfuzzer_sys::fuzz_target;

const DIMENSION: usize = 8;
const ROWS: usize = 70;
const FILES: [&str; 6] = ["head", "vectors.f32", "vectors.i8", "bits.u64", "meta", "dead"];
const MOST_CHANGES: usize = 8;

fn open(folder: &Path) -> VectorIndex {
    VectorIndex::open(folder, Options::new(DIMENSION, [3; 16])).expect("sound options")
}

fn fill(index: &VectorIndex) {
    let keys: Vec<u64> = (0..ROWS as u64).map(|row| row * 2).collect();
    let times: Vec<f64> = keys.iter().map(|key| *key as f64).collect();
    let vectors: Vec<f32> = (0..ROWS * DIMENSION).map(|i| ((i * 37 % 101) as f32 - 50.0) / 150.0).collect();
    let rows =
        Rows { keys: &keys, blocks: &[0; ROWS], scopes: &[1; ROWS], times: &times, vectors: &vectors };
    index.append(rows).expect("room for a few rows");
    index.publish(5).expect("room for a head");
}

/// The one generation there is, or a name that leads nowhere.
fn generation(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the folder stays");
    let names = entries.flatten().map(|entry| entry.path());
    names.filter(|path| path.is_dir()).max().unwrap_or_else(|| folder.join("none"))
}

fn change(folder: &Path, [file, kind, a, b, c, d, value, more]: [u8; 8]) {
    let path = match FILES.get(usize::from(file) % (FILES.len() + 1)) {
        Some(name) => generation(folder).join(name),
        None => folder.join("current"),
    };
    let at = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { return };
    let length = file.metadata().expect("an open file").len();
    match kind % 5 {
        0 => file.set_len(at % (length + 1)).expect("a shorter file"),
        1 if length > 1 => file.write_all_at(&[value, more], at % (length - 1)).expect("a written file"),
        2 => file.write_all_at(&u64::from(value).to_le_bytes(), at % 80 / 8 * 8).expect("a written file"),
        3 => forge(&file),
        4 if value == 0 => fs::remove_file(&path).expect("a file to remove"),
        _ => {}
    }
}

/// Fresh checksums for a changed head, so that wrong fields are believed.
fn forge(file: &fs::File) {
    for slot in [0, 4096] {
        let mut bytes = [0; 80];
        if file.read_exact_at(&mut bytes, slot).is_ok() {
            let sum = crc32fast::hash(&bytes).to_le_bytes();
            file.write_all_at(&sum, slot + 80).expect("a written file");
        }
    }
}

fn look(index: &VectorIndex) {
    let query = [0.353_553_4; DIMENSION];
    let _ = index.info();
    let _ = index.verify();
    for method in [Method::Exact, Method::Int8, Method::Bits, Method::Auto] {
        let _ = index.search(&SearchRequest { method, ..SearchRequest::new(&query, 5) });
    }
}

fuzz_target!(|input: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let writer = open(folder.path());
    assert!(writer.try_lock().expect("a fresh folder"), "nobody else knows the folder");
    fill(&writer);
    writer.compact().expect("room for a second copy");
    writer.unlock();
    let mapped = open(folder.path());
    look(&mapped);
    for step in input.as_chunks::<8>().0.iter().take(MOST_CHANGES) {
        change(folder.path(), *step);
        look(&mapped);
        look(&open(folder.path()));
    }
    let next = open(folder.path());
    if next.try_lock().expect("a folder that can be written") {
        look(&next);
        next.reset().expect("a folder that can be written");
        fill(&next);
        next.verify().expect("fresh files");
        assert_eq!(next.info().expect("fresh files").live, ROWS as u64);
    }
});
