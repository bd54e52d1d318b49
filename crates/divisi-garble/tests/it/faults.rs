//! A party that stops in every phase: it is killed, stalled or cut off, or sends garbage. All others end with
//! an abort, in time. And calls that the caller gets wrong.

use crate::common::ands;
use divisi_circuit::Program;
use divisi_core::testing::{LIMIT, MessageDirection, delay, many, party};
use divisi_core::{Abort, Misuse, PartyId, Session, Step};
use divisi_garble::lab::{GarbleLab, of_party};
use divisi_garble::{Garble, GarbleOptions, Garbled, Plan, Preprocessed, Unfit};
use divisi_ot::bucket;
use std::sync::Mutex;
use std::time::Instant;

fn plan(program: &Program, n: usize) -> Plan<'_> {
    Plan::for_all(program, n, &[party(1), party(2)]).unwrap()
}

const INPUTS: [[u8; 4]; 3] = [[1, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]];

/// The first message of each phase.
const FIRST: [&str; 4] = [
    "divisi_core::coin/commit",
    "divisi_garble::laand/5.u",
    "divisi_garble::run/4a.d",
    "divisi_garble::online/6.labels",
];

#[derive(Clone, Copy, Debug)]
enum Fault {
    Killed,
    Stalled,
    CutOff,
    Garbage,
}

#[test]
fn whoever_stops_the_others_abort_in_time() {
    let faults = [Fault::Killed, Fault::Stalled, Fault::CutOff, Fault::Garbage];
    let jobs: Vec<(Fault, &str, u8)> = faults
        .into_iter()
        .flat_map(|fault| FIRST.into_iter().flat_map(move |step| (1..=3).map(move |p| (fault, step, p))))
        .collect();
    many(jobs.len(), 6, |i| {
        let (fault, step, broken) = jobs[i];
        let (program, lab) = (ands(2), GarbleLab::default());
        let plan = plan(&program, 3);
        let inputs: Vec<Vec<u8>> = INPUTS.iter().map(|x| x.to_vec()).collect();
        let harness = lab.harness(3);
        let id = Step::new(step).id;
        for to in PartyId::all(3).filter(|p| *p != party(broken)) {
            if matches!(fault, Fault::Stalled) {
                delay(&harness, party(broken), to, 6 * LIMIT, move |frame| frame.step == id);
                continue;
            }
            let mut begun = false;
            harness.hand(party(broken), to, move |mut frame| {
                begun |= frame.step == id;
                match fault {
                    Fault::Garbage if begun => {
                        frame.body.iter_mut().for_each(|b| *b = b.wrapping_mul(7) ^ 0xa5)
                    }
                    // a thread that dies takes its mesh with it
                    Fault::CutOff | Fault::Killed if begun => return vec![],
                    _ => {}
                }
                vec![frame]
            });
        }
        let start = Instant::now();
        let ends = harness.act(|mut session| {
            let mine = of_party(&plan, session.me(), &inputs);
            let mut garble = lab.party(&mut session)?;
            let dies = matches!(fault, Fault::Killed) && session.me() == party(broken);
            let before = |phase: &str| match dies && step.contains(phase) {
                true => Err(Abort::Misuse { step: divisi_core::step!("killed"), what: Misuse::NoResult }),
                false => Ok(()),
            };
            before("coin")?;
            before("laand")?;
            let mut made = garble.function_independent(&mut session, 6, 18)?;
            before("run")?;
            let garbled = garble.function_dependent(&mut session, &mut made, &plan, 3)?;
            before("online")?;
            let result = garble.online(&mut session, garbled, &mine);
            assert_eq!(garble.is_live(), result.is_ok());
            result
        });
        let took = start.elapsed();
        for (p, end) in PartyId::all(3).zip(&ends).filter(|(p, _)| *p != party(broken)) {
            assert!(end.is_err(), "{p} went on: {fault:?} {step} {broken}");
        }
        // far less by itself: nobody waits for what a harness knows will not come
        assert!(took < 8 * LIMIT, "{fault:?} {step} {broken} took {took:?}");
    });
}

/// A request for more than memory can hold is refused before anything is sent, and ends no process.
#[test]
fn more_than_memory_can_hold_is_refused() {
    for (ands, wires) in [
        (0, usize::MAX),
        (6, usize::MAX / 2),
        (6, 1 << 40),
        (usize::MAX, 18),
        (1 << 40, 0),
        ((1 << 30) + 1, 0),
    ] {
        let lab = GarbleLab::default();
        let harness = lab.harness(2);
        let recordings = harness.recordings();
        let ends = harness.act(|mut session| {
            let mut garble = lab.party(&mut session)?;
            garble.function_independent(&mut session, ands, wires).map(drop)
        });
        assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ands} {wires}: {ends:?}");
        assert!(ends.iter().all(Result::is_err));
        let sent = recordings
            .iter()
            .flat_map(|recording| recording.of(MessageDirection::Out, "divisi_ot::vole/correct"));
        assert_eq!(sent.count(), 0);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let program = ands(2);
    let (one, two, far) = (party(1), party(2), party(9));
    let all = vec![vec![one, two]];
    let unfit =
        |n, owners: &[PartyId], lists: &[Vec<PartyId>]| Plan::new(&program, n, owners, lists).unwrap_err();
    assert_eq!(unfit(1, &[one, one], &all), Unfit::Parties { parties: 1 });
    assert_eq!(unfit(129, &[one, one], &all), Unfit::Parties { parties: 129 });
    assert_eq!(unfit(258, &[one, one], &all), Unfit::Parties { parties: 258 });
    assert_eq!(unfit(2, &[one], &all), Unfit::Owners { values: 2, owners: 1 });
    assert_eq!(unfit(2, &[one, two, one], &all), Unfit::Owners { values: 2, owners: 3 });
    assert_eq!(unfit(2, &[one; 258], &all), Unfit::Owners { values: 2, owners: 258 });
    assert_eq!(unfit(2, &[one, far], &all), Unfit::Stranger { party: far });
    assert_eq!(unfit(2, &[one, two], &[]), Unfit::Receivers { values: 1, lists: 0 });
    let many = vec![vec![one]; 257];
    assert_eq!(unfit(2, &[one, two], &many), Unfit::Receivers { values: 1, lists: 257 });
    assert_eq!(unfit(2, &[one, two], &[vec![far]]), Unfit::Stranger { party: far });
    assert_eq!(unfit(2, &[one, two], &[vec![two, two]]), Unfit::Stranger { party: two });
}

type Wrong<'a> = &'a (dyn Fn(&mut Garble, &mut Session, &Plan<'_>) -> Result<(), Abort> + Sync);

/// Two parties that do something wrong after their set-up: one of them ends with it, the other perhaps with
/// that one's abort.
fn misused(options: GarbleOptions, wrong: Wrong<'_>) {
    let program = ands(2);
    let plan = plan(&program, 2);
    let lab = GarbleLab { options, ..GarbleLab::default() };
    let ends = lab.each(2, |session, garble| {
        let end = wrong(garble, session, &plan);
        assert!(end.is_err() && !garble.is_live());
        end
    });
    assert!(ends.iter().any(|end| matches!(end, Err(Abort::Misuse { .. }))), "{ends:?}");
}

#[test]
fn misuse_ends_the_session() {
    // too little: of both, of triples alone, of masks alone
    for (ands, wires, count) in [(2, 6, 2), (3, 12, 2), (4, 7, 2), (1, 7, 1), (2, 5, 1)] {
        misused(GarbleOptions::default(), &|garble, session, plan| {
            let mut made = garble.function_independent(session, ands, wires)?;
            garble.function_dependent(session, &mut made, plan, count).map(|_| ())
        });
    }
    // more than the budget
    misused(GarbleOptions { budget: 100, ..GarbleOptions::default() }, &|garble, session, plan| {
        assert_eq!(garble.admit(plan, 1), Err(Unfit::Budget { need: 113, budget: 100 }));
        let mut made = garble.function_independent(session, 2, 6)?;
        garble.function_dependent(session, &mut made, plan, 1).map(|_| ())
    });
    // inputs of another length, in each place, and inputs that are not bits
    let fit = vec![1, 0];
    for wrong in [vec![], vec![0], vec![0; 3], vec![0; 256 + 2], vec![2, 0], vec![0, 0x80]] {
        for inputs in [[wrong.clone(), fit.clone()], [fit.clone(), wrong.clone()]] {
            misused(GarbleOptions::default(), &|garble, session, plan| {
                let mut made = garble.function_independent(session, 4, 12)?;
                let garbled = garble.function_dependent(session, &mut made, plan, 2)?;
                garble.online(session, garbled, &inputs).map(|_| ())
            });
            misused(GarbleOptions::default(), &|garble, session, plan| {
                garble.streamed(session, plan, &inputs).map(drop)
            });
        }
    }
    // no bits, or not as many, after others that were
    for wrong in [vec![2, 0], vec![0, 0x80], vec![0], vec![0; 3]] {
        misused(GarbleOptions::default(), &|garble, session, plan| {
            garble.streamed(session, plan, std::slice::from_ref(&fit))?;
            garble.streamed(session, plan, std::slice::from_ref(&wrong)).map(drop)
        });
    }
    // another number of inputs than was garbled for, at first and after the right number
    for inputs in [vec![], vec![fit.clone()], vec![fit.clone(); 3]] {
        for before in [0, 1] {
            misused(GarbleOptions::default(), &|garble, session, plan| {
                let mut made = garble.function_independent(session, 8, 24)?;
                for _ in 0..before {
                    let garbled = garble.function_dependent(session, &mut made, plan, 2)?;
                    garble.online(session, garbled, &[fit.clone(), fit.clone()])?;
                }
                let garbled = garble.function_dependent(session, &mut made, plan, 2)?;
                garble.online(session, garbled, &inputs).map(|_| ())
            });
        }
    }
    misused(GarbleOptions::default(), &|garble, session, plan| garble.streamed(session, plan, &[]).map(drop));
}

#[test]
fn a_plan_for_other_parties_is_refused() {
    for parties in [3, 128] {
        let program = ands(2);
        let other = plan(&program, parties);
        // at first, and after a plan for these
        for before in [0, 1] {
            misused(GarbleOptions::default(), &|garble, session, plan| {
                let mut made = garble.function_independent(session, 4, 12)?;
                for _ in 0..before {
                    garble.function_dependent(session, &mut made, plan, 1).map(drop)?;
                }
                garble.function_dependent(session, &mut made, &other, 1).map(|_| ())
            });
            misused(GarbleOptions::default(), &|garble, session, plan| {
                for _ in 0..before {
                    garble.streamed(session, plan, &[vec![0, 0]])?;
                }
                garble.streamed(session, &other, &[vec![0, 0]]).map(drop)
            });
        }
    }
}

/// Runs sessions of three parties that make preprocessing and garble. At each party `end` gets both, and what
/// the party has kept of an earlier session.
fn in_each_session<'p, E>(plan: &'p Plan<'p>, sessions: usize, end: E) -> Vec<Vec<Result<(), Abort>>>
where
    E: Fn(&mut Session, &mut Garble, &mut Preprocessed, Garbled<'p>, &Kept<'p>) -> Result<(), Abort> + Sync,
{
    let kept: Vec<Kept<'p>> = (0..3).map(|_| Mutex::new(None)).collect();
    let one = |_| {
        GarbleLab::default().each(3, |session, garble| {
            let mut made = garble.function_independent(session, 6, 18)?;
            let garbled = garble.function_dependent(session, &mut made, plan, 1)?;
            end(session, garble, &mut made, garbled, &kept[session.me().index()])
        })
    };
    (0..sessions).map(one).collect()
}

/// What a party kept of an earlier session.
type Kept<'p> = Mutex<Option<(Preprocessed, Garbled<'p>)>>;

#[test]
fn what_one_session_made_serves_no_other() {
    let program = ands(2);
    let plan = plan(&program, 3);
    for garbled_too in [false, true] {
        let ends = in_each_session(&plan, 2, |session, garble, made, garbled, kept| {
            let mut kept = kept.lock().unwrap();
            let Some((mut others, other)) = kept.take() else {
                *kept = Some((std::mem::replace(made, garble.function_independent(session, 1, 1)?), garbled));
                return Ok(());
            };
            assert!(others.ands() > 0);
            let mine = of_party(&plan, session.me(), &[INPUTS[0].to_vec()]);
            let end = match garbled_too {
                true => garble.online(session, other, &mine).map(|_| ()),
                false => garble.function_dependent(session, &mut others, &plan, 1).map(|_| ()),
            };
            assert!(matches!(end, Err(Abort::Misuse { .. })));
            end
        });
        assert!(ends[0].iter().all(Result::is_ok) && ends[1].iter().all(Result::is_err), "{ends:?}");
    }
}

/// An abort in one strand wipes what another strand made, even if that one is idle.
#[test]
fn what_is_made_ahead_goes_with_its_session() {
    let program = ands(2);
    let plan = plan(&program, 3);
    let ends = in_each_session(&plan, 1, |session, garble, made, garbled, _| {
        assert!((made.ands(), made.masks()) == (4, 12) && garble.is_live());
        let end = session.strand()?.misuse(Step::new("a strand"), Misuse::NoResult);
        assert!((made.ands(), made.masks()) == (0, 0) && !garble.is_live());
        let mine = of_party(&plan, session.me(), &[INPUTS[0].to_vec()]);
        assert!(garble.online(session, garbled, &mine).is_err());
        Err(end)
    });
    assert!(ends[0].iter().all(Result::is_err));
}

/// The meter reports the error of the checks that ran: at both parties that of the buckets, and at the
/// evaluator that of the MACs that it compared.
#[test]
fn the_meter_tells_of_the_buckets_and_the_macs() {
    let program = ands(2);
    let plan = plan(&program, 2);
    let ends = GarbleLab::default().each(2, |session, garble| {
        let bits = |session: &Session| session.meter().read().verification_error_bits;
        let mut made = garble.function_independent(session, 2, 6)?;
        let of_buckets = bits(session);
        let garbled = garble.function_dependent(session, &mut made, &plan, 1)?;
        session.meter().reset();
        garble.online(session, garbled, &of_party(&plan, session.me(), &[INPUTS[0].to_vec()]))?;
        Ok((of_buckets, bits(session)))
    });
    let expected = Some(bucket::error_bits(2, bucket::size(2, 40)));
    // with half-gates 40 bits of a MAC are compared, and three bytes more
    let told: Vec<_> = ends.into_iter().map(Result::unwrap).collect();
    assert_eq!(told, [(expected, Some(64.0)), (expected, None)]);
}

#[test]
fn what_is_made_ahead_serves_several_circuits_of_a_live_session() {
    let program = ands(2);
    let plan = plan(&program, 3);
    let ends = GarbleLab::default().each(3, |session, garble| {
        assert_eq!(garble.buckets(6), [(6, bucket::size(6, 40))]);
        // a triple of three parties has three bits, with a MAC and a key for each peer
        for ands in [20_000, 40_000, 60_000, 100_000] {
            let made = garble.buckets(ands);
            assert_eq!(made.iter().map(|(l, _)| l).sum::<usize>(), ands);
            let most = made.iter().map(|(l, bucket)| 195 * l * bucket).max();
            assert!(most <= Some(GarbleOptions::default().memory), "{ands} ANDs: {most:?}");
        }
        let mut made = garble.function_independent(session, 6, 18)?;
        assert!(session.meter().read().verification_error_bits.unwrap() >= 40.0);
        let mut outputs = Vec::new();
        for input in INPUTS {
            let garbled = garble.function_dependent(session, &mut made, &plan, 1)?;
            let mine = of_party(&plan, session.me(), &[input.to_vec()]);
            outputs.push(garble.online(session, garbled, &mine)?[0].to_vec());
        }
        assert_eq!((made.ands(), made.masks()), (0, 0));
        Ok(outputs)
    });
    for end in ends {
        let want: Vec<Vec<u8>> = INPUTS.iter().map(|x| vec![x[0] & x[2], x[1] & x[3]]).collect();
        assert_eq!(end.unwrap(), want);
    }
}
