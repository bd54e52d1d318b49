//! Faults between parties: the peer, the step, the reason.

use crate::{PartyId, Step};
use std::fmt;
use std::time::Duration;

/// Why a link to a peer is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// The peer closed the link in an orderly way before it sent what was expected.
    Closed,
    /// The link broke: the peer died, its machine went away, or the network cut the connection.
    Cut,
    /// The received bytes are not a frame of this protocol, or fail the authentication of TLS.
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
        /// The party that was expected to send.
        peer: PartyId,
        /// The step of the expected message.
        step: Step,
        /// How long this party waited.
        waited: Duration,
        /// The party that the peer claims to wait for, directly or by way of others that were asked in turn,
        /// and the hash of the step. A claim is no proof.
        claim: Option<(PartyId, u32)>,
    },
    /// The link to a peer is gone.
    Lost {
        /// The peer of the link.
        peer: PartyId,
        /// The step of this party.
        step: Step,
        /// The reason of the loss.
        reason: Loss,
    },
    /// A message of a length other than the protocol's.
    Malformed {
        /// The sender.
        peer: PartyId,
        /// The step it belongs to.
        step: Step,
        /// The length that the protocol expects, in bytes.
        want: usize,
        /// The actual length in bytes, or as much as had arrived when it was too much.
        got: usize,
    },
    /// A message of another step.
    WrongStep {
        /// The sender.
        peer: PartyId,
        /// The step expected.
        step: Step,
        /// The hash of the step that came.
        got: u32,
    },
    /// A peer ended the session.
    Aborted {
        /// The peer that ended it.
        peer: PartyId,
        /// The step of this party.
        step: Step,
        /// The party that the peer claims to have ended it for: because it waited for it in vain, or lost the
        /// link to it. A claim is no proof.
        blames: Option<PartyId>,
    },
    /// A peer sent more than the memory set aside for it holds.
    Flooded {
        /// The peer.
        peer: PartyId,
        /// The step of this party.
        step: Step,
    },
    /// Another strand of this party ended the session.
    Poisoned {
        /// The step of this strand.
        step: Step,
    },
    /// The calling code asked for something impossible.
    Misuse {
        /// The step of the call.
        step: Step,
        /// What is wrong about it.
        what: &'static str,
    },
}

impl Fault {
    /// The peer at fault, unless the fault is this party's own.
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

    /// The party to which the fault goes back: the peer, or the party for which the peer claims to wait or to
    /// have ended the session, so that all parties name the one that stalled. A claim is no proof.
    pub fn blames(&self) -> Option<PartyId> {
        match self {
            Self::Stalled { claim: Some((party, _)), .. } => Some(*party),
            Self::Aborted { blames: Some(party), .. } => Some(*party),
            _ => self.peer(),
        }
    }

    /// Whether another session may succeed: a peer was late, is gone, or ended this one. One that sent
    /// something else than the protocol has will do so again.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Stalled { .. } | Self::Aborted { .. } | Self::Poisoned { .. } => true,
            Self::Lost { reason, .. } => matches!(reason, Loss::Closed | Loss::Cut | Loss::Own),
            Self::Malformed { .. } | Self::WrongStep { .. } | Self::Flooded { .. } | Self::Misuse { .. } => {
                false
            }
        }
    }

    /// The party that peers are told when this fault ends a session: one that stalled or is gone.
    pub(crate) fn passes_on(&self) -> Option<PartyId> {
        let gone = !matches!(self, Self::Lost { reason: Loss::Own, .. });
        let told =
            matches!(self, Self::Stalled { .. } | Self::Lost { .. } | Self::Aborted { blames: Some(_), .. });
        self.blames().filter(|_| told && gone)
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
            Self::Aborted { peer, step, blames } => {
                write!(f, "{peer} ended the session while this party was at {step}")?;
                match blames {
                    Some(other) => write!(f, ", and says that {other} is the reason"),
                    None => Ok(()),
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Step = Step::new("divisi_net::fault::tests/step");

    /// Peers are told of a party that stalled or is gone, and of no other one; what may succeed in another
    /// session is what no party did by another protocol.
    #[test]
    fn who_is_named_and_what_may_pass() {
        let (peer, other, step) = (PartyId::P2, PartyId::P3, STEP);
        let lost = |reason| Fault::Lost { peer, step, reason };
        let stalled = |claim| Fault::Stalled { peer, step, waited: Duration::ZERO, claim };
        for (fault, passes_on, may_pass) in [
            (stalled(None), Some(peer), true),
            (stalled(Some((other, 5))), Some(other), true),
            (lost(Loss::Cut), Some(peer), true),
            (lost(Loss::Closed), Some(peer), true),
            (lost(Loss::Garbage), Some(peer), false),
            (lost(Loss::Own), None, true),
            (Fault::Aborted { peer, step, blames: None }, None, true),
            (Fault::Aborted { peer, step, blames: Some(other) }, Some(other), true),
            (Fault::Malformed { peer, step, want: 1, got: 2 }, None, false),
            (Fault::WrongStep { peer, step, got: 1 }, None, false),
            (Fault::Flooded { peer, step }, None, false),
            (Fault::Poisoned { step }, None, true),
            (Fault::Misuse { step, what: "" }, None, false),
        ] {
            assert_eq!((fault.passes_on(), fault.may_pass()), (passes_on, may_pass), "{fault}");
        }
    }
}
