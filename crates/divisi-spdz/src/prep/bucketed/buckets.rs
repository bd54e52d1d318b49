//! The assignment of items to buckets, and the size of a bucket.

use crate::checks;
use crate::part::Mac;
use crate::party::Party;
use divisi_core::{Abort, Step, step};
use divisi_ot::bucket;
use divisi_ot::partition::Partition;

const COIN: Step = step!("buckets.coin");

/// The most buckets that one coin serves. The number of all their items has to fit into 32 bits.
pub(super) const MOST: usize = 1 << 20;

/// About how many opened values are checked at once.
const CHECKED: usize = 1 << 20;

/// How many items each bucket has, if there are this many buckets and their first items are known before the
/// coin.
pub(super) fn size(buckets: usize, rho: u32) -> usize {
    bucket::size_behind_firsts(buckets, rho)
}

/// The numbers of buckets that are made together, one lot after the other, each with the size of its buckets.
pub(super) fn lots(count: usize, rho: u32) -> impl Iterator<Item = [usize; 2]> {
    let lot = move |from| MOST.min(count - from);
    (0..count).step_by(MOST).map(lot).map(move |buckets| [buckets, size(buckets, rho)])
}

/// The bucket of each item that is not the first one of a bucket, by a coin that follows the check of all
/// items \[K16\].
///
/// Cost: a check of everything that was opened, and a coin.
#[cfg_attr(feature = "testing", track_caller)]
pub(super) fn partition<F: Mac>(
    party: &mut Party<F>,
    buckets: usize,
    size: usize,
) -> Result<Partition, Abort> {
    party.check_here()?;
    let coin = party.coins.toss(&mut party.session, COIN)?;
    party.session.observe(checks::K16); // [K16]
    let bits = bucket::error_bits_behind_firsts(buckets, size);
    party.session.meter().verification_error((-bits).exp2());
    party.buckets = party.buckets.max(Some((buckets, size)));
    Ok(Partition::behind_firsts(&coin, buckets, size))
}

/// Check what was opened, if it is [`CHECKED`] values or more.
pub(super) fn relieve<F: Mac>(party: &mut Party<F>) -> Result<(), Abort> {
    if party.ledger.x.len() >= CHECKED { party.check_here() } else { Ok(()) }
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use divisi_core::PublicParameters;
    use divisi_core::testing::{Harness, MessageDirection};
    use divisi_field::{Field, Gf48};

    const OPENED: Step = step!("opened");

    /// Every lot of buckets is as secure as it must be by itself, also a small one behind large ones.
    #[test]
    fn every_lot_is_sound() {
        let few = (1..5_000).step_by(7).chain((33..37).chain(84..90).chain(318..346).chain(3_040..3_369));
        let many = [321_059, 321_060, MOST - 1, MOST, MOST + 1, 2 * MOST + 345];
        for (count, rho) in few.chain(many).flat_map(|count| [(count, 40), (count, 64)]) {
            let lots: Vec<[usize; 2]> = lots(count, rho).collect();
            assert_eq!(lots.iter().map(|[buckets, _]| buckets).sum::<usize>(), count);
            for [buckets, size] in lots {
                let bits = bucket::error_bits_behind_firsts(buckets, size);
                assert!(buckets <= MOST && bits >= f64::from(rho), "{count}: {buckets} of {size}");
            }
        }
    }

    /// \[K16\] Nobody opens a coin for buckets, the first of a session or a later one, before everything that
    /// was opened has passed its check: an adversary that knew the buckets could still choose what to spoil.
    #[test]
    fn every_coin_follows_a_check() {
        for passed in 0..3 {
            let harness = Harness::new(2, &PublicParameters::new("coins of buckets"));
            let recordings = harness.recordings();
            let ends = harness.act(|session| {
                let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
                for lot in 0..=passed {
                    let lie = party.me().index() == 1 && lot == passed;
                    party.open(OPENED, &[if lie { Gf48::ONE } else { Gf48::ZERO }], &[Gf48::ZERO])?;
                    partition(&mut party, 20, 3)?;
                }
                Ok(())
            });
            assert!(ends.iter().all(Result::is_err), "{passed}: {ends:?}");
            for recording in recordings {
                assert_eq!(recording.of(MessageDirection::Out, COIN.name).len(), passed);
            }
        }
    }

    /// Each partition follows from the coin that was tossed for it.
    #[test]
    fn partitions_are_those_of_the_coin() {
        let (buckets, size) = (200, 4);
        let harness = Harness::new(2, &PublicParameters::new("partitions"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let (mut party, _) = Dealer::<Gf48>::deal(session, 7)?;
            let mut made = || partition(&mut party, buckets, size).map(|made| made.to().to_vec());
            (0..5).map(|_| made()).collect::<Result<Vec<_>, _>>()
        });
        let coins = crate::prep::coins::opened(&recordings, COIN);
        let of = |coin: &[u8; 16]| Partition::behind_firsts(coin, buckets, size).to().to_vec();
        let expected: Vec<_> = coins.iter().map(of).collect();
        assert_eq!(expected.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
        assert!(ends.into_iter().all(|end| end.unwrap() == expected));
    }
}
