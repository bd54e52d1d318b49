//! One server of three lies, in what it says to the gateway or in what it takes the gateway to have said:
//! each request ends in a right answer, or in 503 that names the server in the log.

mod between;
mod lies;
mod tasks;
mod words;

use crate::kms::Kms;
use crate::stay::Stay;
use between::{Between, Lie};
use divisi_net::PartyId;
use lies::{FIRST, HEARS, KEYS, LATER, SAYS};
use std::time::{Duration, Instant};
use tasks::{End, Faces, HEALTH, Made, TASKS, Task};
use words::{Said, Word};

/// In how many tasks each lie is told; each night in all.
const FEW: usize = 1;
/// How many gateways are lied to at once.
const SETTINGS: usize = 4;
/// How often a task is tried again.
const TRIES: usize = 3;

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

/// All notes of the log.
fn log(stay: &Stay) -> String {
    std::fs::read_to_string(stay.folder.join("gateway.log")).unwrap()
}

/// The tasks in which a server would say something else, by what the servers say in each: a few of them,
/// other ones for each lie, and each night all.
fn tasks(number: usize, lie: fn(&mut Said), heard: &[(Task, Vec<Word>)]) -> Vec<Task> {
    let changes = |word: &Word| {
        let said = Said { number: 1, nth: 0, what: word.clone() };
        let mut changed = said.clone();
        lie(&mut changed);
        changed != said
    };
    // how a server is, it says at any time
    let is_health = |task: &Task| task.0 == HEALTH;
    let fits = |(task, words): &&(Task, Vec<Word>)| {
        words.iter().any(|word| matches!(word, Word::Condition(_)) == is_health(task) && changes(word))
    };
    let all: Vec<Task> = heard.iter().filter(fits).map(|(task, _)| *task).collect();
    let few = divisi_fuzz::repetitions(FEW, all.len()).min(all.len());
    (0..few).map(|nth| all[(number + nth * all.len() / few) % all.len()]).collect()
}

/// What the servers say in a task while nobody lies. On a busy machine they may have no time to answer, or to
/// say how they are, which is tried again.
fn words(setting: &Setting, faces: &Faces<'_>, made: &Made, (task, work): Task) -> Vec<Word> {
    let mut tries = 0..TRIES;
    loop {
        drop(setting.between.heard());
        let end = work(faces, made);
        let words = setting.between.heard();
        let is_told = task != HEALTH || words.iter().any(|word| matches!(word, Word::Condition(_)));
        match end.settle(faces) {
            End::Right if is_told => return words,
            End::Right | End::Down(_) if tries.next().is_some() => {}
            end => panic!("{task}: {end:?}: {words:?}"),
        }
    }
}

/// Do a task while a server lies. The sentence of servers that could not answer. If the liar must be named
/// there, it is: on a busy machine the servers may have no time to answer, which is tried again.
fn told(
    setting: &Setting,
    faces: &Faces<'_>,
    made: &Made,
    (task, work): Task,
    (what, lie): (&str, Lie),
    liar: PartyId,
    is_named: bool,
) -> Option<String> {
    let mut tries = 0..TRIES;
    loop {
        let (end, changed) = setting.between.while_lying(liar, lie, || work(faces, made));
        match end.settle(faces) {
            End::Right => return None,
            End::Down(why) if changed > 0 && (!is_named || why.contains(&liar.to_string())) => {
                return Some(why);
            }
            End::Down(why) if tries.next().is_none() => {
                panic!(
                    "{liar} says {what}: {task}: {changed} messages were changed, and it is not named: {why}"
                );
            }
            End::Down(_) => {}
            end => panic!("{liar} says {what}: {task}: {end:?}"),
        }
    }
}

/// Which servers lie with the lie of this number: one of them, each night all.
fn liars(number: usize) -> Vec<PartyId> {
    let each = PartyId::all(3).collect::<Vec<_>>();
    divisi_fuzz::repetitions(vec![each[number % 3]], each)
}

/// A lie, and what it makes of a message.
type Named = (&'static str, fn(&mut Said));

/// What came of lies.
#[derive(Default)]
struct Outcome {
    /// Why requests were not answered: each names the liar.
    sentences: Vec<String>,
    /// Lies in what a server says of itself.
    health: usize,
    /// Lies that changed no answer.
    unnoticed: Vec<String>,
}

/// Tell these lies, and those with which a connection begins: none becomes an answer, and the log names the
/// liar of each. Most of the time passes while the gateway tries again, so several gateways are lied to at
/// once.
fn tell(lies: &'static [Named], first: &'static [Named]) {
    let numbered = lies.iter().copied().enumerate().collect::<Vec<_>>();
    let outcomes = std::thread::scope(|scope| {
        let mut told = numbered
            .chunks(lies.len().div_ceil(SETTINGS))
            .map(|lies| scope.spawn(|| tell_in_answers(lies)))
            .collect::<Vec<_>>();
        if !first.is_empty() {
            told.push(scope.spawn(|| tell_first(first)));
        }
        told.into_iter().map(|told| told.join().unwrap()).collect::<Vec<_>>()
    });
    let unnoticed = outcomes.iter().flat_map(|outcome| &outcome.unnoticed).collect::<Vec<_>>();
    let noticed = outcomes.iter().map(|outcome| outcome.sentences.len() + outcome.health).sum::<usize>();
    println!("{noticed} lies were told of, {} had no effect: {unnoticed:#?}", unnoticed.len());
    assert!(2 * noticed > lies.len(), "{noticed} lies were told of");
}

/// Tell these lies, each with its number, to one gateway, in the tasks that they change.
fn tell_in_answers(lies: &[(usize, Named)]) -> Outcome {
    let setting = Setting::start();
    let faces = Faces { stay: &setting.stay, kms: Kms::at(&setting.socket) };
    let made = Made::make(&faces);
    let mut heard: Vec<(Task, Vec<Word>)> = Vec::new();
    for task in TASKS {
        heard.push((task, words(&setting, &faces, &made, task)));
    }
    let mut outcome = Outcome::default();
    for &(number, (what, lie)) in lies {
        let tasks = tasks(number, lie, &heard);
        assert!(!tasks.is_empty(), "no server would say {what}");
        for liar in liars(number) {
            for task in &tasks {
                match told(&setting, &faces, &made, *task, (what, Lie::Says(lie)), liar, true) {
                    // how a server is stands in the answer; the log has it once, when it changes
                    Some(_) if task.0 == HEALTH => outcome.health += 1,
                    Some(why) => outcome.sentences.push(why),
                    None => outcome.unnoticed.push(format!("{what}: {}", task.0)),
                }
            }
        }
    }
    await_in_log(&setting, &outcome.sentences);
    outcome
}

/// Tell these lies at the beginning of a connection.
fn tell_first(lies: &[Named]) -> Outcome {
    let setting = Setting::start();
    let faces = Faces { stay: &setting.stay, kms: Kms::at(&setting.socket) };
    let made = Made::make(&faces);
    let mut outcome = Outcome::default();
    for (number, (what, lie)) in lies.iter().enumerate() {
        for liar in liars(number) {
            setting.between.hang_up();
            let why = told(&setting, &faces, &made, TASKS[1], (what, Lie::Says(*lie)), liar, true);
            outcome.sentences.push(why.unwrap_or_else(|| panic!("{liar} says {what}, and is believed")));
        }
    }
    await_in_log(&setting, &outcome.sentences);
    outcome
}

/// Wait until the log has each of these sentences.
fn await_in_log(setting: &Setting, sentences: &[String]) {
    let begun = Instant::now();
    while let Some(lost) =
        sentences.iter().find(|why| !log(&setting.stay).contains(&why[..why.len().min(60)]))
    {
        assert!(begun.elapsed() < Duration::from_secs(5), "not in the log: {lost}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn no_lie_of_a_server_becomes_an_answer() {
    tell(SAYS, FIRST);
}

#[test]
fn no_lie_about_keys_becomes_an_answer() {
    tell(KEYS, &[]);
}

/// A server that takes the gateway to have said something else refuses, and so do the others, who compare:
/// and yet it is no mistake of the application.
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
                    told(&setting, &faces, &made, task, (what, Lie::Hears(*lie)), liar, false).is_some(),
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
            let why = told(&setting, &faces, &made, TASKS[1], (what, Lie::Says(*lie)), liar, true);
            assert!(why.is_some(), "{liar} says {what}, and is believed");
            println!("{liar} says {what}: {:?}", begun.elapsed());
        }
    }
}
