//! Inputs of clients and outputs to them: a client gets the shared value, or refuses the output.

use crate::engines::{dealt, given, prepared, sent};
use divisi_core::testing::{Harness, many, party};
use divisi_core::{Abort, Bytes, Direction, Misuse, Plain, PlainByte, PublicParameters, Session, Settles};
use divisi_field::{Gf8, Gf40, Gf48};
use divisi_spdz::{ClientFault, ForClient, Host, Preparation, Receipt, Spdz, SpdzProtocol};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const LANES: usize = 5;
/// m for MACs of 48 bits.
const ROWS: usize = 6;
const CHALLENGE: [u8; 16] = [77; 16];
const ELEMENT: &str = "divisi_spdz::multiply/multiply.element";

/// A party's end of its channel with the client.
struct Channel {
    out: Sender<Vec<u8>>,
    back: Receiver<Vec<u8>>,
}

impl Channel {
    fn send(&self, body: &[u8]) {
        let _ = self.out.send(body.to_vec());
    }

    fn receive(&self) -> Result<Vec<u8>, Abort> {
        let silent = Abort::Misuse { step: divisi_core::step!("client"), what: Misuse::NoResult };
        self.back.recv_timeout(Duration::from_secs(10)).map_err(|_| silent)
    }

    /// Sends what the client receives, and proves it under the client's challenge.
    fn proves<F: Host>(&self, e: &mut Spdz<F>, of: ForClient<F>, body: &[u8]) -> Result<(), Abort> {
        self.send(body);
        let challenge = *self.receive()?.first_chunk().unwrap();
        self.send(&e.prove(of, &challenge)?);
        Ok(())
    }
}

/// The client's ends of all channels.
struct Client {
    lines: Vec<(Receiver<Vec<u8>>, Sender<Vec<u8>>)>,
}

impl Client {
    fn receive(&self) -> Option<Vec<Vec<u8>>> {
        self.lines.iter().map(|(line, _)| line.recv_timeout(Duration::from_secs(10)).ok()).collect()
    }

    fn send(&self, body: &[u8]) {
        self.lines.iter().for_each(|(_, line)| drop(line.send(body.to_vec())));
    }

    /// Receives an output. `alter` may change messages before the client sees them; it gets the round and the
    /// messages of all parties.
    fn take<F: Host>(
        &self,
        alter: &mut dyn FnMut(usize, &mut [Vec<u8>]),
    ) -> Option<Result<Vec<u8>, ClientFault>> {
        fn slices(messages: &[Vec<u8>]) -> Vec<&[u8]> {
            messages.iter().map(Vec::as_slice).collect()
        }
        let mut messages = self.receive()?;
        alter(0, &mut messages);
        let receipt = match Receipt::<F>::new(&slices(&messages), LANES, CHALLENGE) {
            Ok(receipt) => receipt,
            Err(e) => return Some(Err(e)),
        };
        self.send(&receipt.challenge());
        let mut messages = self.receive()?;
        alter(1, &mut messages);
        Some(receipt.accept(&slices(&messages)).map(|bytes| bytes.to_vec()))
    }
}

fn lines(n: usize) -> (Vec<Mutex<Option<Channel>>>, Client) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let ((out, outgoing), (incoming, back)) = (channel(), channel());
        ours.push(Mutex::new(Some(Channel { out, back })));
        theirs.push((outgoing, incoming));
    }
    (ours, Client { lines: theirs })
}

fn values() -> Vec<u8> {
    (0..LANES as u8).map(|i| 41 * i + 7).collect()
}

fn sboxes() -> Vec<u8> {
    let mut x = PlainByte::new(values());
    Plain.sbox(Direction::Encrypt, &mut [&mut x]).unwrap();
    x.values().to_vec()
}

/// The client's bytes are an input, go through the S-box, and are an output to the client.
fn round_trip<F: Host>(session: Session, line: &Channel, real: bool) -> Result<(), Abort> {
    let mut e = prepared::<F>(session, real.then_some(Preparation::Bucketed), SpdzProtocol::Lookup)?;
    let (mask, of, body) = e.client_mask(LANES)?;
    line.proves(&mut e, of, &body)?;
    let mut x = e.client_input(mask, &line.receive()?)?;
    e.sbox(Direction::Encrypt, &mut [&mut x])?;
    let verified = e.settled(x)?;
    let (of, body) = e.show(verified)?;
    line.proves(&mut e, of, &body)
}

#[test]
fn a_client_gives_and_learns_its_own() {
    fn there_and_back<F: Host>(n: usize, real: bool) {
        let (ours, client) = lines(n);
        let harness = Harness::new(n, &PublicParameters::new("clients"));
        let learned = std::thread::scope(|s| {
            let ends = s.spawn(|| {
                harness.act(|session| {
                    let line = ours[session.me().index()].lock().unwrap().take().unwrap();
                    round_trip::<F>(session, &line, real)
                })
            });
            let r = client.take::<F>(&mut |_, _| ()).unwrap().unwrap();
            let sum: Vec<u8> = values().iter().zip(&r).map(|(x, r)| x ^ r).collect();
            client.send(&sum);
            let learned = client.take::<F>(&mut |_, _| ()).unwrap().unwrap();
            assert!(ends.join().unwrap().iter().all(Result::is_ok));
            learned
        });
        assert_eq!(learned, sboxes());
    }
    there_and_back::<Gf48>(2, false);
    there_and_back::<Gf40>(3, false);
    there_and_back::<Gf48>(5, false);
    there_and_back::<Gf48>(2, true);
}

/// How the client's receipt of an output ends if P_2 alters messages.
fn altered(n: usize, alter: &mut dyn FnMut(usize, &mut [Vec<u8>])) -> Option<Result<Vec<u8>, ClientFault>> {
    altered_of(&values(), n, alter)
}

/// The same for other bytes.
fn altered_of(
    values: &[u8],
    n: usize,
    alter: &mut dyn FnMut(usize, &mut [Vec<u8>]),
) -> Option<Result<Vec<u8>, ClientFault>> {
    let (ours, client) = lines(n);
    let harness = Harness::new(n, &PublicParameters::new("clients"));
    std::thread::scope(|s| {
        s.spawn(|| {
            harness.act(|session| {
                let line = ours[session.me().index()].lock().unwrap().take().unwrap();
                let mut e = dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?;
                let x = given(&mut e, party(1), values)?;
                let verified = e.settled(x)?;
                let (of, body) = e.show(verified)?;
                line.proves(&mut e, of, &body)
            })
        });
        let end = client.take::<Gf48>(alter);
        // parties that still wait for the client learn that it is gone
        drop(client);
        end
    })
}

/// A change of the messages of one round.
fn in_round(round: usize, change: impl Fn(&mut [Vec<u8>])) -> impl FnMut(usize, &mut [Vec<u8>]) {
    move |now, told| {
        if now == round {
            change(told);
        }
    }
}

/// The client refuses an output if any byte of a party's messages to it is altered.
#[test]
fn a_client_checks_what_it_is_told() {
    assert_eq!(altered(2, &mut |_, _| ()), Some(Ok(values())));
    let m = 6;
    let places = (0..LANES + m).map(|at| (0, at)).chain((0..m * m + m).map(|at| (1, at)));
    let all: Vec<(usize, usize)> = places.collect();
    let ends = many(all.len(), 4, |i| {
        let (round, at) = all[i];
        altered(2 + i % 2, &mut in_round(round, |told| told[1][at] ^= 1 << (at % 8)))
    });
    for (end, place) in ends.into_iter().zip(&all) {
        assert_eq!(end, Some(Err(ClientFault::False)), "{place:?}");
    }
}

/// C of the tests' challenge, row by row.
fn matrix() -> Vec<[Gf8; LANES]> {
    let mut prg = divisi_core::Prg::new(&CHALLENGE);
    let mut row = [0; LANES];
    let mut next = |_| {
        prg.fill(&mut row);
        row.map(Gf8)
    };
    (0..ROWS).map(&mut next).collect()
}

/// P_2 knows the challenge in advance, and adds an error to an output that one row of C does not detect,
/// whichever row it is. The other rows detect it.
#[test]
fn a_false_output_is_seen_by_every_row() {
    for (row, c) in matrix().into_iter().enumerate() {
        let other = (0..=255).map(Gf8).find(|e| c[0] + c[1] * *e == Gf8(0)).unwrap();
        let end = altered(
            2,
            &mut in_round(0, |told| {
                told[1][0] ^= 1;
                told[1][1] ^= other.0;
            }),
        );
        assert_eq!(end, Some(Err(ClientFault::False)), "{row}");
    }
}

/// If an output y is zero, so is C y. Without u the client would then accept whatever V is, and whether it
/// accepts would tell P_2 something about y.
#[test]
fn whether_a_client_accepts_tells_nothing() {
    let refused = many(ROWS * ROWS, 4, |at| {
        let end = altered_of(&[0; LANES], 2, &mut in_round(1, |told| told[1][at] ^= 1));
        end == Some(Err(ClientFault::False))
    });
    // each byte of u is zero one time in 256
    assert!(refused.into_iter().filter(|refused| *refused).count() > ROWS * ROWS - 10);
}

/// No two rows of V, which the client learns, are equal.
#[test]
fn every_row_of_v_is_its_own() {
    let mut rows = std::collections::BTreeSet::new();
    let end = altered(2, &mut |round, told| {
        if round == 1 {
            let v: Vec<u8> = told[0].iter().zip(&told[1]).map(|(x, y)| x ^ y).take(ROWS * ROWS).collect();
            rows.extend(v.chunks(ROWS).map(<[u8]>::to_vec));
        }
    });
    assert_eq!(end, Some(Ok(values())));
    assert_eq!(rows.len(), ROWS);
}

/// P_2 adds one to an output, knows everything that the client has, and guesses the W that would fit. For
/// this it would need V, of which it knows only its own share.
#[test]
fn a_false_output_is_not_explained() {
    for seed in 0..8 {
        let mut d = Vec::new();
        let end = altered(2, &mut |round, told| {
            if round == 0 {
                told[1][0] ^= 1;
                return;
            }
            // W + V e would be accepted, but P_2 knows only its own share of V
            d.extend(matrix().iter().map(|row| row[0]));
            let own = told[1].clone();
            for row in 0..ROWS {
                let guess = (0..ROWS).fold(Gf8(seed), |sum, i| sum + Gf8(own[ROWS * row + i]) * d[i]);
                told[1][ROWS * ROWS + row] ^= guess.0;
            }
        });
        assert_eq!(end, Some(Err(ClientFault::False)));
    }
}

#[test]
fn messages_of_another_length_are_none() {
    let short = altered(2, &mut in_round(0, |told| told[1].truncate(LANES + 5)));
    assert_eq!(short, Some(Err(ClientFault::Malformed { place: 1, want: LANES + 6, got: LANES + 5 })));
    let long = altered(2, &mut in_round(1, |told| told[0].push(0)));
    assert_eq!(long, Some(Err(ClientFault::Malformed { place: 0, want: 42, got: 43 })));
    assert!(matches!(Receipt::<Gf48>::new(&[&[0; LANES + 6]], LANES, CHALLENGE), Err(ClientFault::Parties)));
    // as many parties prove an output as told it: zeros are right otherwise
    for (parties, fine) in [(1, false), (2, true), (3, false), (258, false)] {
        let receipt = Receipt::<Gf48>::new(&[&[0; LANES + 6][..]; 2], LANES, CHALLENGE).unwrap();
        let end = receipt.accept(&vec![&[0; 42][..]; parties]);
        let refused = matches!(end, Err(ClientFault::Parties));
        assert!(end.is_ok() == fine && refused != fine, "{parties}");
    }
}

/// A client that tells parties different things ends the session before anything depends on it.
#[test]
fn a_client_that_differs_ends_the_session() {
    for differs in ["challenge", "input"] {
        let harness = Harness::new(3, &PublicParameters::new("clients"));
        let recordings = harness.recordings();
        let ends = harness.act(|session| {
            let odd = session.me() == party(3);
            let mut e = dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?;
            let (mask, of, _) = e.client_mask(LANES)?;
            let mut challenge = CHALLENGE;
            challenge[15] ^= u8::from(odd && differs == "challenge");
            e.prove(of, &challenge)?;
            let mut sum = values();
            sum[LANES - 1] ^= u8::from(odd);
            e.client_input(mask, &sum).map(drop)
        });
        assert!(ends.iter().all(Result::is_err), "{differs}");
        assert_eq!(recordings.iter().any(|seen| sent(seen, ELEMENT) > 0), differs == "input");
    }
}

/// The parties' messages about one value to two clients are not their shares: only the sums of the messages
/// are equal.
#[test]
fn what_a_client_is_told_is_no_share() {
    for n in [2, 3] {
        let ends = Harness::new(n, &PublicParameters::new("clients")).act(|session| {
            let mut e = dealt::<Gf48>(session, 6, SpdzProtocol::Lookup)?;
            let x = given(&mut e, party(1), &values())?;
            let verified = e.settled(x)?;
            let (_, first) = e.show(verified.clone())?;
            let (_, second) = e.show(verified)?;
            Ok([first[..LANES].to_vec(), second[..LANES].to_vec()])
        });
        let told: Vec<[Vec<u8>; 2]> = ends.into_iter().map(Result::unwrap).collect();
        assert!(told.iter().all(|[first, second]| first != second));
        // two bytes do not have the same mask either
        for [first, second] in &told {
            let again: Vec<u8> = first.iter().zip(second).map(|(x, y)| x ^ y).collect();
            assert!(again.iter().any(|x| *x != again[0]));
        }
        for i in [0, 1] {
            let sum = |at: usize| told.iter().fold(0, |sum, told| sum ^ told[i][at]);
            assert_eq!((0..LANES).map(sum).collect::<Vec<_>>(), values());
        }
    }
}
