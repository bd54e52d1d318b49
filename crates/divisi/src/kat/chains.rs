//! Monte Carlo tests of SHA-3 (ACVP SHA3, 6.2): digests of digests, a thousand at a time, each thousand beginning where the one before
//! ended. All ends stand in the file, so that the thousands run side by side, a lane each; nothing in between is opened.
//!
//! Those of SHA-2, with its some thousand rounds for each digest, and of SHAKE, whose lengths depend on what came before, are not run.

use super::Engine;
use super::Options;
use super::lab::{split, three};
use crate::failure::Failure;
use divisi_core::{Abort, Bytes, Plain, settle};
use divisi_rep3::deal::Part;
use divisi_rep3::{Byte, Rep3};
use divisi_symmetric::algorithm::Settings;
use divisi_symmetric::batch::{Engine as Whole, Function, Messages, SecretByte, bits, byte_values};

/// How many digests follow one another from a start to its end.
const STEPS: usize = 1000;

/// A Monte Carlo test.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its number in the file.
    pub id: u64,
    /// The hash.
    pub settings: Settings,
    /// Where each thousand begins.
    pub starts: Vec<Vec<u8>>,
    /// Where it ends.
    pub ends: Vec<Vec<u8>>,
}

impl Chain {
    /// Of the first message and all ends; none if there is no end, or one of another length than a digest.
    pub(super) fn new(id: u64, settings: Settings, seed: Vec<u8>, ends: Vec<Vec<u8>>) -> Option<Chain> {
        let fits = ends.iter().all(|end| end.len() == settings.output_bytes);
        let starts: Vec<Vec<u8>> =
            [seed].into_iter().chain(ends.iter().rev().skip(1).rev().cloned()).collect();
        (fits && !ends.is_empty()).then_some(Chain { id, settings, starts, ends })
    }

    fn columns(&self) -> Vec<Vec<u8>> {
        let longest = self.starts.iter().map(Vec::len).max().unwrap_or(0);
        let byte = |j: usize| self.starts.iter().map(|start| start.get(j).copied().unwrap_or(0)).collect();
        (0..longest).map(byte).collect()
    }

    /// The digests at the end, a lane each.
    fn run<E: Whole>(&self, e: &mut E, starts: Vec<E::Byte>) -> Result<Vec<SecretByte<E>>, Abort> {
        let lanes = self.starts.len();
        let function = Function::prepare(e, &self.settings, &[])?;
        let nonces = vec![[0; 12]; lanes];
        let lengths = self.starts.iter().map(Vec::len).collect();
        let mut message = if starts.is_empty() {
            Messages::public(e, &vec![&[][..]; lanes])
        } else {
            Messages::new(bits(e, starts)?, lengths)?
        };
        for _ in 1..STEPS {
            let digest = function.output(e, &message, &nonces)?;
            message = Messages::even(digest, lanes)?;
        }
        function.output(e, &message, &nonces)
    }

    fn is_right(&self, columns: &[Vec<u8>]) -> bool {
        columns.len() == self.settings.output_bytes
            && self.ends.iter().enumerate().all(|(lane, end)| {
                columns.iter().zip(end).all(|(column, byte)| column.get(lane) == Some(byte))
            })
    }
}

/// Whether all ends are right, and how many values were opened.
pub(super) fn run(chain: &Chain, options: &Options) -> Result<(bool, u64), Failure> {
    if options.engine == Engine::Plain {
        let e = &mut Plain;
        let starts = chain.columns().iter().map(|column| e.public(column)).collect();
        let ends = chain.run(e, starts)?;
        let ends: Vec<Vec<u8>> = byte_values(e, ends)?.iter().map(|byte| byte.values().to_vec()).collect();
        return Ok((chain.is_right(&ends), 0));
    }
    let mut shares: [Vec<Part>; 3] = Default::default();
    for column in chain.columns() {
        shares.iter_mut().zip(split(&column)).for_each(|(share, part)| share.push(part));
    }
    three(options, shares, |rep, starts| Ok(chain.is_right(&party(rep, chain, &starts)?)))
}

fn party(rep: &mut Rep3, chain: &Chain, starts: &[Part]) -> Result<Vec<Vec<u8>>, Abort> {
    let starts = starts.iter().map(|part| rep.trio().input(part)).collect::<Result<Vec<Byte>, _>>()?;
    let ends = chain.run(rep, starts)?;
    let ends = byte_values(rep, ends)?;
    let pending = rep.close(ends);
    let verified = settle(rep, pending)?;
    rep.trio().open(&verified)
}
