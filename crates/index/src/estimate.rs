//! Which share of the answers a sign-bit pass probably lost: the part of a search that cannot be certain.
//!
//! Rows of one cosine spread around a mean Hamming distance. Among the best rows that were kept, mean and
//! spread follow from a straight line of distance over cosine. An answer of some cosine was lost when its
//! distance lies beyond the last one kept: the upper tail Q(z) of the normal distribution, with
//! z = (last − mean) / spread. But what was kept is what lies below the cut, so mean and spread come out too
//! small; for a normal distribution cut at z this gives another z, and the table turns it back. A spread
//! below that of independent signs, √(n p (1 − p)) for n bits that differ with probability p, is not believed.

/// Pairs of the z that a cut sample shows, (z + λ) / √(1 − zλ − λ²) with λ = φ(z) / Φ(z), and the true one.
const CUT: [(f64, f64); 10] = [
    (1.0, -4.0),
    (1.177, -1.0),
    (1.324, 0.0),
    (1.448, 0.5),
    (1.623, 1.0),
    (1.870, 1.5),
    (2.184, 2.0),
    (2.575, 2.5),
    (3.024, 3.0),
    (4.0, 4.0),
];

/// Part of the spread of independent signs that a fit must show: a cut takes more away only where hardly
/// anything was kept.
const LEAST_SPREAD: f64 = 0.85;

/// Distance over cosine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    bits: f64,
    offset: f64,
    slope: f64,
    spread: f64,
}

impl Line {
    /// Least squares over (cosine, distance) pairs of vectors with so many bits.
    pub(crate) fn fit(bits: usize, points: impl Iterator<Item = (f32, u32)> + Clone) -> Self {
        let pairs = points.map(|(cosine, distance)| (f64::from(cosine), f64::from(distance)));
        let (mut count, mut x, mut y) = (0.0, 0.0, 0.0);
        for (cosine, distance) in pairs.clone() {
            count += 1.0;
            x += cosine;
            y += distance;
        }
        let count = f64::max(count, 1.0);
        let (x, y) = (x / count, y / count);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (cosine, distance) in pairs {
            xx += (cosine - x).powi(2);
            xy += (cosine - x) * (distance - y);
            yy += (distance - y).powi(2);
        }
        // A greater cosine never means a greater distance.
        let slope = if xx > 0.0 { (xy / xx).min(0.0) } else { 0.0 };
        let rest = (yy - slope * xy).max(0.0) / count;
        // Distances are whole numbers: no spread is less than that of rounding.
        Self { bits: bits as f64, offset: y - slope * x, slope, spread: rest.sqrt().max(0.3) }
    }

    /// Probability that a row of this cosine lies beyond the distance `last`.
    pub(crate) fn beyond(&self, cosine: f32, last: u32) -> f64 {
        let mean = self.offset + self.slope * f64::from(cosine);
        let share = (mean / self.bits).clamp(0.0, 0.5);
        let independent = (self.bits * share * (1.0 - share)).sqrt();
        let spread = self.spread.max(LEAST_SPREAD * independent);
        upper_tail(before_cut((f64::from(last) - mean) / spread))
    }
}

/// The true z of a cut sample, by straight lines between the pairs of the table.
fn before_cut(seen: f64) -> f64 {
    let after = CUT.partition_point(|(shown, _)| *shown < seen);
    match (CUT.get(after.wrapping_sub(1)), CUT.get(after)) {
        (Some((low, from)), Some((high, to))) => from + (seen - low) / (high - low) * (to - from),
        // Beyond the table a cut changes nothing; before it, hardly anything was kept.
        (Some(_), None) => seen,
        (None, _) => f64::NEG_INFINITY,
    }
}

/// Upper tail of the normal distribution, within 6 percent for 0 to 4; 1 when `z` is not a number.
fn upper_tail(z: f64) -> f64 {
    if z >= 0.0 {
        0.5 * (-0.717 * z - 0.416 * z * z).exp()
    } else if z < 0.0 {
        1.0 - upper_tail(-z)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_matches_the_table() {
        for (z, expected) in [(0.0, 0.5), (1.0, 0.158_66), (2.0, 0.022_75), (3.0, 0.001_35), (-1.0, 0.841_34)]
        {
            assert!((upper_tail(z) / expected - 1.0).abs() < 0.06, "{z}: {}", upper_tail(z));
        }
        assert_eq!(upper_tail(f64::NEG_INFINITY), 1.0);
        assert_eq!(upper_tail(f64::NAN), 1.0);
    }

    #[test]
    fn a_cut_normal_sample_tells_its_true_loss() {
        // Quantiles of the normal distribution, by bisection of its tail.
        let quantile = |share: f64| {
            let (mut low, mut high) = (-6.0, 6.0);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if 1.0 - upper_tail(middle) < share { low = middle } else { high = middle }
            }
            low
        };
        for loss in [0.005, 0.02, 0.1, 0.3] {
            let all = (0..4000).map(|i| (200.0 + 12.0 * quantile((f64::from(i) + 0.5) / 4000.0)) as u32);
            let last = (200.0 + 12.0 * quantile(1.0 - loss)) as u32;
            let kept: Vec<(f32, u32)> = all.filter(|d| *d <= last).map(|d| (0.5, d)).collect();
            let found = Line::fit(600, kept.iter().copied()).beyond(0.5, last);
            // Where little was kept, the least spread makes the estimate err on the large side.
            let most = if loss > 0.2 { 1.0 } else { loss * 1.7 };
            assert!(found > loss * 0.6 && found < most, "{loss}: {found}");
        }
    }

    #[test]
    fn a_line_is_recovered() {
        let points = (0..200).map(|i| (0.3 + 0.003 * i as f32, 300 - i + if i % 2 == 0 { 4 } else { 0 }));
        let line = Line::fit(600, points);
        assert!((line.slope + 1000.0 / 3.0).abs() < 5.0, "{line:?}");
        assert!((line.spread - 2.0).abs() < 0.2, "{line:?}");
        // A cosine of 0.6 is expected at 202, where independent signs spread by 11.6.
        assert!(line.beyond(0.6, 202) > 0.99 && line.beyond(0.6, 250) < 0.001);
        assert_eq!(line.beyond(f32::NEG_INFINITY, 210), 1.0);
    }

    #[test]
    fn equal_points_give_no_slope() {
        let line = Line::fit(6, [(0.5, 5), (0.5, 5)].into_iter());
        assert_eq!(line.slope, 0.0);
        assert!(line.beyond(0.5, 15) < 1e-9);
        assert!(line.beyond(f32::NEG_INFINITY, 9) > 0.9);
    }
}
