//! What a reader and the next writer make of files that a crash, a full disk or a stranger left behind.
//! Nothing here may panic or read outside a file; every state is either used as published, or refused.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cpersona_index::{IndexError, Options, SearchRequest, VectorIndex};
use support::{Row, append, open_locked, options, rows};

const DIMENSION: usize = 20;
const FILES: [&str; 6] = ["head", "vectors.f32", "vectors.i8", "bits.u64", "meta", "dead"];

/// A folder with 150 published rows, two of them removed, their centre, and no writer.
fn filled() -> (tempfile::TempDir, Vec<Row>) {
    let folder = tempfile::tempdir().unwrap();
    let stored = rows(150, DIMENSION, 11);
    let index = open_locked(folder.path(), DIMENSION);
    append(&index, &stored[..140]).unwrap();
    index.publish(41).unwrap();
    index.compact().unwrap();
    append(&index, &stored[140..]).unwrap();
    index.remove(&[6, 8]).unwrap();
    index.publish(42).unwrap();
    (folder, stored)
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join("gen-2").join(name)
}

fn reader(folder: &Path) -> VectorIndex {
    VectorIndex::open(folder, options(DIMENSION)).unwrap()
}

fn ask(index: &VectorIndex, stored: &[Row]) -> Result<Vec<u64>, IndexError> {
    index.search(&SearchRequest::new(&stored[0].vector, 3)).map(|found| found.keys)
}

fn assert_damaged<T: std::fmt::Debug>(result: Result<T, IndexError>, what: &str) {
    assert!(matches!(result, Err(IndexError::Damaged { .. })), "{what}: {result:?}");
}

/// The next writer empties what it cannot trust, and readers follow.
fn assert_heals(folder: &Path, open: &VectorIndex, stored: &[Row], what: &str) {
    let writer = VectorIndex::open(folder, options(DIMENSION)).unwrap();
    assert!(writer.try_lock().unwrap(), "{what}");
    assert_eq!(writer.info().unwrap().sequence, 0, "{what}");
    append(&writer, stored).unwrap();
    writer.publish(1).unwrap();
    for index in [&writer, open, &reader(folder)] {
        assert_eq!(ask(index, stored).unwrap()[0], stored[0].key, "{what}");
    }
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

fn flip(path: &Path, at: u64) {
    let mut file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 4]).unwrap();
}

#[test]
fn rows_behind_the_published_ones_are_garbage() {
    let (folder, stored) = filled();
    // What a writer leaves that dies between its writes and its publication.
    for (name, width) in [("vectors.f32", DIMENSION * 4), ("vectors.i8", DIMENSION), ("bits.u64", 8)] {
        overwrite(&file(folder.path(), name), 150 * width as u64, &vec![0xee; width * 30]);
    }
    for field in [0, 512, 1024, 1280, 1536, 1792] {
        let width = if field < 1024 { 8 } else { 4 };
        overwrite(&file(folder.path(), "meta"), 2 * 2048 + field + 22 * width, &[0xee; 8]);
    }
    // Row 151 removed: the flag must not stick to the row that comes there.
    overwrite(&file(folder.path(), "dead"), 32, &(1_u64 << 23).to_ne_bytes());
    let index = reader(folder.path());
    index.verify().unwrap();
    assert_eq!(index.info().unwrap().live, 148);
    let writer = open_locked(folder.path(), DIMENSION);
    assert_eq!(writer.info().unwrap().sequence, 42);
    let more: Vec<Row> =
        rows(10, DIMENSION, 99).into_iter().map(|row| Row { key: row.key + 1001, ..row }).collect();
    append(&writer, &more).unwrap();
    writer.publish(43).unwrap();
    assert_eq!(index.info().unwrap().live, 158);
    index.verify().unwrap();
    assert_eq!(index.search(&SearchRequest::new(&more[1].vector, 1)).unwrap().keys, [more[1].key]);
    assert_eq!(ask(&index, &stored).unwrap()[0], 0);
}

#[test]
fn a_file_cut_anywhere_below_the_published_rows_is_damage() {
    for name in FILES {
        let (folder, stored) = filled();
        let needed = match name {
            "head" => 8192 + DIMENSION * 4,
            "vectors.f32" => 150 * DIMENSION * 4,
            "vectors.i8" => 150 * DIMENSION,
            "bits.u64" => 150 * 8,
            "meta" => 3 * 2048,
            _ => 3 * 16,
        } as u64;
        let whole = fs::metadata(file(folder.path(), name)).unwrap().len();
        let mapped = reader(folder.path());
        assert_eq!(ask(&mapped, &stored).unwrap()[0], 0);
        let cuts = [whole, needed, needed - 1, needed / 2, 4096 + 84, 4096 + 40, 4096, 84, 83, 1, 0];
        let mut cuts: Vec<u64> = cuts.into_iter().filter(|cut| *cut <= whole).collect();
        cuts.sort_unstable_by(|a, b| b.cmp(a));
        for cut in cuts {
            // A stranger's doing, while a reader has the file mapped.
            OpenOptions::new().write(true).open(file(folder.path(), name)).unwrap().set_len(cut).unwrap();
            let what = format!("{name} cut to {cut}");
            // To a reader that knows the centre one copy of the head is enough.
            let enough = if name == "head" { 84 } else { needed };
            for (index, enough) in [(&mapped, enough), (&reader(folder.path()), needed)] {
                if cut >= enough {
                    assert!(ask(index, &stored).is_ok(), "{what}");
                } else {
                    assert_damaged(ask(index, &stored), &what);
                    assert_damaged(index.info(), &what);
                    assert_damaged(index.verify(), &what);
                }
            }
        }
        assert_heals(folder.path(), &mapped, &stored, name);
    }
}

#[test]
fn a_missing_file_is_damage() {
    for name in FILES {
        let (folder, stored) = filled();
        let mapped = reader(folder.path());
        ask(&mapped, &stored).unwrap();
        fs::remove_file(file(folder.path(), name)).unwrap();
        assert_damaged(ask(&reader(folder.path()), &stored), name);
        assert_heals(folder.path(), &mapped, &stored, name);
    }
}

#[test]
fn a_missing_folder_is_an_empty_index() {
    let (folder, stored) = filled();
    let mapped = reader(folder.path());
    ask(&mapped, &stored).unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    assert_eq!(mapped.info().unwrap().rows, 0);
    assert!(ask(&mapped, &stored).unwrap().is_empty());
    assert_heals(folder.path(), &mapped, &stored, "emptied folder");
}

#[test]
fn a_pointer_to_nowhere_or_of_other_bytes_is_damage() {
    for bytes in [b"".as_slice(), b"gen-1", &[0; 24], &[0xff; 24], &[0; 5000]] {
        let (folder, stored) = filled();
        fs::write(folder.path().join("current"), bytes).unwrap();
        assert_damaged(ask(&reader(folder.path()), &stored), "pointer");
        assert_heals(folder.path(), &reader(folder.path()), &stored, "pointer");
    }
    let (folder, stored) = filled();
    fs::rename(folder.path().join("gen-2"), folder.path().join("gen-9")).unwrap();
    assert_damaged(ask(&reader(folder.path()), &stored), "renamed generation");
    assert_heals(folder.path(), &reader(folder.path()), &stored, "renamed generation");
}

/// Changes a field in both slots and gives them fresh checksums.
fn forge(folder: &Path, at: usize, bytes: &[u8]) {
    let path = file(folder, "head");
    let mut head = fs::read(&path).unwrap();
    for slot in [0, 4096] {
        head[slot + at..slot + at + bytes.len()].copy_from_slice(bytes);
        let sum = crc32fast::hash(&head[slot..slot + 80]);
        head[slot + 80..slot + 84].copy_from_slice(&sum.to_le_bytes());
    }
    fs::write(path, head).unwrap();
}

#[test]
fn every_header_field_may_be_wrong() {
    let other_order = u32::from_ne_bytes(0x0102_0304_u32.to_ne_bytes()).swap_bytes().to_ne_bytes();
    let foreign: [(&str, usize, &[u8]); 4] = [
        ("byte order", 8, &other_order),
        ("version", 12, &[9, 0, 0, 0]),
        ("dimension", 16, &[21, 0, 0, 0]),
        ("identity", 30, b"x"),
    ];
    for (what, at, bytes) in foreign {
        let (folder, stored) = filled();
        forge(folder.path(), at, bytes);
        let index = reader(folder.path());
        assert!(ask(&index, &stored).unwrap().is_empty(), "{what}");
        assert_eq!(index.info().unwrap().sequence, 0, "{what}");
        assert_heals(folder.path(), &index, &stored, what);
    }
    let damaged: [(&str, usize, &[u8]); 5] = [
        ("magic", 0, b"CPVECTOX"),
        ("centre", 40, &[1, 1, 1, 1]),
        ("generation", 48, &[3]),
        ("rows beyond the files", 56, &5000_u64.to_le_bytes()),
        ("rows beyond any file", 56, &u64::MAX.to_le_bytes()),
    ];
    for (what, at, bytes) in damaged {
        let (folder, stored) = filled();
        let mapped = reader(folder.path());
        ask(&mapped, &stored).unwrap();
        forge(folder.path(), at, bytes);
        assert_damaged(ask(&reader(folder.path()), &stored), what);
        assert_damaged(ask(&mapped, &stored), what);
        assert_heals(folder.path(), &mapped, &stored, what);
    }
}

#[test]
fn one_torn_copy_of_the_head_leaves_the_other() {
    let (folder, stored) = filled();
    for slot in [0, 4096] {
        let (copy, _) = filled();
        overwrite(&file(copy.path(), "head"), slot + 60, b"torn");
        let index = reader(copy.path());
        ask(&index, &stored).unwrap();
        assert_damaged(index.verify(), "verify wants both copies");
    }
    overwrite(&file(folder.path(), "head"), 60, b"torn");
    overwrite(&file(folder.path(), "head"), 4096 + 60, b"torn");
    assert_damaged(ask(&reader(folder.path()), &stored), "both copies torn");
}

#[test]
fn verify_notices_a_flipped_bit_in_every_region() {
    let places = [
        ("vectors.f32", 77 * DIMENSION * 4 + 5),
        ("vectors.f32", 0),
        ("vectors.i8", 149 * DIMENSION + 19),
        ("bits.u64", 100 * 8 + 2),
        ("meta", 2048 + 3 * 8),
        ("meta", 512 + 8),
        ("meta", 1024 + 9),
        ("meta", 1280 + 9),
        ("meta", 1536 + 9),
        ("meta", 1792 + 9),
        ("dead", 3),
        ("dead", 16 + 9),
        ("head", 8192 + 5),
    ];
    for (name, at) in places {
        let (folder, stored) = filled();
        let index = reader(folder.path());
        index.verify().unwrap();
        flip(&file(folder.path(), name), at as u64);
        assert_damaged(index.verify(), name);
        let writer = VectorIndex::open(folder.path(), options(DIMENSION)).unwrap();
        assert!(writer.try_lock().unwrap());
        if name == "dead" || name == "head" {
            assert_eq!(
                writer.info().unwrap().sequence,
                0,
                "what contradicts itself is not repaired by guess"
            );
        } else {
            assert_damaged(writer.compact(), "compaction copies no damaged row");
            writer.reset().unwrap();
        }
        append(&writer, &stored).unwrap();
        writer.publish(1).unwrap();
        index.verify().unwrap();
    }
}

#[test]
fn a_crashed_compaction_leaves_the_former_generation() {
    let (folder, stored) = filled();
    // A folder half written, and a pointer that was not yet renamed.
    fs::create_dir(folder.path().join("gen-3")).unwrap();
    fs::write(folder.path().join("gen-3").join("head"), b"half").unwrap();
    fs::write(folder.path().join("current.new"), b"half").unwrap();
    let index = reader(folder.path());
    assert_eq!(ask(&index, &stored).unwrap()[0], 0);
    let writer = open_locked(folder.path(), DIMENSION);
    assert!(!folder.path().join("gen-3").exists(), "strays are removed");
    writer.compact().unwrap();
    assert_eq!(index.info().unwrap().rows, 148);
    assert!(!folder.path().join("gen-2").exists());
    writer.unlock();
    // A writer that died after the mark and before the rename: the mark alone changes nothing.
    let number = index.info().unwrap().generation;
    let head = folder.path().join(format!("gen-{number}")).join("head");
    let mut bytes = fs::read(&head).unwrap();
    for slot in [0, 4096] {
        bytes[slot + 20] = 1;
        let sum = crc32fast::hash(&bytes[slot..slot + 80]);
        bytes[slot + 80..slot + 84].copy_from_slice(&sum.to_le_bytes());
    }
    fs::write(&head, bytes).unwrap();
    for index in [&index, &reader(folder.path())] {
        assert_eq!(ask(index, &stored).unwrap()[0], 0);
    }
    assert!(writer.try_lock().unwrap());
    assert_eq!(writer.info().unwrap().sequence, 42);
    writer.publish(50).unwrap();
    assert_eq!(index.info().unwrap().sequence, 50);
}

#[test]
fn a_read_only_folder_can_be_searched() {
    let (folder, stored) = filled();
    let mut permissions = fs::metadata(folder.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path(), permissions.clone()).unwrap();
    let index = reader(folder.path());
    assert_eq!(ask(&index, &stored).unwrap()[0], 0);
    #[expect(clippy::permissions_set_readonly_false, reason = "the folder is deleted next")]
    permissions.set_readonly(false);
    fs::set_permissions(folder.path(), permissions).unwrap();
}

#[test]
fn a_folder_that_is_a_file_is_an_io_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain");
    File::create(&path).unwrap();
    let index = VectorIndex::open(&path, Options::new(4, [0; 16])).unwrap();
    assert_eq!(index.try_lock().unwrap_err().code(), "io");
}
