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
    // whatever it asks
    refused(client.decrypt(b"x", "x").await, Code::ResourceExhausted, "under way");
    refused(client.0.status(StatusRequest {}).await, Code::ResourceExhausted, "under way");
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

/// What a peer may send in advance is bounded from the first moment on, and stays so however fast it sends:
/// nothing is measured, and no more is granted than was taken.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_in_advance_stays_bounded() {
    let setting = Setting::start(Some(KeyKind::Aes256));
    let mut stream = UnixStream::connect(&setting.path).await.unwrap();
    let frame = |kind: u8, flags: u8, number: u8, body: &[u8]| {
        let [high, low] = (body.len() as u16).to_be_bytes();
        [&[0, high, low, kind, flags, 0, 0, 0, number][..], body].concat()
    };
    let (path, host) = (&b"/v2.KeyManagementService/Encrypt"[..], &b"localhost"[..]);
    let (path, host) = ([&[4, path.len() as u8], path].concat(), [&[1, host.len() as u8], host].concat());
    let piece = [0; 10_000];
    let frames = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &[&[0x83, 0x86][..], &path, &host].concat()),
        frame(0, 0, 1, &piece),
        frame(0, 0, 1, &piece),
        frame(0, 1, 1, &piece),
    ];
    stream.write_all(&frames.concat()).await.unwrap();
    let (mut settings, mut granted) = (std::collections::BTreeMap::new(), 0);
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let [_, high, low, kind, flags, .., number] = head;
        let mut body = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        stream.read_exact(&mut body).await.unwrap();
        match kind {
            4 if flags == 0 => settings.extend(body.chunks(6).map(|one| {
                let [_, name, value @ ..] = one else { panic!("{one:?}") };
                (*name, u32::from_be_bytes(value.try_into().unwrap()))
            })),
            6 => panic!("it measures how fast its peer sends"),
            8 if number == 0 => granted += u32::from_be_bytes(body.try_into().unwrap()),
            // the end of the answer
            0 | 1 if flags & 1 == 1 => break,
            _ => {}
        }
    }
    let least = 65_535;
    assert!(granted <= 3 * piece.len() as u32, "{granted}");
    assert!(settings.get(&4).is_none_or(|window| *window <= least), "{settings:?}");
    let [requests, headers] = [3, 6].map(|name| settings.get(&name).copied());
    assert!(requests.is_some_and(|most| most <= 64) && headers.is_some_and(|most| most <= 8 << 10));
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
