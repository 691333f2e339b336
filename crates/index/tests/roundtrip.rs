//! The index against the naive search of `support`, and the life of rows from append to compaction.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

use cpersona_index::{
    AgeCut, IndexError, Isa, Kernels, Method, Options, Rows, SearchRequest, SearchResult, VectorIndex,
};
use proptest::prelude::*;
use support::{IDENTITY, Row, Seeded, Table, append, assert_same, naive, open_locked, options, rows, unit};

const CERTAIN: [Method; 4] = [Method::Exact, Method::Int8, Method::Bits, Method::Auto];

/// Few distinct values, so that scores, times and keys often tie.
fn row(dimension: usize) -> impl Strategy<Value = Row> {
    (0_u64..40, 0_u32..3, 0_u32..4, 0_u8..6, prop::collection::vec(-2_i8..3, dimension)).prop_map(
        |(key, block, scope, time, vector)| Row {
            key,
            block,
            scope,
            time: f64::from(time),
            vector: unit(&vector.iter().map(|value| f32::from(*value)).collect::<Vec<_>>()),
        },
    )
}

/// Of one record, a block number occurs once: that is what makes the order total.
fn distinct(rows: Vec<Row>) -> Vec<Row> {
    let mut seen = Vec::new();
    rows.into_iter()
        .filter(|row| {
            let fresh = !seen.contains(&(row.key, row.block));
            seen.push((row.key, row.block));
            fresh
        })
        .collect()
}

fn cut() -> impl Strategy<Value = AgeCut> {
    let time = prop_oneof![Just(f64::NEG_INFINITY), (0_u8..7).prop_map(f64::from), Just(f64::INFINITY)];
    ([time.clone(), time], [0_u8..40, 0..40])
        .prop_map(|(times, keys)| AgeCut { times, keys: keys.map(f64::from) })
}

fn keys() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::btree_set(0_u64..44, 0..12).prop_map(|keys| keys.into_iter().collect())
}

#[derive(Clone, Debug)]
struct Case {
    stored: Vec<Row>,
    extra: Vec<Row>,
    removed: Vec<u64>,
    query: Vec<f32>,
    scopes: Option<Vec<u32>>,
    near: Option<AgeCut>,
    far: Option<AgeCut>,
    limits: [usize; 2],
    floor: f32,
    masked: Option<Vec<u64>>,
    only: Option<Vec<u64>>,
}

fn case() -> impl Strategy<Value = Case> {
    (1_usize..80).prop_flat_map(|dimension| {
        let stored = prop::collection::vec(row(dimension), 0..300).prop_map(distinct);
        // Blocks of extra rows differ from stored ones, which may stay visible under the same key.
        let extra = prop::collection::vec(row(dimension), 0..12).prop_map(|rows| {
            distinct(rows.into_iter().map(|row| Row { block: row.block + 10, ..row }).collect())
        });
        let query = row(dimension).prop_map(|row| row.vector);
        let scopes = prop::option::of(prop::collection::vec(0_u32..6, 0..12));
        let floor = prop_oneof![Just(f32::NEG_INFINITY), -0.5_f32..0.5, Just(0.0)];
        let rows = (stored, extra, keys(), query);
        let conditions = (
            scopes,
            prop::option::of(cut()),
            prop::option::of(cut()),
            [0_usize..12, 0..12],
            floor,
            prop::option::of(keys()),
            prop::option::of(keys()),
        );
        (rows, conditions).prop_map(
            |((stored, extra, removed, query), (scopes, near, far, limits, floor, masked, only))| Case {
                stored,
                extra,
                removed,
                query,
                scopes,
                near,
                far,
                limits,
                floor,
                masked,
                only,
            },
        )
    })
}

impl Case {
    fn request<'a>(&'a self, extra: Rows<'a>, method: Method, threads: usize) -> SearchRequest<'a> {
        SearchRequest {
            query: &self.query,
            scopes: self.scopes.as_deref(),
            near: self.near,
            far: self.far,
            near_limit: self.limits[0],
            far_limit: self.limits[1],
            floor: self.floor,
            masked: self.masked.as_deref(),
            only: self.only.as_deref(),
            extra,
            method,
            threads,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Small sets force every method to fall back to the exact one or to keep all rows: answers are equal.
    #[test]
    fn searches_match_the_naive_search(case in case()) {
        let folder = tempfile::tempdir().unwrap();
        let dimension = case.query.len();
        let index = open_locked(folder.path(), dimension);
        let (first, second) = case.stored.split_at(case.stored.len() / 3);
        append(&index, first).unwrap();
        index.publish(1).unwrap();
        append(&index, second).unwrap();
        let expected_removed = case.stored.iter().filter(|row| case.removed.contains(&row.key)).count();
        prop_assert_eq!(index.remove(&case.removed).unwrap(), expected_removed as u64);
        index.publish(2).unwrap();
        let live: Vec<Row> =
            case.stored.iter().filter(|row| !case.removed.contains(&row.key)).cloned().collect();
        let extra = Table::new(&case.extra);
        let reader = VectorIndex::open(folder.path(), options(dimension)).unwrap();
        for method in CERTAIN {
            for threads in [1, 3] {
                let request = case.request(extra.rows(), method, threads);
                let expected = naive(&live, &request, &case.extra, Kernels::best());
                assert_same(&reader.search(&request).unwrap(), &expected, method.name());
            }
        }
        let info = reader.info().unwrap();
        prop_assert_eq!((info.rows, info.live), (case.stored.len() as u64, live.len() as u64));
        reader.verify().unwrap();
        index.compact().unwrap();
        let request = case.request(extra.rows(), Method::Exact, 1);
        let expected = naive(&live, &request, &case.extra, Kernels::best());
        assert_same(&reader.search(&request).unwrap(), &expected, "after compaction");
        let info = reader.info().unwrap();
        prop_assert_eq!((info.rows, info.live, info.sequence), (live.len() as u64, live.len() as u64, 2));
        reader.verify().unwrap();
    }
}

/// Rows around a few centres, as embeddings lie.
fn clustered(count: usize, dimension: usize, seed: u64) -> Vec<Row> {
    let mut seeded = Seeded(seed);
    let centres: Vec<Vec<f32>> = (0..40).map(|_| seeded.unit(dimension)).collect();
    (0..count)
        .map(|i| {
            let centre = &centres[(seeded.word() % 40) as usize];
            let noise = seeded.unit(dimension);
            let vector: Vec<f32> = centre.iter().zip(&noise).map(|(c, n)| c * 0.7 + n).collect();
            Row {
                // Every eighth record has several blocks.
                key: (i as u64 - if i % 8 < 3 { (i % 8) as u64 } else { 0 }) * 2,
                block: if i % 8 < 3 { (i % 8) as u32 } else { 0 },
                scope: (i % 50) as u32,
                time: i as f64,
                vector: unit(&vector),
            }
        })
        .collect()
}

fn fill(folder: &std::path::Path, stored: &[Row], isa: Isa) -> VectorIndex {
    let dimension = stored[0].vector.len();
    let kernels = Kernels::for_isa(isa).unwrap();
    let index = VectorIndex::open(folder, Options { kernels, ..Options::new(dimension, IDENTITY) }).unwrap();
    assert!(index.try_lock().unwrap());
    append(&index, stored).unwrap();
    index.publish(1).unwrap();
    index
}

fn overlap(found: &SearchResult, exact: &SearchResult) -> usize {
    found.keys.iter().filter(|key| exact.keys.contains(key)).count()
}

#[test]
fn cheap_passes_find_what_the_exact_scan_finds() {
    let stored = clustered(12_000, 128, 5);
    let (_, queries) = stored.split_at(stored.len() - 60);
    let folder = tempfile::tempdir().unwrap();
    let index = fill(folder.path(), &stored, Kernels::best().isa());
    for method in [Method::Int8, Method::Bits, Method::Auto] {
        let (mut found, mut wanted) = (0, 0);
        for query in queries {
            let cut = AgeCut { times: [6000.0; 2], keys: [0.0; 2] };
            let all = AgeCut { times: [f64::NEG_INFINITY; 2], keys: [0.0; 2] };
            for (near, far) in [(None, None), (Some(cut), Some(all))] {
                let request = SearchRequest {
                    near,
                    far,
                    far_limit: 10,
                    method,
                    ..SearchRequest::new(&query.vector, 10)
                };
                let exact = index.search(&SearchRequest { method: Method::Exact, ..request }).unwrap();
                let answer = index.search(&request).unwrap();
                for (key, score) in answer.keys.iter().zip(&answer.scores) {
                    if let Some(at) = exact.keys.iter().position(|other| other == key) {
                        assert_eq!(
                            score.to_bits(),
                            exact.scores[at].to_bits(),
                            "rescored like the exact scan"
                        );
                    }
                }
                found += overlap(&answer, &exact);
                wanted += exact.keys.len();
            }
        }
        let recall = found as f64 / wanted as f64;
        assert!(recall >= 0.995, "{}: recall {recall}", method.name());
        println!("{} recall {recall:.4}", method.name());
    }
}

/// Rows that lie in one corner of the space, as many models put them.
fn shifted(count: usize, dimension: usize, seed: u64) -> Vec<Row> {
    let shared = Seeded(seed).unit(dimension);
    let towards = |row: Row| {
        let vector: Vec<f32> = row.vector.iter().zip(&shared).map(|(x, s)| x * 0.5 + s).collect();
        Row { vector: unit(&vector), ..row }
    };
    clustered(count, dimension, seed).into_iter().map(towards).collect()
}

/// Share of the ten nearest that the sign bits alone find.
fn by_signs(index: &VectorIndex, queries: &[Row]) -> f64 {
    let share = |query: &Row| {
        let request = SearchRequest::new(&query.vector, 10);
        let exact = index.search(&SearchRequest { method: Method::Exact, ..request }).unwrap();
        let found = index.search(&SearchRequest { method: Method::BitsRaw, ..request }).unwrap();
        overlap(&found, &exact) as f64 / exact.keys.len() as f64
    };
    queries.iter().map(share).sum::<f64>() / queries.len() as f64
}

#[test]
fn what_all_rows_share_is_kept_out_of_sign_bits() {
    let stored = shifted(6000, 128, 3);
    let queries = &stored[..40];
    let folder = tempfile::tempdir().unwrap();
    let index = fill(folder.path(), &stored[..5000], Kernels::best().isa());
    // The other handle has the old signs in memory.
    let reader = VectorIndex::open(folder.path(), options(128)).unwrap();
    let before = by_signs(&reader, queries);
    assert_eq!(index.info().unwrap().centred_rows, 0);
    index.compact().unwrap();
    assert_eq!(index.info().unwrap().centred_rows, 5000);
    append(&index, &stored[5000..]).unwrap();
    index.publish(2).unwrap();
    assert_eq!(index.info().unwrap().centred_rows, 5000, "learned once, used for what follows");
    for after in [by_signs(&index, queries), by_signs(&reader, queries)] {
        assert!(after > before + 0.15, "{before} before the centre was learned, {after} after");
    }
    reader.verify().unwrap();
}

#[test]
fn every_instruction_set_gives_the_same_records() {
    // Rows 100 to 199 repeat the first hundred: equal scores, which the newer row wins.
    let mut stored = clustered(3000, 100, 9);
    for i in 0..100 {
        stored[100 + i].vector = stored[i].vector.clone();
    }
    let mut answers: Vec<(Isa, Vec<SearchResult>)> = Vec::new();
    for isa in Isa::available() {
        let folder = tempfile::tempdir().unwrap();
        let index = fill(folder.path(), &stored, isa);
        let mut found = Vec::new();
        for method in [Method::Exact, Method::Int8, Method::Bits, Method::Auto] {
            for (i, row) in stored[..40].iter().enumerate() {
                for threads in [1, 3] {
                    let request = SearchRequest { method, threads, ..SearchRequest::new(&row.vector, 20) };
                    found.push(index.search(&request).unwrap());
                    let best: Vec<u64> = found[found.len() - 1].keys[..2].to_vec();
                    assert_eq!(best, [stored[100 + i].key, row.key], "{isa} {method:?}: the newer row first");
                }
            }
        }
        answers.push((isa, found));
    }
    let (_, expected) = answers.last().unwrap();
    for (isa, found) in &answers {
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.keys, expected.keys, "{isa}");
        }
    }
}

#[test]
fn rows_are_invisible_until_published() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let stored = rows(10, 8, 1);
    append(&index, &stored).unwrap();
    let request = SearchRequest::new(&stored[0].vector, 5);
    assert!(index.search(&request).unwrap().keys.is_empty());
    index.publish(7).unwrap();
    assert_eq!(index.search(&request).unwrap().keys[0], 0);
    let info = index.info().unwrap();
    assert_eq!((info.rows, info.sequence, info.generation), (10, 7, 1));
}

#[test]
fn a_removed_record_may_come_back_in_the_same_publication() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let stored = rows(70, 8, 1);
    append(&index, &stored).unwrap();
    assert_eq!(index.remove(&[4, 4, 999]).unwrap(), 1);
    assert_eq!(index.remove(&[4]).unwrap(), 0);
    append(&index, &stored[2..3]).unwrap();
    index.publish(1).unwrap();
    assert_eq!(index.search(&SearchRequest::new(&stored[2].vector, 1)).unwrap().keys, [4]);
    assert_eq!(index.info().unwrap().live, 70);
    // What is published goes at once, without another publication.
    assert_eq!(index.remove(&[4]).unwrap(), 1);
    assert_ne!(index.search(&SearchRequest::new(&stored[2].vector, 1)).unwrap().keys, [4]);
}

#[test]
fn compaction_carries_pending_rows() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let stored = rows(200, 8, 3);
    append(&index, &stored[..150]).unwrap();
    index.publish(3).unwrap();
    append(&index, &stored[150..]).unwrap();
    index.remove(&[0, 2, 310]).unwrap();
    index.compact().unwrap();
    let info = index.info().unwrap();
    assert_eq!((info.rows, info.live, info.sequence, info.generation), (148, 148, 3, 2));
    assert_eq!(index.remove(&[312]).unwrap(), 1);
    index.publish(4).unwrap();
    let info = index.info().unwrap();
    assert_eq!((info.rows, info.live, info.sequence), (197, 196, 4));
    let best = index.search(&SearchRequest::new(&stored[180].vector, 1)).unwrap();
    assert_eq!(best.keys, [360]);
    index.verify().unwrap();
}

/// What makes an append cost the same in a large index as in a small one.
#[test]
fn an_append_touches_nothing_that_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let stored = rows(1000, 8, 3);
    append(&index, &stored[..900]).unwrap();
    index.publish(1).unwrap();
    let files = ["vectors.f32", "vectors.i8", "bits.u64", "meta", "dead"];
    let read = |name: &str| std::fs::read(folder.path().join("gen-1").join(name)).unwrap();
    let before = files.map(read);
    append(&index, &stored[900..]).unwrap();
    index.publish(2).unwrap();
    // Whole blocks of 64 rows: metadata and flags of the last one are shared with the new rows.
    let whole = 900 / 64 * 64;
    for ((name, before), bytes) in files.iter().zip(&before).zip([32.0, 8.0, 8.0, 32.0, 0.25]) {
        let published = (f64::from(whole) * bytes) as usize;
        let after = read(name);
        assert!(before[..published] == after[..published], "{name}");
        assert_eq!(before.len(), after.len(), "{name}: room was made ahead");
    }
}

#[test]
fn an_interrupted_compaction_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    append(&index, &rows(200, 8, 3)).unwrap();
    index.remove(&[0, 2]).unwrap();
    index.publish(3).unwrap();
    let before = index.info().unwrap();
    index.interrupt();
    assert!(!index.compact().unwrap());
    assert_eq!(index.info().unwrap(), before);
    assert!(!folder.path().join("gen-2").exists());
    index.verify().unwrap();
}

#[test]
fn the_lock_taken_again_goes_on_where_others_left() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open_locked(folder.path(), 8), VectorIndex::open(folder.path(), options(8)).unwrap());
    let stored = rows(300, 8, 3);
    append(&one, &stored[..100]).unwrap();
    one.publish(1).unwrap();
    one.unlock();
    assert!(other.try_lock().unwrap());
    append(&other, &stored[100..200]).unwrap();
    other.remove(&[4]).unwrap();
    other.publish(2).unwrap();
    other.unlock();
    assert!(one.try_lock().unwrap());
    append(&one, &stored[200..]).unwrap();
    one.publish(3).unwrap();
    one.unlock();
    assert!(other.try_lock().unwrap());
    other.compact().unwrap();
    other.unlock();
    assert!(one.try_lock().unwrap());
    assert_eq!(one.info().unwrap().rows, 299);
    one.verify().unwrap();
    for row in [&stored[50], &stored[150], &stored[250]] {
        assert_eq!(one.search(&SearchRequest::new(&row.vector, 1)).unwrap().keys, [row.key]);
    }
}

#[test]
fn many_scopes_select_the_same_rows_as_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let mut stored = rows(500, 8, 3);
    for row in &mut stored {
        row.scope = if row.key % 22 == 0 { u32::MAX - row.key as u32 } else { row.key as u32 % 130 };
    }
    append(&index, &stored).unwrap();
    index.publish(1).unwrap();
    let small: Vec<u32> = (0..130).step_by(3).collect();
    let large: Vec<u32> = small.iter().copied().chain([u32::MAX, u32::MAX - 44]).collect();
    for codes in [&small, &large] {
        let request = SearchRequest { scopes: Some(codes), ..SearchRequest::new(&stored[0].vector, 500) };
        let expected = naive(&stored, &request, &[], index.kernels());
        assert!(expected.keys.len() > 100);
        assert_same(&index.search(&request).unwrap(), &expected, "many scopes");
    }
}

#[test]
fn blocks_of_one_scope_are_filtered_like_mixed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 12);
    let mut stored = rows(640, 12, 4);
    for (i, row) in stored.iter_mut().enumerate() {
        // Whole blocks of 1 and 2, then some that hold both, then one row of 3 among removed ones of 2.
        row.scope = if i < 384 { 1 + i as u32 / 192 } else { 1 + i as u32 % 2 };
    }
    stored[639].scope = 3;
    append(&index, &stored).unwrap();
    index.publish(1).unwrap();
    let removed: Vec<u64> = stored[576..639].iter().map(|row| row.key).collect();
    index.remove(&removed).unwrap();
    stored.drain(576..639);
    let many: Vec<u32> = (2..40).collect();
    for codes in [&[1_u32][..], &[2], &[3], &[1, 3], &[7], &[], &many] {
        let request = SearchRequest { scopes: Some(codes), ..SearchRequest::new(&stored[0].vector, 700) };
        let expected = naive(&stored, &request, &[], index.kernels());
        assert_same(&index.search(&request).unwrap(), &expected, &format!("{codes:?}"));
    }
}

#[test]
fn reset_empties_for_every_handle() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let reader = VectorIndex::open(folder.path(), options(8)).unwrap();
    append(&index, &rows(10, 8, 1)).unwrap();
    index.publish(5).unwrap();
    assert_eq!(reader.info().unwrap().rows, 10);
    index.reset().unwrap();
    let info = reader.info().unwrap();
    assert_eq!((info.rows, info.sequence, info.generation), (0, 0, 2));
}

#[test]
fn another_kind_counts_as_empty_and_is_emptied_by_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    append(&index, &rows(10, 8, 1)).unwrap();
    index.publish(5).unwrap();
    index.unlock();
    let others = [options(9), Options::new(8, [7; 16])];
    for other in others {
        let dimension = other.dimension;
        let reader = VectorIndex::open(folder.path(), other).unwrap();
        assert_eq!(reader.info().unwrap().rows, 0);
        assert!(reader.search(&SearchRequest::new(&vec![1.0; dimension], 3)).unwrap().keys.is_empty());
    }
    assert_eq!(index.info().unwrap().rows, 10);
    let other = VectorIndex::open(folder.path(), Options::new(8, [7; 16])).unwrap();
    assert!(other.try_lock().unwrap());
    assert_eq!(other.info().unwrap().sequence, 0);
    assert_eq!(index.info().unwrap().rows, 0, "the folder is of another kind now");
}

#[test]
fn only_one_handle_writes() {
    let folder = tempfile::tempdir().unwrap();
    let first = open_locked(folder.path(), 4);
    assert!(first.try_lock().unwrap());
    let second = VectorIndex::open(folder.path(), options(4)).unwrap();
    assert!(!second.try_lock().unwrap());
    for denied in [
        second.append(Rows::default()),
        second.remove(&[1]).map(drop),
        second.publish(1),
        second.compact().map(drop),
        second.reset(),
    ] {
        assert!(matches!(denied, Err(IndexError::NotLocked)));
    }
    drop(first);
    assert!(second.try_lock().unwrap());
}

#[test]
fn unpublished_rows_are_lost_with_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 8);
    let stored = rows(100, 8, 1);
    append(&index, &stored[..70]).unwrap();
    index.publish(1).unwrap();
    append(&index, &stored[70..]).unwrap();
    index.remove(&[140, 150]).unwrap();
    index.unlock();
    assert!(index.try_lock().unwrap());
    // Written over the same places, whose flags must have been cleared.
    append(&index, &stored[70..]).unwrap();
    index.publish(2).unwrap();
    assert_eq!(index.info().unwrap().live, 100);
    index.verify().unwrap();
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 4);
    let code = |error: Result<(), IndexError>| error.unwrap_err().code();
    let row = Row { key: 1, block: 0, scope: 0, time: 0.0, vector: vec![0.5; 4] };
    assert_eq!(code(append(&index, &[Row { vector: vec![0.5; 3], ..row }])), "wrong_dimension");
    assert_eq!(code(append(&index, &[Row { vector: vec![f32::NAN; 4], ..row }])), "invalid");
    assert_eq!(code(append(&index, &[Row { time: f64::NAN, ..row.clone() }])), "invalid");
    let table = Table::new(&[row]);
    assert_eq!(code(index.append(Rows { blocks: &[], ..table.rows() })), "invalid");
    let search = |request: SearchRequest<'_>| code(index.search(&request).map(drop));
    assert_eq!(search(SearchRequest::new(&[1.0; 5], 1)), "wrong_dimension");
    assert_eq!(
        search(SearchRequest { masked: Some(&[2, 1]), ..SearchRequest::new(&[1.0; 4], 1) }),
        "invalid"
    );
    assert_eq!(search(SearchRequest { only: Some(&[2, 1]), ..SearchRequest::new(&[1.0; 4], 1) }), "invalid");
    for dimension in [0, 16_385] {
        assert_eq!(code(VectorIndex::open(folder.path(), options(dimension)).map(drop)), "invalid");
    }
}

#[test]
fn zero_rows_and_queries_have_cosine_zero() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 70);
    let mut stored = rows(3, 70, 1);
    stored[1].vector = vec![0.0; 70];
    append(&index, &stored).unwrap();
    index.publish(1).unwrap();
    for method in CERTAIN.into_iter().chain([Method::Int8Raw, Method::BitsRaw]) {
        let request = SearchRequest { method, ..SearchRequest::new(&[0.0; 70], 3) };
        let found = index.search(&request).unwrap();
        if !matches!(method, Method::BitsRaw) {
            assert_eq!((found.keys, found.scores), (vec![4, 2, 0], vec![0.0; 3]), "{}", method.name());
        }
    }
}

#[test]
fn handles_and_searches_cross_threads() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_locked(folder.path(), 16);
    let stored = rows(2000, 16, 4);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (index, stored) = (&index, &stored);
            scope.spawn(move || {
                for round in 0..200 {
                    let query = &stored[(round * 7 + thread) % stored.len()].vector;
                    let found = index.search(&SearchRequest::new(query, 4)).unwrap();
                    assert!(found.scores.is_sorted_by(|a, b| a >= b));
                }
            });
        }
        for (i, chunk) in stored.chunks(100).enumerate() {
            append(&index, chunk).unwrap();
            index.publish(i as u64 + 1).unwrap();
            if i % 6 == 5 {
                index.remove(&[stored[i].key]).unwrap();
                index.compact().unwrap();
            }
        }
    });
    assert_eq!(index.info().unwrap().live, 2000 - 3);
}
