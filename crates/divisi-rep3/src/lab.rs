//! Three parties in one process, for tests: inputs and outputs in the clear, and the counted costs.

pub use crate::local::{deal_all, run, run_over};

use crate::deal;
use crate::share::Byte;
use crate::{Protocol, Rep3, Security, Trio};
use divisi_core::testing::{Lab, OpenedOutputs, Outputs};
use divisi_core::{Abort, Convert, Counts, Lanes, Misuse, PartyId, Settles, settle};

/// A computation of one party on its inputs.
pub type Computation<'a> = dyn Fn(&mut Rep3, Vec<Byte>) -> Result<Outputs<Rep3>, Abort> + Sync + 'a;

/// An engine among three threads over links in memory.
#[derive(Clone, Copy, Debug)]
pub struct Rep3Lab {
    /// How S-boxes are computed.
    pub protocol: Protocol,
    /// The adversary against which it is secure.
    pub security: Security,
}

impl Rep3Lab {
    /// Like [`Lab::run`], with the counts of the first party's meter.
    ///
    /// # Errors
    /// The most informative abort among the parties', or [`Abort::Misuse`] if they opened different values.
    pub fn metered(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Rep3, Vec<Byte>) -> Result<Outputs<Rep3>, Abort> + Sync,
    ) -> Result<(OpenedOutputs, Counts), Abort> {
        self.computed(inputs, &f)
    }

    fn computed(&self, inputs: &[Vec<u8>], f: &Computation<'_>) -> Result<(OpenedOutputs, Counts), Abort> {
        let parts = deal_all(inputs);
        let mut results = run(|trio| self.party(trio, &parts, f))?;
        let first = results.swap_remove(0);
        if results.iter().any(|(opened, _)| *opened != first.0) {
            return Err(Abort::Misuse { step: divisi_core::step!("lab"), what: Misuse::NoResult });
        }
        Ok(first)
    }

    /// The computation of one party.
    ///
    /// # Errors
    /// The abort of the session.
    pub fn party(
        &self,
        mut trio: Trio,
        parts: &[Vec<deal::Part>; 3],
        f: &Computation<'_>,
    ) -> Result<(OpenedOutputs, Counts), Abort> {
        let mine = &parts[trio.me().index()];
        let inputs = mine.iter().map(|part| trio.input(part)).collect::<Result<Vec<_>, _>>()?;
        let mut rep = Rep3::new(trio, self.protocol, self.security);
        rep.trio().session().phase("online");
        let out = f(&mut rep, inputs)?;
        let mut bytes = out.bytes;
        let plain = bytes.len();
        let mut blocks = Vec::new();
        for block in out.blocks {
            blocks.push(block.lanes());
            let as_bytes: [Byte; 16] = rep.convert(block)?;
            bytes.extend(as_bytes);
        }
        let pending = rep.closed(bytes)?;
        rep.trio().session().phase("verification");
        let verified = settle(&mut rep, pending)?;
        let mut values = rep.trio().open(&verified)?;
        let columns = values.split_off(plain);
        let blocks = blocks
            .iter()
            .zip(columns.chunks(16))
            .map(|(lanes, columns)| (0..*lanes).map(|l| std::array::from_fn(|i| columns[i][l])).collect())
            .collect();
        let counts = rep.trio().session().meter().read();
        Ok((OpenedOutputs { bytes: values, blocks }, counts))
    }
}

impl Lab for Rep3Lab {
    type Engine = Rep3;

    fn run(
        &self,
        inputs: &[Vec<u8>],
        f: impl Fn(&mut Rep3, Vec<Byte>) -> Result<Outputs<Rep3>, Abort> + Sync,
    ) -> Result<OpenedOutputs, Abort> {
        self.metered(inputs, f).map(|(opened, _)| opened)
    }
}

/// The parties, for loops over who is corrupt.
pub fn parties() -> impl Iterator<Item = PartyId> {
    PartyId::all(3)
}
