//! One request for each item of a list, over several connections of a pool at the same time.
//!
//! Servers compute requests of several connections together, so that many short texts in one call take
//! little longer than one. A connection takes the next item when it has done its last one.

use super::pool::interrupted;
use super::{Client, ClientPool, no_thread};
use crate::error::{Error, ErrorKind};
use divisi_core::{Step, step};
use divisi_net::Interrupt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const MAP: Step = step!("map");

impl ClientPool {
    /// Call `work` for each item, over as many connections as the pool may make, and return the results in
    /// the order of the items. Each item is tried again as [`ClientPool::run`] does it.
    ///
    /// ```no_run
    /// # fn encrypted(pool: &divisi_node::ClientPool, key: &divisi_node::KeyName, texts: &[&[u8]])
    /// # -> Result<Vec<Vec<u8>>, divisi_node::Error> {
    /// pool.map(texts, |client, text| {
    ///     let mut sealed = Vec::new();
    ///     client.encrypt(key, b"", &mut &text[..], text.len() as u64, &mut sealed, &mut |_| {})?;
    ///     Ok(sealed)
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error; then no more items are begun, and no result is returned.
    pub fn map<I: Sync, T: Send>(
        &self,
        items: &[I],
        work: impl Fn(&mut Client, &I) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        self.map_until(&Interrupt::default(), items, work)
    }

    /// The same, unless the caller wants to wait no more.
    ///
    /// # Errors
    /// As for [`ClientPool::map`]; [`ErrorKind::Unavailable`] if it was interrupted.
    pub fn map_until<I: Sync, T: Send>(
        &self,
        interrupt: &Interrupt,
        items: &[I],
        work: impl Fn(&mut Client, &I) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let threads = self.most().min(items.len());
        if threads < 2 {
            let one = |item| self.run_until(interrupt, |client| work(client, item));
            return items.iter().map(one).collect();
        }
        let all = |inner: &Interrupt| self.all(inner, items, threads, &work);
        let done = interrupt.watched(all).map_err(|e| no_thread(&e))?;
        if interrupt.is_due() { Err(interrupted()) } else { done }
    }

    fn all<I: Sync, T: Send>(
        &self,
        interrupt: &Interrupt,
        items: &[I],
        threads: usize,
        work: &(impl Fn(&mut Client, &I) -> Result<T, Error> + Sync),
    ) -> Result<Vec<T>, Error> {
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let error: Mutex<Option<Error>> = Mutex::new(None);
        let fail = |e: Error| {
            failed.store(true, Ordering::SeqCst);
            error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        };
        let thread = || {
            let mut done = Vec::new();
            while !failed.load(Ordering::SeqCst) {
                let place = next.fetch_add(1, Ordering::SeqCst);
                let Some(item) = items.get(place) else { break };
                match self.run_until(interrupt, |client| work(client, item)) {
                    Ok(result) => done.push((place, result)),
                    Err(e) => fail(e),
                }
            }
            done
        };
        let mut results = std::thread::scope(|scope| {
            let start = |_| std::thread::Builder::new().name("item".into()).spawn_scoped(scope, thread);
            // with fewer threads than asked for it takes longer, and no less is done
            let started: Vec<_> = (0..threads).map_while(|nth| start(nth).ok()).collect();
            if started.is_empty() {
                return thread();
            }
            let ended = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| {
                thread.join().unwrap_or_else(|_| {
                    fail(Error::new(
                        ErrorKind::Unavailable,
                        MAP,
                        "a thread of the call ended early: try again",
                    ));
                    Vec::new()
                })
            };
            started.into_iter().flat_map(ended).collect::<Vec<_>>()
        });
        if let Some(error) = error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        results.sort_unstable_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}
