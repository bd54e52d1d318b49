//! What engines compute: one public description, [`JobSpec`], which is the same at all parties and which one
//! process can send to another, and rows of bytes for the secret inputs and outputs.

mod answers;
mod cipher;
mod circuit;
mod encoding;
mod engine_job;
mod lookup;
mod message;
mod mode;
mod own;
mod sent;
mod table;

pub use answers::AnswersJob;
pub use cipher::{BlocksJob, Cipher, DesKeys, direction_name};
pub use circuit::{Between, CircuitJob, OutputGroup, numbers};
pub use engine_job::EngineJob;
pub use lookup::LookupJob;
pub use message::{ChainJob, DigestsJob, LargeJob, MessagesJob, PublicMessage, nonce};
pub use mode::{CipherMode, ModeMessage, ModesJob, OneShot};
pub use own::{Own, alike, given_to};
pub use table::UserTable;

use super::{Rows, members};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What is computed: public data, the same at all parties, for a benchmark, a run or known answers. It has
/// `count` instances; the input and the output of each are rows of bytes ([`Rows`]).
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Debug)]
pub enum JobSpec {
    /// Evaluations of one circuit. An input row has the input wires, an output row the output wires, eight to
    /// a byte and the first in its lowest bit; [`crate::WireValue`] says which bit of a value a wire is.
    Circuit(CircuitJob),
    /// Blocks of a cipher under one key, which is the row of the set-up. Each row has one block.
    Blocks(BlocksJob),
    /// A hash or MAC of messages of one length, under one key, which is the row of the set-up.
    Digests(DigestsJob),
    /// Known answers.
    Answers(AnswersJob),
    /// Lookups at random indices of one public table. An input row has the index in four bytes, the lowest
    /// first; an output row has the entry in one byte.
    Lookups(LookupJob),
    /// A job that one engine alone has.
    Own(Arc<dyn EngineJob>),
}

impl JobSpec {
    /// The number of instances.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            JobSpec::Circuit(job) => job.count,
            JobSpec::Blocks(job) => job.count,
            JobSpec::Digests(job) => job.count,
            JobSpec::Answers(job) => job.count(),
            JobSpec::Lookups(job) => job.count,
            JobSpec::Own(job) => job.count(),
        }
    }

    /// The same job for this many instances, if these have rows of one width; other jobs are returned
    /// unchanged.
    #[must_use]
    pub fn counted(mut self, instances: usize) -> JobSpec {
        match &mut self {
            JobSpec::Circuit(CircuitJob { count, .. })
            | JobSpec::Blocks(BlocksJob { count, .. })
            | JobSpec::Digests(DigestsJob { count, .. })
            | JobSpec::Lookups(LookupJob { count, .. }) => *count = instances,
            JobSpec::Own(job) => *job = job.counted(instances),
            JobSpec::Answers(_) => {}
        }
        self
    }

    /// The unit of an instance: a block, a message and so on.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            JobSpec::Circuit(_) => "evaluation",
            JobSpec::Blocks(_) => "block",
            JobSpec::Lookups(_) | JobSpec::Own(_) => "item",
            JobSpec::Digests(_) | JobSpec::Answers(_) => "message",
        }
    }

    /// The JSON members that describe it in a benchmark; null for what it does not have.
    #[must_use]
    pub fn about(&self) -> Map<String, Value> {
        let [mut algorithm, mut circuit, mut direction, mut message_bytes] = [const { Value::Null }; 4];
        match self {
            JobSpec::Circuit(job) => circuit = json!(job.circuit.name()),
            JobSpec::Blocks(job) => {
                algorithm = json!(job.cipher.name());
                direction = json!(direction_name(job.direction));
            }
            JobSpec::Digests(job) => {
                algorithm = json!(job.using.algorithm.name());
                message_bytes = json!(job.message_bytes);
            }
            JobSpec::Answers(_) | JobSpec::Lookups(_) | JobSpec::Own(_) => {}
        }
        let key_bits = 8 * self.key_bytes();
        members(json!({
            "algorithm": algorithm,
            "circuit": circuit,
            "direction": direction,
            "key_bits": (key_bits > 0).then_some(key_bits),
            "message_bytes": message_bytes,
        }))
    }

    /// The length of an instance's input row, in bytes.
    #[must_use]
    pub fn input_bytes(&self, instance: usize) -> usize {
        match self {
            JobSpec::Circuit(job) => job.input_bytes(),
            JobSpec::Blocks(job) => job.cipher.block_bytes(),
            JobSpec::Digests(job) => job.message_bytes,
            JobSpec::Answers(job) => job.input_bytes(instance),
            JobSpec::Lookups(_) => 4,
            JobSpec::Own(job) => job.input_bytes(),
        }
    }

    /// The length of an instance's output row, in bytes.
    #[must_use]
    pub fn output_bytes(&self, instance: usize) -> usize {
        match self {
            JobSpec::Circuit(job) => job.circuit.outputs().iter().sum::<usize>().div_ceil(8),
            JobSpec::Blocks(job) => job.cipher.block_bytes(),
            JobSpec::Digests(job) => job.using.output_bytes,
            JobSpec::Answers(job) => job.output_bytes(instance),
            JobSpec::Lookups(job) => 1 + usize::from(job.table.is_some()),
            JobSpec::Own(job) => job.output_bytes(),
        }
    }

    /// The length of the key of the set-up, in bytes.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        match self {
            JobSpec::Blocks(job) => job.cipher.key_bytes(),
            JobSpec::Digests(job) => job.using.algorithm.key_bytes(),
            JobSpec::Circuit(_) | JobSpec::Answers(_) | JobSpec::Lookups(_) | JobSpec::Own(_) => 0,
        }
    }

    /// Split these bytes into the output rows, instance after instance.
    #[must_use]
    pub fn outputs(&self, bytes: Vec<u8>, count: usize) -> Rows {
        Rows::cut(bytes, (0..count).map(|i| self.output_bytes(i)))
    }

    /// The job without these instances, if they have lengths of their own; other jobs are returned unchanged.
    #[must_use]
    pub fn without(&self, gone: &[usize]) -> JobSpec {
        match self {
            JobSpec::Answers(job) => JobSpec::Answers(job.without(gone)),
            job => job.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::Direction;
    use divisi_symmetric::aes::KeySize;
    use divisi_symmetric::algorithm::Settings;

    #[test]
    fn keys_of_setups_have_their_lengths() {
        let blocks = |cipher| JobSpec::Blocks(BlocksJob { cipher, direction: Direction::Encrypt, count: 3 });
        let digests = |name: &str| {
            let using = Settings::new(name.parse().unwrap());
            JobSpec::Digests(DigestsJob { using, message_bytes: 9, count: 3 })
        };
        let jobs = [
            (blocks(Cipher::Aes(KeySize::Aes128)), 16),
            (blocks(Cipher::Aes(KeySize::Aes256)), 32),
            (blocks(Cipher::TripleDes(DesKeys::Two)), 16),
            (blocks(Cipher::TripleDes(DesKeys::Three)), 24),
            (digests("sha256"), 0),
            (digests("hmac-sha256"), 32),
            (digests("hmac-sha512"), 64),
        ];
        for (job, bytes) in jobs {
            assert_eq!(job.key_bytes(), bytes);
        }
        let lookups = |table| LookupJob { entries: 512, inputs: 1, dimensions: None, count: 2, table };
        let table = Arc::new(UserTable::parse(&"259 ".repeat(512)).unwrap());
        for (job, input, output) in [
            (blocks(Cipher::Aes(KeySize::Aes256)), 16, 16),
            (blocks(Cipher::TripleDes(DesKeys::Three)), 8, 8),
            (digests("sha512"), 9, 64),
            (JobSpec::Lookups(lookups(None)), 4, 1),
            (JobSpec::Lookups(lookups(Some(table))), 4, 2),
        ] {
            assert_eq!((job.input_bytes(1), job.output_bytes(1)), (input, output));
        }
    }

    /// Each answer has the length of its message's output, and of what is compared.
    #[test]
    fn answers_have_their_lengths() {
        let using = Settings::new("hmac-sha256".parse().unwrap());
        let message = |bytes, makes, received: bool| PublicMessage {
            bytes,
            spare_bits: 0,
            nonce: Vec::new(),
            makes,
            received: received.then(|| vec![0; 32]),
        };
        let kinds = [(true, true), (true, false), (false, true), (false, false)];
        let messages = (7..).zip(kinds).map(|(bytes, (makes, received))| message(bytes, makes, received));
        let job: JobSpec =
            MessagesJob { using: using.clone(), key_bytes: 300, messages: messages.collect() }.into();
        let lengths = |job: &JobSpec| [0, 1, 2, 3, 4].map(|i| (job.input_bytes(i), job.output_bytes(i)));
        assert_eq!(lengths(&job), [(307, 33), (308, 32), (309, 1), (310, 0), (300, 0)]);
        let chain: JobSpec = ChainJob { using: using.clone(), steps: 2, starts: vec![5, 256] }.into();
        assert_eq!(lengths(&chain), [(5, 32), (256, 32), (0, 32), (0, 32), (0, 32)]);
        let large: JobSpec = LargeJob { using, content: 9, lengths: vec![1 << 40] }.into();
        assert_eq!(lengths(&large), [(9, 32); 5]);
        // of a received tag it is told whether it is right
        let modes = |mode| {
            let message = |sealed: bool| ModeMessage {
                direction: Direction::Encrypt,
                iv: Vec::new(),
                aad: Vec::new(),
                bytes: 300,
                spare_bits: 0,
                tag_bytes: 12,
                sealed: sealed.then(|| (vec![0; 300], vec![0; 12])),
            };
            let messages = [false, true].map(message).to_vec();
            lengths(&ModesJob { mode, cipher: Cipher::Aes(KeySize::Aes192), messages }.into())
        };
        assert_eq!(modes(CipherMode::Cmac)[..3], [(324, 12), (324, 1), (24, 0)]);
        assert_eq!(modes(CipherMode::Gcm)[..3], [(324, 313), (24, 313), (24, 0)]);
        assert_eq!(modes(CipherMode::Cbc)[..3], [(324, 300), (24, 300), (24, 0)]);
    }

    /// An index is taken by its bits that the table has; entries of a user's table have two bytes.
    #[test]
    fn lookups_expect_the_entry_of_their_index() {
        let job = |table| LookupJob { entries: 512, inputs: 1, dimensions: None, count: 1, table };
        let at = |job: &LookupJob, index: u32| job.expected(&index.to_le_bytes());
        let bytes = job(None);
        for index in [0, 1, 255, 256, 511] {
            let entry = vec![LookupJob::entry(index as usize)];
            for upper in [0, 512, 1 << 31] {
                assert_eq!(at(&bytes, upper | index).as_ref(), Some(&entry), "{index} {upper}");
            }
        }
        let text: Vec<String> = (0..512).map(|i| (i * 127).to_string()).collect();
        let own = job(Some(Arc::new(UserTable::parse(&text.join(" ")).unwrap())));
        for index in [0, 1, 256, 511] {
            assert_eq!(at(&own, 512 + index), Some((index as u16 * 127).to_le_bytes().to_vec()), "{index}");
        }
        assert!([&[][..], &[0; 3], &[0; 5]].iter().all(|row| bytes.expected(row).is_none()));
    }

    /// The nonce of a message is its number, the lowest byte first.
    #[test]
    fn nonces_are_numbers() {
        assert_eq!(nonce(0x0102_0304_0506_0708), [8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0]);
        assert_eq!(nonce(256), [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
