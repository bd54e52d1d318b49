//! The items of a batch over all connections at once, or over those that other requests leave: a batch has
//! one lane of its own, and takes further ones only while fewer requests are asked than there are
//! connections.

use crate::backend::{Backend, BackendTrouble};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Do `work` for each item, in as many threads as there are connections. The results are in the items' order;
/// one that is missing, because a thread ended, is trouble.
pub fn each<I: Sync, T: Send>(
    servers: &dyn Backend,
    items: &[I],
    work: impl Fn(&I) -> Result<T, BackendTrouble> + Sync,
) -> Vec<Result<T, BackendTrouble>> {
    let next = AtomicUsize::new(0);
    let lane = |is_further: bool| {
        let mut done = Vec::new();
        loop {
            if is_further && servers.is_crowded() {
                return done;
            }
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    };
    let mut results: Vec<_> =
        items.iter().map(|_| Err(BackendTrouble::Down(None, "a thread ended".into()))).collect();
    let further = servers.lanes().min(items.len()).saturating_sub(1);
    let done = std::thread::scope(|scope| {
        let start = |_| {
            let free = !servers.is_crowded();
            free.then(|| std::thread::Builder::new().spawn_scoped(scope, || lane(true)).ok()).flatten()
        };
        // without a further thread this one does all of it
        let threads: Vec<_> = (0..further).filter_map(start).collect();
        let mut done = lane(false);
        done.extend(threads.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        done
    });
    for (index, result) in done {
        if let Some(place) = results.get_mut(index) {
            *place = result;
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Memory;

    /// Where others need the connections one lane does everything.
    #[test]
    fn one_lane_is_left_where_others_wait() {
        let (servers, own) = (Memory::default(), std::thread::current().id());
        servers.crowd(true);
        let results = each(&servers, &[0; 20], |_| Ok(std::thread::current().id()));
        assert_eq!(results, vec![Ok(own); 20]);
    }

    /// A further lane that gives way to others leaves nothing undone.
    #[test]
    fn no_item_is_lost_when_others_come() {
        let (servers, items): (_, Vec<usize>) = (Memory::default(), (0..20).collect());
        let all_lanes = std::sync::Barrier::new(servers.lanes());
        let results = each(&servers, &items, |item| {
            // each lane has one item when the others come
            if *item < servers.lanes() {
                all_lanes.wait();
            }
            servers.crowd(true);
            Ok(*item)
        });
        assert_eq!(results, items.into_iter().map(Ok).collect::<Vec<_>>());
    }

    /// An item whose thread ended early is trouble, and no other result stands in its place.
    #[test]
    fn an_item_without_a_result_is_trouble() {
        let (servers, items): (_, Vec<usize>) = (Memory::default(), (0..20).collect());
        let all_lanes = std::sync::Barrier::new(servers.lanes());
        let own = std::thread::current().id();
        let results = each(&servers, &items, |item| {
            // each lane has one item, and only the first lane has a second one
            if *item < servers.lanes() {
                all_lanes.wait();
                assert_eq!(std::thread::current().id(), own, "an item of a test");
            }
            Ok(*item)
        });
        let done = |(item, result): (usize, &Result<usize, BackendTrouble>)| match result {
            Ok(done) => *done == item,
            Err(trouble) => item < servers.lanes() && matches!(trouble, BackendTrouble::Down(..)),
        };
        assert!(results.len() == items.len() && results.iter().enumerate().all(done), "{results:?}");
        assert_eq!(results.iter().filter(|result| result.is_err()).count(), servers.lanes() - 1);
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..499).collect();
        let results = each(&Memory::default(), &items, |item| Ok(item * 2));
        assert!(results.iter().enumerate().all(|(index, result)| *result == Ok(index * 2)));
        assert!(each(&Memory::default(), &[] as &[usize], |item| Ok(*item)).is_empty());
    }
}
