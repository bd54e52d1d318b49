//! Whoever may open the socket sends what is no call, or nothing.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes that look random, and are the same each time.
fn noise() -> impl FnMut(usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |length| {
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..length).map(|_| byte()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_messages_are_the_clients_mistakes() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    setting.client().await.until("ok").await;
    let Client(mut client) = setting.client().await;
    let (mut random, mut wire) = (noise(), setting.wire().await);
    for round in 0..2000_usize {
        let mut message = random(round % 60);
        if round % 3 > 0 {
            // the bytes before a message: no compression, and its length
            message = [&[0, 0, 0, 0, message.len() as u8], &message[..]].concat();
        }
        let call = ["Status", "Encrypt", "Decrypt", "Other"][round % 4];
        let body = Body::new(http_body_util::Full::new(bytes::Bytes::from(message)));
        let request = Request::post(format!("http://localhost/v2.KeyManagementService/{call}"));
        let answer = wire.call(request.body(body).unwrap()).await.unwrap();
        assert_eq!(answer.status(), 200);
        let code = Status::from_header_map(answer.headers()).map_or(Code::Ok, |status| status.code());
        let mistakes = [
            Code::Ok,
            Code::InvalidArgument,
            Code::FailedPrecondition,
            Code::OutOfRange,
            Code::Unimplemented,
        ];
        assert!(mistakes.contains(&code), "{call}: {code:?}");
    }
    assert!(client.status(StatusRequest {}).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_stops_nothing() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut random = noise();
    for round in 0..200 {
        let mut stream = UnixStream::connect(&setting.path).await.unwrap();
        let mut bytes = random(300);
        if round % 2 == 0 {
            bytes = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", &bytes[..]].concat();
        }
        // it may be closed already
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "round {round}");
    }
    let mut client = setting.client().await;
    for length in 0..100 {
        let key_id = client.until("ok").await.key_id;
        assert_eq!(client.decrypt(&random(length), &key_id).await.unwrap_err().code(), Code::InvalidArgument);
    }
    assert!(client.encrypt(PLAINTEXT).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_comes_in_time_whoever_is_connected() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    client.until("ok").await;
    let mut silent = Vec::new();
    for _ in 0..10 {
        silent.push(UnixStream::connect(&setting.path).await.unwrap());
    }
    let begun = Instant::now();
    setting.stop.send(true).unwrap();
    setting.serves.await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(client.0.status(StatusRequest {}).await.is_err());
}

/// A request has its place until it is answered or its client leaves, and where all are taken it is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_its_place_to_its_end() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    client.until("ok").await;
    let (all, wait) = (setting.requests.available_permits(), Duration::from_millis(1));
    let until = async |free: usize| {
        while setting.requests.available_permits() != free {
            tokio::time::sleep(wait).await;
        }
    };
    until(all).await;
    // its turn does not come
    let turn = setting.turns.take_own().await.unwrap();
    tokio::select! {
        () = until(all - 1) => {}
        done = client.encrypt(PLAINTEXT) => panic!("it had no place: {done:?}"),
    }
    until(all).await;
    drop(turn);
    let taken = Arc::clone(&setting.requests).try_acquire_many_owned(all as u32).unwrap();
    refused(client.encrypt(PLAINTEXT).await, Code::ResourceExhausted, "under way");
    drop(taken);
    assert!(client.encrypt(PLAINTEXT).await.is_ok());
}

/// A request has its turn until the servers have answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_its_turn_to_its_end() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut client = setting.client().await;
    client.until("ok").await;
    let (ciphertext, key_id) = client.encrypt(PLAINTEXT).await.unwrap();
    for encrypts in [true, false] {
        setting.servers.hold(true);
        let free = async {
            while setting.servers.held() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let turn = tokio::time::timeout(Duration::from_millis(20), setting.turns.take_own()).await;
            setting.servers.hold(false);
            turn.is_ok()
        };
        let asked = async {
            match encrypts {
                true => client.encrypt(PLAINTEXT).await.map(drop),
                false => client.decrypt(&ciphertext, &key_id).await.map(drop),
            }
        };
        let (done, free) = tokio::join!(asked, free);
        assert!(done.is_ok() && !free, "{done:?}");
    }
}

/// A body that does not come.
struct Never;

impl hyper::body::Body for Never {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

/// A message that does not come is waited for as long as its client says, and no longer than half a minute.
/// The clock runs ahead while all wait.
#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_come_is_waited_for_up_to_a_limit() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut wire = setting.wire().await;
    for (time, seconds) in [("", 30), ("10S", 9), ("1M", 30), ("99999999H", 30)] {
        let request = Request::post("http://localhost/v2.KeyManagementService/Encrypt");
        let request = if time.is_empty() { request } else { request.header("grpc-timeout", time) };
        let begun = tokio::time::Instant::now();
        let answer = wire.call(request.body(Body::new(Never)).unwrap());
        let answer =
            tokio::time::timeout(Duration::from_secs(600), answer).await.expect("an answer").unwrap();
        let status = Status::from_header_map(answer.headers()).unwrap();
        let lasted = begun.elapsed().as_secs();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{time}");
        assert!((seconds..seconds + 5).contains(&lasted), "{time:?} {lasted}");
    }
}
