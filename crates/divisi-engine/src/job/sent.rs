//! The encoding of a job for another process, which reads the files named in it again.

use super::encoding::adder;
use super::{Between, BlocksJob, CircuitJob, DigestsJob, JobSpec, LookupJob, numbers};
use crate::circuit::{HeldCircuit, hold};
use crate::{Engine, Failure};
use divisi_core::PartyId;
use divisi_symmetric::gates::Adder;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::sync::Arc;

/// A job as one process sends it to another: all kinds but those of known answers. What lies in a file or
/// belongs to one engine is named; the other kinds are sent as they are.
#[derive(Serialize, Deserialize)]
enum Message {
    Circuit(NamedJob),
    Blocks(BlocksJob),
    Digests(DigestsJob),
    /// A job of the engine alone, as the engine writes it.
    Own(Vec<u8>),
    Lookups(LookupJob),
}

/// A [`CircuitJob`], whose circuit the receiver makes or reads from its file again.
#[derive(Serialize, Deserialize)]
struct NamedJob {
    name: OsString,
    low_depth: bool,
    in_file: bool,
    digest: [u8; 32],
    /// The owner of each input value, and the receivers of each output value.
    between: Option<(Vec<u8>, Vec<Vec<u8>>)>,
    count: u64,
}

fn parties(numbers: &[u8]) -> Vec<PartyId> {
    numbers.iter().filter_map(|number| PartyId::new(*number)).collect()
}

impl JobSpec {
    /// The job as a message to another process of this program.
    ///
    /// # Errors
    /// [`Failure`] for a job that only runs within one process.
    pub fn message(&self) -> Result<Vec<u8>, Failure> {
        let message = match self {
            JobSpec::Circuit(job) => Message::Circuit(NamedJob::of(job)),
            JobSpec::Blocks(job) => Message::Blocks(*job),
            JobSpec::Digests(job) => Message::Digests(job.clone()),
            JobSpec::Lookups(job) => Message::Lookups(job.clone()),
            JobSpec::Own(job) => Message::Own(job.message()),
            JobSpec::Answers(_) => {
                return Err(Failure::usage("known answers run in a single process: use `divisi kat`"));
            }
        };
        postcard::to_stdvec(&message).map_err(|e| Failure::unavailable(format!("a job cannot be sent ({e})")))
    }

    /// The job in a message, with the circuit or program read from its file again.
    ///
    /// # Errors
    /// [`Failure`] if the message is none, or a file cannot be read or has changed.
    pub fn read(message: &[u8], engine: &dyn Engine) -> Result<JobSpec, Failure> {
        let message: Message = postcard::from_bytes(message)
            .map_err(|_| Failure::usage("a job of no form: start all parties with one version of divisi"))?;
        Ok(match message {
            Message::Circuit(named) => JobSpec::Circuit(named.job()?),
            Message::Blocks(job) => JobSpec::Blocks(job),
            Message::Digests(job) => JobSpec::Digests(job),
            Message::Lookups(job) => JobSpec::Lookups(job),
            Message::Own(message) => {
                let own = engine.jobs().own.ok_or_else(|| Failure::usage("a job that no engine has"))?;
                JobSpec::Own(own.read(&message)?)
            }
        })
    }
}

impl NamedJob {
    fn of(job: &CircuitJob) -> NamedJob {
        NamedJob {
            name: job.circuit.name().exact().to_owned(),
            low_depth: job.adder == Adder::LowDepth,
            in_file: matches!(&*job.circuit, HeldCircuit::File { .. }),
            digest: job.circuit.digest(),
            between: match &job.between {
                Between::Parties { owners, receivers } => {
                    Some((numbers(owners), receivers.iter().map(|list| numbers(list)).collect()))
                }
                Between::Client => None,
            },
            count: job.count as u64,
        }
    }

    fn job(self) -> Result<CircuitJob, Failure> {
        let NamedJob { name, low_depth, in_file, digest, between, count } = self;
        let adder = adder(low_depth);
        let circuit = hold(name, adder, in_file)?;
        if circuit.digest() != digest {
            let error = format!("{} has changed meanwhile: leave it as it is", circuit.name());
            return Err(Failure::usage(error));
        }
        let between = between.map_or(Between::Client, |(owners, receivers)| Between::Parties {
            owners: parties(&owners),
            receivers: receivers.iter().map(|list| parties(list)).collect(),
        });
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(CircuitJob { circuit: Arc::new(circuit), adder, between, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Cipher, UserTable};
    use divisi_core::Direction;
    use divisi_symmetric::aes::KeySize;
    use divisi_symmetric::algorithm::Settings as Use;

    /// Jobs of each kind. A message that is accepted is encoded again in the same way, also by the job that
    /// is read from it, if that needs no file and no engine.
    #[test]
    fn random_jobs() {
        let circuit = NamedJob {
            name: "and.txt".into(),
            low_depth: true,
            in_file: false,
            digest: [7; 32],
            between: Some((vec![1, 2], vec![vec![3], vec![1, 3]])),
            count: 300,
        };
        let using = Use { adder: Adder::LowDepth, ..Use::new("sha256".parse().unwrap()) };
        let cipher = Cipher::Aes(KeySize::Aes128);
        let lookups = LookupJob { entries: 256, inputs: 3, dimensions: Some(2), count: 4, table: None };
        let table = Some(Arc::new(UserTable::new(vec![0, 1, 8, 0xffff]).unwrap()));
        let seeds = [
            Message::Circuit(circuit),
            Message::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: 5 }),
            Message::Digests(DigestsJob { using, message_bytes: 64, count: 2 }),
            Message::Own(vec![1, 3, 98, 50, 97, 32, 8, 0, 9]),
            Message::Lookups(lookups.clone()),
            Message::Lookups(LookupJob { entries: 4, inputs: 1, dimensions: None, table, ..lookups }),
        ];
        let encode = |message: &Message| postcard::to_stdvec(message).unwrap_or_default();
        let seeds: Vec<Vec<u8>> = seeds.iter().map(encode).collect();
        divisi_fuzz::golden("jobs", env!("CARGO_MANIFEST_DIR"), &seeds);
        divisi_fuzz::run("jobs", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let Ok(message) = postcard::from_bytes::<Message>(bytes) else { return Ok(false) };
            let once = encode(&message);
            let twice = postcard::from_bytes::<Message>(&once).map(|message| encode(&message));
            if twice.is_ok_and(|twice| twice != once) {
                return Err("another job".into());
            }
            if matches!(message, Message::Circuit(_) | Message::Own(_)) {
                return Ok(true);
            }
            match JobSpec::read(bytes, &crate::plain::InTheClear).and_then(|job| job.message()) {
                Ok(same) if same == once => Ok(true),
                _ => Err("a job that is encoded otherwise".into()),
            }
        });
    }

    #[test]
    fn what_cannot_be_sent_whole_is_not_sent() {
        let using = Use { output_bytes: 16, ..Use::new("shake128".parse().unwrap()) };
        let send = |using: Use| JobSpec::Digests(DigestsJob { using, message_bytes: 1, count: 1 }).message();
        assert!(send(Use::new(using.algorithm)).is_ok());
        assert!(send(Use { output_bytes: using.output_bytes + 17, ..using }).is_err());
    }

    #[test]
    fn a_circuit_is_sent_with_its_number_and_its_digest() {
        let circuit = Arc::new(hold("aes128", Adder::FewestAnds, false).unwrap());
        for count in [1, 300] {
            let (circuit, between) = (Arc::clone(&circuit), Between::Client);
            let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count };
            assert_eq!(NamedJob::of(&job).job().unwrap().count, count);
            for at in [0, 15, 31] {
                let mut changed = NamedJob::of(&job);
                changed.digest[at] ^= 1;
                assert!(
                    changed.job().is_err_and(|e| e.to_string().contains("has changed meanwhile")),
                    "{at}"
                );
            }
        }
    }

    /// Each input has its own owner, and each output its own receivers, at the other process too.
    #[test]
    fn owners_and_receivers_are_those_that_were_meant() {
        let mut g = divisi_circuit::Build::new();
        let inputs = [3, 1, 2].map(|width| g.input(width));
        inputs.iter().for_each(|input| g.output(input));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("three values");
        let mut text = Vec::new();
        crate::circuit::write_as(&g.finish(), divisi_circuit::bristol::Format::Fashion, &mut text)
            .unwrap()
            .unwrap();
        std::fs::write(&path, text).unwrap();
        let circuit = Arc::new(hold(path.into_os_string(), Adder::FewestAnds, false).unwrap());
        let lists = |all: &[&[u8]]| all.iter().map(|list| parties(list)).collect::<Vec<_>>();
        for (owners, receivers) in [
            (&[1, 2, 3][..], [&[1][..], &[2], &[3]]),
            (&[2, 2, 1], [&[3, 1], &[], &[1, 3]]),
            (&[255, 1, 200], [&[2, 255], &[2], &[2, 254]]),
        ] {
            let between = Between::Parties { owners: parties(owners), receivers: lists(&receivers) };
            let circuit = Arc::clone(&circuit);
            let job = CircuitJob { circuit, adder: Adder::FewestAnds, between, count: 2 };
            assert_eq!(NamedJob::of(&job).job().unwrap().between, job.between);
        }
    }

    /// A party reads the circuits of its jobs again, each from its own file, and none that has changed,
    /// whether they stay in their files or not.
    #[test]
    fn circuits_are_those_that_were_meant() {
        [false, true].into_iter().for_each(read_again);
    }

    fn read_again(in_file: bool) {
        let dir = tempfile::tempdir().unwrap();
        let job = |gate: &str| {
            let path = dir.path().join(gate);
            let text = format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {gate}\n");
            std::fs::write(&path, text).unwrap();
            let circuit = hold(path.into_os_string(), Adder::LowDepth, in_file).unwrap();
            let between = Between::Client;
            CircuitJob { circuit: Arc::new(circuit), adder: Adder::LowDepth, between, count: 3 }
        };
        let jobs = ["AND", "XOR"].map(job);
        let read = |job: &CircuitJob| NamedJob::of(job).job().map(|job| job.circuit.digest());
        for _ in 0..2 {
            jobs.iter().for_each(|job| assert_eq!(read(job).unwrap(), job.circuit.digest()));
        }
        std::fs::copy(dir.path().join("AND"), dir.path().join("XOR")).unwrap();
        assert!(read(&jobs[0]).is_ok());
        assert!(read(&jobs[1]).unwrap_err().to_string().contains("has changed meanwhile"));
    }
}
