//! What leaves a server for a client, and after which verification.
//!
//! What a request goes through here: execution brings a value and the place of its answer in the request. A
//! value leaves only as a [`Verified`](divisi_core::Verified): after the verification of everything that it
//! depends on, and a decrypted message of a mode with an integrity value only after a verdict on that value.
//! A ciphertext is opened to the three servers, of which the first sends it and the others its digest;
//! anything else goes to its client alone, a component from one holder and a digest of it from the other,
//! bound to connection, request and place. What it hands on: a message to the client, which the schedule
//! queues and the thread of the client's connection sends.

mod answers;

pub(crate) use answers::{alone, ciphertext, component, decided, message_alone, to_all, unauthentic};
