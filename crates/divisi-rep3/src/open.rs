//! Openings of replicated sharings (MAESTRO section 2.4, "Opening Replicated Shares").
//!
//! Adversary: one malicious party. Party i misses one component, i-1, which both others hold: the previous
//! sends it, the next sends a digest of it, and they must agree \[A1\]. An opening thus yields the right
//! value or an abort. What is opened enters the view \[A2\].
//!
//! Only a [`Verified`] value can be opened: a value that depends on unverified products cannot leave \[M0.7,
//! A13\].

use crate::checks;
use crate::share::{Byte, Rep};
use crate::trio::Trio;
use crate::wire;
use divisi_core::{Abort, ComparedDigest, Misuse, Step, Verified, step, taint};
use divisi_field::Field;
use zeroize::{Zeroize, Zeroizing};

const BYTES: Step = step!("open.bytes");
const DIGEST: Step = step!("open.digest");

/// One party's message in an opening to a client: its first component, and a digest of its second, so that
/// the client has each component from one holder and its digest from the other.
#[derive(Clone)]
pub struct Answer {
    /// The party's first component.
    pub component: Vec<u8>,
    /// The digest of the party's second component.
    pub digest: [u8; 32],
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.component.zeroize();
    }
}

/// The digest of a component, bound to the context of the answer.
#[must_use]
pub fn component_digest(context: &[u8], component: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 rep3 component v1");
    hasher.update(&(context.len() as u64).to_le_bytes()).update(context).update(component);
    hasher.to_compare()
}

impl Trio {
    /// Open bytes to all three parties: for each value a vector with one byte a lane. One round.
    ///
    /// # Errors
    /// [`Abort::CheckFailed`] with A1 if the holders of a component disagree.
    pub fn open(&mut self, x: &Verified<Vec<Byte>>) -> Result<Vec<Vec<u8>>, Abort> {
        self.demand_compared(BYTES)?;
        self.demand_settled(BYTES, x.get().iter().map(|byte| byte.origin))?;
        let [mut sum, second] = components(x.get())?;
        let missing = self.missing_component(BYTES, &sum, &second, sum.len() as u64 * 8)?;
        for ((x, y), z) in sum.iter_mut().zip(second.iter()).zip(missing.iter()) {
            *x ^= y ^ z;
        }
        taint::public(BYTES, &mut sum);
        self.note("open", &sum);
        self.session.meter().opened(sum.len() as u64);
        let mut rest = sum.as_slice();
        let mut values = Vec::with_capacity(x.get().len());
        for byte in x.get() {
            let (now, later) = rest.split_at(byte.lanes);
            values.push(now.to_vec());
            rest = later;
        }
        Ok(values)
    }

    /// Open values to a client: this party's message, value after value.
    ///
    /// # Errors
    /// [`Abort::Misuse`] if an opening has not been compared by a barrier, or a value is not settled.
    pub fn answer(&mut self, context: &[u8], x: &Verified<Vec<Byte>>) -> Result<Answer, Abort> {
        self.demand_settled(BYTES, x.get().iter().map(|byte| byte.origin))?;
        let components = components(x.get())?;
        self.answer_components(context, components)
    }

    /// Open `bytes` bytes to a client: the answer that this party sends it. Byte `j` is lane `j / n` of value
    /// `j mod n`, of `n` values.
    ///
    /// # Errors
    /// The errors of [`Trio::answer`].
    pub fn answer_message(
        &mut self,
        context: &[u8],
        columns: &Verified<Vec<Byte>>,
        bytes: usize,
    ) -> Result<Answer, Abort> {
        let columns = columns.get();
        self.demand_settled(BYTES, columns.iter().map(|byte| byte.origin))?;
        let n = columns.len().max(1);
        let mut interleaved = [0, 1].map(|_| Zeroizing::new(vec![0; bytes]));
        for (c, message) in interleaved.iter_mut().enumerate() {
            for (i, column) in columns.iter().enumerate() {
                let mut values = Zeroizing::new(Vec::with_capacity(column.lanes));
                column.component(c, &mut values)?;
                message.iter_mut().skip(i).step_by(n).zip(values.iter()).for_each(|(to, x)| *to = *x);
            }
        }
        self.answer_components(context, interleaved)
    }

    fn answer_components(
        &mut self,
        context: &[u8],
        [mut component, second]: [Zeroizing<Vec<u8>>; 2],
    ) -> Result<Answer, Abort> {
        self.demand_compared(BYTES)?;
        self.session.meter().opened(component.len() as u64);
        Ok(Answer { digest: component_digest(context, &second), component: std::mem::take(&mut *component) })
    }

    /// Reconst of field elements inside a verification, compared at once. The values are masked, by a fresh
    /// random value or because they are public in a verification that goes well.
    pub(crate) fn reconst<F: Field>(&mut self, step: Step, x: &Rep<F>) -> Result<Vec<F>, Abort> {
        let [first, second] = [&x.a, &x.b].map(|side| Zeroizing::new(wire::write_elements(side)));
        let missing = self.missing_component(step, &first, &second, (x.len() * F::BITS) as u64)?;
        let Some(missing) = wire::read_elements::<F>(&missing, x.len()).map(Zeroizing::new) else {
            return Err(self.session.misuse(step, Misuse::OutOfRange));
        };
        let mut value: Vec<F> = (0..x.len()).map(|i| x.a[i] + x.b[i] + missing[i]).collect();
        taint::public(step, &mut value);
        self.note("reconst", &wire::write_elements(&value));
        Ok(value)
    }

    /// Send our first component to the next and a digest of our second to the previous; receive the component
    /// we miss from the previous, and its digest from the next.
    fn missing_component(
        &mut self,
        step: Step,
        first: &[u8],
        second: &[u8],
        bits: u64,
    ) -> Result<Zeroizing<Vec<u8>>, Abort> {
        let id = self.session.id();
        let digest = |component: &[u8]| component_digest(id.as_bytes(), component);
        self.session.send(step, self.next, first, bits)?;
        self.session.send(DIGEST, self.prev, &digest(second), 0)?;
        let mut missing = Zeroizing::new(vec![0; first.len()]);
        self.session.recv(step, self.prev, &mut missing)?;
        let mut theirs = [0; 32];
        self.session.recv(DIGEST, self.next, &mut theirs)?;
        let same = self.session.same_digest(&digest(&missing), &theirs);
        self.session.require(checks::A1, step, same, None)?; // [A1]
        Ok(missing)
    }
}

/// Our two components of all values, one after the other.
fn components(x: &[Byte]) -> Result<[Zeroizing<Vec<u8>>; 2], Abort> {
    let lanes = x.iter().map(|byte| byte.lanes).sum();
    let mut out = [0, 1].map(|_| Zeroizing::new(Vec::with_capacity(lanes)));
    for (c, out) in out.iter_mut().enumerate() {
        x.iter().try_for_each(|byte| byte.component(c, out))?;
    }
    Ok(out)
}
