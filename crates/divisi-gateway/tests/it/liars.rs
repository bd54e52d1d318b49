//! One server of three lies, in what it says to the gateway or in what it takes the gateway to have said: each
//! request ends in a right answer, or in 503 that names the server in the log.

mod between;
mod tasks;
mod words;

use crate::kms::Kms;
use crate::stay::Stay;
use between::{Between, Lie};
use divisi_net::PartyId;
use divisi_node::ErrorKind;
use std::time::{Duration, Instant};
use tasks::{End, Faces, Made, TASKS, Task};
use words::{Failure, Said, Word};

/// In how many tasks each lie is told.
const FEW: usize = 3;

/// Servers, a gateway with both faces, and the men in the middle.
struct Setting {
    stay: Stay,
    _folder: tempfile::TempDir,
    socket: std::path::PathBuf,
    between: Between,
}

impl Setting {
    fn start() -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("kms.sock");
        let stay = Stay::start(&["--kms", socket.to_str().unwrap()]);
        let between = Between::stand(&stay);
        Setting { stay, _folder: folder, socket, between }
    }
}

fn failed(kind: ErrorKind, retry: bool, peer: u8, hearsay: bool, message: &str) -> Word {
    let (step, message) = ("divisi_node::server::some/step".into(), message.into());
    Word::Failed(Failure { kind, retry, peer, step, message, hearsay })
}

/// Whether a word answers a request.
fn is_answer(word: &Word) -> bool {
    !matches!(word, Word::Welcome { .. } | Word::Ready | Word::Waiting | Word::Condition(_))
}

/// In place of each answer something else.
fn instead(said: &mut Said, word: Word) {
    if is_answer(&said.what) {
        said.what = word;
    }
}

/// What a server says: a lie, and its name.
const SAYS: &[(&str, fn(&mut Said))] = &[
    ("another IV", |said| {
        if let Word::Sealing { iv, .. } = &mut said.what {
            iv[11] ^= 1
        }
    }),
    ("another key that sealed", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.id[0] ^= 1
        }
    }),
    ("another maker", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.maker = "mallory".into()
        }
    }),
    ("a maker that is none", |said| {
        if let Word::Sealing { key, .. } = &mut said.what {
            key.maker.clear()
        }
    }),
    ("another ciphertext", |said| match &mut said.what {
        Word::Ciphertext(bytes) => bytes[0] ^= 1,
        Word::Digest(digest) => digest[0] ^= 1,
        _ => {}
    }),
    ("a shorter ciphertext", |said| match &mut said.what {
        Word::Ciphertext(bytes) => drop(bytes.pop()),
        Word::Digest(digest) => digest[31] ^= 0x80,
        _ => {}
    }),
    ("another tag", |said| {
        if let Word::Tag(tag) = &mut said.what {
            tag[15] ^= 1
        }
    }),
    ("another share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component[0] ^= 1
        }
    }),
    ("another end of a share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            *component.last_mut().unwrap() ^= 0x80
        }
    }),
    ("another digest of a share", |said| {
        if let Word::Answer { digest, .. } = &mut said.what {
            digest[0] ^= 1
        }
    }),
    ("a shorter share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component.pop();
        }
    }),
    ("a longer share", |said| {
        if let Word::Answer { component, .. } = &mut said.what {
            component.push(0)
        }
    }),
    ("another nonce", |said| {
        if let Word::Tagging { nonce, .. } = &mut said.what {
            nonce[0] ^= 1
        }
    }),
    ("no key that tags", |said| {
        if let Word::Tagging { key, .. } = &mut said.what {
            *key = None
        }
    }),
    ("another id", |said| match &mut said.what {
        Word::Key(key) => key.id[15] ^= 1,
        Word::Keys { keys, .. } => keys.iter_mut().for_each(|key| key.id[15] ^= 1),
        _ => {}
    }),
    ("another time", |said| match &mut said.what {
        Word::Key(key) => key.made = None,
        Word::Keys { keys, .. } => keys.iter_mut().for_each(|key| key.made = Some(1)),
        _ => {}
    }),
    ("another type", |said| match &mut said.what {
        Word::Key(key) => key.kind = divisi_node::KeyType::Aes128,
        Word::Keys { keys, .. } => {
            keys.iter_mut().for_each(|key| key.kind = divisi_node::KeyType::HmacSha256)
        }
        _ => {}
    }),
    ("a key that is destroyed", |said| match &mut said.what {
        Word::Key(key) => key.state = divisi_node::KeyState::Destroyed,
        Word::Keys { keys, .. } => {
            keys.iter_mut().for_each(|key| key.state = divisi_node::KeyState::Destroyed)
        }
        _ => {}
    }),
    ("no keys", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            keys.clear()
        }
    }),
    ("one key less", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            drop(keys.pop())
        }
    }),
    ("one key more", |said| {
        if let Word::Keys { keys, .. } = &mut said.what
            && let Some(mut key) = keys.last().cloned()
        {
            key.name = "zzz".parse().unwrap();
            keys.push(key);
        }
    }),
    ("the key that is not there", |said| {
        if let Word::Keys { keys, .. } = &mut said.what
            && let Some(key) = keys.first_mut()
        {
            key.name = "none".parse().unwrap();
        }
    }),
    ("keys in another order", |said| {
        if let Word::Keys { keys, .. } = &mut said.what {
            keys.reverse()
        }
    }),
    ("a list without end", |said| {
        if let Word::Keys { more, .. } = &mut said.what {
            *more = true
        }
    }),
    ("that it is right", |said| {
        if matches!(said.what, Word::Accepted | Word::Failed(_)) {
            said.what = Word::Valid
        }
    }),
    ("that it is done", |said| {
        if said.what == Word::Valid {
            said.what = Word::Done
        }
    }),
    ("that it accepts", |said| instead(said, Word::Accepted)),
    ("that it is forged", |said| {
        instead(said, failed(ErrorKind::Mismatch, false, 0, false, "the tag is not right"));
    }),
    ("that another says that it is forged", |said| {
        instead(said, failed(ErrorKind::Mismatch, false, 0, true, "the tag is not right"));
    }),
    ("that the tag is not right", |said| {
        if matches!(said.what, Word::Valid | Word::Answer { .. }) {
            said.what = failed(ErrorKind::Mismatch, false, 0, false, "the tag is not right");
        }
    }),
    ("that there is no such key", |said| {
        instead(said, failed(ErrorKind::Refused, false, 0, false, "there is no key k: see `key list`"));
    }),
    ("that another says that there is no such key", |said| {
        instead(said, failed(ErrorKind::Refused, false, 0, true, "there is no key k: see `key list`"));
    }),
    ("that the user is wrong", |said| {
        instead(said, failed(ErrorKind::Usage, false, 0, false, "the text is too long: split it"));
    }),
    ("that another is to blame", |said| {
        instead(said, failed(ErrorKind::Abort, true, 3, false, "party 3 lies"))
    }),
    ("that the session ended", |said| instead(said, failed(ErrorKind::Abort, false, 0, false, "it ended"))),
    ("an answer to another request", |said| {
        if is_answer(&said.what) {
            said.number += 1
        }
    }),
    ("an answer in another place", |said| {
        if is_answer(&said.what) {
            said.nth += 1
        }
    }),
    ("an answer to no request", |said| {
        if is_answer(&said.what) {
            (said.number, said.nth) = (0, 0)
        }
    }),
    ("that it has not joined", |said| {
        if let Word::Condition(told) = &mut said.what {
            told.joined = false
        }
    }),
    ("that it misses all", |said| {
        if let Word::Condition(told) = &mut said.what {
            (told.joined, told.missing) = (false, vec![1, 2, 3])
        }
    }),
    ("that it lost its store", |said| {
        if let Word::Condition(told) = &mut said.what {
            (told.joined, told.lost) = (false, vec![1])
        }
    }),
];

/// Lies with which a connection begins.
const FIRST: &[(&str, fn(&mut Said))] = &[
    ("another challenge", |said| {
        if let Word::Welcome { challenge, .. } = &mut said.what {
            challenge[0] ^= 1
        }
    }),
    ("another version", |said| {
        if let Word::Welcome { lowest, highest, .. } = &mut said.what {
            (*lowest, *highest) = (99, 99)
        }
    }),
    ("another number", |said| {
        if let Word::Welcome { party, .. } = &mut said.what {
            *party = *party % 3 + 1
        }
    }),
    ("that nobody is welcome", |said| {
        if matches!(said.what, Word::Welcome { .. }) {
            said.what = failed(ErrorKind::Refused, false, 0, false, "there is no key k");
        }
    }),
    ("that the user began wrongly", |said| {
        if said.what == Word::Ready {
            said.what = failed(ErrorKind::Usage, false, 0, false, "no")
        }
    }),
    ("that the beginning is forged", |said| {
        if said.what == Word::Ready {
            said.what = failed(ErrorKind::Mismatch, false, 0, false, "no")
        }
    }),
];

/// What a server says that may pass: the gateway tries again for a while.
const LATER: &[(&str, fn(&mut Said))] = &[
    ("to try again", |said| instead(said, failed(ErrorKind::Unavailable, true, 0, false, "it is stopping"))),
    ("to wait", |said| instead(said, Word::Waiting)),
];

/// What a server takes the gateway to have said: its messages of requests, changed at a place.
const HEARS: &[(&str, fn(&mut Vec<u8>))] = &[
    ("another end", |bytes| change(bytes, |bytes| bytes.len() - 1)),
    ("another middle", |bytes| change(bytes, |bytes| bytes.len() / 2)),
    ("another share", |bytes| {
        if bytes.get(4) == Some(&2) {
            change(bytes, |bytes| 8 + (bytes.len() - 8) / 4);
        }
    }),
];

/// Another bit at a place of a request, or of its data.
fn change(bytes: &mut Vec<u8>, place: impl Fn(&[u8]) -> usize) {
    if matches!(bytes.get(4), Some(1 | 2)) {
        let place = place(bytes);
        bytes[place] ^= 1;
    }
}

/// All notes of the log.
fn log(stay: &Stay) -> String {
    std::fs::read_to_string(stay.folder.join("gateway.log")).unwrap()
}

/// The tasks in which a server would say something else, by what the servers say in each: a few of them, other
/// ones for each lie, and each night all.
fn tasks(number: usize, lie: fn(&mut Said), heard: &[(Task, Vec<Word>)]) -> Vec<Task> {
    let changes = |word: &Word| {
        let said = Said { number: 1, nth: 0, what: word.clone() };
        let mut changed = said.clone();
        lie(&mut changed);
        changed != said
    };
    let all = heard.iter().filter(|(_, words)| words.iter().any(changes)).map(|(task, _)| *task);
    let all: Vec<Task> = all.collect();
    let few = divisi_fuzz::repetitions(FEW, all.len()).min(all.len());
    (0..few).map(|nth| all[(number + nth * all.len() / few) % all.len()]).collect()
}

/// Do a task while a server lies. The sentence of servers that could not answer, which names the liar.
fn told(
    setting: &Setting,
    faces: &Faces<'_>,
    made: &Made,
    (task, work): Task,
    (what, lie): (&str, Lie),
    liar: PartyId,
) -> Option<String> {
    let (end, changed) = setting.between.while_lying(liar, lie, || work(faces, made));
    match end.settle(faces) {
        End::Right => None,
        End::Down(why) => {
            assert!(changed > 0, "{liar} says {what}: {task}: nothing was changed, and yet: {why}");
            Some(why)
        }
        end => panic!("{liar} says {what}: {task}: {end:?}"),
    }
}

/// Which servers lie with the lie of this number: one of them, each night all.
fn liars(number: usize) -> Vec<PartyId> {
    let each = PartyId::all(3).collect::<Vec<_>>();
    divisi_fuzz::repetitions(vec![each[number % 3]], each)
}

#[test]
fn no_lie_of_a_server_becomes_an_answer() {
    let setting = Setting::start();
    let faces = Faces { stay: &setting.stay, kms: Kms::at(&setting.socket) };
    let made = Made::make(&faces);
    let mut heard: Vec<(Task, Vec<Word>)> = Vec::new();
    for task in TASKS {
        drop(setting.between.heard());
        let end = task.1(&faces, &made).settle(&faces);
        assert!(matches!(end, End::Right), "{}: {end:?}", task.0);
        heard.push((task, setting.between.heard()));
    }
    let (mut sentences, mut unnoticed) = (Vec::new(), Vec::new());
    for (number, (what, lie)) in SAYS.iter().enumerate() {
        let tasks = tasks(number, *lie, &heard);
        assert!(!tasks.is_empty(), "no server would say {what}");
        for liar in liars(number) {
            for task in &tasks {
                match told(&setting, &faces, &made, *task, (what, Lie::Says(*lie)), liar) {
                    Some(why) => {
                        let named = why.contains(&liar.to_string());
                        assert!(named, "{liar} says {what}: {}: {why}", task.0);
                        sentences.push(why);
                    }
                    None => unnoticed.push(format!("{what}: {}", task.0)),
                }
            }
        }
    }
    for (number, (what, lie)) in FIRST.iter().enumerate() {
        for liar in liars(number) {
            setting.between.hang_up();
            let why = told(&setting, &faces, &made, TASKS[1], (what, Lie::Says(*lie)), liar);
            sentences.push(why.unwrap_or_else(|| panic!("{liar} says {what}, and is believed")));
        }
    }
    println!("{} lies were told of, {} had no effect: {unnoticed:#?}", sentences.len(), unnoticed.len());
    let begun = Instant::now();
    while let Some(lost) =
        sentences.iter().find(|why| !log(&setting.stay).contains(&why[..why.len().min(60)]))
    {
        assert!(begun.elapsed() < Duration::from_secs(5), "not in the log: {lost}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A server that takes the gateway to have said something else refuses, and so do the others, who compare: and
/// yet it is no mistake of the application.
#[test]
fn what_a_server_mishears_is_no_mistake_of_the_application() {
    let setting = Setting::start();
    let faces = Faces { stay: &setting.stay, kms: Kms::at(&setting.socket) };
    let made = Made::make(&faces);
    let mut down = 0;
    for (number, (what, lie)) in HEARS.iter().enumerate() {
        for liar in liars(number) {
            let few = divisi_fuzz::repetitions(TASKS.len() / 3, TASKS.len());
            for nth in 0..few {
                let task = TASKS[(number + nth * TASKS.len() / few) % TASKS.len()];
                down += usize::from(
                    told(&setting, &faces, &made, task, (what, Lie::Hears(*lie)), liar).is_some(),
                );
            }
        }
    }
    assert!(down > 4, "{down} requests ended in 503");
}

/// A server that puts off is given up in time, and named.
#[test]
fn a_server_that_puts_off_is_given_up() {
    let setting = Setting::start();
    let faces = Faces { stay: &setting.stay, kms: Kms::at(&setting.socket) };
    let made = Made::make(&faces);
    for (number, (what, lie)) in LATER.iter().enumerate() {
        for liar in liars(number) {
            let begun = Instant::now();
            let why = told(&setting, &faces, &made, TASKS[1], (what, Lie::Says(*lie)), liar);
            let why = why.unwrap_or_else(|| panic!("{liar} says {what}, and is believed"));
            assert!(why.contains(&liar.to_string()), "{liar} says {what}: {why}");
            println!("{liar} says {what}: {:?}", begun.elapsed());
        }
    }
}
