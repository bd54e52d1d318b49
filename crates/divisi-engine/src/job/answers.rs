//! Known answers, whose instances have keys and lengths of their own.

use super::{ChainJob, CipherMode, JobSpec, LargeJob, MessagesJob, ModesJob};

/// Known answers: instances with keys and lengths of their own, which run in a single process.
#[expect(clippy::exhaustive_enums, reason = "who matches it must not overlook a new one")]
#[derive(Clone, Debug)]
pub enum AnswersJob {
    /// Messages in a mode of a block cipher, each with a key of its own.
    Modes(ModesJob),
    /// Messages of any length, each with a key of its own where there are keys.
    Messages(MessagesJob),
    /// Chains of digests, each of the digest before it.
    Chain(ChainJob),
    /// Digests of messages too long for memory.
    Large(LargeJob),
}

impl From<ModesJob> for JobSpec {
    fn from(job: ModesJob) -> JobSpec {
        JobSpec::Answers(AnswersJob::Modes(job))
    }
}

impl From<MessagesJob> for JobSpec {
    fn from(job: MessagesJob) -> JobSpec {
        JobSpec::Answers(AnswersJob::Messages(job))
    }
}

impl From<ChainJob> for JobSpec {
    fn from(job: ChainJob) -> JobSpec {
        JobSpec::Answers(AnswersJob::Chain(job))
    }
}

impl From<LargeJob> for JobSpec {
    fn from(job: LargeJob) -> JobSpec {
        JobSpec::Answers(AnswersJob::Large(job))
    }
}

impl AnswersJob {
    /// The number of instances.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            AnswersJob::Modes(job) => job.messages.len(),
            AnswersJob::Messages(job) => job.messages.len(),
            AnswersJob::Chain(job) => job.starts.len(),
            AnswersJob::Large(job) => job.lengths.len(),
        }
    }

    /// The length of an instance's input row, in bytes.
    #[must_use]
    pub fn input_bytes(&self, instance: usize) -> usize {
        match self {
            AnswersJob::Modes(job) => {
                let secret = job.messages.get(instance).map_or(0, |message| message.secret_bytes(job.mode));
                job.key_bytes() + secret
            }
            AnswersJob::Messages(job) => job.key_bytes + job.messages.get(instance).map_or(0, |m| m.bytes),
            AnswersJob::Chain(job) => job.starts.get(instance).copied().unwrap_or(0),
            AnswersJob::Large(job) => job.content,
        }
    }

    /// The length of an instance's output row, in bytes.
    #[must_use]
    pub fn output_bytes(&self, instance: usize) -> usize {
        match self {
            AnswersJob::Modes(job) => job.messages.get(instance).map_or(0, |message| match job.mode {
                CipherMode::Gcm => 1 + message.bytes + message.tag_bytes,
                CipherMode::Ecb
                | CipherMode::Ctr
                | CipherMode::Cbc
                | CipherMode::Cfb { .. }
                | CipherMode::Ofb => message.bytes,
                CipherMode::Cmac if message.sealed.is_some() => 1,
                CipherMode::OneShot(mode) => {
                    1 + mode.answer_bytes(message.direction, message.bytes, message.tag_bytes)
                }
                CipherMode::Cmac => message.tag_bytes,
            }),
            AnswersJob::Messages(job) => job.messages.get(instance).map_or(0, |message| {
                let made = if message.makes { job.using.output_bytes } else { 0 };
                made + usize::from(message.received.is_some())
            }),
            AnswersJob::Chain(job) => job.using.output_bytes,
            AnswersJob::Large(job) => job.using.output_bytes,
        }
    }

    /// The job without these instances.
    #[must_use]
    pub fn without(&self, gone: &[usize]) -> AnswersJob {
        fn kept<T: Clone>(all: &[T], gone: &[usize]) -> Vec<T> {
            all.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, one)| one.clone()).collect()
        }
        match self.clone() {
            AnswersJob::Modes(job) => {
                AnswersJob::Modes(ModesJob { messages: kept(&job.messages, gone), ..job })
            }
            AnswersJob::Messages(job) => {
                AnswersJob::Messages(MessagesJob { messages: kept(&job.messages, gone), ..job })
            }
            AnswersJob::Chain(job) => AnswersJob::Chain(ChainJob { starts: kept(&job.starts, gone), ..job }),
            AnswersJob::Large(job) => {
                AnswersJob::Large(LargeJob { lengths: kept(&job.lengths, gone), ..job })
            }
        }
    }
}
