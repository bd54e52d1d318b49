//! Bodies of requests: read as they come, against a budget, with limits of length and time, into memory that
//! is wiped.

use super::UNIT;
use crate::api::ApiAnswer;
use axum::body::Body;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

/// How long a body may take.
const LONGEST: Duration = Duration::from_secs(30);
/// The first capacity of the buffer; it doubles until the limit.
const FIRST: usize = 4096;

/// A body, and its share of the budget.
pub(super) type Read = (Zeroizing<Vec<u8>>, Option<OwnedSemaphorePermit>);

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
    match tokio::time::timeout(LONGEST, collect(body, most, budget)).await {
        Ok(read) => read,
        Err(_) => Err(close(ApiAnswer::error(408, "the body of the request came too slowly"))),
    }
}

async fn collect(mut body: Body, most: usize, budget: &Arc<Semaphore>) -> Result<Read, ApiAnswer> {
    let mut bytes: Zeroizing<Vec<u8>> = Zeroizing::default();
    let mut share: Option<OwnedSemaphorePermit> = None;
    while let Some(frame) = body.frame().await {
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
            let more = (capacity - bytes.capacity()).div_ceil(UNIT);
            let more = u32::try_from(more).ok();
            let Some(Ok(more)) = more.map(|more| Arc::clone(budget).try_acquire_many_owned(more)) else {
                return Err(close(ApiAnswer::busy()));
            };
            match &mut share {
                Some(share) => share.merge(more),
                None => share = Some(more),
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
fn close(answer: ApiAnswer) -> ApiAnswer {
    answer.with_header("Connection", "close".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
