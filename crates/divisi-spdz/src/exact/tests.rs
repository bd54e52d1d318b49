//! A mask has as many lanes as the input, output or wire that it hides, whatever a source gives; otherwise
//! nothing is sent.

use crate::dealer::Dealer;
use crate::engine::{Spdz, SpdzProtocol, Tiny, TinyBits};
use crate::part::Shareable;
use crate::party::Party;
use crate::share::Auth;
use crate::source::{KnownBits, Source, Triples, Units};
use divisi_core::testing::{Harness, MessageDirection, party};
use divisi_core::{Abort, Bytes, Direction, PartyId, PublicParameters, settle};
use divisi_field::{Field, Gf2, Gf6, Gf8, Gf48};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroizing;

/// Bytes of the first party.
const BYTES: [u8; 5] = [1, 2, 250, 4, 77];
const INPUT: &str = "divisi_spdz::input/input";
const OUTPUT: &str = "divisi_spdz::input/output.to";
const ENTER: &str = "divisi_spdz::engine::tiny/tinytable.enter";
const ENTER_BITS: &str = "divisi_spdz::engine::tiny_bits/tinytable.bits.enter";
const LOOKUP: &str = "divisi_spdz::engine::lookup/lookup.2";

/// What a source gives in place of the lanes that were asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    OneFewer,
    OneAlone,
    OneMore,
    /// The values go to all, or to nobody.
    Everybody,
    Nobody,
    /// The right number of shares, and too few values.
    ShortValues,
    /// Of several parties the last one gets nothing.
    OneForgotten,
}

impl Lie {
    /// Lies about the number of shares, at all parties.
    const OF_LANES: [Lie; 3] = [Lie::OneFewer, Lie::OneAlone, Lie::OneMore];
    /// Lies about the values that only the owner may know, at some party.
    const OF_VALUES: [Lie; 3] = [Lie::Everybody, Lie::Nobody, Lie::ShortValues];
}

/// A dealer that lies about the values that it gives, as `lie` says, once `begun` is set.
struct Careless {
    dealer: Dealer<Gf48>,
    lie: Lie,
    begun: Arc<AtomicBool>,
}

impl Careless {
    fn lie(&self) -> Lie {
        if self.begun.load(Ordering::Relaxed) { self.lie } else { Lie::None }
    }

    fn cut<V: Shareable>(&self, mut made: Auth<V, Gf48>) -> Auth<V, Gf48> {
        let lanes = match self.lie() {
            Lie::OneFewer => made.len().saturating_sub(1),
            Lie::OneAlone => made.len().min(1),
            Lie::OneMore => made.len() + 1,
            _ => made.len(),
        };
        made.x.resize(lanes, V::default());
        made.m.resize(lanes, Gf48::ZERO);
        made
    }

    fn cut_all<V: Shareable>(&self, made: Triples<V, Gf48>) -> Triples<V, Gf48> {
        Triples { a: self.cut(made.a), b: self.cut(made.b), c: self.cut(made.c) }
    }
}

impl Source<Gf48> for Careless {
    fn bits(&mut self, party: &mut Party<Gf48>, count: usize) -> Result<Auth<Gf2, Gf48>, Abort> {
        let made = self.dealer.bits(party, count)?;
        Ok(self.cut(made))
    }

    fn known(
        &mut self,
        party: &mut Party<Gf48>,
        owner: PartyId,
        count: usize,
    ) -> Result<KnownBits<Gf48>, Abort> {
        let KnownBits { values, shares } = self.dealer.known(party, owner, count)?;
        let shares = self.cut(shares);
        let values = match self.lie() {
            Lie::Everybody => values.or_else(|| Some(Zeroizing::new(vec![Gf2::default(); count]))),
            Lie::Nobody => None,
            Lie::ShortValues => values.map(|values| Zeroizing::new(values[1..].to_vec())),
            // a source that cuts the shares cuts the values as well
            _ => values.map(|mut values| {
                values.resize(shares.len(), Gf2::default());
                values
            }),
        };
        Ok(KnownBits { values, shares })
    }

    fn known_each(
        &mut self,
        party: &mut Party<Gf48>,
        wanted: &[(PartyId, usize)],
    ) -> Result<Vec<KnownBits<Gf48>>, Abort> {
        let forgotten = usize::from(self.lie() == Lie::OneForgotten);
        wanted[..wanted.len() - forgotten].iter().map(|(of, count)| self.known(party, *of, *count)).collect()
    }

    fn units(&mut self, party: &mut Party<Gf48>, log: usize, lanes: usize) -> Result<Units<Gf48>, Abort> {
        let Units { s, vector, lanes } = self.dealer.units(party, log, lanes)?;
        Ok(Units { s: self.cut(s), vector: self.cut(vector), lanes })
    }

    fn byte_triples(&mut self, party: &mut Party<Gf48>, count: usize) -> Result<Triples<Gf8, Gf48>, Abort> {
        let made = self.dealer.byte_triples(party, count)?;
        Ok(self.cut_all(made))
    }

    fn six_triples(&mut self, party: &mut Party<Gf48>, count: usize) -> Result<Triples<Gf6, Gf48>, Abort> {
        let made = self.dealer.six_triples(party, count)?;
        Ok(self.cut_all(made))
    }

    fn bit_triples(&mut self, party: &mut Party<Gf48>, count: usize) -> Result<Triples<Gf2, Gf48>, Abort> {
        let made = self.dealer.bit_triples(party, count)?;
        Ok(self.cut_all(made))
    }
}

type Engine = Spdz<Gf48>;
/// What two parties do; the source lies once the flag is set.
type Work = fn(Engine, &AtomicBool) -> Result<(), Abort>;

/// Whether an engine over such a source ends the session before anybody sends at this step.
fn refused(lie: Lie, step: &'static str, work: Work) {
    let harness = Harness::new(2, &PublicParameters::new("careless sources"));
    let recordings = harness.recordings();
    let ends = harness.act(|session| {
        let (party, dealer) = Dealer::deal(session, 4)?;
        let begun = Arc::new(AtomicBool::new(false));
        let source = Careless { dealer, lie, begun: Arc::clone(&begun) };
        work(Spdz::new(party, Box::new(source), SpdzProtocol::Lookup)?, &begun)
    });
    let sent = recordings.iter().flat_map(|recording| recording.of(MessageDirection::Out, step)).count();
    if lie == Lie::None {
        assert!(ends.iter().all(Result::is_ok) && sent > 0, "{step}: {ends:?}");
        return;
    }
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{lie:?} {step}: {ends:?}");
    if Lie::OF_LANES.contains(&lie) {
        assert!(ends.iter().all(Result::is_err) && sent == 0, "{lie:?} {step}: {sent} {ends:?}");
    }
}

/// The first party's bytes, shared.
fn shared(engine: &mut Engine) -> Result<Auth<Gf8, Gf48>, Abort> {
    let mine = (engine.session().me() == party(1)).then_some(&BYTES[..]);
    engine.input(party(1), mine, BYTES.len())
}

/// The first party's bits, shared.
fn shared_bits(engine: &mut Engine) -> Result<Auth<Gf2, Gf48>, Abort> {
    let mine = (engine.session().me() == party(1)).then_some(&[true, false, true][..]);
    engine.input_bits(party(1), mine, 3)
}

fn verified<T>(engine: &mut Engine, x: T) -> Result<divisi_core::Verified<T>, Abort> {
    let pending = engine.close(x);
    settle(engine, pending)
}

/// An input and an output of one party, in bytes and in bits.
#[test]
fn no_input_or_output_leaves_under_another_mask() {
    let works: [(&str, Work); 4] = [
        (INPUT, |mut engine, begun| {
            begun.store(true, Ordering::Relaxed);
            shared(&mut engine).map(drop)
        }),
        (INPUT, |mut engine, begun| {
            begun.store(true, Ordering::Relaxed);
            shared_bits(&mut engine).map(drop)
        }),
        (OUTPUT, |mut engine, begun| {
            let x = shared(&mut engine)?;
            let x = verified(&mut engine, x)?;
            begun.store(true, Ordering::Relaxed);
            engine.output_to(party(2), x).map(drop)
        }),
        (OUTPUT, |mut engine, begun| {
            let x = shared_bits(&mut engine)?;
            let x = verified(&mut engine, x)?;
            begun.store(true, Ordering::Relaxed);
            engine.output_bits_to(party(2), x).map(drop)
        }),
    ];
    for (step, work) in works {
        for lie in [Lie::None].into_iter().chain(Lie::OF_LANES).chain(Lie::OF_VALUES) {
            refused(lie, step, work);
        }
    }
}

/// The inputs of TinyTable, and the indices of lookups.
#[test]
fn no_wire_is_opened_under_another_mask() {
    let works: [(&str, Work); 3] = [
        (ENTER, |mut engine, begun| {
            let x = shared(&mut engine)?;
            begun.store(true, Ordering::Relaxed);
            Tiny::new(engine).enter(&[x]).map(drop)
        }),
        (ENTER_BITS, |mut engine, begun| {
            let x = shared_bits(&mut engine)?;
            begun.store(true, Ordering::Relaxed);
            TinyBits::new(engine).enter(&[x]).map(drop)
        }),
        (LOOKUP, |mut engine, begun| {
            let mut x = shared(&mut engine)?;
            begun.store(true, Ordering::Relaxed);
            engine.sbox(Direction::Encrypt, &mut [&mut x])
        }),
    ];
    for (step, work) in works {
        for lie in [Lie::None].into_iter().chain(Lie::OF_LANES) {
            refused(lie, step, work);
        }
    }
}

/// All parties that a request names get known bits, in every request.
#[test]
fn nobody_is_forgotten() {
    let harness = Harness::new(2, &PublicParameters::new("known bits"));
    let ends = harness.act(|session| {
        let (party, dealer) = Dealer::deal(session, 4)?;
        let begun = Arc::new(AtomicBool::new(false));
        let source = Careless { dealer, lie: Lie::OneForgotten, begun: Arc::clone(&begun) };
        let mut engine = Spdz::<Gf48>::new(party, Box::new(source), SpdzProtocol::Lookup)?;
        for count in [8, 16] {
            engine.preprocess_known(&PartyId::all(2).map(|of| (of, count)).collect::<Vec<_>>())?;
        }
        begun.store(true, Ordering::Relaxed);
        engine.preprocess_known(&PartyId::all(2).map(|of| (of, 24)).collect::<Vec<_>>())
    });
    assert!(ends.iter().all(Result::is_err), "{ends:?}");
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
}

/// A mask of one lane never serves several lanes; a public constant may.
#[test]
fn a_mask_has_its_own_lanes() {
    let harness = Harness::new(2, &PublicParameters::new("masks"));
    let ends = harness.act(|session| {
        let (party, _) = Dealer::<Gf48>::deal(session, 4)?;
        let mut x = Auth::<Gf8, Gf48>::zeros(3);
        party.mask(&mut x, &Auth::zeros(1))
    });
    assert!(ends.iter().all(Result::is_err));
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))));
}

/// Triples are as many as were asked for if each of their three parts is.
#[test]
fn each_part_of_triples_counts() {
    for other in [None, Some(0), Some(1), Some(2)] {
        let part = |at| Auth::<Gf8, Gf48>::zeros(if other == Some(at) { 4 } else { 5 });
        let triples = Triples { a: part(0), b: part(1), c: part(2) };
        assert_eq!(super::all_count(&triples, 5), other.is_none(), "{other:?}");
    }
}
