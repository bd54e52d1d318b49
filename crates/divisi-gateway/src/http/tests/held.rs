//! What a request holds, and until when.

use super::*;
use crate::backend::{Backend, KeyKind};

/// An answer has its share of the budget until it is sent or given up, however it is sent.
#[test]
fn an_answer_that_is_not_sent_yet_has_its_share() {
    let budget = Arc::new(Semaphore::new(100));
    for length in [1, CHUNKED, CHUNKED + 1, 100_000] {
        let share = Arc::clone(&budget).try_acquire_many_owned(100).unwrap();
        let answer = ApiAnswer { body: Some(vec![b'x'; length].into()), ..ApiAnswer::empty(200) };
        let response = response(answer, Some(share));
        assert_eq!(budget.available_permits(), 0, "{length}");
        drop(response);
        assert_eq!(budget.available_permits(), 100, "{length}");
    }
}

/// What the servers work on has its turn, its part of the room and its share of the budget until they answer.
#[test]
fn what_is_worked_on_holds_its_turn_and_its_room() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let servers = Arc::new(Memory::default());
    servers.make(&"k".parse().unwrap(), KeyKind::Aes256).unwrap();
    let service = service_over(Arc::clone(&servers), false, std::io::sink());
    // the second of its two turns, and what is free
    let free = || {
        let second = async {
            let _first = service.turns.take_own().await;
            tokio::time::timeout(Duration::from_millis(20), service.turns.take_own()).await.is_ok()
        };
        (runtime.block_on(second), service.work.available_permits(), service.memory.available_permits())
    };
    let before = free();
    servers.hold(true);
    let (asks, token) = (Arc::clone(&service), Some("root".to_owned().into()));
    let asked = runtime.spawn(async move {
        let (method, path) = ("POST".to_owned(), "/v1/transit/encrypt/k".to_owned());
        let head = RequestHead { method, path, token, ..RequestHead::default() };
        let body = format!("{{\"plaintext\":\"{}\"}}", "A".repeat(40_000));
        asks.answer(head, None, Body::from(body), "id").await.answer.status
    });
    assert!(soon(|| servers.held() == 1));
    let meanwhile = free();
    servers.hold(false);
    assert_eq!(runtime.block_on(asked).unwrap(), 200);
    assert!(before.0 && !meanwhile.0, "a turn");
    assert!(meanwhile.1 < before.1 && meanwhile.2 < before.2, "{before:?} {meanwhile:?}");
    assert!(soon(|| free() == before));
}
