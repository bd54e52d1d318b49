//! A corrupt party of a test (feature `fault`; never part of a build that holds real secrets).
//!
//! A blind change of a message ([`divisi_net::tamper`]) leaves its sender out of step with its own lie, and the next opening
//! gives it away. The adversary of MAESTRO's functionalities is stronger: F_weakMult lets it choose an additive error of each
//! product (Figure 2) and go on consistently. [`Deviate`] is that adversary: it sees every coin, and adds what it likes to its
//! share before that is kept and sent. Everything else its party does honestly.

#[cfg(feature = "testing")]
pub mod adaptive;
#[cfg(feature = "testing")]
pub mod blackbox;
#[cfg(feature = "testing")]
pub mod compare;
#[cfg(feature = "testing")]
pub mod lookups;
pub mod planes;
#[cfg(feature = "testing")]
pub mod stage;

use crate::Trio;
use crate::random::Coin;
use crate::share::Tile;
use crate::wire::{self, Shape};
use divisi_core::Step;
use divisi_field::Plane;
use std::ops::Range;

/// What a corrupt party does at a Reshare.
pub trait Deviate: Send {
    /// Its share is about to be kept and sent at this step: change it. The length stays.
    fn reshare(&mut self, step: Step, share: &mut [u8]);

    /// A coin was opened.
    fn coin(&mut self, _coin: [u8; 16]) {}
}

impl<F: FnMut(Step, &mut [u8]) + Send> Deviate for F {
    fn reshare(&mut self, step: Step, share: &mut [u8]) {
        self(step, share);
    }
}

/// What a party keeps of it.
#[derive(Default)]
pub(crate) struct Deviation {
    deviate: Option<Box<dyn Deviate>>,
    /// The mutant of A8's only coin.
    pub(crate) reused: Option<Coin>,
}

impl Deviation {
    pub(crate) fn saw_coin(&mut self, coin: [u8; 16]) {
        if let Some(deviate) = &mut self.deviate {
            deviate.coin(coin);
        }
    }

    pub(crate) fn reshare_planes<const K: usize>(
        &mut self,
        step: Step,
        share: &mut [u8],
        shape: &Shape,
        z: &mut [[Plane; K]],
    ) {
        let Some(deviate) = &mut self.deviate else { return };
        deviate.reshare(step, share);
        let mut changed = Vec::new();
        if wire::read(share, shape, &mut changed).is_some() {
            z.copy_from_slice(&changed);
        }
    }

    pub(crate) fn reshare_within<const K: usize>(
        &mut self,
        step: Step,
        share: &mut [u8],
        shape: &Shape,
        planes: Range<usize>,
        records: &mut [Tile<K>],
    ) {
        let Some(deviate) = &mut self.deviate else { return };
        deviate.reshare(step, share);
        let own = records.iter_mut().map(|tile| &mut tile[0][planes.clone()]);
        // what is no encoding is sent as it is, and kept as far as it was read
        let _ = wire::read_planes(share, shape, own);
    }

    /// A share that is kept as it is sent.
    pub(crate) fn reshare_bytes(&mut self, step: Step, share: &mut [u8]) {
        if let Some(deviate) = &mut self.deviate {
            deviate.reshare(step, share);
        }
    }
}

impl Trio {
    /// From now on this party is corrupt.
    pub fn deviate(&mut self, how: impl Deviate + 'static) {
        self.deviation.deviate = Some(Box::new(how));
    }
}
