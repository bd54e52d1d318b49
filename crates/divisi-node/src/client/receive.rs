//! The three servers' answers to one message, and which of several errors the client reports.
//!
//! Adversary: one malicious server. It can keep silent, send [`ToClient::Waiting`] without end, or accuse
//! another server. An honest server sends at least [`ToClient::Waiting`] now and then. So a server whose
//! connection is silent or closed is known first-hand, and the client names it whatever the other two
//! suspect; otherwise the client believes the other two as far as they agree.
//!
//! A wrong tag is not one server's error but an output of the protocol: the client believes it only if all
//! three say so. Nor can fewer say that the user made a mistake. What all three say is marked so
//! ([`Error::by_all`]).

use super::link::Link;
use super::{Client, GRACE, differ, of_one};
use crate::error::{Error, ErrorKind, Failed};
use crate::request::{Reply, ToClient, ToServer};
use divisi_core::{PartyId, Step};
use std::time::Duration;

/// A time limit that is long enough for messages that have already arrived.
const SHORT: Duration = Duration::from_millis(50);
/// For how many time limits the client waits for servers that only send [`ToClient::Waiting`]: another
/// client's request may be served first.
const PATIENCE: u32 = 6;

/// What a server's connection brought in place of an answer.
enum NoAnswer {
    /// The server is silent or its connection is closed.
    Broken(Error),
    /// The server still sends messages, but did not answer within the time limit.
    Late(Error),
}

type Received = Result<ToClient, NoAnswer>;

impl Client {
    /// Send each server its message, and receive all three answers. Of several errors it returns the most
    /// informative one.
    pub(super) fn exchange(
        &mut self,
        step: Step,
        message: impl Fn(PartyId) -> ToServer,
    ) -> Result<[ToClient; 3], Error> {
        self.send_to_each(step, message);
        self.answers(step)
    }

    /// Send each server its message; a server that cannot be reached is reported with the next answers.
    pub(super) fn send_to_each(&mut self, step: Step, message: impl Fn(PartyId) -> ToServer) {
        for (link, unsent) in self.links.iter_mut().zip(&mut self.unsent) {
            let party = link.party();
            if let Err(e) = link.send(step, &message(party)) {
                unsent.get_or_insert(e);
            }
        }
    }

    /// Receive the next answer of each server. Of several errors it returns the most informative one.
    pub(super) fn answers(&mut self, step: Step) -> Result<[ToClient; 3], Error> {
        let begun = self.world.now();
        // the servers do what all three have
        let unsent = self.received == 0 && self.unsent.iter().any(Option::is_some);
        let mut received: [Option<Received>; 3] =
            self.unsent.each_mut().map(|unsent| unsent.take().map(|e| Err(NoAnswer::Broken(e))));
        self.receive(step, &mut received);
        let lasted = self.world.now().saturating_duration_since(begun);
        self.received += 1;
        let failed =
            received.iter().filter(|received| matches!(received, Some(Ok(ToClient::Failed(_))))).count();
        if received.iter().any(|received| matches!(received, Some(Err(_)))) || (1..3).contains(&failed) {
            // the request may live on at some servers: their later answers must not be taken for those to
            // another request
            self.links.iter_mut().for_each(Link::leave);
        }
        let mut answers = Vec::with_capacity(3);
        let mut errors = Vec::new();
        let mut verdicts = Vec::new();
        for (party, received) in PartyId::all(3).zip(received.into_iter().flatten()) {
            match received {
                Ok(ToClient::Failed(failed)) if failed.kind == ErrorKind::Mismatch => {
                    verdicts.push((party, failed.into_error()));
                }
                Ok(ToClient::Failed(failed)) => errors.push((rank(&failed), party, failed.into_error())),
                Ok(answer) => answers.push(answer),
                Err(NoAnswer::Broken(e)) => errors.push((BROKEN, party, e)),
                Err(NoAnswer::Late(e)) => errors.push((LATE, party, e)),
            }
        }
        self.lost = !unsent && !errors.is_empty() && errors.iter().all(|(rank, ..)| *rank >= BROKEN);
        if errors.len() == 3 && errors.iter().all(|(rank, ..)| *rank == LATE) {
            let message = format!(
                "the servers only asked to wait, for {:.1} s, at {step}: they are busy with another request, \
                 or wait for one of them; try again later",
                lasted.as_secs_f64()
            );
            return Err(Error { retry: true, ..Error::new(ErrorKind::Unavailable, step, message) });
        }
        if let Some(error) = best(errors) {
            self.open = false;
            return Err(error);
        }
        if !verdicts.is_empty() {
            // a server that answered something else may still expect messages of this request
            self.open &= verdicts.len() < 3;
            return Err(verdict(step, &verdicts));
        }
        let three = <[ToClient; 3]>::try_from(answers);
        three.map_err(|_| Error::new(ErrorKind::Unavailable, step, "a server did not answer"))
    }

    /// Receive from all servers, even after an error: if a server is gone, the other two report best why.
    fn receive(&mut self, step: Step, received: &mut [Option<Received>; 3]) {
        let start = self.world.now();
        let mut last = [start; 3];
        let longest = self.links.iter().map(Link::timeout).max().unwrap_or_default();
        // a long time limit means slow servers or links
        let grace = GRACE.max(longest / 20);
        let due = (self.number, self.received);
        let broken = received.iter().any(Option::is_some);
        let mut until = start + if broken { grace } else { longest * PATIENCE };
        while received.iter().any(Option::is_none) {
            for ((link, received), last) in self.links.iter_mut().zip(received.iter_mut()).zip(&mut last) {
                if received.is_some() {
                    continue;
                }
                let now = self.world.now();
                let silence = (*last + link.timeout()).saturating_duration_since(now);
                let within = until.saturating_duration_since(now).min(silence).max(SHORT);
                let word = link.listen(step, within);
                let now = self.world.now();
                let silent = now.saturating_duration_since(*last);
                let word = match word {
                    // an answer may have arrived behind several of these messages
                    Ok(Some(Reply { what: ToClient::Waiting, .. })) if now < until + 2 * SHORT => {
                        *last = now;
                        continue;
                    }
                    Ok(Some(Reply { what: ToClient::Waiting, .. })) => {
                        Err(NoAnswer::Late(link.overdue(step)))
                    }
                    // a failure of the connection has no request's number, and ends the connection
                    Ok(Some(Reply { number: 0, what: failed @ ToClient::Failed(_), .. })) => Ok(failed),
                    Ok(Some(Reply { number, nth, what })) if (number, nth) == due => Ok(what),
                    Ok(Some(_)) => Err(NoAnswer::Broken(
                        link.malformed(step, "an answer that belongs to another request"),
                    )),
                    Ok(None) if silent >= link.timeout() => Err(NoAnswer::Broken(link.silent(step, silent))),
                    Ok(None) => Err(NoAnswer::Late(link.overdue(step))),
                    Err(e) => Err(NoAnswer::Broken(e)),
                };
                // honest servers end a step within a time limit of each other, and a request nearly at once
                let more = match word {
                    Ok(ToClient::Failed(_)) | Err(_) => grace,
                    Ok(_) => longest * 2,
                };
                until = until.min(now + more);
                *received = Some(word);
            }
        }
    }
}

/// The rank of a server's report of a request's end, the most informative first: an abort, then a refusal for
/// a reason of the server's own; a report of what another server said comes after the corresponding one.
fn rank(failed: &Failed) -> u8 {
    match (failed.kind, failed.hearsay) {
        (ErrorKind::Abort, false) => 0,
        (ErrorKind::Abort, true) => 1,
        (_, false) => OWN_REASON,
        (_, true) => HEARSAY,
    }
}

const OWN_REASON: u8 = 2;
const HEARSAY: u8 = 3;
/// The rank of a connection that is silent or gone, without a server's report.
const BROKEN: u8 = 4;
/// The rank of a server that still sends messages but no answer: it waits for somebody.
const LATE: u8 = 5;

/// The most informative of several errors. It names the server that reports it, unless all three report the
/// same.
fn best(errors: Vec<(u8, PartyId, Error)>) -> Option<Error> {
    let unanimous = errors.len() == 3 && errors.windows(2).all(|pair| pair[0].2 == pair[1].2);
    // each names itself in its sentence
    let alike =
        errors.windows(2).all(|pair| (pair[0].2.kind, pair[0].2.retry) == (pair[1].2.kind, pair[1].2.retry));
    // what two repeat is what the third one said, or found by a comparison with it
    let by_all = errors.len() == 3 && alike && errors.iter().all(|(rank, ..)| *rank == OWN_REASON);
    let reasons = errors.iter().filter(|(rank, ..)| *rank == OWN_REASON).count();
    let mut broken = errors.iter().filter(|(rank, ..)| *rank == BROKEN).map(|(_, party, _)| *party);
    // the one server that does not talk with us
    let gone = broken.next().filter(|_| broken.next().is_none());
    // of aborts whom they name counts, of a refusal by hearsay what is said
    let agrees = |(rank, error): (u8, &Error), (other_rank, other): (u8, &Error)| {
        let named = rank.max(other_rank) < OWN_REASON && other.peer == error.peer;
        named || rank == HEARSAY && other_rank == HEARSAY && other.message == error.message
    };
    let voters = |rank: u8, error: &Error| {
        errors.iter().filter(|(other_rank, _, other)| agrees((rank, error), (*other_rank, other))).count()
    };
    let votes: Vec<usize> = errors.iter().map(|(rank, _, error)| voters(*rank, error)).collect();
    let chosen = errors.into_iter().zip(votes).min_by_key(|((rank, _, error), votes)| {
        // a server that blames another one than the server that is gone waits for that other one, or lies
        let blames_another = gone.is_some() && error.peer.is_some() && error.peer != gone;
        (blames_another && *rank != OWN_REASON, *rank, std::cmp::Reverse(*votes))
    });
    let ((rank, party, mut error), _) = chosen?;
    error.by_all = by_all;
    if unanimous || rank >= BROKEN {
        return Some(error);
    }
    error.kind = of_one(error.kind);
    error.message = format!("{party} says: {}", error.message);
    if rank == OWN_REASON && reasons == 1 {
        // it alone knows why
        error.peer = error.peer.or(Some(party));
    }
    Some(error)
}

/// The error when some servers say that a tag is wrong and the others report no error: that it is wrong if
/// all three say so, in words on which two agree; otherwise that one of them deviates.
fn verdict(step: Step, said: &[(PartyId, Error)]) -> Error {
    let says = |party: &PartyId| said.iter().any(|(other, _)| other == party);
    match said {
        [(_, a), (_, b), (_, c)] if a == b || b == c || a == c => {
            Error { peer: None, by_all: true, ..if a == b || a == c { a } else { b }.clone() }
        }
        [(odd, _)] => differ(step, Some(*odd)),
        _ => differ(step, PartyId::all(3).find(|party| !says(party))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(number: u8) -> PartyId {
        PartyId::new(number).unwrap()
    }

    fn blames(kind: ErrorKind, number: u8) -> Error {
        Error::new(kind, divisi_core::step!("x"), format!("about {number}")).with_peer(party(number))
    }

    fn named(errors: &[(u8, u8, u8)]) -> Option<u8> {
        let kind = |rank| if rank < OWN_REASON { ErrorKind::Abort } else { ErrorKind::Unavailable };
        let errors = errors.iter().map(|(rank, says, of)| (*rank, party(*says), blames(kind(*rank), *of)));
        best(errors.collect()).and_then(|e| e.peer).map(PartyId::number)
    }

    /// A server that the client itself sees silent is named before one that another server suspects, and
    /// before one that was merely late.
    #[test]
    fn what_was_seen_at_first_hand_goes_first() {
        assert_eq!(named(&[(LATE, 1, 1), (LATE, 2, 2), (BROKEN, 3, 3)]), Some(3));
        assert_eq!(named(&[(0, 1, 2), (LATE, 2, 2), (BROKEN, 3, 3)]), Some(3));
        assert_eq!(named(&[(0, 1, 2), (1, 2, 1), (BROKEN, 3, 3)]), Some(3));
        // two that do not talk with us: the third is believed
        assert_eq!(named(&[(0, 1, 2), (BROKEN, 2, 2), (BROKEN, 3, 3)]), Some(2));
    }

    #[test]
    fn what_more_servers_say_goes_before_what_one_says() {
        assert_eq!(named(&[(0, 1, 3), (0, 2, 1), (0, 3, 1)]), Some(1));
        assert_eq!(named(&[(1, 1, 3), (0, 2, 1)]), Some(1));
        // what each has a reason of its own for is not put to the vote
        assert_eq!(named(&[(OWN_REASON, 1, 3), (OWN_REASON, 2, 1), (OWN_REASON, 3, 1)]), Some(3));
    }

    /// One server that alone has a reason of its own is the one that knows why; of two that have one, and
    /// beside what goes before any reason, none is.
    #[test]
    fn who_alone_knows_why_is_named() {
        let error = |says| Error::new(ErrorKind::Refused, divisi_core::step!("x"), format!("no {says}"));
        let named = |ranks: &[u8]| {
            let errors = ranks.iter().zip(1..).map(|(rank, says)| (*rank, party(says), error(says)));
            best(errors.collect()).unwrap().peer.map(PartyId::number)
        };
        assert_eq!([named(&[HEARSAY, OWN_REASON, HEARSAY]), named(&[LATE, OWN_REASON])], [Some(2); 2]);
        assert_eq!(named(&[OWN_REASON, OWN_REASON, LATE]), None);
        assert_eq!(named(&[0, OWN_REASON, LATE]), None);
    }

    /// That the user made a mistake is believed of all three servers only, and what this client found itself
    /// is not the servers' word.
    #[test]
    fn only_all_three_find_a_mistake() {
        let usage = || Error::new(ErrorKind::Usage, divisi_core::step!("x"), "too long");
        let told = |says: &[(u8, u8)]| {
            let errors = says.iter().map(|(rank, says)| (*rank, party(*says), usage()));
            best(errors.collect()).map(|error| (error.kind, error.by_all))
        };
        assert_eq!(told(&[(OWN_REASON, 1)]), Some((ErrorKind::Refused, false)));
        assert_eq!(told(&[(OWN_REASON, 1), (OWN_REASON, 3)]), Some((ErrorKind::Refused, false)));
        assert_eq!(told(&[1, 2, 3].map(|says| (OWN_REASON, says))), Some((ErrorKind::Usage, true)));
        assert_eq!(told(&[1, 2, 3].map(|says| (BROKEN, says))), Some((ErrorKind::Usage, false)));
    }

    /// A refusal that the servers only repeat, or found by a comparison, is not the word of all three: one
    /// that lies in the comparison, and then says what the others say, is enough for it.
    #[test]
    fn a_refusal_by_comparison_is_not_the_word_of_all() {
        let refused = || Error::new(ErrorKind::Refused, divisi_core::step!("x"), "they differ");
        for (ranks, by_all) in [
            ([OWN_REASON; 3], true),
            ([HEARSAY; 3], false),
            ([OWN_REASON, HEARSAY, OWN_REASON], false),
            ([0; 3], false),
        ] {
            let errors = ranks.into_iter().zip(1..).map(|(rank, says)| (rank, party(says), refused()));
            assert_eq!(best(errors.collect()).unwrap().by_all, by_all, "{ranks:?}");
        }
    }

    /// What one server calls a mistake, or would try again, and two do not, is not the word of all three.
    #[test]
    fn what_all_three_say_is_of_one_kind() {
        let refused =
            |retry| Error { retry, ..Error::new(ErrorKind::Refused, divisi_core::step!("x"), "no") };
        let mistake = || Error::new(ErrorKind::Usage, divisi_core::step!("x"), "no");
        for odd in 0..3 {
            for (other, by_all) in [(refused(false), true), (refused(true), false), (mistake(), false)] {
                let says = |number: u8| if number - 1 == odd { other.clone() } else { refused(false) };
                let errors = (1..=3).map(|number| (OWN_REASON, party(number), says(number)));
                assert_eq!(best(errors.collect()).unwrap().by_all, by_all, "{odd} {other:?}");
            }
        }
    }

    /// Of what the servers say by hearsay, that is told which most say: two found that they differ, and the
    /// third one heard only that there is a reason.
    #[test]
    fn what_two_say_by_hearsay_goes_before_what_one_says() {
        let says = |message: &str| Error::new(ErrorKind::Refused, divisi_core::step!("x"), message);
        for vague in 1..=3 {
            let words = |number| if number == vague { "refused" } else { "they differ" };
            let errors = (1..=3).map(|number| (HEARSAY, party(number), says(words(number))));
            let told = best(errors.collect()).unwrap().message;
            assert!(told.ends_with("they differ"), "{told}");
        }
        // words that begin alike are others
        for odd in 1..=3 {
            let words = |number| if number == odd { "they differ in a" } else { "they differ in b" };
            let errors = (1..=3).map(|number| (HEARSAY, party(number), says(words(number))));
            let told = best(errors.collect()).unwrap().message;
            assert!(told.ends_with("in b"), "{told}");
        }
    }

    /// Three verdicts of which no two agree in words are not the word of all three.
    #[test]
    fn a_verdict_is_two_servers_words_at_least() {
        let wrong = |says: u8, words: &str| {
            (party(says), Error::new(ErrorKind::Mismatch, divisi_core::step!("x"), words))
        };
        let given = |words: [&str; 3]| {
            let said = [wrong(1, words[0]), wrong(2, words[1]), wrong(3, words[2])];
            let error = verdict(divisi_core::step!("y"), &said);
            (error.by_all, error.message)
        };
        for words in [["a", "a", "b"], ["a", "b", "a"], ["b", "a", "a"], ["a", "a", "a"]] {
            assert_eq!(given(words), (true, "a".to_owned()));
        }
        assert!(!given(["a", "b", "c"]).0);
    }
}
