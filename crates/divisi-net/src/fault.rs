//! What goes wrong between parties: who, where, what.

use crate::{PartyId, Step};
use std::fmt;
use std::time::Duration;

/// Why a link to a peer is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// The peer closed the link in an orderly way before it sent what was expected.
    Closed,
    /// The link broke: the peer died, its machine went away, or the network cut the line.
    Cut,
    /// What arrived is no frame of this protocol, or fails TLS's authentication.
    Garbage,
    /// The peer sent more than the memory set aside for it holds.
    Flooded,
    /// This party itself closed its mesh.
    Own,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "it closed the connection",
            Self::Cut => "the connection broke",
            Self::Garbage => "it sent data that are not a frame of this protocol",
            Self::Flooded => "it sent more than the memory set aside for it",
            Self::Own => "this party closed its mesh",
        })
    }
}

/// A failed send or receive. After any of them the session is over: call [`crate::Channel::poison`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing came within the time limit.
    Stalled {
        /// Who was expected to send.
        peer: PartyId,
        /// The step that was waited for.
        step: Step,
        /// How long this party waited.
        waited: Duration,
        /// Whom the peer says it waits for itself, and the hash of the step. A claim, no proof.
        claim: Option<(PartyId, u32)>,
    },
    /// The link to a peer is gone.
    Lost {
        /// Whose link.
        peer: PartyId,
        /// What this party was doing.
        step: Step,
        /// How it went.
        reason: Loss,
    },
    /// A message of a length other than the protocol's.
    Malformed {
        /// Who sent it.
        peer: PartyId,
        /// The step it belongs to.
        step: Step,
        /// The length by the protocol.
        want: usize,
        /// The length that came, or what had come when it was too much.
        got: usize,
    },
    /// A message of another step.
    WrongStep {
        /// Who sent it.
        peer: PartyId,
        /// The step expected.
        step: Step,
        /// The hash of the step that came.
        got: u32,
    },
    /// A peer ended the session.
    Aborted {
        /// Who said so.
        peer: PartyId,
        /// What this party was doing.
        step: Step,
    },
    /// A peer sent more than the memory set aside for it holds.
    Flooded {
        /// Who.
        peer: PartyId,
        /// What this party was doing.
        step: Step,
    },
    /// Another strand of this party ended the session.
    Poisoned {
        /// What this strand was doing.
        step: Step,
    },
    /// The calling code asked for what cannot be.
    Misuse {
        /// What it was doing.
        step: Step,
        /// What is wrong about it.
        what: &'static str,
    },
}

impl Fault {
    /// The peer that the fault names, if it is not of this party's own making.
    pub fn peer(&self) -> Option<PartyId> {
        match self {
            Self::Stalled { peer, .. }
            | Self::Lost { peer, .. }
            | Self::Malformed { peer, .. }
            | Self::WrongStep { peer, .. }
            | Self::Aborted { peer, .. }
            | Self::Flooded { peer, .. } => Some(*peer),
            Self::Poisoned { .. } | Self::Misuse { .. } => None,
        }
    }

    /// The step at which it happened.
    pub fn step(&self) -> Step {
        match self {
            Self::Stalled { step, .. }
            | Self::Lost { step, .. }
            | Self::Malformed { step, .. }
            | Self::WrongStep { step, .. }
            | Self::Aborted { step, .. }
            | Self::Flooded { step, .. }
            | Self::Poisoned { step }
            | Self::Misuse { step, .. } => *step,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled { peer, step, waited, claim } => {
                write!(f, "{peer} sent nothing for {step} within {:.1} s", waited.as_secs_f64())?;
                match claim {
                    Some((other, id)) => {
                        write!(f, " and says that it is waiting for {other} (step {id:08x})")
                    }
                    None => Ok(()),
                }
            }
            Self::Lost { peer, step, reason } => {
                write!(f, "the link to {peer} was lost at {step}: {reason}")
            }
            Self::Malformed { peer, step, want, got } => {
                write!(f, "{peer} sent {got} bytes for {step} where the protocol expects {want}")
            }
            Self::WrongStep { peer, step, got } => {
                write!(f, "{peer} sent step {got:08x} where {step} ({:08x}) was expected", step.id)
            }
            Self::Aborted { peer, step } => {
                write!(f, "{peer} ended the session while this party was at {step}")
            }
            Self::Flooded { peer, step } => {
                write!(f, "{peer} sent more than the memory set aside for it while this party was at {step}")
            }
            Self::Poisoned { step } => write!(f, "another strand of this party ended the session at {step}"),
            Self::Misuse { step, what } => write!(f, "wrong use of a channel at {step}: {what}"),
        }
    }
}

impl std::error::Error for Fault {}
