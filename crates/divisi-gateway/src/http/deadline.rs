//! A stream whose writes end: a client that reads nothing for long holds its answer no longer.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The stream, with the time within which it must take the next bytes.
pub(super) struct Deadline<S> {
    stream: S,
    longest: Duration,
    /// It runs while bytes wait.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Deadline<S> {
    pub fn new(stream: S, longest: Duration) -> Deadline<S> {
        Deadline { stream, longest, waits: None }
    }

    /// What a write gave, or the error of one that has waited for too long.
    fn within<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let longest = self.longest;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(longest)));
        ready!(waits.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Deadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Deadline<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within(cx, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.within(cx, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(cx);
        self.within(cx, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within(cx, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn block_on<F: Future>(work: F) -> F::Output {
        // its clock runs ahead while all wait, so that a busy machine reaches no limit
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap().block_on(work)
    }

    #[test]
    fn a_peer_that_reads_nothing_ends_a_write_and_one_that_reads_slowly_does_not() {
        block_on(async {
            let longest = Duration::from_millis(200);
            let (own, mut peer) = duplex(64);
            let mut own = Deadline::new(own, longest);
            let error = own.write_all(&[1; 1000]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let mut all = [0; 64];
            peer.read_exact(&mut all).await.unwrap();
            let slowly = async {
                for _ in 0..6 {
                    tokio::time::sleep(longest / 2).await;
                    peer.read_exact(&mut all).await.unwrap();
                }
            };
            let (wrote, ()) = tokio::join!(own.write_all(&[1; 384]), slowly);
            wrote.unwrap();
        });
    }
    /// A peer that takes nothing.
    struct Deaf;

    impl AsyncRead for Deaf {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Deaf {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    /// Whatever is asked of a peer that takes nothing ends: one piece or several, and the end itself.
    #[test]
    fn nothing_waits_for_ever_for_a_peer() {
        type Asked = fn(Pin<&mut Deadline<Deaf>>, &mut Context<'_>) -> Poll<io::Result<()>>;
        let asked: [Asked; 4] = [
            |own, cx| own.poll_write(cx, &[1]).map_ok(drop),
            |own, cx| own.poll_write_vectored(cx, &[IoSlice::new(&[1])]).map_ok(drop),
            |own, cx| own.poll_flush(cx),
            |own, cx| own.poll_shutdown(cx),
        ];
        for (nth, ask) in asked.into_iter().enumerate() {
            block_on(async {
                let longest = Duration::from_millis(200);
                let mut own = Deadline::new(Deaf, longest);
                let done = std::future::poll_fn(|cx| ask(Pin::new(&mut own), cx));
                let done = tokio::time::timeout(2 * longest, done).await.expect("it ends");
                assert_eq!(done.unwrap_err().kind(), io::ErrorKind::TimedOut, "{nth}");
            });
        }
    }
}
