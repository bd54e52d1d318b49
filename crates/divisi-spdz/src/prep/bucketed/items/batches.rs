//! Every batch of items is proven.

use super::*;
use crate::checks;
use crate::dealer::Dealer;
use crate::prep::bucketed::Bucketed;
use crate::source::Products as _;
use divisi_core::PublicParameters;
use divisi_core::testing::{failed_check, run};
use divisi_field::Gf48;

/// Items of which one product is wrong before it is proven: that of this batch and this piece, if there
/// is one.
struct Wrong<'s, F: Mac> {
    leaky: Leaky<'s, F>,
    proven: usize,
    at: Option<(usize, usize)>,
}

impl<'s, F: Mac> Batches<F> for Wrong<'s, F> {
    type Sent = (&'s Batch, Sent<F>);
    type Received = (&'s Batch, Received<F>);

    fn send(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        b: WideShares,
        v: MacShares,
    ) -> Result<Self::Sent, Abort> {
        self.leaky.send(rows, party, b, v)
    }

    fn receive(
        &mut self,
        rows: &mut Rows,
        party: &mut Party<F>,
        sent: Self::Sent,
    ) -> Result<Self::Received, Abort> {
        self.leaky.receive(rows, party, sent)
    }

    fn prove(&mut self, party: &mut Party<F>, (batch, mut received): Self::Received) -> Result<(), Abort> {
        if let Some((_, piece)) = self.at.filter(|(at, _)| *at == self.proven) {
            let lanes = received.items.lanes();
            received.items.z[piece].x[lanes - 1] += Word32(1);
        }
        self.proven += 1;
        self.leaky.prove(party, (batch, received))
    }
}

/// Which batches are those of first items.
const FIRSTS: [bool; 12] = [true, true, true, true, true, true, false, false, false, false, false, false];

/// \[K15\] All pieces of every batch are proven, of first items and of others, also in batches behind the
/// first one of their kind.
#[test]
fn every_piece_of_every_batch_is_proven() {
    let shape = Shape::new(3);
    let made = |at| {
        run(2, &PublicParameters::new("batches"), |session| {
            let config = divisi_ot::SetupConfig::default();
            let (mut party, mut source) = Bucketed::<Gf48>::start(session, config)?;
            let batches = FIRSTS.map(|first| Batch { lanes: 3, first, all: 18 });
            let counts = batches.iter().map(|batch| rows_of::<Gf48>(&shape, batch.lanes));
            let leaky = Leaky { shape: &shape, ahead: batches.iter(), made: Default::default() };
            let at = Option::filter(at, |_| party.me().index() == 1);
            source.rows.batches(&mut party, counts, &mut Wrong { leaky, proven: 0, at })?;
            party.check_here()
        })
    };
    assert!(made(None).iter().all(Result::is_ok));
    for at in (0..FIRSTS.len()).flat_map(|batch| (0..shape.pieces.len()).map(move |piece| (batch, piece))) {
        let ends = made(Some(at));
        assert!(ends.iter().all(Result::is_err), "{at:?}");
        assert!(ends.iter().any(|end| failed_check(end) == Some(checks::K4)), "{at:?}: {ends:?}");
    }
}

/// The last lane of the last piece of a long batch is proven, too.
#[test]
fn all_lanes_of_a_long_batch_are_proven() {
    const LANES: usize = (1 << 17) + 1;
    let ends = |lie: bool| {
        run(2, &PublicParameters::new("long batches"), |session| {
            let (mut party, mut dealer) = Dealer::<Gf48>::deal(session, 7)?;
            let zeros = || Auth::<Word32, Gf48>::zeros(LANES);
            let mut items = Items { z: vec![zeros(), zeros()], ..Items::default() };
            if lie && party.me().index() == 1 {
                items.z[1].x[LANES - 1] += Word32(1);
            }
            let mask = dealer.element_triples(&mut party, 1)?.b.clone();
            super::prove(&mut party, Received { items, mask })?;
            party.check()
        })
    };
    assert!(ends(false).iter().all(Result::is_ok));
    assert!(ends(true).iter().any(|end| failed_check(end) == Some(checks::K4)));
}
