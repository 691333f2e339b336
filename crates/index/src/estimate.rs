//! How many rows a sign-bit pass probably lost: the part of a search that cannot be certain.
//!
//! Among the kept rows both the Hamming distance h and the cosine are known, so a straight line and the
//! spread around it follow. A row that was not kept, at distance h, beats the last answer with score s with
//! probability Q((s − line(h)) / spread), Q the upper tail of the normal distribution. Summed over the
//! distances of a sample of all rows, this is the expected number of lost rows.

/// Real spreads have longer tails than the normal distribution.
const SPREAD: f64 = 1.15;

/// Cosine as a line over the Hamming distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    offset: f64,
    slope: f64,
    spread: f64,
}

impl Line {
    /// Least squares over (distance, cosine) pairs.
    pub(crate) fn fit(points: impl Iterator<Item = (u32, f32)> + Clone) -> Self {
        let pairs = points.map(|(distance, cosine)| (f64::from(distance), f64::from(cosine)));
        let mut count = 0.0;
        let (mut x, mut y) = (0.0, 0.0);
        for (distance, cosine) in pairs.clone() {
            count += 1.0;
            x += distance;
            y += cosine;
        }
        let count = f64::max(count, 1.0);
        let (x, y) = (x / count, y / count);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for (distance, cosine) in pairs {
            xx += (distance - x).powi(2);
            xy += (distance - x) * (cosine - y);
            yy += (cosine - y).powi(2);
        }
        // A greater distance never means a greater cosine.
        let slope = if xx > 0.0 { (xy / xx).min(0.0) } else { 0.0 };
        let rest = (yy - slope * xy).max(0.0) / count;
        Self { offset: y - slope * x, slope, spread: rest.sqrt() * SPREAD + 1e-6 }
    }

    /// Probability that a row at this distance scores more than `score`.
    pub(crate) fn beats(&self, distance: u32, score: f32) -> f64 {
        let expected = self.offset + self.slope * f64::from(distance);
        upper_tail((f64::from(score) - expected) / self.spread)
    }
}

/// Upper tail of the normal distribution, within 4 percent for 0 to 5.
fn upper_tail(z: f64) -> f64 {
    if z < 0.0 { 1.0 - upper_tail(-z) } else { 0.5 * (-0.717 * z - 0.416 * z * z).exp() }
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
    }

    #[test]
    fn a_line_is_recovered() {
        let points = (100..300).map(|h| (h, 0.9 - 0.002 * h as f32 + if h % 2 == 0 { 0.01 } else { -0.01 }));
        let line = Line::fit(points);
        assert!((line.slope + 0.002).abs() < 1e-4);
        assert!((line.spread / SPREAD - 0.01).abs() < 1e-3);
        assert!(line.beats(400, 0.1) > 0.4 && line.beats(400, 0.2) < 1e-6);
    }

    #[test]
    fn equal_points_give_no_slope() {
        let line = Line::fit([(5, 0.5), (5, 0.5)].into_iter());
        assert_eq!(line.slope, 0.0);
        assert!(line.beats(6, 0.4) > 0.99);
    }
}
