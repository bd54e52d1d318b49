//! Random inputs for what the leader of a round proposes.

use super::{Announced, GARBLED, HEAD, LEVELS, MOST, ORDER, Offer, announced, offers, write};
use divisi_rep3::Rounds;

/// The head of a message: a kind, a number, a digest.
fn head(kind: u8, count: u16) -> Vec<u8> {
    [&[kind][..], &count.to_le_bytes(), &[7; 16]].concat()
}

/// Offers of different requests.
fn some_offers(count: u64) -> Vec<u8> {
    let mut body = Vec::new();
    (0..count).for_each(|i| write(&Offer { connection: [i as u8; 32], number: i, step: 3 * i }, &mut body));
    body
}

/// A call and what follows it: announced lengths fit a message, offers are written as the same bytes, and no
/// two are of one request.
#[test]
fn random_calls() {
    let with = |kind, count: u64| [head(kind, count as u16), some_offers(count)].concat();
    let mut seeds = vec![head(0, 0), head(2, 0), head(3, 100), with(1, 1), with(4, 3), with(1, 9)];
    // the same request twice
    let twice = [with(1, 1), some_offers(1)].concat();
    seeds.push([&[1, 2, 0][..], &twice[3..]].concat());
    divisi_fuzz::golden("calls", env!("CARGO_MANIFEST_DIR"), &seeds);
    divisi_fuzz::run("calls", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let Some((head, body)) = bytes.split_first_chunk::<HEAD>() else { return Ok(false) };
        let (count, rounds) = match announced(head) {
            Some(Announced::Offers(count, rounds)) => (count, rounds),
            Some(Announced::Order(count)) if count == 0 || count > 1 << 13 => {
                return Err(format!("an order of {count} bytes"));
            }
            Some(_) => return Ok(true),
            None => return Ok(false),
        };
        if head[0] != if rounds == Rounds::Constant { 4 } else { 1 } {
            return Err("other rounds".into());
        }
        // a message has the length that was announced
        let Some(body) = body.get(..48 * count) else { return Ok(false) };
        let Ok(offers) = offers(body) else { return Ok(false) };
        let different = (1..offers.len()).all(|at| {
            offers[..at]
                .iter()
                .all(|one| (one.connection, one.number) != (offers[at].connection, offers[at].number))
        });
        let mut again = Vec::new();
        offers.iter().for_each(|offer| write(offer, &mut again));
        if different && again == body { Ok(true) } else { Err("other offers".into()) }
    });
}

/// What is announced has one element at least, and so many at most.
#[test]
fn what_is_announced_has_a_first_and_a_last_length() {
    for (kind, most) in [(3, ORDER), (LEVELS, MOST), (GARBLED, MOST)] {
        for (count, good) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            let head: [u8; HEAD] = head(kind, count as u16).try_into().unwrap();
            assert_eq!(announced(&head).is_some(), good, "{kind} {count}");
        }
    }
}
