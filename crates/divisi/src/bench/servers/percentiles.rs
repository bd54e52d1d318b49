//! Percentiles of measurements.

/// A percentile of figures in ascending order, by the nearest rank: the least figure that at least `percent`
/// per cent of the figures do not exceed; `None` if there are no figures.
pub(super) fn percentile(ascending: &[f64], percent: f64) -> Option<f64> {
    let rank = (percent / 100.0 * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.max(1) - 1).or(ascending.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every percentile is one of the figures, by its definition.
    #[test]
    fn a_percentile_is_the_least_figure_that_enough_do_not_exceed() {
        for n in 1..=205 {
            let figures: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            for percent in [1, 50, 90, 99, 100] {
                let enough =
                    |x: &&f64| 100 * figures.iter().filter(|y| y <= x).count() >= percent * figures.len();
                assert_eq!(percentile(&figures, percent as f64), figures.iter().find(enough).copied(), "{n}");
            }
        }
    }

    #[test]
    fn few_figures_and_equal_ones() {
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[7.0], 1.0), Some(7.0));
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
        assert_eq!(percentile(&[1.0, 2.0], 50.0), Some(1.0));
        assert_eq!(percentile(&[1.0, 2.0], 51.0), Some(2.0));
        assert_eq!(percentile(&[3.0; 9], 90.0), Some(3.0));
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 0.0), Some(1.0));
    }
}
