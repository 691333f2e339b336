//! Cost of a dot product per row, by level: friendly, large and ugly dimensions over more memory than a cache
//! holds, read in order.

use std::hint::black_box;

use cpersona_kernels::{Isa, Kernels};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const POOL_BYTES: usize = 384 << 20;
const CHUNK_ROWS: usize = 512;

fn floats(criterion: &mut Criterion) {
    let pool: Vec<f32> = (0..POOL_BYTES / 4).map(|i| (i % 251) as f32 / 251.0).collect();
    let mut out = vec![0.0; CHUNK_ROWS];
    for dimension in [384, 768, 1023] {
        let rows = pool.len() / dimension;
        let mut group = criterion.benchmark_group(format!("dot float32 x{dimension}"));
        group.sample_size(10).throughput(Throughput::Bytes((rows * dimension * 4) as u64));
        for kernels in Isa::available().filter_map(Kernels::for_isa) {
            group.bench_function(BenchmarkId::from_parameter(kernels.isa()), |bencher| {
                bencher.iter(|| {
                    for chunk in pool[..rows * dimension].chunks(CHUNK_ROWS * dimension) {
                        let out = &mut out[..chunk.len() / dimension];
                        kernels.dot_f32_rows(&pool[..dimension], chunk, out);
                        black_box(out);
                    }
                });
            });
        }
    }
}

fn bytes(criterion: &mut Criterion) {
    let pool: Vec<i8> = (0..POOL_BYTES).map(|i| (i % 251) as i8).collect();
    let mut out = vec![0; CHUNK_ROWS];
    for dimension in [384, 768, 1023] {
        let rows = pool.len() / dimension;
        let mut group = criterion.benchmark_group(format!("dot int8 x{dimension}"));
        group.sample_size(10).throughput(Throughput::Bytes((rows * dimension) as u64));
        for kernels in Isa::available().filter_map(Kernels::for_isa) {
            group.bench_function(BenchmarkId::from_parameter(kernels.isa()), |bencher| {
                bencher.iter(|| {
                    for chunk in pool[..rows * dimension].chunks(CHUNK_ROWS * dimension) {
                        let out = &mut out[..chunk.len() / dimension];
                        kernels.dot_i8_rows(&pool[..dimension], chunk, out);
                        black_box(out);
                    }
                });
            });
        }
    }
}

criterion_group!(benches, floats, bytes);
criterion_main!(benches);
