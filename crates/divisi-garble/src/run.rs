//! The instances of one run side by side: each has its evaluator, its masks, and our labels or values.

use crate::batch::Batch;
use crate::checks;
use crate::evaluate::Received;
use crate::hash::{Call, Name, Named, Oracle};
use crate::labels::{Labels, Values, random_words};
use crate::masks::{Garbling, Masks, products};
use crate::open::Opening;
use crate::options::GarbleOptions;
use crate::share::{Holder, Seats, Shares};
use crate::table::Layout;
use crate::triples::Triples;
use divisi_core::{Abort, PartyId, Prg, Session, Step, step};
use divisi_ot::{Delta, Setup};
use zeroize::Zeroizing;

const D: Step = step!("4a.d");
const TABLE: Step = step!("4d.table");

/// What the instances of a run have in common.
pub(crate) struct Run<'a> {
    pub seats: Seats,
    pub layout: Layout,
    pub delta: &'a Delta,
    pub oracle: &'a Oracle,
}

/// One instance: who evaluates it, and the shares of the masks of its wires.
pub(crate) struct Instance {
    /// The index of its evaluator.
    pub evaluator: usize,
    pub masks: Masks,
    /// The session-wide number of the instance's next AND.
    pub gate: u64,
}

impl<'a> Run<'a> {
    /// The run of a party with this set-up and these options.
    pub fn of(setup: &'a Setup, oracle: &'a Oracle, options: GarbleOptions, seats: Seats) -> Run<'a> {
        let layout = Layout::new(options.form, seats.n, setup.config().rho as usize);
        Run { seats, layout, delta: setup.delta(), oracle }
    }

    /// Step 4(a) for a batch of all instances \[W27\]: all parties open d = x + lambda_alpha and e = y +
    /// lambda_beta with MACs, before any table is sent. The same messages open `beside`, whose shares go to
    /// one party each ([`Private`]). One round.
    pub fn multiply(
        &self,
        session: &mut Session,
        instances: &mut [Instance],
        batch: &Batch,
        triples: Triples,
        fresh: &Shares,
        beside: &Private,
        binding: &[u8; 32],
    ) -> Result<(Vec<Garbling>, Zeroizing<Vec<u8>>), Abort> {
        #[cfg(feature = "testing")]
        divisi_ot::record::note(|records| {
            let all = [&triples.x, &triples.y].into_iter().flat_map(|part| &part.keys);
            all.for_each(|keys| records.triples.extend(&**keys));
        });
        // x and y become d and e, instance after instance
        let Triples { x: mut d, y: mut e, z } = triples;
        let mut parts = Vec::with_capacity(instances.len());
        let range = |i: usize| i * batch.ands..(i + 1) * batch.ands;
        for (i, instance) in instances.iter_mut().enumerate() {
            let (first, holder) = (range(i).start, Holder::of(self.seats, instance.evaluator));
            let operands =
                instance.masks.propagate(self.seats, batch, fresh, first, holder, self.delta.get());
            d.add_rows(first, &operands.alpha);
            e.add_rows(first, &operands.beta);
            parts.push((operands, holder));
        }
        let (opened, told) = beside.open(session, self.seats, D, &[&d, &e], self.delta.get(), binding)?;
        drop((d, e));
        let (of_d, of_e) = opened.split_at(opened.len() / 2);
        let mut made = Vec::with_capacity(parts.len());
        for (i, (operands, holder)) in parts.into_iter().enumerate() {
            let (d, e) = (&of_d[range(i)], &of_e[range(i)]);
            let sigma = products(&operands, &z, fresh, range(i).start, d, e, holder, self.delta.get());
            made.push(Garbling { operands, sigma });
        }
        Ok((made, told))
    }

    /// Step 4(d) for the instances that others evaluate: sends each table to its evaluator.
    pub fn send_tables(
        &self,
        session: &mut Session,
        instances: &mut [Instance],
        labels: &mut [Option<Labels>],
        batch: &Batch,
        garblings: &[Garbling],
        fresh: &mut Prg,
    ) -> Result<(), Abort> {
        let me = session.me();
        let parties: Vec<PartyId> = PartyId::all(self.seats.n).collect();
        for ((instance, labels), garbling) in instances.iter_mut().zip(labels).zip(garblings) {
            if let Some(labels) = labels {
                let to = parties[instance.evaluator];
                session.observe(checks::W19); // [W19]
                let calls = self.calls(session, me, to, instance.gate);
                let place = self.seats.place(instance.evaluator);
                let product = garbling.product();
                let table = labels.garble(self.layout, self.delta, place, calls, fresh, batch, product);
                session.send(TABLE, to, &table, 8 * table.len() as u64)?;
            }
        }
        Ok(())
    }

    /// Receives the tables of one instance that we evaluate, one from each garbler.
    pub fn receive_tables(&self, session: &mut Session, ands: usize) -> Result<Vec<Vec<u8>>, Abort> {
        let mut tables = Vec::with_capacity(self.seats.peers());
        for peer in session.peers() {
            let mut table = vec![0; self.layout.table(ands)];
            session.recv(TABLE, peer, &mut table)?;
            tables.push(table);
        }
        Ok(tables)
    }

    /// Step 7 for a batch of one instance, on its tables.
    pub fn evaluate(
        &self,
        session: &Session,
        gate: u64,
        values: &mut Values,
        batch: &Batch,
        garbling: &mut Garbling,
        tables: &[Vec<u8>],
    ) {
        let to = session.me();
        let peers = session.peers();
        let calls = peers.into_iter().map(|from| self.calls(session, from, to, gate)).collect();
        // a garbler numbers its peers without itself: if it comes before us, our place at it is our index
        // less one
        let place = |garbler: usize| self.seats.me - usize::from(self.seats.party(garbler) < self.seats.me);
        let received: Vec<Received<'_>> = tables
            .iter()
            .enumerate()
            .map(|(garbler, body)| Received::new(self.layout, place(garbler), batch.ands, body))
            .collect();
        values.evaluate(self.layout, self.delta, calls, batch, garbling, &received);
    }

    /// The hashes of a garbler's labels for one evaluator, from gate number `gate` on.
    fn calls(&self, session: &Session, from: PartyId, to: PartyId, gate: u64) -> Named<'a> {
        let name = Name { call: Call::Rows, from, to, gate };
        self.oracle.named(session, name, self.layout.targets())
    }
}

/// Random labels for zero of `wires` input wires.
#[cfg_attr(feature = "testing", track_caller)]
pub(crate) fn random_labels(fresh: &mut Prg, wires: usize) -> Zeroizing<Vec<u128>> {
    let mut labels = Zeroizing::new(vec![0; wires]);
    random_words(fresh, &mut labels);
    labels
}

/// Shares that are opened to one party each: those that we send to each peer, by place, and those that are
/// opened to us.
pub(crate) struct Private {
    pub theirs: Vec<Shares>,
    pub ours: Shares,
}

impl Private {
    /// No shares for anybody.
    pub fn none(seats: Seats) -> Private {
        let empty = || Shares::zero(seats.peers(), 0);
        Private { theirs: (0..seats.peers()).map(|_| empty()).collect(), ours: empty() }
    }

    /// Opens `lists` to all parties \[W27\], and these shares to one party each \[W20\]. Each message begins
    /// with the digest `binding`, which must be the same at all parties \[W26\]. Returns the opened values:
    /// of the lists, and of the shares that are opened to us. One round.
    pub fn open(
        &self,
        session: &mut Session,
        seats: Seats,
        step: Step,
        lists: &[&Shares],
        delta: u128,
        binding: &[u8; 32],
    ) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), Abort> {
        let opening = Opening::new(session, seats, step);
        let bits: usize = lists.iter().map(|list| list.len()).sum();
        for (place, peer) in session.peers().into_iter().enumerate() {
            let theirs = &self.theirs[place];
            let mut body = binding.to_vec();
            opening.append(session, place, lists, &mut body);
            opening.append(session, place, &[theirs], &mut body);
            session.send(step, peer, &body, (bits + theirs.len()) as u64)?;
        }
        let own = |lists: &[&Shares]| -> Vec<u8> {
            lists.iter().flat_map(|list| list.bits.iter().copied()).collect()
        };
        let (mut sum, mut ours) = (own(lists), Zeroizing::new(own(&[&self.ours])));
        let (first, second) = (Opening::len(bits), Opening::len(self.ours.len()));
        let mut body = vec![0; binding.len() + first + second];
        for (place, peer) in session.peers().into_iter().enumerate() {
            session.recv(step, peer, &mut body)?;
            let (theirs, rest) = body.split_at(binding.len());
            let mut digest = [0; 32];
            digest.copy_from_slice(theirs);
            let same = session.same_digest(binding, &digest);
            session.require(checks::W26, step, same, None)?; // [W26]
            let (of_lists, of_ours) = rest.split_at(first);
            let told = opening.read(session, checks::W27, place, lists, delta, of_lists)?; // [W27]
            sum.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
            let told = opening.read(session, checks::W20, place, &[&self.ours], delta, of_ours)?; // [W20]
            ours.iter_mut().zip(told).for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok((sum, ours))
    }
}
