//! Bodies of requests: read as they come, against a budget, with limits of length and time, into memory that
//! is wiped. Answers count against the budget, too, until they are sent.

use super::UNIT;
use crate::api::ApiAnswer;
use axum::body::Body;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

/// How long a body may take.
const LONGEST: Duration = Duration::from_secs(30);
/// How long a body may take whatever comes; from then on at least [`RATE`] bytes must have come each second.
const GRACE: Duration = Duration::from_secs(5);
const RATE: usize = 1024;
/// How long a body waits for others to be worked on: as long as a request waits for its turn.
const WORK: Duration = Duration::from_secs(8);
/// The longest body that is read and thrown away, where none was expected.
const DRAINED: usize = 64 << 10;
/// Answers up to this length cost nothing: as many as there are connections are little.
const FREE: usize = 16 << 10;
/// The first capacity of the buffer; it doubles until the limit.
const FIRST: usize = 4096;

/// A share of the budget, until it is dropped.
pub(super) type Share = Option<OwnedSemaphorePermit>;

/// A body, and its share of the budget.
pub(super) type Read = (Zeroizing<Vec<u8>>, Share);

/// How many units so many bytes are.
pub(super) const fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}

/// Make a share large enough for so many bytes; whether the budget had them.
fn enlarge(share: &mut Share, bytes: usize, budget: &Arc<Semaphore>) -> bool {
    let has = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let Ok(more) = u32::try_from(units(bytes).saturating_sub(has)) else { return false };
    let Ok(more) = Arc::clone(budget).try_acquire_many_owned(more) else { return false };
    match share {
        Some(share) => share.merge(more),
        None => *share = Some(more),
    }
    true
}

/// The share of an answer, made from that of its request; `None` if the budget has not enough.
pub(super) fn share_of_answer(length: usize, mut share: Share, budget: &Arc<Semaphore>) -> Option<Share> {
    if length <= FREE {
        return Some(None);
    }
    if !enlarge(&mut share, length, budget) {
        return None;
    }
    let rest = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) - units(length);
    drop(share.as_mut().and_then(|share| share.split(rest)));
    Some(share)
}

/// Wait until a body of this length may be worked on, together with others no more than one of the longest;
/// `None` if that takes too long. A short one need not wait.
pub(super) async fn work(length: usize, room: &Arc<Semaphore>) -> Option<Share> {
    if length <= FREE {
        return Some(None);
    }
    let many = u32::try_from(units(length)).ok()?;
    let share = tokio::time::timeout(WORK, Arc::clone(room).acquire_many_owned(many)).await;
    share.ok()?.ok().map(Some)
}

/// Read and forget the body of a request that needs none; whether all of it came, so that another request can
/// follow.
pub(super) async fn drain(mut body: Body, announced: Option<u64>) -> bool {
    if announced.is_some_and(|length| length > DRAINED as u64) {
        return false;
    }
    let all = async {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            length += frame.data_ref().map_or(0, bytes::Bytes::len);
            if length > DRAINED {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(GRACE, all).await.unwrap_or(false)
}

/// Read a body whose length may have been announced.
pub(super) async fn read(
    body: Body,
    announced: Option<u64>,
    most: usize,
    budget: &Arc<Semaphore>,
) -> Result<Read, ApiAnswer> {
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_long());
    }
    collect(body, most, budget).await
}

async fn collect(mut body: Body, most: usize, budget: &Arc<Semaphore>) -> Result<Read, ApiAnswer> {
    let mut bytes: Zeroizing<Vec<u8>> = Zeroizing::default();
    let mut share: Share = None;
    let begun = Instant::now();
    loop {
        let within = GRACE + Duration::from_secs((bytes.len() / RATE) as u64);
        let Ok(frame) = timeout_at(begun + within.min(LONGEST), body.frame()).await else {
            return Err(close(ApiAnswer::error(408, "the body of the request came too slowly")));
        };
        let Some(frame) = frame else { break };
        let Ok(frame) = frame else {
            return Err(close(ApiAnswer::mistake("the body of the request broke off")));
        };
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len() + data.len();
        if length > most {
            return Err(too_long());
        }
        if length > bytes.capacity() {
            let capacity = length.max(2 * bytes.capacity()).max(FIRST).min(most.max(length));
            if !enlarge(&mut share, capacity, budget) {
                return Err(close(ApiAnswer::busy()));
            }
            // a new buffer, so that the old one is wiped and not moved
            let mut larger = Zeroizing::new(Vec::with_capacity(capacity));
            larger.extend_from_slice(&bytes);
            bytes = larger;
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, share))
}

fn too_long() -> ApiAnswer {
    close(ApiAnswer::error(413, "http: request body too large"))
}

/// The rest of the body is not read: the connection ends.
pub(super) fn close(answer: ApiAnswer) -> ApiAnswer {
    answer.with_header("Connection", "close".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remains::{copies, in_own_process};
    use bytes::Bytes;
    use hyper::body::Frame;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A short answer needs no share, and a longer one has one of its length.
    #[test]
    fn so_long_an_answer_is_free() {
        let budget = Arc::new(Semaphore::new(units(4 * FREE)));
        for (length, share) in [(0, None), (FREE, None), (FREE + 1, Some(units(FREE + 1)))] {
            let made = share_of_answer(length, None, &budget).unwrap();
            assert_eq!(made.as_ref().map(OwnedSemaphorePermit::num_permits), share, "{length}");
        }
        assert!(share_of_answer(4 * FREE + 1, None, &budget).is_none());
    }

    fn read_now(
        bytes: Vec<u8>,
        announced: Option<u64>,
        most: usize,
        budget: &Arc<Semaphore>,
    ) -> Result<Read, u16> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(read(Body::from(bytes), announced, most, budget)).map_err(|answer| answer.status)
    }

    #[test]
    fn bodies_have_limits_and_a_budget() {
        let budget = Arc::new(Semaphore::new(8));
        let (bytes, share) = read_now(vec![7; 5000], Some(5000), 6000, &budget).unwrap();
        assert_eq!((bytes.len(), budget.available_permits()), (5000, 3));
        drop(share);
        assert_eq!(budget.available_permits(), 8);
        assert_eq!(read_now(vec![7; 5000], None, 4999, &budget).err(), Some(413));
        assert_eq!(read_now(Vec::new(), Some(5000), 4999, &budget).err(), Some(413));
        assert_eq!(read_now(vec![7; 9000], None, 10_000, &budget).err(), Some(429));
        assert_eq!(budget.available_permits(), 8);
        assert!(read_now(Vec::new(), None, 10, &budget).unwrap().0.is_empty());
    }

    /// A body that comes in pieces of this length, so that its buffer grows often.
    fn pieces(length: usize, piece: usize) -> Body {
        Body::new(Pieces { rest: length, piece, behind: Vec::new() })
    }

    struct Pieces {
        rest: usize,
        piece: usize,
        /// What is allocated behind each piece, so that no buffer grows where it is.
        behind: Vec<Vec<u8>>,
    }

    impl axum::body::HttpBody for Pieces {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            let length = self.rest.min(self.piece);
            self.rest -= length;
            self.behind.push(Vec::with_capacity(100_000));
            let data = || Zeroizing::new((0..length).map(secret).collect::<Vec<u8>>());
            Poll::Ready((length > 0).then(|| Ok(Frame::data(Bytes::from_owner(data())))))
        }
    }

    /// The byte of a piece at this place.
    fn secret(at: usize) -> u8 {
        (at % 64 * 29 + 17) as u8
    }

    /// Each buffer of a body is wiped when it is too small. In a process of its own, whose memory is looked
    /// through.
    #[test]
    fn a_body_leaves_nothing_where_its_buffer_was() {
        in_own_process("http::body::tests::a_body_leaves_nothing_where_its_buffer_was", || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let budget = Arc::new(Semaphore::new(1000));
            let (bytes, _) = runtime.block_on(read(pieces(60_000, 700), None, 100_000, &budget)).unwrap();
            assert!(copies(64, &[secret]) > 500, "what is there is found");
            drop(bytes);
            assert_eq!(copies(64, &[secret]), 0);
        });
    }

    #[test]
    fn two_of_the_longest_bodies_fit_and_no_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for longest in [4 << 20, 4_000_001, 1025] {
            let budget = Arc::new(Semaphore::new(2 * units(longest)));
            let read = |length| runtime.block_on(read(pieces(length, 7001), None, longest, &budget));
            let (first, second) = (read(longest).unwrap(), read(longest).unwrap());
            assert_eq!((first.0.len(), second.0.len()), (longest, longest));
            assert_eq!(budget.available_permits(), 0);
            assert_eq!(read(1).map(drop).unwrap_err().status, 429);
            drop(first);
            assert!(read(longest).is_ok());
        }
    }

    #[test]
    fn an_answer_has_its_share_until_it_is_sent() {
        let budget = Arc::new(Semaphore::new(100));
        let mut share = None;
        assert!(enlarge(&mut share, 50 * UNIT, &budget));
        let share = share_of_answer(20 * UNIT, share, &budget).unwrap();
        assert_eq!(budget.available_permits(), 80);
        let share = share_of_answer(90 * UNIT, share, &budget).unwrap();
        assert_eq!(budget.available_permits(), 10);
        assert!(share_of_answer(20 * UNIT, None, &budget).is_none());
        assert!(share_of_answer(FREE, None, &budget).unwrap().is_none());
        assert!(share_of_answer(101 * UNIT, share, &budget).is_none());
        assert_eq!(budget.available_permits(), 100);
    }

    #[test]
    fn one_of_the_longest_bodies_is_worked_on_at_a_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let room = Arc::new(Semaphore::new(units(4 << 20)));
            let first = work(4 << 20, &room).await.unwrap();
            assert!(work(FREE, &room).await.unwrap().is_none());
            let mut second = std::pin::pin!(work(FREE + 1, &room));
            assert!(tokio::time::timeout(Duration::from_millis(20), second.as_mut()).await.is_err());
            drop(first);
            assert!(second.await.unwrap().is_some());
            assert_eq!(room.available_permits(), units(4 << 20));
        });
    }

    #[test]
    fn bodies_that_nobody_expects_are_read_up_to_a_length() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let drained = |length, announced| runtime.block_on(drain(pieces(length, 999), announced));
        assert!(drained(0, None) && drained(DRAINED, None) && drained(10, Some(10)));
        assert!(drained(10, Some(DRAINED as u64)));
        assert!(!drained(DRAINED + 1, None) && !drained(10, Some(DRAINED as u64 + 1)));
    }

    /// A body that comes drop by drop, one each second, and does not end.
    struct Drops {
        each: usize,
        next: Pin<Box<tokio::time::Sleep>>,
    }

    impl axum::body::HttpBody for Drops {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            std::task::ready!(self.next.as_mut().poll(cx));
            self.next = Box::pin(tokio::time::sleep(Duration::from_secs(1)));
            Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0; self.each])))))
        }
    }

    /// A body has five seconds, another one for each kibibyte that has come, and thirty in all.
    #[test]
    fn a_body_that_drips_ends() {
        for (each, seconds) in [(0, 5), (100, 5), (500, 8), (1024, 30), (20_000, 30)] {
            // its clock runs ahead while all wait
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_time().start_paused(true).build().unwrap().block_on(async {
                let start = Instant::now();
                let drops = Drops { each, next: Box::pin(tokio::time::sleep(Duration::from_secs(1))) };
                let ended = read(Body::new(drops), None, 1 << 20, &Arc::new(Semaphore::new(2000))).await;
                let took = start.elapsed().as_secs();
                assert_eq!((ended.map(drop).unwrap_err().status, took), (408, seconds), "{each}");
            });
        }
    }

    /// What nobody expects is not waited for for long, nor is the room to work on a body.
    #[test]
    fn nothing_is_waited_for_without_end() {
        // its clock runs ahead while all wait
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap().block_on(async {
            for each in [0, 100, 1024] {
                let start = Instant::now();
                let drops = Drops { each, next: Box::pin(tokio::time::sleep(Duration::from_secs(1))) };
                let drained = drain(Body::new(drops), None);
                assert_eq!(tokio::time::timeout(LONGEST, drained).await, Ok(false), "{each}");
                assert_eq!(start.elapsed().as_secs(), 5, "{each}");
            }
            let (start, room) = (Instant::now(), Arc::new(Semaphore::new(units(FREE))));
            let waits = tokio::time::timeout(LONGEST, work(FREE + 1, &room)).await;
            assert!(waits.is_ok_and(|share| share.is_none()));
            assert_eq!(start.elapsed().as_secs(), 8);
        });
    }
}
