//! The clients of a simulation, and what they say.

use super::SHAPE;
use crate::request::{Item, SboxChoice, ToServer};
use crate::server::scheduling::{Due, KeyStatus, due};
use crate::wire::Blob;
use divisi_rep3::Protocol;
use divisi_store::KeyName;
use divisi_symmetric::aes::KeySize;
use std::collections::VecDeque;

/// A stream of choices.
pub(super) struct Dice(pub blake3::OutputReader);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % n.max(1)
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A client's connection with one server.
#[derive(Default)]
pub(super) struct Side {
    /// What the client still has to send to this server; `unanswered`: how many of its messages have no
    /// answer.
    pub queue: VecDeque<ToServer>,
    pub unanswered: usize,
    /// The request number of each message sent: answers must come in this order.
    pub said: VecDeque<u64>,
    /// The last request that was answered, and the number of its answers, until a failure ends it.
    pub answered: Option<(u64, usize)>,
    pub here: bool,
}

pub(super) struct Client {
    pub id: [u8; 32],
    /// How many messages each of its requests has.
    pub lengths: Vec<usize>,
    pub name: String,
    pub sides: [Side; 3],
    /// The client sends nothing more.
    pub silent: bool,
    /// The client's messages arrive rarely.
    pub drips: bool,
}

/// What all servers know of a key: of three keys each is of another size.
pub(super) fn known(name: &KeyName) -> KeyStatus {
    let size = ["k", "l", "m"].iter().position(|key| *key == name.as_str());
    KeyStatus { size: size.map(|at| KeySize::ALL[at]), is_ready: true }
}

/// A random request, under one of three keys and with any way to compute S-boxes.
pub(super) fn item(dice: &mut Dice) -> Item {
    let key = ["k", "l", "m"][dice.below(3) as usize].parse().unwrap();
    let (way, length) =
        (SboxChoice(Protocol::ALL[dice.below(Protocol::ALL.len() as u64) as usize]), dice.below(14));
    // so much associated data that the message is not short
    let aad = Blob(vec![0; if dice.one_in(6) { 17_000 } else { 0 }]);
    match dice.below(6) {
        5 => Item::EncryptStream { key, aad, way },
        0 => Item::KeyList { after: None },
        1 => Item::Decrypt { key, aad, length, iv: [0; 12], tag: [0; 16], way },
        2 => {
            let settings = divisi_symmetric::algorithm::Settings::new("sha256".parse().unwrap());
            Item::Hash { asked: (&settings).into(), length }
        }
        _ => Item::Encrypt { key, aad, length, way },
    }
}

/// All messages of a client for a request.
pub(super) fn messages(number: u64, item: &Item) -> Vec<ToServer> {
    let mut all = vec![ToServer::Request { number, item: item.clone() }];
    let mut last = None;
    while let Some(due) = due(item, SHAPE, all.len() as u64 - 1, last) {
        all.push(match due {
            Due::Data { index, bytes } => ToServer::Data { number, index, body: Blob(vec![0; bytes]) },
            // a stream has as many full pieces as its number has ones, and an incomplete one
            Due::Piece { index, full } if index < u64::from(number.count_ones()) => {
                ToServer::Data { number, index, body: Blob(vec![0; full]) }
            }
            Due::Piece { index, .. } => {
                last = Some(index);
                ToServer::Last { number, index, body: Blob(vec![0; 2]) }
            }
            Due::Finish => ToServer::Finish { number },
        });
    }
    all
}
