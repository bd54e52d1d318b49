//! Whichever message of a use does not fit, neither Delta nor a source of rows is left.

use crate::common::parameters;
use divisi_core::testing::{Harness, party, run};
use divisi_core::{Abort, Misuse, Session, step};
use divisi_ot::correlate::BitVectors;
use divisi_ot::testing::{deal, deal_over_field};
use divisi_ot::{Bits, Links, Setup, SetupConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Shortens each message that P1 sends in a use of its set-up, one after the other. P2's set-up is erased
/// when its use fails, and only then. Returns how often it failed.
fn shortened(
    over_field: bool,
    used: impl Fn(&mut Session, &mut Setup) -> Result<(), Abort> + Copy + Sync,
) -> usize {
    let config = SetupConfig::default();
    let parameters = Setup::describe_field(48, config.describe(parameters()));
    let mut failed = 0;
    for nth in 0.. {
        let harness = Harness::new(2, &parameters);
        let (in_use, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (is_in_use, counted) = (Arc::clone(&in_use), Arc::clone(&count));
        harness.hand(party(1), party(2), move |mut frame| {
            if is_in_use.load(Ordering::SeqCst) && counted.fetch_add(1, Ordering::SeqCst) == nth {
                frame.body.pop();
            }
            vec![frame]
        });
        let ends = harness.act(|mut session| {
            let session = &mut session;
            let mut setup = if over_field {
                Setup::over_field(session, config, 48)?
            } else {
                Setup::new(session, config)?
            };
            if session.me() == party(1) {
                in_use.store(true, Ordering::SeqCst);
            }
            let end = used(session, &mut setup);
            if session.me() == party(1) {
                in_use.store(false, Ordering::SeqCst);
            }
            Ok((end, setup.delta().get()))
        });
        let (end, delta) = ends[1].as_ref().unwrap();
        assert_eq!(end.is_err(), *delta == 0, "message {nth}: {end:?}");
        failed += usize::from(end.is_err());
        if count.load(Ordering::SeqCst) <= nth {
            assert!(end.is_ok(), "{end:?}");
            break;
        }
    }
    failed
}

#[test]
fn nothing_is_left_after_a_message_that_does_not_fit() {
    let width = BitVectors { width: 56 };
    let rows = shortened(false, |session, setup| setup.mac_rows(session, Bits::Random(5)).map(drop));
    let unchecked = shortened(false, |session, setup| {
        setup.semi_honest_rows(session, Bits::Random(5), Links::All).map(drop)
    });
    let begun = shortened(false, |session, setup| {
        let begun = setup.begin_semi_honest(session, Bits::Random(5), Links::All)?;
        setup.finish_semi_honest(session, begun).map(drop)
    });
    let ahead = shortened(true, |session, setup| {
        let begun = setup.begin_ahead(session, 10, 10)?;
        let received = setup.receive_ahead(session, begun)?;
        setup.finish_ahead(session, received).map(drop)
    });
    let products = shortened(false, |session, setup| {
        let mut pads = setup.semi_honest_rows(session, Bits::Random(5), Links::All)?;
        let begun = setup.begin_correlate(session, &mut pads, None, width, &[1; 5])?;
        setup.finish_correlate(session, begun).map(drop)
    });
    let bits = shortened(false, |session, setup| setup.random_products(session, 5, &[1]).map(drop));
    let all = [rows, unchecked, begun, ahead, products, bits];
    assert!(all.iter().all(|failed| *failed > 0), "{all:?}");
}

/// A party is never alone.
#[test]
fn one_party_has_nobody_to_make_rows_with() {
    let ends =
        run(1, &parameters(), |mut session| Setup::new(&mut session, SetupConfig::default()).map(drop));
    assert!(matches!(ends[0], Err(Abort::Misuse { what: Misuse::PartyCount, .. })), "{:?}", ends[0]);
}

/// Whatever is begun, received, finished or made after the end of the session, of which a party learns in
/// another strand, is refused, and the key is erased. All of it was done once before.
#[test]
fn a_set_up_ends_with_its_session() {
    fn after_the_end<T>(
        over_field: bool,
        begin: impl Fn(&mut Setup, &mut Session) -> Result<T, Abort> + Sync,
        end: impl Fn(&mut Setup, &mut Session, T) -> Result<(), Abort> + Sync,
    ) {
        let config = SetupConfig::default();
        let parameters = Setup::describe_field(48, config.describe(parameters()));
        let ends = run(2, &parameters, |mut session| {
            let session = &mut session;
            let mut setup =
                if over_field { deal_over_field(session, config, 48, 1)? } else { deal(session, config, 1)? };
            let first = begin(&mut setup, session)?;
            end(&mut setup, session, first)?;
            let second = begin(&mut setup, session)?;
            if session.me() == party(1) {
                let _ = session.strand()?.misuse(step!("the end"), Misuse::Empty);
            }
            Ok((end(&mut setup, session, second), setup.delta().get()))
        });
        let (ended, delta) = ends[0].as_ref().unwrap();
        assert!(matches!(ended, Err(Abort::Misuse { what: Misuse::Erased, .. })), "{ended:?}");
        assert_eq!(*delta, 0);
    }
    let begun = |setup: &mut Setup, session: &mut Session| setup.begin_ahead(session, 10, 10);
    after_the_end(true, begun, |setup, session, rows| setup.receive_ahead(session, rows).map(drop));
    let received = |setup: &mut Setup, session: &mut Session| {
        let rows = begun(setup, session)?;
        setup.receive_ahead(session, rows)
    };
    after_the_end(true, received, |setup, session, rows| setup.finish_ahead(session, rows).map(drop));
    let rows =
        |setup: &mut Setup, session: &mut Session, ()| setup.mac_rows(session, Bits::Random(5)).map(drop);
    after_the_end(true, |_, _| Ok(()), rows);
    let unchecked = |setup: &mut Setup, session: &mut Session| {
        setup.begin_semi_honest(session, Bits::Random(5), Links::All)
    };
    after_the_end(false, unchecked, |setup, session, rows| setup.finish_semi_honest(session, rows).map(drop));
    after_the_end(
        false,
        |_, _| Ok(()),
        |setup, session, ()| setup.semi_honest_rows(session, Bits::Random(5), Links::All).map(drop),
    );
    after_the_end(
        false,
        |_, _| Ok(()),
        |setup, session, ()| setup.random_products(session, 5, &[1]).map(drop),
    );
}
