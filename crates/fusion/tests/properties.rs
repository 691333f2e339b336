//! Laws of both fusions, and small cases worked by hand.

use cpersona_fusion::{FusedRanking, FusionError, RankedLists, rrf, rsf};
use proptest::prelude::*;

const K: f64 = 60.0;

/// One list for a test: `(key, score)` best first, and the list's weight.
type List = (Vec<(u64, f64)>, f64);

struct Flat {
    keys: Vec<u64>,
    offsets: Vec<u32>,
    weights: Vec<f64>,
    scores: Vec<f64>,
}

impl Flat {
    fn of(lists: &[List]) -> Self {
        let mut flat = Self { keys: vec![], offsets: vec![0], weights: vec![], scores: vec![] };
        for (rows, weight) in lists {
            flat.keys.extend(rows.iter().map(|row| row.0));
            flat.scores.extend(rows.iter().map(|row| row.1));
            flat.offsets.push(flat.keys.len() as u32);
            flat.weights.push(*weight);
        }
        flat
    }

    fn rrf(&self) -> FusedRanking {
        rrf(&self.lists(), K).expect("K is above 0")
    }

    fn rsf(&self) -> FusedRanking {
        rsf(&self.lists(), &self.scores).expect("scores are finite or NaN")
    }

    fn lists(&self) -> RankedLists<'_> {
        RankedLists::new(&self.keys, &self.offsets, &self.weights).expect("built in shape")
    }
}

/// Lists that name each key at most once, as retrievers do.
fn lists() -> impl Strategy<Value = Vec<List>> {
    let score = prop_oneof![4 => -50.0..50.0f64, 1 => Just(f64::NAN), 1 => Just(3.0)];
    let rows = prop::collection::btree_map(0u64..40, score, 0..12)
        .prop_map(|rows| rows.into_iter().collect::<Vec<_>>())
        .prop_shuffle();
    prop::collection::vec((rows, 0.0..2.0f64), 0..5)
}

fn first_mention(keys: &[u64], key: u64) -> usize {
    keys.iter().position(|other| *other == key).expect("the key was named")
}

fn check_order(flat: &Flat, ranking: &FusedRanking) {
    let mut named: Vec<u64> = flat.keys.clone();
    named.sort_unstable();
    named.dedup();
    let mut ranked = ranking.keys.clone();
    ranked.sort_unstable();
    assert_eq!(ranked, named, "each named key once");
    for i in 1..ranking.keys.len() {
        let (before, after) = (ranking.scores[i - 1], ranking.scores[i]);
        assert!(before >= after);
        if before == after {
            assert!(
                first_mention(&flat.keys, ranking.keys[i - 1]) < first_mention(&flat.keys, ranking.keys[i])
            );
        }
    }
}

proptest! {
    #[test]
    fn rankings_are_ordered_and_complete(lists in lists()) {
        let flat = Flat::of(&lists);
        check_order(&flat, &flat.rrf());
        check_order(&flat, &flat.rsf());
    }

    #[test]
    fn scores_stay_within_the_votes(lists in lists()) {
        let flat = Flat::of(&lists);
        let votes: f64 = flat.weights.iter().sum();
        for score in flat.rrf().scores {
            prop_assert!((0.0..=votes / (K + 1.0) + 1e-12).contains(&score));
        }
        for score in flat.rsf().scores {
            prop_assert!((0.0..=votes + 1e-12).contains(&score));
        }
    }

    #[test]
    fn empty_lists_change_nothing(lists in lists(), at in 0usize..5) {
        let mut padded = lists.clone();
        padded.insert(at.min(lists.len()), (vec![], 1.0));
        let (plain, padded) = (Flat::of(&lists), Flat::of(&padded));
        prop_assert_eq!(plain.rrf(), padded.rrf());
        prop_assert_eq!(plain.rsf(), padded.rsf());
    }

    #[test]
    fn list_order_moves_scores_by_rounding_only(lists in lists()) {
        let mut turned = lists.clone();
        turned.reverse();
        let (ahead, back) = (Flat::of(&lists).rrf(), Flat::of(&turned).rrf());
        for (key, score) in ahead.keys.iter().zip(&ahead.scores) {
            let other = back.scores[first_mention(&back.keys, *key)];
            prop_assert!((score - other).abs() < 1e-12);
        }
    }

    #[test]
    fn bad_input_is_an_error_and_no_panic(
        keys in prop::collection::vec(any::<u64>(), 0..8),
        offsets in prop::collection::vec(0u32..10, 0..6),
        weights in prop::collection::vec(any::<f64>(), 0..5),
        scores in prop::collection::vec(any::<f64>(), 0..9),
        k in any::<f64>(),
    ) {
        if let Ok(lists) = RankedLists::new(&keys, &offsets, &weights) {
            let _ = rrf(&lists, k);
            let _ = rsf(&lists, &scores);
        }
    }
}

#[test]
fn rrf_adds_reciprocal_ranks_in_list_order() {
    let flat = Flat::of(&[(vec![(7, 0.0), (9, 0.0)], 1.0), (vec![(9, 0.0), (4, 0.0)], 0.5)]);
    let fused = flat.rrf();
    assert_eq!(fused.keys, [9, 7, 4]);
    assert_eq!(fused.scores, [1.0 / 62.0 + 0.5 / 61.0, 1.0 / 61.0, 0.5 / 62.0]);
}

#[test]
fn rsf_normalises_and_divides_by_the_lists_that_answered() {
    let flat = Flat::of(&[(vec![(1, 0.9), (2, 0.5), (3, 0.1)], 1.0), (vec![], 1.0), (vec![(3, 4.0)], 0.5)]);
    let fused = flat.rsf();
    assert_eq!(fused.keys, [1, 2, 3]);
    assert_eq!(fused.scores, [0.5, (0.5 - 0.1) / (0.9 - 0.1) / 2.0, 0.25]);
}

#[test]
fn rsf_gives_missing_scores_zero_among_numbers_and_one_alone() {
    let mixed = Flat::of(&[(vec![(1, 2.0), (2, f64::NAN), (3, 1.0)], 1.0)]).rsf();
    assert_eq!((mixed.keys, mixed.scores), (vec![1, 2, 3], vec![1.0, 0.0, 0.0]));
    let missing = Flat::of(&[(vec![(1, f64::NAN), (2, f64::NAN)], 1.0)]).rsf();
    assert_eq!(missing.scores, [1.0, 1.0]);
    let equal = Flat::of(&[(vec![(1, 2.0), (2, 2.0)], 1.0)]).rsf();
    assert_eq!(equal.scores, [1.0, 1.0]);
}

#[test]
fn no_lists_give_an_empty_ranking() {
    assert!(Flat::of(&[]).rrf().keys.is_empty());
    assert!(Flat::of(&[]).rsf().keys.is_empty());
}

#[test]
fn wrong_shapes_are_named() {
    let no_offsets = RankedLists::new(&[], &[], &[]).unwrap_err();
    assert_eq!(no_offsets, FusionError::OffsetCount);
    let past_the_end = RankedLists::new(&[1], &[0, 2], &[1.0]).unwrap_err();
    assert_eq!(past_the_end, FusionError::Offsets);
    let negative = RankedLists::new(&[1], &[0, 1], &[-1.0]).unwrap_err();
    assert_eq!(negative, FusionError::Weights);
    let lists = RankedLists::new(&[1], &[0, 1], &[1.0]).unwrap();
    assert_eq!(rrf(&lists, 0.0).unwrap_err(), FusionError::RankConstant);
    assert_eq!(rsf(&lists, &[]).unwrap_err(), FusionError::ScoreCount);
    assert_eq!(rsf(&lists, &[f64::INFINITY]).unwrap_err(), FusionError::Scores);
}
