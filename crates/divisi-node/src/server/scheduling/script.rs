//! Which messages a request needs from its client, and what each of its steps costs: the request determines
//! all of it.

use crate::request::{Item, PIECE, SboxChoice, ToServer};
use divisi_core::Step;
use divisi_symmetric::aes::KeySize;
use divisi_symphony::CHUNK;

const REQUEST: Step = Step::new("divisi_node::server::script/request");
const BRING: Step = Step::new("divisi_node::server::script/import");
const PLAIN: Step = Step::new("divisi_node::server::script/plaintext");
const FIRST: Step = Step::new("divisi_node::server::script/ciphertext.first");
const SECOND: Step = Step::new("divisi_node::server::script/ciphertext.second");
const MESSAGE: Step = Step::new("divisi_node::server::script/message");
const FINISH: Step = Step::new("divisi_node::server::script/finish");

/// How large the pieces are in which a request's data come, in bytes: of the protocol, or smaller ones in
/// tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub chunk: usize,
    pub piece: usize,
}

impl Shape {
    pub const STANDARD: Shape = Shape { chunk: CHUNK, piece: PIECE };
}

/// A message that a request needs from its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A `Data` message with this index and length in bytes: both components of a secret, or public bytes.
    Data { index: u64, bytes: usize },
    /// The piece with this index of a body of unknown length: a full one of `full` bytes, or the marked last
    /// one, with both components of a secret.
    Piece { index: u64, full: usize },
    /// The message that says that the data are complete.
    Finish,
}

impl Due {
    /// Whether `message` is the expected one.
    pub fn is(&self, message: &ToServer) -> bool {
        match (self, message) {
            (Due::Data { index, bytes }, ToServer::Data { index: at, body, .. }) => {
                index == at && body.0.len() == *bytes
            }
            (Due::Piece { index, full }, ToServer::Data { index: at, body, .. }) => {
                index == at && body.0.len() == *full
            }
            (Due::Piece { index, full }, ToServer::Last { index: at, body, .. }) => {
                let bytes = body.0.len();
                // only the piece of an empty body is empty
                index == at && bytes <= *full && bytes.is_multiple_of(2) && (bytes > 0 || *index == 0)
            }
            (Due::Finish, ToServer::Finish { .. }) => true,
            _ => false,
        }
    }
}

/// How a request is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Together with all other short messages that wait, in one computation.
    Short,
    /// By itself, in one step.
    Single,
    /// Step by step, with steps of other requests in between.
    Long,
}

pub(crate) fn kind(item: &Item) -> Kind {
    match item {
        _ if item.is_short() => Kind::Short,
        Item::Encrypt { .. }
        | Item::EncryptStream { .. }
        | Item::Decrypt { .. }
        | Item::Hash { .. }
        | Item::Mac { .. }
        | Item::Mode(_) => Kind::Long,
        Item::KeyNew(_)
        | Item::KeyImport(_)
        | Item::KeyList { .. }
        | Item::KeyExport { .. }
        | Item::KeyDestroy { .. }
        | Item::KeyServe(_) => Kind::Single,
    }
}

/// Whether the steps of a request run programs, or blocks of a cipher one after another, which have constant
/// rounds if they are garbled.
pub(crate) fn runs_programs(item: &Item) -> bool {
    matches!(item, Item::Hash { .. } | Item::Mac { .. } | Item::Mode(_))
}

/// Short messages that are one computation: under keys of one size, with S-boxes computed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    pub size: KeySize,
    pub way: SboxChoice,
}

/// What a step takes of a round of the servers, in lanes and, by its group, in rounds of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The number of AES blocks of a short message, that of its tag included; 0 for anything else, which runs
    /// by itself.
    pub lanes: usize,
    /// The group with which a short message is computed; `None` for anything else, and for a message whose
    /// key is missing.
    pub group: Option<Group>,
}

/// The cost of a step, under a key of this size.
pub(crate) fn cost(item: &Item, size: Option<KeySize>) -> Cost {
    match item {
        Item::Encrypt { length, way, .. } | Item::Decrypt { length, way, .. } if item.is_short() => Cost {
            lanes: length.div_ceil(16) as usize + 1,
            group: size.map(|size| Group { size, way: *way }),
        },
        _ => Cost::default(),
    }
}

/// The `nth` message after the request itself, counted from 0; `None` behind the last one. `last` is the
/// number of the piece that was marked as the last one, if one was.
pub(crate) fn due(item: &Item, shape: Shape, nth: u64, last: Option<u64>) -> Option<Due> {
    // data of `length` bytes in pieces of `most`, each in this many components
    let data = |index: u64, length: u64, most: usize, components: usize| {
        let bytes = length.saturating_sub(index * most as u64).min(most as u64) as usize;
        Some(Due::Data { index, bytes: components * bytes })
    };
    match item {
        Item::KeyNew(_)
        | Item::KeyList { .. }
        | Item::KeyExport { .. }
        | Item::KeyDestroy { .. }
        | Item::KeyServe(_) => None,
        Item::KeyImport(new) => {
            if nth == 0 {
                data(0, u64::from(new.bytes), usize::MAX, 2)
            } else {
                None
            }
        }
        Item::Encrypt { length, .. } => {
            let chunks = length.div_ceil(shape.chunk as u64);
            match nth {
                _ if nth < chunks => data(nth, *length, shape.chunk, 2),
                _ => (nth == chunks).then_some(Due::Finish),
            }
        }
        Item::EncryptStream { .. } => match last {
            Some(last) if nth > last => (nth == last + 1).then_some(Due::Finish),
            _ => Some(Due::Piece { index: nth, full: 2 * shape.chunk }),
        },
        Item::Decrypt { length, .. } => {
            let chunks = length.div_ceil(shape.chunk as u64);
            match nth {
                _ if nth < chunks => data(nth, *length, shape.chunk, 1),
                _ if nth == chunks => Some(Due::Finish),
                _ if item.is_short() || nth > 2 * chunks => None,
                _ => data(nth - chunks - 1, *length, shape.chunk, 1),
            }
        }
        Item::Mode(asked) => {
            let pieces = asked.length.div_ceil(shape.piece as u64);
            let components = if asked.encrypts { 2 } else { 1 };
            match nth {
                _ if nth < pieces => data(nth, asked.length, shape.piece, components),
                _ => (nth == pieces).then_some(Due::Finish),
            }
        }
        Item::Hash { length, .. } | Item::Mac { length, .. } => {
            let pieces = length.div_ceil(shape.piece as u64);
            match nth {
                _ if nth < pieces => data(nth, *length, shape.piece, 2),
                _ => (nth == pieces).then_some(Due::Finish),
            }
        }
    }
}

/// How many messages a step needs, of a request that has had `taken` of them so far; `begun` says that its
/// first step is done.
pub(crate) fn needs(item: &Item, shape: Shape, begun: bool, taken: u64) -> u64 {
    match kind(item) {
        Kind::Long => u64::from(begun),
        Kind::Short | Kind::Single => {
            // none of these has a body of unknown length
            (taken..).take_while(|nth| due(item, shape, *nth, None).is_some()).count() as u64
        }
    }
}

/// The step at which a request waits for its `nth` message, for error messages.
pub(crate) fn step(item: &Item, shape: Shape, nth: u64, last: Option<u64>) -> Step {
    match (item, due(item, shape, nth, last)) {
        (_, None) => REQUEST,
        (_, Some(Due::Finish)) => FINISH,
        (Item::KeyImport(_), _) => BRING,
        (Item::Encrypt { .. } | Item::EncryptStream { .. }, _) => PLAIN,
        (Item::Decrypt { length, .. }, _) if nth <= length.div_ceil(shape.chunk as u64) => FIRST,
        (Item::Decrypt { .. }, _) => SECOND,
        _ => MESSAGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{FunctionRequest, Mode, ModeRequest, NewKey, SboxChoice};
    use crate::wire::Blob;
    use crate::{KeyName, KeyType};
    use divisi_symmetric::algorithm::Settings;

    const SMALL: Shape = Shape { chunk: 10, piece: 3 };

    fn texts(length: u64, aad: usize) -> [Item; 2] {
        let (key, aad, way) = ("k".parse().unwrap(), Blob(vec![0; aad]), SboxChoice::DEFAULT);
        let decrypt = Item::Decrypt { key, aad: aad.clone(), length, iv: [0; 12], tag: [0; 16], way };
        [Item::Encrypt { key: "k".parse().unwrap(), aad, length, way }, decrypt]
    }

    #[test]
    fn a_text_comes_in_chunks_and_a_long_ciphertext_twice() {
        let data = |index, bytes| Some(Due::Data { index, bytes });
        let all = |item: &Item| (0..600).filter_map(|nth| due(item, SMALL, nth, None)).collect::<Vec<_>>();
        let [encrypt, decrypt] = texts(25, 60_000);
        assert_eq!((kind(&encrypt), kind(&decrypt)), (Kind::Long, Kind::Long));
        let once = |c: usize| [data(0, c * 10), data(1, c * 10), data(2, c * 5)];
        let due = |parts: &[&[Option<Due>]]| parts.concat().into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(all(&encrypt), due(&[&once(2), &[Some(Due::Finish)]]));
        assert_eq!(all(&decrypt), due(&[&once(1), &[Some(Due::Finish)], &once(1)]));
        assert_eq!([needs(&decrypt, SMALL, false, 0), needs(&decrypt, SMALL, true, 3)], [0, 1]);
        let steps: Vec<&str> = (0..8).map(|nth| step(&decrypt, SMALL, nth, None).name).collect();
        let ends = ["first", "first", "first", "finish", "second", "second", "second", "request"];
        assert!(steps.iter().zip(ends).all(|(step, end)| step.ends_with(end)), "{steps:?}");

        let [encrypt, decrypt] = texts(25, 0);
        assert_eq!((kind(&encrypt), kind(&decrypt)), (Kind::Short, Kind::Short));
        assert_eq!(all(&decrypt), due(&[&once(1), &[Some(Due::Finish)]]));
        assert_eq!([needs(&encrypt, SMALL, false, 0), needs(&decrypt, SMALL, false, 0)], [4, 4]);
        assert_eq!(all(&texts(0, 0)[0]), [Due::Finish]);
    }

    /// What is computed on shares of a whole message comes in pieces, of two components if it is secret.
    #[test]
    fn messages_of_modes_and_functions_come_in_pieces() {
        let (key, way, iv): (KeyName, _, _) = ("k".parse().unwrap(), SboxChoice::DEFAULT, [0; 16]);
        let asked: FunctionRequest = (&Settings::new("hmac-sha256".parse().unwrap())).into();
        for length in [0, 3, 7] {
            let mode = |encrypts| {
                let (key, mode) = (key.clone(), Mode::Cbc);
                Item::Mode(ModeRequest { key, mode, encrypts, aad: None, length, iv, way })
            };
            let hash = Item::Hash { asked: asked.clone(), length };
            let mac = Item::Mac { key: key.clone(), asked: asked.clone(), length, tag: None };
            for (item, components) in [(mode(true), 2), (mode(false), 1), (hash, 2), (mac, 2)] {
                let found: Vec<_> = (0..600).filter_map(|nth| due(&item, SMALL, nth, None)).collect();
                let pieces = (0..length.div_ceil(3)).map(|index| {
                    let bytes = components * (length - 3 * index).min(3) as usize;
                    Due::Data { index, bytes }
                });
                assert_eq!(found, pieces.chain([Due::Finish]).collect::<Vec<_>>(), "{item:?}");
            }
        }
        let (name, kind, bytes, request) = (key, KeyType::Aes192, 24, [0; 16]);
        let new = NewKey { name, kind, bytes, exportable: false, clients: vec![], request };
        let import = Item::KeyImport(new);
        let found: Vec<_> = (0..600).filter_map(|nth| due(&import, SMALL, nth, None)).collect();
        assert_eq!(found, [Due::Data { index: 0, bytes: 48 }]);
    }

    /// The pieces of a stream are full until one is marked; then comes `Finish`, and nothing else.
    #[test]
    fn a_stream_ends_with_its_mark() {
        let item = Item::EncryptStream {
            key: "k".parse().unwrap(),
            aad: Blob(Vec::new()),
            way: SboxChoice::DEFAULT,
        };
        assert_eq!((kind(&item), item.is_short()), (Kind::Long, false));
        let body = |bytes: usize| Blob(vec![0; bytes]);
        let data = |index, bytes| ToServer::Data { number: 1, index, body: body(bytes) };
        let marked = |index, bytes| ToServer::Last { number: 1, index, body: body(bytes) };
        let finish = ToServer::Finish { number: 1 };
        for nth in [0, 1, 1000] {
            let due = due(&item, SMALL, nth, None).unwrap();
            assert!(due.is(&data(nth, 20)) && due.is(&marked(nth, 20)) && due.is(&marked(nth, 2)));
            assert_eq!(due.is(&marked(nth, 0)), nth == 0);
            let wrong = [data(nth, 18), data(nth, 22), marked(nth, 22), marked(nth, 3), data(nth + 1, 20)];
            assert!(wrong.iter().chain([&marked(nth + 1, 2), &finish]).all(|message| !due.is(message)));
        }
        let behind: Vec<_> = (3..600).filter_map(|nth| due(&item, SMALL, nth, Some(3))).collect();
        assert_eq!(behind, [Due::Piece { index: 3, full: 20 }, Due::Finish]);
        assert!(Due::Finish.is(&finish) && !Due::Finish.is(&marked(4, 2)));
        // a body of known length has no mark
        let known = due(&texts(25, 60_000)[0], SMALL, 2, None).unwrap();
        assert!(known.is(&data(2, 10)) && !known.is(&marked(2, 10)));
        let steps = [step(&item, SMALL, 3, None), step(&item, SMALL, 4, Some(3))].map(|step| step.name);
        assert!(steps[0].ends_with("plaintext") && steps[1].ends_with("finish"), "{steps:?}");
    }
}
