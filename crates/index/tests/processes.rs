//! Several processes on one folder. The children are this test binary, started again with the name of a role
//! and a folder; in an ordinary run the roles do nothing.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cpersona_index::{SearchRequest, VectorIndex};
use support::{Row, Table, append, options, rows};

const DIMENSION: usize = 32;
const FOLDER: &str = "CPERSONA_INDEX_TEST_FOLDER";
/// Cycles of the kill loop, 20 when it is not set.
const KILLS: &str = "CPERSONA_TEST_KILLS";
/// Blocks of 512 bytes that a file of the limited writer may have.
#[cfg(unix)]
const LIMIT_BLOCKS: usize = 256;

/// Starts this binary as a writer on a folder.
fn start(role: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([role, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The folder given to a child; `None` in an ordinary run, where the roles do nothing.
#[expect(clippy::disallowed_methods, reason = "a test hands its folder to its children")]
fn folder() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

#[expect(clippy::disallowed_methods, reason = "a long night may ask for more")]
fn kill_cycles() -> u64 {
    std::env::var(KILLS).map_or(20, |count| count.parse().unwrap())
}

fn open(folder: &Path) -> VectorIndex {
    VectorIndex::open(folder, options(DIMENSION)).unwrap()
}

/// Row `i` of a stream that every process can make for itself: content tells whether a row is intact.
fn stream(first: u64, count: usize) -> Vec<Row> {
    (first..first + count as u64)
        .map(|i| {
            let mut row = rows(1, DIMENSION, i + 1).remove(0);
            (row.key, row.time) = (i * 2, i as f64);
            row
        })
        .collect()
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Role: writes the stream without end, with a removal and a compaction now and then. The sequence is
/// always the number of stream rows that were ever published.
#[test]
fn role_endless_writer() {
    let Some(folder) = folder() else { return };
    let index = open(&folder);
    wait_for("the lock", || index.try_lock().unwrap());
    let mut next = index.info().unwrap().sequence;
    for round in 0_u64.. {
        append(&index, &stream(next, 7)).unwrap();
        next += 7;
        if round % 5 == 4 {
            index.remove(&[(next - 10) * 2]).unwrap();
        }
        index.publish(next).unwrap();
        if round % 40 == 39 {
            index.compact().unwrap();
        }
    }
}

/// Role: adds 100 rows one by one, taking and giving up the lock for each.
#[test]
fn role_polite_writer() {
    let Some(folder) = folder() else { return };
    let index = open(&folder);
    for _ in 0..100 {
        wait_for("the lock", || index.try_lock().unwrap());
        let next = index.info().unwrap().sequence;
        append(&index, &stream(next, 1)).unwrap();
        index.publish(next + 1).unwrap();
        index.unlock();
    }
}

/// Role: writes until the system lets no file grow further, and then removes, which needs no room.
#[test]
fn role_limited_writer() {
    let Some(folder) = folder() else { return };
    let index = open(&folder);
    assert!(index.try_lock().unwrap());
    let mut next = 0;
    let failed = loop {
        if let Err(error) = index.append(Table::new(&stream(next, 100)).rows()) {
            break error;
        }
        next += 100;
        index.publish(next).unwrap();
    };
    assert_eq!(failed.code(), "io");
    assert!(next > 0);
    assert_eq!(check(&index), next);
    index.remove(&[6]).unwrap();
    index.publish(next).unwrap();
    assert_eq!(index.info().unwrap().live, next - 1);
}

/// Everything published is intact, and rows are missing only where they were removed.
fn check(index: &VectorIndex) -> u64 {
    let info = index.info().unwrap();
    index.verify().unwrap();
    if info.sequence > 0 {
        let newest = &stream(info.sequence - 1, 1)[0];
        let found = index.search(&SearchRequest::new(&newest.vector, 1)).unwrap();
        assert_eq!(found.keys, [newest.key], "the newest published row is found");
    }
    info.sequence
}

#[test]
fn a_reader_sees_whole_publications_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = start("role_endless_writer", folder.path());
    let index = open(folder.path());
    wait_for("the first rows", || index.info().unwrap().sequence > 0);
    assert!(!index.try_lock().unwrap(), "the other process holds the lock");
    let (mut last, mut seen) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        let info = index.info().unwrap();
        assert!(info.sequence >= last, "sequences never go back: {last}, {}", info.sequence);
        assert_eq!(info.sequence % 7, 0, "a publication is whole");
        seen += u64::from(info.sequence > last);
        last = info.sequence;
        // Row 0 is never removed; between compactions and growth it stays the same row.
        let first = &stream(0, 1)[0];
        let found = index.search(&SearchRequest::new(&first.vector, 1)).unwrap();
        assert_eq!(found.keys, [0]);
        assert!((found.scores[0] - 1.0).abs() < 1e-4);
    }
    assert!(seen > 3, "several states were seen");
    writer.kill().unwrap();
    writer.wait().unwrap();
    check(&index);
}

#[test]
fn killed_writers_leave_published_rows_and_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    let mut sequence = 0;
    for cycle in 0..kill_cycles() {
        let mut writer = start("role_endless_writer", folder.path());
        wait_for("new rows", || index.info().unwrap().sequence > sequence);
        // Another moment of the writer's round each time.
        std::thread::sleep(Duration::from_micros(700 * (cycle % 40)));
        let before = index.info().unwrap().sequence;
        writer.kill().unwrap();
        writer.wait().unwrap();
        sequence = check(&index);
        assert!(sequence >= before, "what was published stays");
        assert_eq!(check(&open(folder.path())), sequence, "a fresh reader agrees");
        assert!(index.try_lock().unwrap(), "the lock went with the process");
        assert_eq!(index.info().unwrap().sequence, sequence);
        index.unlock();
    }
}

/// A limit on the size of files stands for a full disk: the same refusals, from the same calls.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_only_the_rows_that_found_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let role = ["role_limited_writer", "--exact", "--test-threads=1"];
    let status = Command::new("sh")
        .args(["-c", &format!("ulimit -f {LIMIT_BLOCKS}; trap '' XFSZ; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(role)
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let index = open(folder.path());
    let sequence = check(&index);
    assert!(index.try_lock().unwrap());
    append(&index, &stream(sequence, 300)).unwrap();
    index.publish(sequence + 300).unwrap();
    assert_eq!(index.info().unwrap().live, sequence + 299);
    check(&index);
}

#[test]
fn two_writing_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writers =
        [start("role_polite_writer", folder.path()), start("role_polite_writer", folder.path())];
    let index = open(folder.path());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let info = index.info().unwrap();
                assert_eq!(info.rows, info.sequence, "rows and sequence change together");
            }
        });
        let statuses = writers.each_mut().map(|writer| writer.wait().unwrap());
        done.store(true, Ordering::Relaxed);
        assert!(statuses.iter().all(std::process::ExitStatus::success));
    });
    assert_eq!(check(&index), 200);
    assert_eq!(index.info().unwrap().live, 200);
}

/// A head is replaced while others read it, thousands of times: no reader sees a mixture.
#[test]
fn a_head_is_never_seen_torn() {
    let folder = tempfile::tempdir().unwrap();
    let writer = open(folder.path());
    assert!(writer.try_lock().unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let index = open(folder.path());
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let info = index.info().unwrap();
                    assert_eq!(info.rows * 1_000_003, info.sequence);
                    assert!(info.rows >= last);
                    last = info.rows;
                }
            });
        }
        let one = stream(0, 1);
        for count in 1..=1500_u64 {
            append(&writer, &one).unwrap();
            writer.publish(count * 1_000_003).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
}
