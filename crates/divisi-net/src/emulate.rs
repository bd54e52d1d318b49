//! Link emulation: round-trip time and bandwidth (`--rtt MS`, `--rate MBIT`), on the receiving side.
//!
//! A message is due at `max(link free, sent) + length / rate + RTT / 2`: the receiver leaves it in its inbox
//! until then. No thread takes part. The time of sending is in a prefix of each frame, which only emulated
//! links have and no meter counts; both ends must therefore share a clock, as they do on one machine.

use std::time::{Duration, Instant};

/// The properties of an emulated link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Emulation {
    /// Round-trip time: each message arrives half of it after it was sent.
    pub rtt: Duration,
    /// Bits per second of each directed link; `None` leaves it unlimited.
    pub bits_per_second: Option<f64>,
}

impl Emulation {
    /// From `--rtt MS` and `--rate MBIT`; `None` when neither limits anything.
    pub fn new(rtt_ms: Option<f64>, rate_mbit: Option<f64>) -> Option<Self> {
        let positive = |x: Option<f64>| x.filter(|x| x.is_finite() && *x > 0.0);
        let rtt =
            positive(rtt_ms).and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()).unwrap_or_default();
        let bits_per_second = positive(rate_mbit).map(|mbit| mbit * 1e6);
        (!rtt.is_zero() || bits_per_second.is_some()).then_some(Self { rtt, bits_per_second })
    }

    /// The time at which `bytes` bytes that were sent at `sent` arrive. `free`, the time from which the link
    /// is free, is moved accordingly.
    pub(crate) fn due(&self, free: &mut Option<Instant>, sent: Instant, bytes: u64) -> Instant {
        let start = free.map_or(sent, |free| free.max(sent));
        let takes = match self.bits_per_second {
            Some(rate) => Duration::try_from_secs_f64(bytes as f64 * 8.0 / rate).unwrap_or(Duration::MAX),
            None => Duration::ZERO,
        };
        let end = start.checked_add(takes).unwrap_or(start);
        *free = Some(end);
        end.checked_add(self.rtt / 2).unwrap_or(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_queues_and_round_trips_overlap() {
        assert_eq!(Emulation::new(None, None), None);
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Emulation::new(Some(nothing), Some(nothing)), None, "{nothing}");
        }
        let [only_rtt, only_rate] =
            [(Some(10.0), None), (None, Some(8.0))].map(|(rtt, rate)| Emulation::new(rtt, rate));
        assert_eq!(only_rtt.map(|e| (e.rtt, e.bits_per_second)), Some((Duration::from_millis(10), None)));
        assert_eq!(only_rate.map(|e| (e.rtt, e.bits_per_second)), Some((Duration::ZERO, Some(8e6))));
        let Some(e) = Emulation::new(Some(10.0), Some(8.0)) else { return assert!(e_is_missing()) };
        let (t, mut free) = (Instant::now(), None);
        // A megabyte a second: 1000 bytes take 1 ms, then half the round trip.
        assert_eq!(e.due(&mut free, t, 1000) - t, Duration::from_millis(6));
        assert_eq!(e.due(&mut free, t, 1000) - t, Duration::from_millis(7));
        assert_eq!(e.due(&mut free, t, 2000) - t, Duration::from_millis(9));
        let later = t + Duration::from_millis(50);
        assert_eq!(e.due(&mut free, later, 0) - later, Duration::from_millis(5));
    }

    fn e_is_missing() -> bool {
        false
    }
}
