//! The client's messages for a step, and what of them the servers compare before use.

use crate::error::{Failed, Stop};
use crate::request::{ConnectionId, Item, ToServer, chunk_digest, context};
use crate::wire::Blob;
use divisi_core::{PartyId, Step};
use divisi_rep3::deal::Part;
use std::borrow::Cow;

const GIVEN: Step = Step::new("divisi_node::server::given/given");

/// The data of a step.
pub(crate) enum StepData {
    Nothing,
    /// This server's part of a secret \[A24\].
    Secret(Part),
    /// This server's part of the last piece of a secret of unknown length \[A24\]; that it is the last one,
    /// its place and its length are public \[A25\].
    Last(u64, Part),
    /// Data that all three have, and their digest \[A25\].
    Public(Blob, [u8; 32]),
    /// The message that says that the data are complete.
    Finish,
}

/// Both components of a secret.
fn part_of(body: &Blob) -> Part {
    let (first, second) = body.0.split_at(body.0.len() / 2);
    Part { first: first.to_vec(), second: second.to_vec() }
}

/// Whether the data of a request are what all three have.
fn is_public(item: &Item) -> bool {
    matches!(item, Item::Decrypt { .. }) || matches!(item, Item::Mode(asked) if !asked.encrypts)
}

impl StepData {
    /// What these messages of a request contain.
    pub fn of(item: &Item, connection: &ConnectionId, number: u64, messages: &[ToServer]) -> StepData {
        let mut data = StepData::Nothing;
        for message in messages {
            data = match (message, item) {
                (ToServer::Data { body, index, .. }, item) if is_public(item) => {
                    let digest = chunk_digest(&context(connection, number, *index), &body.0);
                    StepData::Public(body.clone(), digest)
                }
                (ToServer::Data { body, .. }, _) => StepData::Secret(part_of(body)),
                (ToServer::Last { body, index, .. }, _) => StepData::Last(*index, part_of(body)),
                (ToServer::Finish { .. }, _) if matches!(data, StepData::Nothing) => StepData::Finish,
                // the `Finish` after the data of a short message adds nothing
                _ => data,
            };
        }
        data
    }

    /// This server's secret part, if there is one.
    pub fn secret(&self) -> Option<&Part> {
        match self {
            StepData::Secret(part) | StepData::Last(_, part) => Some(part),
            _ => None,
        }
    }

    /// The public part, for a digest.
    pub fn public(&self) -> Cow<'_, [u8]> {
        match self {
            StepData::Public(_, digest) => Cow::Borrowed(digest),
            StepData::Finish => Cow::Borrowed(b"finish"),
            StepData::Nothing => Cow::Borrowed(b""),
            StepData::Secret(_) => Cow::Borrowed(b"secret"),
            StepData::Last(index, part) => {
                let bytes = part.first.len() as u64;
                Cow::Owned([&b"last"[..], &index.to_le_bytes(), &bytes.to_le_bytes()].concat())
            }
        }
    }
}

/// The refusal of a step that was given a message that its request does not take; the schedule lets no such
/// message through.
pub(crate) fn unexpected(me: PartyId) -> Stop {
    Stop::Refused(Failed::refused(
        GIVEN,
        format!("{me} took an unexpected message for this step: report this"),
    ))
}
