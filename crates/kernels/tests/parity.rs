//! One suite over every level that this CPU has. A new level inherits all of it.

use cpersona_kernels::{Isa, Kernels};
use proptest::prelude::*;

/// Every vector width, one below and one above, odd tails, and the dimensions in use.
fn lengths() -> impl Iterator<Item = usize> {
    (1..=130).chain([255, 256, 257, 383, 384, 385, 511, 513, 767, 768, 769, 1023, 1024, 1536])
}

/// A small generator, so that edge lengths need no shrinking machinery.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn f32s(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| ((self.next() >> 40) as f32 / 8_388_608.0 - 1.0) * 0.3).collect()
    }

    fn i8s(&mut self, count: usize) -> Vec<i8> {
        // Every seventh byte is an extreme: products of extremes are where narrow sums overflow.
        (0..count)
            .map(|_| match self.next() % 14 {
                0 => i8::MIN,
                1 => i8::MAX,
                _ => (self.next() >> 56) as i8,
            })
            .collect()
    }

    fn u64s(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next()).collect()
    }
}

fn others() -> impl Iterator<Item = Kernels> {
    Isa::available().filter_map(Kernels::for_isa)
}

fn scalar() -> Kernels {
    Kernels::for_isa(Isa::Scalar).expect("always there")
}

/// The bound of the crate documentation, and the sum in float64 that it is measured from.
fn exact_and_bound(query: &[f32], row: &[f32]) -> (f64, f64) {
    let products = || query.iter().zip(row).map(|(q, r)| f64::from(*q) * f64::from(*r));
    let size: f64 = products().map(f64::abs).sum();
    (products().sum(), (query.len() + 8) as f64 * f64::from(f32::EPSILON) * size)
}

fn check_f32(query: &[f32], rows: &[f32]) {
    let count = rows.len() / query.len();
    for kernels in others() {
        let mut out = vec![f32::NAN; count];
        kernels.dot_f32_rows(query, rows, &mut out);
        for (row, value) in rows.chunks_exact(query.len()).zip(&out) {
            let (exact, bound) = exact_and_bound(query, row);
            let off = (f64::from(*value) - exact).abs();
            assert!(off <= bound, "{}: {value} against {exact}, bound {bound}", kernels.isa());
            let alone = kernels.dot_f32(query, row);
            assert_eq!(alone.to_bits(), value.to_bits(), "{}: alone and among rows", kernels.isa());
        }
        let at: Vec<u32> = (0..count as u32).rev().chain((count > 0).then_some(0)).collect();
        let mut scattered = vec![f32::NAN; at.len()];
        kernels.dot_f32_at(query, rows, &at, &mut scattered);
        for (row, value) in at.iter().zip(scattered) {
            assert_eq!(value.to_bits(), out[*row as usize].to_bits(), "{}: scattered", kernels.isa());
        }
    }
}

fn check_i8(query: &[i8], rows: &[i8]) {
    let count = rows.len() / query.len();
    let expected: Vec<i32> = rows
        .chunks_exact(query.len())
        .map(|row| query.iter().zip(row).map(|(q, r)| i32::from(*q) * i32::from(*r)).sum())
        .collect();
    for kernels in others() {
        let mut out = vec![i32::MIN; count];
        kernels.dot_i8_rows(query, rows, &mut out);
        assert_eq!(out, expected, "{}", kernels.isa());
        let at: Vec<u32> = (0..count as u32).rev().collect();
        kernels.dot_i8_at(query, rows, &at, &mut out);
        out.reverse();
        assert_eq!(out, expected, "{}: scattered", kernels.isa());
    }
}

fn check_hamming(query: &[u64], rows: &[u64]) {
    let count = rows.len() / query.len();
    let expected: Vec<u32> = rows
        .chunks_exact(query.len())
        .map(|row| query.iter().zip(row).map(|(q, r)| (q ^ r).count_ones()).sum())
        .collect();
    for kernels in others() {
        let mut out = vec![u32::MAX; count];
        kernels.hamming_rows(query, rows, &mut out);
        assert_eq!(out, expected, "{}", kernels.isa());
        let at: Vec<u32> = (0..count as u32).rev().collect();
        kernels.hamming_at(query, rows, &at, &mut out);
        out.reverse();
        assert_eq!(out, expected, "{}: scattered", kernels.isa());
    }
}

#[test]
fn levels_agree_at_every_length_and_alignment() {
    let mut seeded = Seeded(0x9e37_79b9_7f4a_7c15);
    for length in lengths() {
        for shift in [0, 1, 3] {
            // 19 rows: two groups of eight and a rest of three.
            let (query, rows) = (seeded.f32s(length + shift), seeded.f32s(length * 19 + shift));
            check_f32(&query[shift..], &rows[shift..]);
            let (query, rows) = (seeded.i8s(length + shift), seeded.i8s(length * 19 + shift));
            check_i8(&query[shift..], &rows[shift..]);
        }
    }
}

#[test]
fn levels_agree_on_packed_bits() {
    let mut seeded = Seeded(0x2545_f491_4f6c_dd1d);
    for words in (1..=40).chain([64, 130]) {
        for count in [1, 7, 8, 9, 64, 65] {
            let (query, rows) = (seeded.u64s(words), seeded.u64s(words * count));
            check_hamming(&query, &rows);
        }
        check_hamming(&vec![0; words], &vec![u64::MAX; words * 9]);
    }
}

#[test]
fn extremes_of_int8_do_not_saturate() {
    for length in lengths() {
        for (q, r) in [(i8::MIN, i8::MIN), (i8::MIN, i8::MAX), (i8::MAX, i8::MIN), (i8::MAX, i8::MAX)] {
            check_i8(&vec![q; length], &vec![r; length * 5]);
        }
    }
}

#[test]
fn float_sums_meet_zeros_subnormals_and_non_finite_values() {
    for kernels in others() {
        let mut row = vec![0.0; 77];
        assert_eq!(kernels.dot_f32(&vec![1.0; 77], &row), 0.0);
        for place in [0, 15, 16, 63, 64, 76] {
            row[place] = f32::NAN;
            assert!(kernels.dot_f32(&vec![1.0; 77], &row).is_nan(), "{}", kernels.isa());
            row[place] = f32::INFINITY;
            assert_eq!(kernels.dot_f32(&vec![1.0; 77], &row), f32::INFINITY, "{}", kernels.isa());
            row[place] = f32::MIN_POSITIVE / 2.0;
            assert_eq!(kernels.dot_f32(&vec![1.0; 77], &row), row[place], "{}", kernels.isa());
            row[place] = 0.0;
        }
    }
}

#[test]
fn empty_shapes_are_allowed() {
    for kernels in others() {
        assert_eq!(kernels.dot_f32(&[], &[]), 0.0);
        assert_eq!(kernels.dot_i8(&[], &[]), 0);
        assert_eq!(kernels.hamming(&[], &[]), 0);
        kernels.dot_f32_rows(&[1.0], &[], &mut []);
        kernels.dot_f32_at(&[1.0], &[], &[], &mut []);
        assert_eq!(kernels.mask_equal(&[], 1), 0);
    }
}

#[test]
#[should_panic(expected = "rows do not fill the output")]
fn a_wrong_shape_panics() {
    Kernels::best().dot_f32_rows(&[1.0; 4], &[1.0; 11], &mut [0.0; 3]);
}

#[test]
#[should_panic(expected = "row outside the matrix")]
fn a_row_outside_panics() {
    Kernels::best().dot_i8_at(&[1; 4], &[1; 12], &[3], &mut [0]);
}

#[test]
fn names_read_back() {
    for isa in Isa::PREFERENCE {
        assert_eq!(isa.name().parse(), Ok(isa));
    }
    assert!("sse9".parse::<Isa>().is_err());
    assert_eq!(Isa::available().last(), Some(Isa::Scalar));
    assert_eq!(Isa::available().next(), Some(Kernels::best().isa()));
}

proptest! {
    #[test]
    fn float_rows_of_any_size((query, rows) in (1_usize..200, 0_usize..12).prop_flat_map(|(length, count)| (
        prop::collection::vec(-1.0e3_f32..1.0e3, length),
        prop::collection::vec(-1.0e3_f32..1.0e3, length * count),
    ))) {
        check_f32(&query, &rows);
    }

    #[test]
    fn byte_rows_of_any_size((query, rows) in (1_usize..300, 0_usize..12).prop_flat_map(|(length, count)| (
        prop::collection::vec(any::<i8>(), length),
        prop::collection::vec(any::<i8>(), length * count),
    ))) {
        check_i8(&query, &rows);
    }

    #[test]
    fn bit_rows_of_any_size((query, rows) in (1_usize..40, 0_usize..20).prop_flat_map(|(length, count)| (
        prop::collection::vec(any::<u64>(), length),
        prop::collection::vec(any::<u64>(), length * count),
    ))) {
        check_hamming(&query, &rows);
    }

    #[test]
    fn masks_agree(
        floats in prop::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0), Just(-0.0), -1.0_f32..1.0], 0..=64),
        words in prop::collection::vec(prop_oneof![0_u32..4, any::<u32>()], 0..=64),
        bound in prop_oneof![Just(f32::NAN), Just(0.0), Just(f32::NEG_INFINITY), -1.0_f32..1.0],
        word in prop_oneof![0_u32..4, any::<u32>()],
    ) {
        for kernels in others() {
            prop_assert_eq!(kernels.mask_at_least(&floats, bound), scalar().mask_at_least(&floats, bound));
            prop_assert_eq!(kernels.mask_at_most(&words, word), scalar().mask_at_most(&words, word));
            prop_assert_eq!(kernels.mask_equal(&words, word), scalar().mask_equal(&words, word));
        }
    }
}
