//! Cost of a whole search by method, with filters and without. Random rows: no structure helps or hurts.

use cpersona_index::{AgeCut, Method, Options, Rows, SearchRequest, VectorIndex};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const DIMENSION: usize = 384;
const ROWS: usize = 50_000;

fn vectors(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((state >> 40) as f32 / 8_388_608.0 - 1.0) * 0.088
    };
    (0..count * DIMENSION).map(|_| next()).collect()
}

fn search(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = VectorIndex::open(folder.path(), Options::new(DIMENSION, [0; 16])).expect("an empty index");
    assert!(index.try_lock().expect("a writable folder"), "a fresh folder is free");
    let keys: Vec<u64> = (0..ROWS as u64).map(|row| row * 2).collect();
    let times: Vec<f64> = keys.iter().map(|key| *key as f64).collect();
    let scopes: Vec<u32> = keys.iter().map(|key| (key / 2 % 100) as u32).collect();
    let rows = Rows {
        keys: &keys,
        blocks: &vec![0; ROWS],
        scopes: &scopes,
        times: &times,
        vectors: &vectors(ROWS, 1),
    };
    index.append(rows).expect("rows that fit");
    index.publish(1).expect("room for them");
    let query = vectors(1, 2);
    let plain = SearchRequest::new(&query, 10);
    let mut group = criterion.benchmark_group(format!("search {ROWS}x{DIMENSION}"));
    for method in [Method::Exact, Method::Int8, Method::Int8Raw, Method::Bits, Method::BitsRaw, Method::Auto]
    {
        group.bench_function(BenchmarkId::from_parameter(method.name()), |bencher| {
            bencher.iter(|| index.search(&SearchRequest { method, ..plain }));
        });
    }
    let newest = AgeCut { times: [ROWS as f64 * 2.0 - 20_000.0; 2], keys: [0.0; 2] };
    let all = AgeCut { times: [f64::NEG_INFINITY; 2], keys: [0.0; 2] };
    let filtered = [
        ("one scope of 100", SearchRequest { scopes: Some(&[7]), ..plain }),
        ("window of 10,000", SearchRequest { near: Some(newest), ..plain }),
        ("window and reach", SearchRequest { near: Some(newest), far: Some(all), far_limit: 10, ..plain }),
        ("1,000 masked keys", SearchRequest { masked: Some(&keys[20_000..21_000]), ..plain }),
        ("only 1,000 keys", SearchRequest { only: Some(&keys[20_000..21_000]), ..plain }),
    ];
    for (name, request) in filtered {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| index.search(&request));
        });
    }
    group.finish();
}

fn publish(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = VectorIndex::open(folder.path(), Options::new(DIMENSION, [0; 16])).expect("an empty index");
    assert!(index.try_lock().expect("a writable folder"), "a fresh folder is free");
    let vector = vectors(1, 3);
    let one = Rows { keys: &[2], blocks: &[0], scopes: &[0], times: &[0.0], vectors: &vector };
    let mut sequence = 0;
    criterion.bench_function("append and publish one row", |bencher| {
        bencher.iter(|| {
            sequence += 1;
            index.append(one).and_then(|()| index.publish(sequence))
        });
    });
}

criterion_group!(benches, search, publish);
criterion_main!(benches);
