//! Strands: chunks of one long computation that overlap, each in a thread with its own channel, keys and
//! checks.

use crate::session::Chains;
use crate::{Abort, Misuse, Session};
use divisi_net::{Step, step};
use std::sync::mpsc::sync_channel;

const STREAM: Step = step!("stream");

impl Session {
    /// Run `work` on every chunk, chunk `c` in strand `c mod strands` at every party, and pass the results to
    /// `sink` in order. At most one chunk a strand is in progress, so that memory is bounded for any number
    /// of chunks. What `sink` does (settle, open, answer) overlaps the work on later chunks. The meter counts
    /// the chunks of a strand one after the other, and those of different strands beside each other; a chunk
    /// follows those that were given to `sink` before it began.
    ///
    /// With one strand everything runs in the calling thread, on this strand.
    ///
    /// # Errors
    /// If `work` or `sink` fails: the cause of the session's end, if the session ended, and otherwise the
    /// error of the first chunk that failed. The other strands end too.
    pub fn stream<T, R, E>(
        &mut self,
        strands: usize,
        chunks: impl Iterator<Item = T>,
        work: impl Fn(&mut Session, T) -> Result<R, E> + Sync,
        mut sink: impl FnMut(&mut Session, R) -> Result<(), E>,
    ) -> Result<(), E>
    where
        T: Send,
        R: Send,
        E: From<Abort> + Send,
    {
        if strands <= 1 {
            for chunk in chunks {
                let result = work(self, chunk)?;
                sink(self, result)?;
            }
            return Ok(());
        }
        let threads = (0..strands).map(|_| self.strand()).collect::<Result<Vec<_>, _>>()?;
        let result = std::thread::scope(|scope| {
            let mut ends = Vec::with_capacity(strands);
            for mut strand in threads {
                let (give, chunks) = sync_channel::<(T, Chains)>(1);
                let (results, take) = sync_channel::<(Result<R, E>, Chains)>(1);
                let work = &work;
                scope.spawn(move || {
                    while let Ok((chunk, before)) = chunks.recv() {
                        strand.after_chains(&before);
                        let result = {
                            let _permit = strand.permits().enter();
                            work(&mut strand, chunk)
                        };
                        let failed = result.is_err();
                        if results.send((result, strand.chains())).is_err() || failed {
                            break;
                        }
                    }
                });
                ends.push((give, take));
            }
            let mut given = 0;
            let mut finish = |session: &mut Session, c: usize| {
                let (_, take) = &ends[c % strands];
                let result = session.permits().outside(|| take.recv());
                let lost = || Abort::Misuse { step: STREAM, what: Misuse::NoResult };
                let (result, chains) = result.map_err(|_| E::from(lost()))?;
                session.after_chains(&chains);
                sink(session, result?)
            };
            for (c, chunk) in chunks.enumerate() {
                if c >= strands {
                    finish(self, c - strands)?;
                }
                if ends[c % strands].0.send((chunk, self.chains())).is_err() {
                    // the strand has failed: its result says why
                    return finish(self, c);
                }
                given = c + 1;
            }
            (given.saturating_sub(strands)..given).try_for_each(|c| finish(self, c))
        });
        // the strand that failed first is the cause: the others failed only because it did
        result.map_err(|e| self.cause().map_or(e, E::from))
    }
}
