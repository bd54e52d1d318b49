//! What a corrupt party of a test adds to its shares, and the state that it keeps for this.

use crate::coin::Coin;
use crate::lies::GarbledDeviation;
use crate::tile::Tile;
use crate::wire::{self, Shape};
use divisi_core::Step;
use divisi_field::Plane;
use std::ops::Range;

/// What a corrupt party does at a Reshare.
pub trait Deviate: Send {
    /// Change the share that the party is about to keep and to send at this step. Its length must stay the
    /// same.
    fn reshare(&mut self, step: Step, share: &mut [u8]);

    /// A coin was opened.
    fn coin(&mut self, _coin: [u8; 16]) {}
}

impl<F: FnMut(Step, &mut [u8]) + Send> Deviate for F {
    fn reshare(&mut self, step: Step, share: &mut [u8]) {
        self(step, share);
    }
}

/// What a party keeps of its deviation.
#[derive(Default)]
pub(crate) struct Deviation {
    pub(crate) deviate: Option<Box<dyn Deviate>>,
    /// What it does in calls in constant rounds.
    pub(crate) garbled: GarbledDeviation,
    /// The only coin that the mutant of A8 tosses, once it has been tossed.
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
        // a share that is no valid encoding is sent as it is; the planes keep what was read of it
        let _ = wire::read_planes(share, shape, own);
    }

    /// A share that is kept as it is sent.
    pub(crate) fn reshare_bytes(&mut self, step: Step, share: &mut [u8]) {
        if let Some(deviate) = &mut self.deviate {
            deviate.reshare(step, share);
        }
    }
}
