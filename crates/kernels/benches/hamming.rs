//! Cost of a Hamming distance per row, by level: 384, 768 and an ugly number of bits, over a pool larger
//! than the cache of a core.

use std::hint::black_box;

use cpersona_kernels::{Isa, Kernels};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const POOL_WORDS: usize = 8 << 20;
const CHUNK_ROWS: usize = 512;

fn hamming(criterion: &mut Criterion) {
    let pool: Vec<u64> = (0..POOL_WORDS as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let mut out = vec![0; CHUNK_ROWS];
    for words in [6, 12, 17] {
        let rows = pool.len() / words;
        let mut group = criterion.benchmark_group(format!("hamming x{}", words * 64));
        group.sample_size(20).throughput(Throughput::Bytes((rows * words * 8) as u64));
        for kernels in Isa::available().filter_map(Kernels::for_isa) {
            group.bench_function(BenchmarkId::from_parameter(kernels.isa()), |bencher| {
                bencher.iter(|| {
                    for chunk in pool[..rows * words].chunks(CHUNK_ROWS * words) {
                        let out = &mut out[..chunk.len() / words];
                        kernels.hamming_rows(&pool[..words], chunk, out);
                        black_box(out);
                    }
                });
            });
        }
    }
}

criterion_group!(benches, hamming);
criterion_main!(benches);
