//! Small tables built here: the search against a naive one, rows of both widths, and damage of any kind.

use std::collections::BTreeMap;

use cpersona_embed::{StaticTable, TableError, normalise};
use proptest::prelude::*;

const UNKNOWN: f32 = -20.0;
const DIMENSION: usize = 4;

/// Piece → score, sorted by bytes as the format wants it.
type Scores = BTreeMap<String, f32>;

fn table_bytes(pieces: &Scores, bits: u32) -> Vec<u8> {
    let blob: String = pieces.keys().map(String::as_str).collect();
    let longest = pieces.keys().map(|p| p.chars().count()).max().unwrap_or(0);
    let mut bytes = b"STE1".to_vec();
    let words = [1, pieces.len() as u32, DIMENSION as u32, longest as u32];
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(UNKNOWN.to_le_bytes());
    bytes.extend((blob.len() as u32).to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(pieces.values().flat_map(|score| score.to_le_bytes()));
    let mut start = 0u32;
    for piece in pieces.keys() {
        bytes.extend(start.to_le_bytes());
        start += piece.len() as u32;
    }
    bytes.extend(start.to_le_bytes());
    bytes.extend(pieces.iter().flat_map(|_| 0.5f32.to_le_bytes()));
    bytes.extend([0.5f32; DIMENSION].iter().flat_map(|c| c.to_le_bytes()));
    for id in 0..pieces.len() {
        for pair in 0..DIMENSION / 2 {
            let (low, high) = (entry(id, 2 * pair), entry(id, 2 * pair + 1));
            match bits {
                4 => bytes.push((low + 8) as u8 | ((high + 8) as u8) << 4),
                _ => bytes.extend([low as u8, high as u8]),
            }
        }
    }
    bytes.extend(blob.bytes());
    bytes
}

fn entry(id: usize, dimension: usize) -> i8 {
    ((id * 7 + dimension * 3) % 15) as i8 - 7
}

/// The algorithm of the README, with a hash look-up for each stretch of text.
fn naive(pieces: &Scores, text: &str) -> Vec<u32> {
    let s: Vec<char> = normalise(text).chars().collect();
    let mut best = vec![(f64::NEG_INFINITY, 0, None); s.len() + 1];
    best[0].0 = 0.0;
    for i in 0..s.len() {
        for e in i + 1..=s.len() {
            let stretch: String = s[i..e].iter().collect();
            if let Some(id) = pieces.keys().position(|piece| *piece == stretch) {
                let score = best[i].0 + f64::from(pieces[&stretch]);
                if score > best[e].0 {
                    best[e] = (score, i, Some(id as u32));
                }
            }
        }
        let score = best[i].0 + f64::from(UNKNOWN);
        if score > best[i + 1].0 {
            best[i + 1] = (score, i, None);
        }
    }
    let (mut ids, mut at) = (vec![], s.len());
    while at > 0 {
        ids.extend(best[at].2);
        at = best[at].1;
    }
    ids.reverse();
    ids
}

/// Few different characters, of one to four bytes, so that pieces share prefixes and texts hit them.
fn scores() -> impl Strategy<Value = Scores> {
    prop::collection::btree_map("[▁ab\u{0}éかきア😀]{1,4}", -10.0..0.0f32, 1..40)
}

proptest! {
    #[test]
    fn ids_equal_a_naive_search(pieces in scores(), text in "[ ▁abcé\u{0}かきア😀]{0,12}") {
        let table = StaticTable::from_bytes(table_bytes(&pieces, 4)).unwrap();
        prop_assert_eq!(table.encode(&text), naive(&pieces, &text));
    }

    #[test]
    fn both_row_widths_give_the_same_unit_row(pieces in scores(), text in "[ abかき]{0,12}") {
        let four = StaticTable::from_bytes(table_bytes(&pieces, 4)).unwrap();
        let eight = StaticTable::from_bytes(table_bytes(&pieces, 8)).unwrap();
        let (mut a, mut b) = ([f32::NAN; DIMENSION], [f32::NAN; DIMENSION]);
        four.embed_into(&text, &mut a);
        eight.embed_into(&text, &mut b);
        prop_assert_eq!(a, b);
        let squares: f64 = a.iter().map(|x| f64::from(*x).powi(2)).sum();
        prop_assert!(squares == 0.0 || (squares - 1.0).abs() < 1e-6);
    }

    #[test]
    fn any_text_is_embedded_without_panic(pieces in scores(), text in "\\PC{0,40}|[\\s\u{85}\u{2581}]*") {
        let table = StaticTable::from_bytes(table_bytes(&pieces, 4)).unwrap();
        table.embed_into(&text, &mut [0.0; DIMENSION]);
    }

    #[test]
    fn any_damage_is_an_error_or_a_table(
        pieces in scores(),
        bits in prop_oneof![Just(4u32), Just(8)],
        cut in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        whole in any::<bool>(),
    ) {
        let mut bytes = table_bytes(&pieces, bits);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(table) = StaticTable::from_bytes(bytes) {
            let mut row = vec![0.0; table.dimension()];
            table.embed_into("ab ▁かき é", &mut row);
        }
    }

    #[test]
    fn noise_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(matches!(StaticTable::from_bytes(bytes), Err(TableError::Damaged(_))));
    }
}

#[test]
fn huge_counts_do_not_overflow() {
    let pieces = Scores::from([("a".to_owned(), -1.0)]);
    for at in [8, 12, 16, 24] {
        for value in [u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 2] {
            let mut bytes = table_bytes(&pieces, 4);
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let longest = at == 16;
            assert_eq!(StaticTable::from_bytes(bytes).is_ok(), longest);
        }
    }
}

#[test]
fn unsorted_pieces_are_damage() {
    let pieces = Scores::from([("a".to_owned(), -1.0), ("b".to_owned(), -1.0)]);
    let mut bytes = table_bytes(&pieces, 4);
    let blob = bytes.len() - 2;
    bytes[blob..].copy_from_slice(b"ba");
    assert!(matches!(StaticTable::from_bytes(bytes), Err(TableError::Damaged(_))));
}

#[test]
fn a_missing_file_is_unreadable() {
    let missing = StaticTable::open(std::path::Path::new("no/such/table"));
    assert!(matches!(missing, Err(TableError::Unreadable(_))));
}
