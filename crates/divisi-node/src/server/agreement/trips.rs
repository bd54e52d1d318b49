//! The round-trip time that a leader measures, as it follows the link.

use std::collections::VecDeque;
use std::time::Duration;

/// How many of the last round trips count. The shortest of them is the link's: others had to wait for a busy
/// server. Those before are forgotten, because links become slower, too.
const KEPT: usize = 16;

/// The last round trips.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips(VecDeque<Duration>);

impl RoundTrips {
    /// Note how long a round trip took.
    pub fn note(&mut self, took: Duration) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(took);
    }

    /// The shortest of the last round trips; `None` before the first.
    pub fn shortest(&self) -> Option<Duration> {
        self.0.iter().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link that becomes slower is noticed after a few rounds, one that becomes faster at once.
    #[test]
    fn the_time_follows_the_link() {
        let (near, far) = (Duration::from_micros(200), Duration::from_millis(30));
        let mut trips = RoundTrips::default();
        assert_eq!(trips.shortest(), None);
        trips.note(far);
        assert_eq!(trips.shortest(), Some(far));
        trips.note(near);
        assert_eq!(trips.shortest(), Some(near));
        // a busy server does not make the link longer
        (1..KEPT).for_each(|_| trips.note(far));
        assert_eq!(trips.shortest(), Some(near));
        trips.note(far);
        assert_eq!(trips.shortest(), Some(far));
    }
}
