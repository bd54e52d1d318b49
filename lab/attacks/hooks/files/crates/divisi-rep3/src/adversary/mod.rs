//! A corrupt party of a test.
//!
//! A blind change of a message ([`divisi_net::tamper`]) leaves its sender out of step with its own lie, and
//! the next opening gives it away. The adversary of MAESTRO's functionalities is stronger: F_weakMult lets it
//! choose an additive error of each product (Figure 2) and continue consistently. [`Deviate`] is that
//! adversary: it sees every coin, and adds what it likes to its share before that is kept and sent.
//! Everything else its party does honestly.

#[cfg(feature = "testing")]
pub mod adaptive;
#[cfg(feature = "testing")]
pub mod blackbox;
#[cfg(feature = "testing")]
pub mod compare;
#[cfg(feature = "testing")]
pub mod harness;
#[cfg(feature = "testing")]
pub mod lookups;
pub mod planes;

use crate::trio::Trio;
use divisi_core::Step;

pub use crate::deviation::Deviate;
pub use crate::garbled::stolen::StolenCall;
#[cfg(feature = "testing")]
pub use crate::lies::Planted;
pub use crate::lies::{Lie, Weakness};

impl Trio {
    /// From now on this party is corrupt.
    pub fn deviate(&mut self, how: impl Deviate + 'static) {
        self.deviation.deviate = Some(Box::new(how));
    }

    /// The same: it changes its `nth` share of a step, from 0 on, and keeps to it.
    pub fn lie_at(
        &mut self,
        step: &'static str,
        nth: usize,
        mut lie: impl FnMut(&mut [u8]) + Send + 'static,
    ) {
        let mut count = 0;
        self.deviate(move |at: Step, share: &mut [u8]| {
            if at.name == step {
                if count == nth {
                    lie(share);
                }
                count += 1;
            }
        });
    }
}
