//! From selected rows to the best records. Each method is a first pass over all selected rows and, but for
//! the exact one, a second over the rows that the first one kept:
//!
//! ```text
//! exact   float32 of all -> records
//! int8    int8 of all -> pool -> float32 of the pool, best first, until no other row can enter
//! bits    Hamming of all -> pool -> int8 of the pool -> as above
//! ```
//!
//! A pool that may have been too small is noticed and the pass repeated with a larger one: by int8's own
//! error among the rescored rows, and for sign bits by the estimate of `estimate.rs`.

use std::cmp::Ordering;
use std::ops::Range;
use std::time::Instant;

use cpersona_kernels::Kernels;

use crate::costs::{Costs, Passes, Step, Work};
use crate::estimate::Line;
use crate::format::BLOCK_ROWS;
use crate::generation::Snapshot;
use crate::quantize;
use crate::request::Method;
use crate::select::{Selected, Selection, bits_of};
use crate::top_k::{Hit, Pool, TopRecords, rank_of, score_of};

/// Blocks that share one buffer of scores and, when they lie together, one call of a kernel.
const BATCH_BLOCKS: usize = 8;
/// Expected share of the answers that a sign-bit pass may lose in one search. Most searches stay far below:
/// over text embeddings the mean was under 0.001.
const TOLERANCE: f64 = 0.01;
/// Rows that the estimate of that share is made from, at least.
const ESTIMATE_ROWS: usize = 96;
/// Standard deviations of int8's error beyond which no row is expected.
const SURE: f32 = 5.0;

/// Something for each list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists<T> {
    pub(crate) near: T,
    pub(crate) far: T,
}

impl<T> Lists<T> {
    fn map<U>(self, mut change: impl FnMut(T) -> U) -> Lists<U> {
        Lists { near: change(self.near), far: change(self.far) }
    }
}

/// One search over the index.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) kernels: Kernels,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) selection: &'a Selection,
    pub(crate) query: &'a [f32],
    pub(crate) costs: &'a Costs,
    pub(crate) limits: Lists<usize>,
    pub(crate) floor: f32,
    pub(crate) threads: usize,
}

/// Contiguous rows on their way to one kernel call.
struct Runs<'a, T, F> {
    values: &'a mut [T],
    compute: &'a F,
    rows: Range<usize>,
    at: usize,
}

impl<T, F: Fn(Range<usize>, &mut [T])> Runs<'_, T, F> {
    fn push(&mut self, rows: Range<usize>, at: usize) {
        if rows.start == self.rows.end && at == self.at + self.rows.len() {
            self.rows.end = rows.end;
        } else {
            self.flush();
            (self.rows, self.at) = (rows, at);
        }
    }

    fn flush(&mut self) {
        if !self.rows.is_empty() {
            (self.compute)(self.rows.clone(), &mut self.values[self.at..][..self.rows.len()]);
        }
        self.rows = 0..0;
    }
}

/// How the rows of a region are compared with the query.
struct Sweep<R, A> {
    /// Fills a slice with the values of contiguous rows.
    rows: R,
    /// The same for scattered ones.
    at: A,
    /// A block with at least so many rows selected is computed entirely.
    whole: u32,
}

/// Runs of selected rows shorter than this on average are fetched row by row, ahead of their use.
const SHORT_RUN: u32 = 8;

/// Sweeps over selected rows and gives each block's values to `visit`; those of other rows mean nothing.
fn over_blocks<T: Copy + Default>(
    snapshot: &Snapshot,
    blocks: &[Selected],
    sweep: &Sweep<impl Fn(Range<usize>, &mut [T]), impl Fn(&[u32], &mut [T])>,
    mut visit: impl FnMut(&Selected, &[T]),
) {
    let mut values = [T::default(); BATCH_BLOCKS * BLOCK_ROWS];
    let mut gathered = [T::default(); BATCH_BLOCKS * BLOCK_ROWS];
    let (mut scattered, mut places) = (Vec::new(), Vec::new());
    for batch in blocks.chunks(BATCH_BLOCKS) {
        let mut runs = Runs { values: &mut values, compute: &sweep.rows, rows: 0..0, at: 0 };
        for (slot, selected) in batch.iter().enumerate() {
            let block = selected.block as usize;
            let (first, at) = (block * BLOCK_ROWS, slot * BLOCK_ROWS);
            let mut wanted = selected.near | selected.far;
            let count = wanted.count_ones();
            if count >= sweep.whole {
                runs.push(first..first + snapshot.rows_of(block), at);
            } else if count < SHORT_RUN * (wanted & !(wanted << 1)).count_ones() {
                for i in bits_of(wanted) {
                    scattered.push((first + i) as u32);
                    places.push(at + i);
                }
            } else {
                while wanted != 0 {
                    let from = wanted.trailing_zeros() as usize;
                    let length = (wanted >> from).trailing_ones() as usize;
                    runs.push(first + from..first + from + length, at + from);
                    wanted &= !(u64::MAX >> (BLOCK_ROWS - length) << from);
                }
            }
        }
        runs.flush();
        if !scattered.is_empty() {
            (sweep.at)(&scattered, &mut gathered[..scattered.len()]);
            for (place, value) in places.iter().zip(&gathered) {
                values[*place] = *value;
            }
            scattered.clear();
            places.clear();
        }
        for (slot, selected) in batch.iter().enumerate() {
            let count = snapshot.rows_of(selected.block as usize);
            visit(selected, &values[slot * BLOCK_ROWS..][..count]);
        }
    }
}

impl Scan<'_> {
    /// Runs a method, or the cheapest one, and says which one gave the answer.
    pub(crate) fn run(&self, method: Method) -> (Lists<TopRecords>, Method) {
        let chosen = match method {
            Method::Auto => self.costs.choose(self.work(), self.both_limits()),
            named => named,
        };
        match chosen {
            Method::Bits => match self.by_bits(method == Method::Auto) {
                Some(records) => (records, Method::Bits),
                None => self.run(Method::Int8),
            },
            Method::Int8 => match self.by_bytes() {
                Some(records) => (records, Method::Int8),
                None => (self.exact(), Method::Exact),
            },
            Method::BitsRaw => (self.bits_raw(), chosen),
            Method::Int8Raw => (self.bytes_raw(), chosen),
            Method::Exact | Method::Auto => (self.exact(), Method::Exact),
        }
    }

    fn work(&self) -> Work {
        let selection = self.selection;
        Work { rows: [selection.near, selection.far], blocks: selection.blocks.len() }
    }

    fn both_limits(&self) -> [usize; 2] {
        [self.limits.near, self.limits.far]
    }

    fn hit(&self, row: usize, score: f32) -> Hit {
        let (block, i) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
        Hit {
            score,
            time: self.snapshot.times(block)[i],
            key: self.snapshot.keys(block)[i],
            block: self.snapshot.positions(block)[i],
        }
    }

    /// Splits the blocks among threads and gathers what each of them found.
    fn share<S: Send>(&self, work: impl Fn(&[Selected]) -> S + Sync, mut gather: impl FnMut(S)) {
        let blocks = &self.selection.blocks;
        let threads = self.threads.clamp(1, blocks.len().div_ceil(BATCH_BLOCKS).max(1));
        if threads == 1 {
            return gather(work(blocks));
        }
        let part = blocks.len().div_ceil(threads).next_multiple_of(BATCH_BLOCKS);
        std::thread::scope(|scope| {
            let work = &work;
            let handles: Vec<_> = blocks.chunks(part).map(|part| scope.spawn(move || work(part))).collect();
            for handle in handles {
                match handle.join() {
                    Ok(found) => gather(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }

    fn new_records(&self) -> Lists<TopRecords> {
        self.limits.map(|limit| TopRecords::new(limit, self.floor))
    }

    fn gather_records(&self, work: impl Fn(&[Selected], &mut Lists<TopRecords>) + Sync) -> Lists<TopRecords> {
        let mut all = self.new_records();
        self.share(
            |blocks| {
                let mut found = self.new_records();
                work(blocks, &mut found);
                found
            },
            |found| {
                all.near.absorb(found.near);
                all.far.absorb(found.far);
            },
        );
        all
    }

    fn offer(&self, selected: &Selected, scores: &[f32], records: &mut Lists<TopRecords>) {
        for (rows, list) in [(selected.near, &mut records.near), (selected.far, &mut records.far)] {
            if rows != 0 {
                for i in bits_of(rows & self.kernels.mask_at_least(scores, list.bound())) {
                    list.push(self.hit(selected.block as usize * BLOCK_ROWS + i, scores[i]));
                }
            }
        }
    }

    fn exact(&self) -> Lists<TopRecords> {
        let width = self.query.len();
        let vectors = self.snapshot.vectors();
        let sweep = Sweep {
            rows: |rows: Range<usize>, out: &mut [f32]| {
                self.kernels.dot_f32_rows(self.query, &vectors[rows.start * width..rows.end * width], out);
            },
            at: |at: &[u32], out: &mut [f32]| self.kernels.dot_f32_at(self.query, vectors, at, out),
            whole: 64,
        };
        let begun = Instant::now();
        let records = self.gather_records(|blocks, records| {
            over_blocks(self.snapshot, blocks, &sweep, |selected, scores| {
                self.offer(selected, scores, records);
            });
        });
        self.learn_scan(Step::Floats, Some(Step::FloatsAt), begun);
        records
    }

    fn learn(&self, step: Step, rows: usize, begun: Instant) {
        if self.threads <= 1 {
            self.costs.learn(step, rows, begun.elapsed());
        }
    }

    /// A pass over all selected rows tells about one step when they lie together, about another otherwise.
    fn learn_scan(&self, dense: Step, sparse: Option<Step>, begun: Instant) {
        let work = self.work();
        if let Some(step) = if work.is_dense() { Some(dense) } else { sparse } {
            self.learn(step, work.rows.iter().sum(), begun);
        }
    }

    /// The query as int8, and its scale.
    fn query_bytes(&self) -> (Vec<i8>, f32) {
        let mut bytes = Vec::with_capacity(self.query.len());
        let scale = quantize::to_bytes(self.query, &mut bytes);
        (bytes, scale)
    }

    fn over_bytes(
        &self,
        blocks: &[Selected],
        query: &[i8],
        scale: f32,
        mut visit: impl FnMut(&Selected, &[f32]),
    ) {
        let width = self.query.len();
        let bytes = self.snapshot.bytes();
        let sweep = Sweep {
            rows: |rows: Range<usize>, out: &mut [i32]| {
                self.kernels.dot_i8_rows(query, &bytes[rows.start * width..rows.end * width], out);
            },
            at: |at: &[u32], out: &mut [i32]| self.kernels.dot_i8_at(query, bytes, at, out),
            whole: 40,
        };
        let mut scores = [0.0_f32; BLOCK_ROWS];
        over_blocks(self.snapshot, blocks, &sweep, |selected, products| {
            let scales = self.snapshot.scales(selected.block as usize);
            for ((score, product), row) in scores.iter_mut().zip(products).zip(scales) {
                *score = *product as f32 * (scale * row);
            }
            visit(selected, &scores[..products.len()]);
        });
    }

    fn bytes_raw(&self) -> Lists<TopRecords> {
        let (query, scale) = self.query_bytes();
        self.gather_records(|blocks, records| {
            self.over_bytes(blocks, &query, scale, |selected, scores| self.offer(selected, scores, records));
        })
    }

    /// `None` when the pools would have to hold all rows.
    fn by_bytes(&self) -> Option<Lists<TopRecords>> {
        let (query, scale) = self.query_bytes();
        let mut keep = self.limits.map(Costs::bytes_keep);
        loop {
            self.work().cuts([keep.near, keep.far]).then_some(())?;
            let begun = Instant::now();
            let mut pools = keep.map(Pool::new);
            self.share(
                |blocks| {
                    let mut pools = keep.map(Pool::new);
                    self.over_bytes(blocks, &query, scale, |selected, scores| {
                        self.pool_scores(selected, scores, &mut pools);
                    });
                    pools
                },
                |found| absorb(&mut pools, found),
            );
            self.learn_scan(Step::Bytes, Some(Step::BytesAt), begun);
            let (near, near_sure) = self.rescore_pool(pools.near, self.limits.near);
            let (far, far_sure) = self.rescore_pool(pools.far, self.limits.far);
            if near_sure && far_sure {
                return Some(Lists { near, far });
            }
            keep = keep.map(|keep| keep.saturating_mul(4));
        }
    }

    fn pool_scores(&self, selected: &Selected, scores: &[f32], pools: &mut Lists<Pool>) {
        for (rows, pool) in [(selected.near, &mut pools.near), (selected.far, &mut pools.far)] {
            if rows == 0 {
                continue;
            }
            let bound = match pool.bound() {
                u32::MAX => f32::NEG_INFINITY,
                rank => score_of(rank),
            };
            for i in bits_of(rows & self.kernels.mask_at_least(scores, bound)) {
                pool.push(rank_of(scores[i]), selected.block * BLOCK_ROWS as u32 + i as u32);
            }
        }
    }

    fn rescore_pool(&self, pool: Pool, limit: usize) -> (TopRecords, bool) {
        let (kept, cut) = pool.finish();
        let candidates = kept.into_iter().map(|(rank, row)| (score_of(rank), row)).collect();
        self.rescore(candidates, cut.map(score_of), limit)
    }

    /// Exact scores of candidates with approximate ones, best first, until no other row can enter. False when
    /// rows that scored below `cut` and were not kept might have.
    fn rescore(&self, mut candidates: Vec<(f32, u32)>, cut: Option<f32>, limit: usize) -> (TopRecords, bool) {
        let mut records = TopRecords::new(limit, self.floor);
        if limit == 0 {
            return (records, true);
        }
        let (mut squares, mut margin) = (0.0_f32, f32::INFINITY);
        let mut done = 0;
        let mut step = limit + 48;
        let mut scores = Vec::new();
        while done < candidates.len() && candidates[done].0 + margin >= records.bound() {
            let rest = &mut candidates[done..];
            // Mostly the first part suffices, so only that is put in order; the best of the others follows it.
            if step < rest.len() {
                rest.select_nth_unstable_by(step, best_first);
            }
            let count = step.min(rest.len());
            let part = &mut rest[..count];
            part.sort_unstable_by(best_first);
            let rows: Vec<u32> = part.iter().map(|(_, row)| *row).collect();
            scores.resize(rows.len(), 0.0);
            let begun = Instant::now();
            self.kernels.dot_f32_at(self.query, self.snapshot.vectors(), &rows, &mut scores);
            self.learn(Step::FloatsAt, rows.len(), begun);
            for ((approximate, row), score) in part.iter().zip(&scores) {
                squares += (approximate - score).powi(2);
                records.push(self.hit(*row as usize, *score));
            }
            records.cut();
            done += part.len();
            margin = SURE * (squares / done as f32).sqrt() + f32::EPSILON;
            step = step.max(done);
        }
        let sure = cut.is_none_or(|cut| cut + margin < records.bound());
        (records, sure)
    }

    /// Sign bits of the query.
    fn query_bits(&self) -> Vec<u64> {
        let mut words = Vec::new();
        self.snapshot.signs.to_words(self.query, &mut words);
        words
    }

    fn over_bits(&self, blocks: &[Selected], query: &[u64], visit: impl FnMut(&Selected, &[u32])) {
        let width = query.len();
        let bits = self.snapshot.bits();
        let sweep = Sweep {
            rows: |rows: Range<usize>, out: &mut [u32]| {
                self.kernels.hamming_rows(query, &bits[rows.start * width..rows.end * width], out);
            },
            at: |at: &[u32], out: &mut [u32]| self.kernels.hamming_at(query, bits, at, out),
            whole: 12,
        };
        over_blocks(self.snapshot, blocks, &sweep, visit);
    }

    fn bits_raw(&self) -> Lists<TopRecords> {
        let query = self.query_bits();
        let pools = self.bit_pools(&query, self.limits.map(|limit| limit.saturating_mul(8)));
        let score = |distance: u32| 1.0 - 2.0 * distance as f32 / self.query.len() as f32;
        let list = |pool: Pool, limit: usize| {
            let mut records = TopRecords::new(limit, self.floor);
            for (distance, row) in pool.finish().0 {
                records.push(self.hit(row as usize, score(distance)));
            }
            records
        };
        Lists { near: list(pools.near, self.limits.near), far: list(pools.far, self.limits.far) }
    }

    /// Keeps the rows with the least distances.
    fn bit_pools(&self, query: &[u64], keep: Lists<usize>) -> Lists<Pool> {
        let mut pools = keep.map(Pool::new);
        self.share(
            |blocks| {
                let mut pools = keep.map(Pool::new);
                self.over_bits(blocks, query, |selected, values| {
                    for (rows, pool) in [(selected.near, &mut pools.near), (selected.far, &mut pools.far)] {
                        if rows != 0 {
                            for i in bits_of(rows & self.kernels.mask_at_most(values, pool.bound())) {
                                pool.push(values[i], selected.block * BLOCK_ROWS as u32 + i as u32);
                            }
                        }
                    }
                });
                pools
            },
            |found| absorb(&mut pools, found),
        );
        pools
    }

    /// `None` when the pools would have to hold all rows, or, where the method is free, when
    /// another one is cheaper than to go on.
    fn by_bits(&self, is_free: bool) -> Option<Lists<TopRecords>> {
        let query = self.query_bits();
        let bytes = self.query_bytes();
        let mut passes = Passes::new(self.costs.level());
        let mut first = true;
        loop {
            let keep = self.limits.map(|limit| Costs::bits_keep(limit, passes.level));
            self.work().cuts([keep.near, keep.far]).then_some(())?;
            let begun = Instant::now();
            let pools = self.bit_pools(&query, keep);
            self.learn_scan(Step::Bits, None, begun);
            let (near, near_lost) = self.rescore_bits(pools.near, &bytes, self.limits.near);
            let (far, far_lost) = self.rescore_bits(pools.far, &bytes, self.limits.far);
            let lost = near_lost.max(far_lost);
            if lost <= TOLERANCE {
                if first && lost <= TOLERANCE / 64.0 {
                    self.costs.eased();
                }
                return Some(Lists { near, far });
            }
            first = false;
            let steps = if lost > TOLERANCE * 16.0 { 2 } else { 1 };
            if !self.costs.again(self.work(), self.both_limits(), &mut passes, steps) && is_free {
                return None;
            }
        }
    }

    /// Records from a pool of Hamming distances, and the share of them that was probably lost.
    fn rescore_bits(&self, pool: Pool, (query, scale): &(Vec<i8>, f32), limit: usize) -> (TopRecords, f64) {
        let begun = Instant::now();
        let (mut kept, cut) = pool.finish();
        // In the order of memory: neighbours share pages.
        kept.sort_unstable_by_key(|(_, row)| *row);
        let rows: Vec<u32> = kept.iter().map(|(_, row)| *row).collect();
        let mut products = vec![0; rows.len()];
        self.kernels.dot_i8_at(query, self.snapshot.bytes(), &rows, &mut products);
        let candidates: Vec<(f32, u32)> = rows
            .iter()
            .zip(&products)
            .map(|(row, product)| {
                let row_scale = self.snapshot.scales(*row as usize / BLOCK_ROWS)[*row as usize % BLOCK_ROWS];
                (*product as f32 * (scale * row_scale), *row)
            })
            .collect();
        let mut best: Vec<(f32, u32)> =
            kept.iter().zip(&candidates).map(|((distance, _), (score, _))| (*score, *distance)).collect();
        self.learn(Step::Kept, rows.len(), begun);
        let (records, _) = self.rescore(candidates, None, limit);
        let Some(cut) = cut.filter(|_| limit > 0) else { return (records, 0.0) };
        let sample = ESTIMATE_ROWS.max(limit.saturating_mul(2)).min(best.len());
        if sample < best.len() {
            best.select_nth_unstable_by(sample, |a, b| b.0.total_cmp(&a.0));
        }
        let line = Line::fit(self.query.len(), best[..sample].iter().copied());
        // At the distance of the cut itself some rows were kept and some not.
        let last = cut.saturating_sub(1);
        let missing = limit.saturating_sub(records.scores().count()) as f64;
        let lost: f64 = records.scores().map(|score| line.beyond(score, last)).sum();
        let share = (lost + missing * line.beyond(self.floor, last)) / limit as f64;
        (records, share)
    }
}

/// Higher scores first, of equal ones later rows.
fn best_first(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
}

fn absorb(pools: &mut Lists<Pool>, found: Lists<Pool>) {
    pools.near.absorb(found.near);
    pools.far.absorb(found.far);
}
