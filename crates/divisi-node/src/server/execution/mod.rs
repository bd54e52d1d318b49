//! What the three servers compute together.
//!
//! What a request goes through here: steps on which all three agreed. Short messages of all clients whose
//! keys have one size and whose S-boxes are computed in one way are one computation ([`short`]). Any other
//! step is done by itself ([`step`]); what a request holds between two of its steps stays here, until the
//! request ends ([`progress`]): long messages with GCM ([`gcm`]), hashes and MACs ([`digest`]), the other
//! modes ([`modes`]), stored keys ([`keys`], [`clients`]). Keys that were prepared in a session stay ready
//! for further requests ([`ready`]). What it hands on: values with the verification that they owe, to the
//! release of answers; and to the schedule, how the step ended and how long it took.
//!
//! Orders of the operators are carried out here, too ([`orders`]).

mod clients;
mod digest;
mod gcm;
mod iv;
mod keys;
mod modes;
mod orders;
mod progress;
mod ready;
mod short;
mod step;

pub(crate) use clients::resume;
pub(crate) use orders::run as run_order;
pub(crate) use progress::{InProgress, forget_ended, run_step};
pub(crate) use ready::Ready;
#[cfg(test)]
pub(crate) use ready::ReadyKey;
pub(crate) use short::run as run_short;
pub(crate) use step::{StepRun, ended};
