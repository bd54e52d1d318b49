//! Rows that are begun ahead are right, in whatever order the parties' threads run, and are refused out of
//! order.

use crate::common::{ends, honest, parameters, refused};
use divisi_core::testing::{in_another, run};
use divisi_core::{Abort, Session, step};
use divisi_ot::correlate::{BitVectors, Long};
use divisi_ot::testing::{deal, deal_over_field, fit};
use divisi_ot::{Bits, Links, MacShares, Setup, SetupConfig};

fn all<R: Send>(
    n: usize,
    act: impl Fn(&mut Session, &mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    all_with(n, |session| Setup::over_field(session, SetupConfig::default(), 48), act)
}

fn all_with<R: Send>(
    n: usize,
    make: impl Fn(&mut Session) -> Result<Setup, Abort> + Sync,
    act: impl Fn(&mut Session, &mut Session, &mut Setup) -> Result<R, Abort> + Sync,
) -> Vec<Result<R, Abort>> {
    let parameters = SetupConfig::default().describe(parameters());
    run(n, &Setup::describe_field(48, parameters), |mut session| {
        let mut setup = make(&mut session)?;
        let mut strand = session.strand()?;
        act(&mut session, &mut strand, &mut setup)
    })
}

/// Our bits, and our shares of the MACs of the sums.
fn values(shares: &MacShares) -> (Vec<u64>, Vec<u128>) {
    for (tile, words) in shares.bits().chunks(2).enumerate() {
        let own = words.iter().rev().fold(0, |own, word| own << 64 | u128::from(*word));
        assert_eq!(shares.own(tile), own);
    }
    assert!(!shares.is_empty());
    (shares.bits().to_vec(), shares.rows(0..shares.len(), |row| row))
}

/// Batches of several sizes, made or dealt, each begun before the one before it is finished; the products of
/// each with payloads are received when the next batch is begun. Other rows follow.
#[test]
fn rows_that_are_begun_ahead_fit() {
    let counts = [(130, 300), (1, 1), (128, 900), (256, 512)];
    type Make = fn(&mut Session) -> Result<Setup, Abort>;
    let made: Make = |session| Setup::over_field(session, SetupConfig::default(), 48);
    let dealt: Make = |session| deal_over_field(session, SetupConfig::default(), 48, 7);
    for (n, make) in [(2, made), (3, made), (2, dealt), (3, dealt)] {
        let ends = all_with(n, make, |session, strand, setup| {
            let (delta, width) = (setup.delta().get(), BitVectors { width: 56 });
            let (mut rows, mut products) = (Vec::new(), Vec::new());
            let (mut before, mut sent) = (None, None);
            for counts in counts.map(Some).into_iter().chain([None, None]) {
                let begun =
                    counts.map(|(wide, narrow)| setup.begin_ahead(strand, wide, narrow)).transpose()?;
                let batch = std::mem::replace(&mut before, begun);
                let batch = batch.map(|batch| setup.receive_ahead(strand, batch)).transpose()?;
                if let Some((payload, sent)) = sent.take() {
                    products.push((payload, setup.finish_correlate(session, sent)?.to_vec()));
                }
                if let Some(batch) = batch {
                    let (mut wide, narrow) = setup.finish_ahead(session, batch)?;
                    assert_eq!(wide.macs.bits(), wide.pads.bits());
                    let of = session.me().index() as u128 + 3;
                    let payload: Vec<u128> =
                        (0..wide.pads.len() as u128).map(|i| (i + of).pow(9) & 0xff_ffff_ffff_ffff).collect();
                    let ahead = setup.begin_correlate(session, &mut wide.pads, None, width, &payload)?;
                    sent = Some((payload, ahead));
                    rows.push([values(&wide.macs), values(&narrow)]);
                }
            }
            let after = setup.mac_rows(session, Bits::Random(77))?;
            Ok((delta, rows, products, after))
        });
        let ends = honest(ends);
        let alpha = ends.iter().fold(0, |sum, (delta, ..)| sum ^ delta);
        for (batch, (wide, narrow)) in counts.into_iter().enumerate() {
            for (kind, count) in [wide, narrow].into_iter().enumerate() {
                for at in 0..count {
                    let of = |x: &(Vec<u64>, Vec<u128>)| (u128::from(x.0[at / 64] >> (at % 64) & 1), x.1[at]);
                    let both = ends.iter().map(|(_, rows, ..)| of(&rows[batch][kind]));
                    let (x, mac) = both.fold((0, 0), |sum, of| (sum.0 ^ of.0, sum.1 ^ of.1));
                    assert_eq!(mac, alpha * x, "{n} {batch} {kind} {at}");
                    if kind == 0 {
                        let of = ends.iter().map(|(_, _, products, _)| &products[batch]);
                        let both = of.fold((0, 0), |sum, (y, z)| (sum.0 ^ y[at], sum.1 ^ z[at]));
                        assert_eq!(both.1, x * both.0, "{n} {batch} {at}");
                    }
                }
            }
        }
        fit(&ends.into_iter().map(|(delta, .., after)| (delta, after)).collect::<Vec<_>>());
    }
}

/// Products must be finished in the order in which they were begun: otherwise the payloads of other products
/// would be taken for theirs, which only a later check would detect.
#[test]
fn products_out_of_order_are_refused() {
    let ends = all(2, |session, _, setup| {
        let mut rows = setup.wide_rows(session, Bits::Random(20))?;
        let mut begin = |session: &mut Session, setup: &mut Setup| {
            let mut pads = rows.pads.take(10).unwrap();
            setup.begin_correlate(session, &mut pads, None, BitVectors { width: 56 }, &[5; 10])
        };
        let first = begin(session, setup)?;
        let second = begin(session, setup)?;
        let made = setup.finish_correlate(session, second).map(|_| ());
        drop(first);
        made
    });
    refused(ends, "the second products");
}

/// Batches must be finished in the order in which they were begun, and no other rows can be made in between.
#[test]
fn rows_out_of_order_are_refused() {
    type Act = fn(&mut Session, &mut Session, &mut Setup) -> Result<(), Abort>;
    let cases: [(&str, Act); 6] = [
        ("the first is not received", |session, strand, setup| {
            let _first = setup.begin_ahead(strand, 10, 10)?;
            let second = setup.begin_ahead(strand, 10, 10)?;
            let second = setup.receive_ahead(strand, second)?;
            setup.finish_ahead(session, second).map(drop)
        }),
        ("the first is not finished", |session, strand, setup| {
            let first = setup.begin_ahead(strand, 10, 10)?;
            let second = setup.begin_ahead(strand, 10, 10)?;
            let _first = setup.receive_ahead(strand, first)?;
            let second = setup.receive_ahead(strand, second)?;
            setup.finish_ahead(session, second).map(drop)
        }),
        ("other rows after the receipt", |session, strand, setup| {
            let first = setup.begin_ahead(strand, 10, 10)?;
            let _first = setup.receive_ahead(strand, first)?;
            setup.mac_rows(session, Bits::Random(5)).map(drop)
        }),
        ("other rows before the receipt", |session, strand, setup| {
            let _first = setup.begin_ahead(strand, 10, 10)?;
            setup.mac_rows(session, Bits::Random(5)).map(drop)
        }),
        ("no wide rows", |_, strand, setup| setup.begin_ahead(strand, 0, 10).map(drop)),
        ("beside unchecked rows", |session, strand, setup| {
            setup.semi_honest_rows(session, Bits::Random(5), Links::All)?;
            setup.begin_ahead(strand, 10, 10).map(drop)
        }),
    ];
    cases.into_iter().for_each(|(case, act)| refused(all(2, act), case));
    let without = |session: &mut Session| Setup::new(session, SetupConfig::default());
    let ends = all_with(2, without, |_, strand, setup| setup.begin_ahead(strand, 10, 10).map(drop));
    refused(ends, "without a field");
}

/// Products that are begun ahead are right and counted like others, also those of a second message.
#[test]
fn products_that_are_begun_are_counted() {
    let (rows, words, p) = (140, 600, Long::MODULUS);
    let payload = Long { count: words };
    let counts = |ahead: bool| {
        let ends = honest(all(2, move |session, _, setup| {
            let mut pads = setup.wide_rows(session, Bits::Random(rows))?.pads;
            let (before, of) = (session.meter().read(), session.me().index() as u64 + 3);
            let word = |i: usize| ((i as u64 + of).pow(3) % p) as u32;
            let values: Vec<u32> = (0..rows * words).map(word).collect();
            let bits = pads.bits().to_vec();
            let products = if ahead {
                let begun = setup.begin_correlate(session, &mut pads, None, payload, &values)?;
                setup.finish_correlate(session, begun)?
            } else {
                setup.correlate(session, &mut pads, None, &payload, &values)?
            };
            let after = session.meter().read();
            assert_ne!(after.checks, before.checks);
            Ok((after.checks, bits, values, products.to_vec()))
        }));
        let [one, two] = &ends[..] else { panic!("two parties") };
        for at in 0..rows * words {
            let bit = |bits: &[u64]| bits[at / words / 64] >> (at / words % 64) & 1;
            let sum = |of: [u32; 2]| of.into_iter().map(u64::from).sum::<u64>() % p;
            let x = bit(&one.1) + bit(&two.1);
            assert_eq!(sum([one.3[at], two.3[at]]), x * sum([one.2[at], two.2[at]]) % p, "{ahead} {at}");
        }
        ends.into_iter().map(|end| end.0).collect::<Vec<_>>()
    };
    assert_eq!(counts(true), counts(false));
}

/// Of 257 that were begun the last one is not finished first.
#[test]
fn unchecked_rows_are_finished_in_order() {
    let ends = run(2, &SetupConfig::default().describe(parameters()), |mut session| {
        let session = &mut session;
        let mut setup = deal(session, SetupConfig::default(), 1)?;
        let begin = |_| setup.begin_semi_honest(session, Bits::Random(5), Links::All);
        let mut begun = (0..=256).map(begin).collect::<Result<Vec<_>, Abort>>()?;
        let last = begun.pop().unwrap();
        setup.finish_semi_honest(session, last).map(drop)
    });
    refused(ends, "the last of 257");
}

/// Several batches of unchecked rows are under way. The first batch has more chunks than
/// [`Setup::semi_honest_rows`] sends before it awaits the peers'.
#[test]
fn unchecked_rows_that_are_begun_ahead_fit() {
    let counts = [(32 << 14) + 1, 130, 1];
    let ends = honest(ends(2, |session, setup| {
        let mut begun = Vec::new();
        for (first, count) in counts.into_iter().enumerate() {
            begun.push(setup.begin_semi_honest(session, Bits::Random(count), Links::Before(first % 2))?);
        }
        // the rows that were begun first are finished first
        let finish = |rows| setup.finish_semi_honest(session, rows);
        let pads = begun.into_iter().map(finish).collect::<Result<Vec<_>, _>>()?;
        let mut products = Vec::new();
        for (first, mut pads) in pads.into_iter().enumerate() {
            let (bits, me) = (pads.bits().to_vec(), session.me());
            // the party that does not begin the circle has the bits
            let chooser = if me.index() == first % 2 { session.peers()[0] } else { me };
            let payload = vec![first as u128 + 16 * me.index() as u128; pads.len()];
            let width = BitVectors { width: 8 };
            let shares = setup.correlate(session, &mut pads, Some(chooser), &width, &payload)?;
            products.push((bits, shares.to_vec()));
        }
        Ok(products)
    }));
    for (first, count) in counts.into_iter().enumerate() {
        let [(.., a), (.., b)] = [&ends[0][first], &ends[1][first]];
        let bits = &ends[1 - first % 2][first].0;
        for at in 0..count {
            let x = u128::from(bits[at / 64] >> (at % 64) & 1);
            assert_eq!(a[at] ^ b[at], 16 * x, "rows of party {first}, {at}");
        }
    }
}

/// Unchecked rows must be finished in the order in which they were begun, and no others can be made before.
#[test]
fn unchecked_rows_out_of_order_are_refused() {
    let begin = |setup: &mut Setup, session: &mut Session| {
        setup.begin_semi_honest(session, Bits::Random(5), Links::All)
    };
    for others in [false, true] {
        let ends = ends(2, |session, setup| {
            let (_first, second) = (begin(setup, session)?, begin(setup, session)?);
            if others {
                let sent = session.meter().read().bits();
                let made = setup.semi_honest_rows(session, Bits::Random(5), Links::All).map(drop);
                assert_eq!(session.meter().read().bits(), sent, "they are refused before any is sent");
                return made;
            }
            setup.finish_semi_honest(session, second).map(drop)
        });
        refused(ends, if others { "other rows" } else { "the second batch" });
    }
}

/// What a party has made in a session it may use there. With a set-up or rows of another session, whose id
/// begins alike, it is refused, also when the party has used its own before; then the others are second ones,
/// too, so that their number is the right one.
fn belongs<R: Send>(
    what: &str,
    open: impl Fn(&mut Session) -> Result<Setup, Abort> + Sync,
    make: impl Fn(&mut Session, &mut Setup) -> Result<R, Abort> + Sync,
    use_of: impl Fn(&mut Session, &mut Setup, R) -> Result<(), Abort> + Sync,
) {
    let parameters = Setup::describe_field(48, SetupConfig::default().describe(parameters()));
    let used = |session: &mut Session| {
        let mut setup = open(session)?;
        let rows = make(session, &mut setup)?;
        use_of(session, &mut setup, rows)?;
        Ok(setup)
    };
    honest(run(2, &parameters, |mut session| used(&mut session).map(drop)));
    for case in 0..5 {
        let first = |session: &mut Session| {
            let mut setup = if case < 3 { open(session) } else { used(session) }?;
            let rows = make(session, &mut setup)?;
            Ok((setup, rows))
        };
        let ends = in_another(2, &parameters, first, |session, (mut setup, rows)| {
            let mut own = if case < 3 { open(session) } else { used(session) }?;
            match case {
                0 | 3 => use_of(session, &mut setup, rows),
                1 => {
                    let own_rows = make(session, &mut own)?;
                    use_of(session, &mut setup, own_rows)
                }
                _ => use_of(session, &mut own, rows),
            }
        });
        refused(ends, &format!("{what}, case {case}"));
    }
}

#[test]
fn another_session_is_told_by_all_of_its_id() {
    let config = SetupConfig::default();
    let width = BitVectors { width: 1 };
    let over_field = |session: &mut Session| deal_over_field(session, config, 48, 1);
    let plain = |session: &mut Session| deal(session, config, 1);
    let begun = |session: &mut Session, setup: &mut Setup| setup.begin_ahead(session, 10, 10);
    belongs("rows begun ahead", over_field, begun, |session, setup, rows| {
        setup.receive_ahead(session, rows).map(drop)
    });
    let received = |session: &mut Session, setup: &mut Setup| {
        let rows = setup.begin_ahead(session, 10, 10)?;
        setup.receive_ahead(session, rows)
    };
    belongs("rows received", over_field, received, |session, setup, rows| {
        setup.finish_ahead(session, rows).map(drop)
    });
    let unchecked = |session: &mut Session, setup: &mut Setup| {
        setup.begin_semi_honest(session, Bits::Random(5), Links::All)
    };
    belongs("unchecked rows", plain, unchecked, |session, setup, rows| {
        setup.finish_semi_honest(session, rows).map(drop)
    });
    let pads = |session: &mut Session, setup: &mut Setup| {
        setup.semi_honest_rows(session, Bits::Random(5), Links::All)
    };
    belongs("pads", plain, pads, |session, setup, mut pads| {
        setup.correlate(session, &mut pads, None, &width, &[1; 5]).map(drop)
    });
    belongs("pads for products that are begun", plain, pads, |session, setup, mut pads| {
        let sent = setup.begin_correlate(session, &mut pads, None, width, &[1; 5])?;
        setup.finish_correlate(session, sent).map(drop)
    });
    belongs("pads for packed bits", plain, pads, |session, setup, mut pads| {
        setup.correlate_bits(session, &mut pads, &[1]).map(drop)
    });
    let products = |session: &mut Session, setup: &mut Setup| {
        let mut pads = pads(session, setup)?;
        let sent = setup.begin_correlate(session, &mut pads, None, width, &[1; 5])?;
        // nobody leaves before all have sent
        setup.toss(&mut session.strand()?, step!("all have sent"))?;
        Ok(sent)
    };
    belongs("products", plain, products, |session, setup, sent| {
        setup.finish_correlate(session, sent).map(drop)
    });
}

/// A set-up makes rows in its own session alone.
#[test]
fn a_set_up_belongs_to_its_session() {
    let config = SetupConfig::default();
    let fields = Setup::describe_field(48, config.describe(parameters()));
    let make = |session: &mut Session| deal_over_field(session, config, 48, 1);
    let uses: [fn(&mut Setup, &mut Session) -> Result<(), Abort>; 2] = [
        |setup, session| setup.mac_rows(session, Bits::Random(5)).map(drop),
        |setup, session| setup.begin_ahead(session, 10, 10).map(drop),
    ];
    for use_of in uses {
        honest(run(2, &fields, |mut session| use_of(&mut make(&mut session)?, &mut session)));
        let ends = in_another(2, &fields, make, |session, mut setup| {
            use_of(&mut make(session)?, session)?;
            use_of(&mut setup, session)
        });
        refused(ends, "rows of another session's set-up");
    }
}
