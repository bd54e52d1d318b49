//! Requests of several messages: what is sent, and which answer belongs to what.

use super::Client;
use crate::error::Error;
use crate::request::{Item, ToClient, ToServer, UNANSWERED};
use divisi_core::Step;

/// A message of a request, and the answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What is asked for.
    Request,
    /// A piece of the content, from 0.
    Piece(u64),
    /// There are no more pieces.
    Finish,
    /// A piece that is sent once more, after the end.
    Again(u64),
}

/// The parts of a request with so many pieces.
pub(super) fn parts(pieces: u64) -> impl Iterator<Item = Part> + Clone {
    let content = (0..pieces).map(Part::Piece);
    [Part::Request].into_iter().chain(content).chain([Part::Finish])
}

impl Client {
    /// Send a request part by part, `piece` being what a piece has for each server, and take the answers to
    /// each part, in order.
    pub(super) fn send_parts(
        &mut self,
        step: Step,
        item: &Item,
        parts: impl Iterator<Item = Part> + Clone,
        mut piece: impl FnMut(&Client, u64) -> Result<[ToServer; 3], Error>,
        mut answer: impl FnMut(&mut Client, Part, [ToClient; 3]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let number = self.number;
        let (mut sent, mut answered) = (parts.clone(), parts);
        let message = |client: &Client| match sent.next() {
            Some(Part::Request) => {
                Ok(Some([(); 3].map(|()| ToServer::Request { number, item: item.clone() })))
            }
            Some(Part::Piece(nth) | Part::Again(nth)) => piece(client, nth).map(Some),
            Some(Part::Finish) => Ok(Some([(); 3].map(|()| ToServer::Finish { number }))),
            None => Ok(None),
        };
        self.send_while(step, message, |client, answers| match answered.next() {
            Some(part) => answer(client, part, answers),
            None => Ok(()),
        })
    }

    /// Send messages until there is none, and take the answers to each, in order: up to [`UNANSWERED`]
    /// messages are sent ahead of their answers.
    pub(super) fn send_while(
        &mut self,
        step: Step,
        mut message: impl FnMut(&Client) -> Result<Option<[ToServer; 3]>, Error>,
        mut answer: impl FnMut(&mut Client, [ToClient; 3]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut unanswered, mut more) = (0, true);
        loop {
            while more && unanswered < UNANSWERED {
                match message(self)? {
                    Some(messages) => {
                        self.send_to_each(step, |party| messages[party.index()].clone());
                        unanswered += 1;
                    }
                    None => more = false,
                }
            }
            if unanswered == 0 {
                return Ok(());
            }
            let answers = self.answers(step)?;
            answer(self, answers)?;
            unanswered -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many pieces there are, the request comes before them, and the end behind them.
    #[test]
    fn pieces_stand_between_the_request_and_its_end() {
        assert!(parts(0).eq([Part::Request, Part::Finish]));
        let many: Vec<Part> = parts(300).collect();
        assert_eq!((many.len(), many[0], many[301]), (302, Part::Request, Part::Finish));
        assert!(many[1..301].iter().zip(0..).all(|(part, nth)| *part == Part::Piece(nth)));
    }
}
