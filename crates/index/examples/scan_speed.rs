//! How fast does one thread search, and how near is that to the speed of memory?
//!
//! `cargo run --release -p cpersona-index --example scan_speed [-- <rows>x<dimension> ...] [isa=<name>]
//! [threads=<n>]`; without sizes 10,000 and 200,000 rows of 384 and 768 elements. Rows lie around 2,000
//! centres that share a direction, as embeddings of text do. Times are medians; recall is that of the first
//! ten against the exact search.

#![expect(clippy::print_stdout, reason = "a table on the terminal is what this program is for")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use cpersona_index::{Isa, Kernels, Method, Options, Rows, SearchRequest, VectorIndex};

const QUERIES: usize = 40;
const CENTRES: usize = 2_000;

struct Normal(u64);

impl Normal {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The sum of four uniform numbers is near enough to a normal one.
    fn next(&mut self) -> f32 {
        let word = self.word();
        (0..4).map(|i| ((word >> (16 * i)) & 0xffff) as f32 / 65_536.0 - 0.5).sum()
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.next()).collect()
    }
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter().map(|value| value / length).collect()
}

/// Bytes per nanosecond of a sequential read of memory that no cache holds, by the cheapest loop there is.
fn read_speed() -> f64 {
    let words = vec![1_u64; 96 << 20];
    let (mut best, mut rows) = (Duration::MAX, [0; 512]);
    for _ in 0..5 {
        let begun = Instant::now();
        for chunk in words.chunks(512 * 16) {
            Kernels::best().hamming_rows(&words[..16], chunk, &mut rows[..chunk.len() / 16]);
            black_box(&rows);
        }
        best = best.min(begun.elapsed());
    }
    (words.len() * 8) as f64 / best.as_nanos() as f64
}

fn measure(rows: usize, dimension: usize, kernels: Kernels, threads: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut normal = Normal(rows as u64 ^ dimension as u64);
    let shared = normal.vector(dimension);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| normal.vector(dimension)).collect();
    let point = |normal: &mut Normal| {
        let centre = &centres[normal.word() as usize % CENTRES];
        let values: Vec<f32> =
            shared.iter().zip(centre).map(|(s, c)| s * 1.5 + c + normal.next() * 0.9).collect();
        unit(&values)
    };
    let options = Options { kernels, ..Options::new(dimension, [1; 16]) };
    let index = VectorIndex::open(folder.path(), options.clone())?;
    if !index.try_lock()? {
        return Err("a fresh folder is locked".into());
    }
    let begun = Instant::now();
    for first in (0..rows).step_by(1000) {
        let count = 1000.min(rows - first);
        let keys: Vec<u64> = (first..first + count).map(|row| row as u64 * 2).collect();
        let times: Vec<f64> = keys.iter().map(|key| *key as f64).collect();
        let scopes: Vec<u32> = keys.iter().map(|key| (key / 2 % 20) as u32).collect();
        let vectors: Vec<f32> = (0..count).flat_map(|_| point(&mut normal)).collect();
        let blocks = vec![0; count];
        index.append(Rows {
            keys: &keys,
            blocks: &blocks,
            scopes: &scopes,
            times: &times,
            vectors: &vectors,
        })?;
    }
    index.publish(1)?;
    index.compact()?;
    let filled = begun.elapsed();
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|_| point(&mut normal)).collect();
    let cold = Instant::now();
    let index = VectorIndex::open(folder.path(), options)?;
    index.info()?;
    println!(
        "\n{rows} x {dimension}, {}, {threads} thread(s); filled in {:.1} s, opened in {:.2} ms",
        kernels.isa(),
        filled.as_secs_f64(),
        cold.elapsed().as_secs_f64() * 1e3
    );
    println!("{:<12}{:>10}{:>10}{:>9}  method", "", "ms", "GB/s", "recall");
    let words = dimension.div_ceil(64);
    let cases: [(&str, Method, usize, Option<&[u32]>); 8] = [
        ("exact", Method::Exact, dimension * 4, None),
        ("int8-raw", Method::Int8Raw, dimension, None),
        ("bits-raw", Method::BitsRaw, words * 8, None),
        ("int8", Method::Int8, dimension, None),
        ("bits", Method::Bits, words * 8, None),
        ("auto", Method::Auto, words * 8, None),
        ("1 scope/20", Method::Auto, words * 8, Some(&[3])),
        ("exact 1/20", Method::Exact, dimension * 4, Some(&[3])),
    ];
    for (name, method, bytes, scopes) in cases {
        let search = |query: &[f32], method| {
            index.search(&SearchRequest { method, threads, scopes, ..SearchRequest::new(query, 10) })
        };
        // Each method runs by itself, so that the caches hold what they would hold between equal searches.
        let exact =
            queries.iter().map(|query| search(query, Method::Exact)).collect::<Result<Vec<_>, _>>()?;
        let mut times = Vec::new();
        let mut shared = 0;
        let mut used = method;
        for round in 0..3 {
            for (query, exact) in queries.iter().zip(&exact) {
                let begun = Instant::now();
                let found = search(query, method)?;
                times.push(begun.elapsed());
                used = found.method;
                if round == 0 {
                    shared += found.keys.iter().filter(|key| exact.keys.contains(key)).count();
                }
            }
        }
        times.sort_unstable();
        let median = times[times.len() / 2].as_secs_f64() * 1e3;
        println!(
            "{name:<12}{median:>10.3}{:>10.1}{:>9.4}  {}",
            (rows * bytes) as f64 / median / 1e6,
            shared as f64 / (QUERIES * 10) as f64,
            used.name()
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    let (mut kernels, mut threads) = (Kernels::best(), 1);
    for argument in std::env::args().skip(1) {
        if let Some(name) = argument.strip_prefix("isa=") {
            kernels = Kernels::for_isa(name.parse::<Isa>()?).ok_or("this CPU lacks that level")?;
        } else if let Some(count) = argument.strip_prefix("threads=") {
            threads = count.parse()?;
        } else {
            let (rows, dimension) = argument.split_once('x').ok_or("sizes are <rows>x<dimension>")?;
            sizes.push((rows.parse()?, dimension.parse()?));
        }
    }
    if sizes.is_empty() {
        sizes = vec![(10_000, 384), (10_000, 768), (200_000, 384), (200_000, 768)];
    }
    println!("sequential read of memory: {:.1} GB/s", read_speed());
    for (rows, dimension) in sizes {
        measure(rows, dimension, kernels, threads)?;
    }
    Ok(())
}
