//! Step 2 of the table's algorithm: the best cut of a normalised text into pieces (unigram Viterbi, f64).

use crate::format::Layout;
use crate::lexicon::Pieces;

const UNKNOWN: u32 = u32::MAX;

/// The best known way to reach a place between two code points.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    from: u32,
    piece: u32,
}

/// Piece ids of the path with the highest sum of scores; the first one found wins a tie. Code points that no
/// piece covers cost the table's `unknown` and give no id.
pub(crate) fn segment(text: &str, pieces: &Pieces<'_>, bytes: &[u8], layout: &Layout) -> Vec<u32> {
    let mut bounds: Vec<u32> = text.char_indices().map(|(at, _)| at as u32).collect();
    bounds.push(text.len() as u32);
    let length = bounds.len() - 1;
    let mut steps = vec![Step { score: f64::NEG_INFINITY, from: 0, piece: UNKNOWN }; length + 1];
    steps[0].score = 0.0;
    for from in 0..length {
        let base = steps[from].score;
        let mut offer = |to: usize, score: f64, piece: u32| {
            if base + score > steps[to].score {
                steps[to] = Step { score: base + score, from: from as u32, piece };
            }
        };
        let last = length.min(from.saturating_add(layout.longest));
        pieces.starting_at(text.as_bytes(), &bounds[from..=last], |taken, piece| {
            offer(from + taken, f64::from(layout.score(bytes, piece)), piece);
        });
        offer(from + 1, layout.unknown, UNKNOWN);
    }
    let mut ids = Vec::new();
    let mut at = length;
    while at > 0 {
        let step = steps[at];
        if step.piece != UNKNOWN {
            ids.push(step.piece);
        }
        at = step.from as usize;
    }
    ids.reverse();
    ids
}
