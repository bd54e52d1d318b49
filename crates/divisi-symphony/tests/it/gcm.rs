//! AES-GCM on shared keys against an ordinary library.

use crate::common::{bytes, engine, reference};
use divisi_core::Misuse;
use divisi_core::testing::{ended_by_another, refused_for};
use divisi_rep3::Protocol;
use divisi_rep3::adversary::harness::TrioHarness;
use divisi_rep3::deal::{Part, combine};
use divisi_rep3::local::{deal_all, run};
use divisi_symmetric::aes::KeySize;
use divisi_symmetric::mode::gcm::TagLength;
use divisi_symphony::gcm::{CHUNK, GcmKey, Opening, Sealing, answer};
use divisi_symphony::many::{MessageJob, Outcome, OwnedPayload, many};

fn slice(part: &Part, from: usize, to: usize) -> Part {
    Part { first: part.first[from..to].to_vec(), second: part.second[from..to].to_vec() }
}

#[test]
fn messages_around_every_edge_are_sealed_and_opened() {
    let aad = bytes(21, 9);
    let key = bytes(16, 3);
    let iv = *b"twelve bytes";
    for (n, protocol) in [0, 1, 15, 16, 17, 100, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 333]
        .into_iter()
        .zip(Protocol::ALL.iter().copied().cycle())
    {
        let plain = bytes(n, 1);
        let expected = reference(&key, iv, &aad, &plain);
        let parts = deal_all(&[key.clone(), plain.clone()]);
        let results = run(|trio| {
            let mine = &parts[trio.me().index()];
            let mut rep = engine(trio, protocol);
            let mut key = GcmKey::prepare(&mut rep, KeySize::Aes128, &mine[0])?;
            let mut sealing = Sealing::new(&mut rep, &mut key, iv, &aad, n as u64)?;
            let mut out = Vec::new();
            for from in (0..n).step_by(CHUNK) {
                out.extend(sealing.chunk(&mut rep, &key, &slice(&mine[1], from, n.min(from + CHUNK)))?);
            }
            out.extend(sealing.finish(&mut rep, &key)?);

            let (message, tag) = out.split_at(n);
            let mut opening = Opening::new(&mut rep, &mut key, iv, &aad, n as u64, tag)?;
            message.chunks(CHUNK).try_for_each(|chunk| opening.absorb(&mut rep, &key, chunk))?;
            let valid = opening.verify(&mut rep, &key)?;
            let answers = message
                .chunks(CHUNK)
                .map(|chunk| opening.chunk(&mut rep, &key, b"test", chunk))
                .collect::<Result<Vec<_>, _>>()?;
            Ok((out, valid, answers))
        })
        .unwrap();
        for (out, valid, _) in &results {
            assert_eq!((out == &expected, *valid), (true, true), "{n}");
        }
        let mut back = Vec::new();
        for chunk in 0..results[0].2.len() {
            let answers = std::array::from_fn(|p| results[p].2[chunk].clone());
            back.extend_from_slice(&combine(b"test", &answers).unwrap());
        }
        assert_eq!(back, plain);
    }
}

#[test]
fn a_wrong_tag_text_or_aad_opens_nothing() {
    let (key, iv, plain) = (bytes(32, 5), [7; 12], bytes(50, 0));
    let sealed = reference(&key, iv, b"aad", &plain);
    let parts = deal_all(&[key]);
    for (damage, protocol) in (0..4).flat_map(|damage| Protocol::ALL.iter().map(move |p| (damage, *p))) {
        let mut sealed = sealed.clone();
        let mut aad = b"aad".to_vec();
        match damage {
            0 => sealed[50 + 15] ^= 1,
            1 => sealed[3] ^= 0x80,
            2 => aad.push(0),
            _ => sealed[50] ^= 0x10,
        }
        let results = run(|trio| {
            let mine = &parts[trio.me().index()];
            let mut rep = engine(trio, protocol);
            let mut key = GcmKey::prepare(&mut rep, KeySize::Aes256, &mine[0])?;
            let mut opening = Opening::new(&mut rep, &mut key, iv, &aad, 50, &sealed[50..])?;
            opening.absorb(&mut rep, &key, &sealed[..50])?;
            let valid = opening.verify(&mut rep, &key)?;
            let opened = rep.trio().session().meter().read().openings;
            assert!(opening.chunk(&mut rep, &key, b"test", &sealed[..50]).is_err());
            assert_eq!(rep.trio().session().meter().read().openings, opened);
            Ok((valid, opened))
        })
        .unwrap();
        // what was opened: the 16 bytes of the masked product, nothing else
        assert!(results.iter().all(|r| *r == (false, 16)), "{protocol} {results:?}");
    }
}

/// A verified text is opened slice by slice in its order, each under a chunk that is the one read before in
/// every byte, also in those of other slices.
#[test]
fn slices_are_opened_in_order_and_of_what_was_read() {
    const EACH: usize = 16;
    let (key, iv, plain) = (bytes(16, 5), [7; 12], bytes(5 * EACH - 3, 0));
    let n = plain.len();
    let sealed = reference(&key, iv, b"", &plain);
    let parts = deal_all(&[key]);
    let answers = run(|trio| {
        let mine = &parts[trio.me().index()][0];
        let mut rep = engine(trio, Protocol::Gf4Circuit);
        let mut key = GcmKey::prepare(&mut rep, KeySize::Aes128, mine)?;
        let (text, tag) = sealed.split_at(n);
        let mut opening = Opening::new(&mut rep, &mut key, iv, b"", n as u64, tag)?;
        opening.absorb(&mut rep, &key, text)?;
        assert!(opening.verify(&mut rep, &key)?);
        let range = |first: usize| first..n.min(first + EACH);
        let mut opened = Vec::new();
        for now in (0..n).step_by(EACH) {
            let mut refused = |what, chunk: &[u8], first| {
                let end = opening.slice(&mut rep, &key, chunk, range(first)).map(drop);
                refused_for([(what, end)]);
            };
            for at in 0..n {
                let mut other = text.to_vec();
                other[at] ^= 1;
                refused(Misuse::InputsDiffer, &other, now);
            }
            refused(Misuse::InputsDiffer, &text[..n - 1], now);
            for first in (0..n).step_by(EACH).filter(|first| *first != now) {
                refused(Misuse::OutOfOrder, text, first);
            }
            opened.push(opening.slice(&mut rep, &key, text, range(now))?);
        }
        answer(&mut rep, b"test", opened, n)
    })
    .unwrap();
    let answers = std::array::from_fn(|p| answers[p].clone());
    assert_eq!(*combine(b"test", &answers).unwrap(), plain);
}

#[test]
fn many_messages_with_their_own_keys_in_one_call() {
    let each = KeySize::ALL.into_iter().flat_map(|size| Protocol::ALL.iter().map(move |p| (size, *p)));
    for (size, protocol) in each {
        let case = |i| {
            let (key, plain, aad) = (bytes(size.bytes(), i), bytes(i * 7 % 65, i), bytes(i % 33, 1));
            let iv = [i as u8; 12];
            let sealed = reference(&key, iv, &aad, &plain);
            (key, iv, aad, plain, sealed)
        };
        let cases: Vec<_> = (0..40).map(case).collect();
        let keys = deal_all(&cases.iter().map(|c| c.0.clone()).collect::<Vec<_>>());
        let plains = deal_all(&cases.iter().map(|c| c.3.clone()).collect::<Vec<_>>());
        let tag_length = |k: usize| TagLength::ALL[k % 5];
        let results = run(|trio| {
            let me = trio.me().index();
            let mut jobs = Vec::new();
            for (k, (_, iv, aad, plain, sealed)) in cases.iter().enumerate() {
                let n = plain.len();
                let message = if k % 3 == 0 {
                    OwnedPayload::Plain(plains[me][k].clone())
                } else {
                    let mut tag = sealed[n..n + tag_length(k).bytes()].to_vec();
                    tag[k % 12] ^= u8::from(k % 3 == 1);
                    OwnedPayload::Cipher { ciphertext: sealed[..n].to_vec(), tag }
                };
                let (key, aad, tag_length) = (keys[me][k].clone(), aad.clone(), tag_length(k));
                jobs.push(MessageJob { key, danger_iv: *iv, aad, tag_length, payload: message });
            }
            many(&mut engine(trio, protocol), size, &jobs)
        })
        .unwrap();
        assert!(results[1] == results[0] && results[2] == results[0]);
        for (k, outcome) in results[0].iter().enumerate() {
            let (_, _, _, plain, sealed) = &cases[k];
            let n = plain.len();
            let expected = match k % 3 {
                0 => Outcome::Sealed(sealed[..n].to_vec(), sealed[n..n + tag_length(k).bytes()].to_vec()),
                1 => Outcome::Invalid,
                _ => Outcome::Opened(plain.clone()),
            };
            assert_eq!(*outcome, expected, "{protocol} {k}");
        }
    }
}

/// Nothing is computed of messages of which the last one has a key, a tag or a component of another length,
/// nor of none.
#[test]
fn jobs_that_do_not_fit_are_refused() {
    let parts = deal_all(&[bytes(16, 3), bytes(20, 1)]);
    type Way = fn(&mut Vec<MessageJob>);
    fn payload(jobs: &mut [MessageJob]) -> Option<&mut Part> {
        if let OwnedPayload::Plain(part) = &mut jobs.last_mut()?.payload { Some(part) } else { None }
    }
    fn received(jobs: &mut [MessageJob], tag: usize) {
        let payload = OwnedPayload::Cipher { ciphertext: bytes(20, 1), tag: bytes(tag, 1) };
        jobs.last_mut().into_iter().zip([payload]).for_each(|(job, payload)| job.payload = payload);
    }
    let ways: [(Misuse, Way); 8] = [
        (Misuse::Empty, Vec::clear),
        (Misuse::LengthDiffers, |jobs| payload(jobs).unwrap().first.truncate(19)),
        (Misuse::LengthDiffers, |jobs| payload(jobs).unwrap().second.truncate(19)),
        (Misuse::LengthDiffers, |jobs| payload(jobs).unwrap().second.push(0)),
        (Misuse::LengthDiffers, |jobs| received(jobs, 15)),
        (Misuse::LengthDiffers, |jobs| received(jobs, 17)),
        (Misuse::KeyUnfit, |jobs| jobs.last_mut().unwrap().key.first.truncate(15)),
        (Misuse::KeyUnfit, |jobs| jobs.last_mut().unwrap().key.second.push(0)),
    ];
    for (what, way) in ways {
        let ends = TrioHarness::default().act(|trio| {
            let mine = &parts[trio.me().index()];
            let job = |i| MessageJob {
                key: mine[0].clone(),
                danger_iv: [i; 12],
                aad: Vec::new(),
                tag_length: TagLength::Bits128,
                payload: OwnedPayload::Plain(mine[1].clone()),
            };
            let mut jobs = vec![job(1), job(2)];
            way(&mut jobs);
            many(&mut engine(trio, Protocol::Gf4Circuit), KeySize::Aes128, &jobs).map(drop)
        });
        let (others, refused): (Vec<_>, Vec<_>) = ends.into_iter().partition(ended_by_another);
        assert!(others.len() < 3);
        refused_for(refused.into_iter().map(|end| (what, end)));
    }
}
