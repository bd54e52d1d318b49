//! A value belongs to the engine that made it: another strand, another session and another security refuse
//! it, and nothing leaves before what it rests on was settled. Otherwise its debt would stay behind, and a
//! wrong product with it.

use crate::common::prelude::*;
use divisi_net::memory;
use divisi_rep3::adversary::adaptive::engine;
use std::sync::Arc;

const LANES: usize = 3;

/// A value that owes its product there, and may be wrong as long as nobody verified it.
fn wrong(e: &mut Rep3) -> Result<Byte, Abort> {
    right(e)
}

/// A right value, so that there is something to verify.
fn right(e: &mut Rep3) -> Result<Byte, Abort> {
    random_sbox(e, LANES)
}

fn opened(e: &mut Rep3, x: &Verified<Vec<Byte>>) -> Result<(), Abort> {
    e.trio().open(x).map(drop)
}

/// Run at each party with engines of two strands.
fn in_two_strands<R: Send>(f: impl Fn(Rep3, Rep3) -> Result<R, Abort> + Sync) -> Vec<Result<R, Abort>> {
    TrioHarness::default().patient().act(|mut trio| {
        let two = engine(Trio::new(trio.session().strand()?)?);
        f(engine(trio), two)
    })
}

/// A use of a value that another engine made.
type Use = fn(&mut Rep3, Byte) -> Result<(), Abort>;

/// Every way of a byte into an engine, and out of it.
const USES: [(&str, Use); 15] = [
    ("closed with others", |e, x| {
        let y = right(e)?;
        let verified = settled(e, vec![x, y])?;
        opened(e, &verified)
    }),
    ("closed as linear", |e, x| {
        let verified = linear(e, vec![x])?;
        opened(e, &verified)
    }),
    ("answered", |e, x| {
        let verified = linear(e, vec![x])?;
        e.trio().answer(b"", &verified).map(drop)
    }),
    ("answered as a text", |e, x| {
        let verified = linear(e, vec![x])?;
        e.trio().answer_message(b"", &verified, LANES).map(drop)
    }),
    ("opened to one", |e, x| {
        let verified = linear(e, x)?;
        e.trio().open_to(party(1), &verified).map(drop)
    }),
    ("kept", |e, x| {
        let verified = linear(e, x)?;
        e.trio().part(&verified).map(drop)
    }),
    ("added", |e, x| {
        let mut y = e.public(&[7; LANES]);
        e.add(&mut y, &x)
    }),
    ("added to", |e, mut x| {
        let y = e.public(&[7; LANES]);
        e.add(&mut x, &y)
    }),
    ("with a constant", |e, mut x| e.add_public(&mut x, &[1])),
    ("linear", |e, x| e.linear(&Matrix([[2]]), &mut [x])),
    ("S-box", |e, mut x| e.sbox(Direction::Encrypt, &mut [&mut x])),
    ("S-box with vectors", |e, mut x| {
        e.use_protocol(Protocol::Lut256);
        let vectors = e.vectors(1, 1, LANES)?.remove(0);
        e.sbox_with(Direction::Encrypt, &mut [&mut x], vectors)
    }),
    ("bits", |e, x| {
        let bits: Result<[Bit; 8], Abort> = e.convert(x);
        bits.map(drop)
    }),
    ("blocks", |e, x| {
        let block: Result<Block, Abort> = e.convert([(); 16].map(|()| x.clone()));
        block.map(drop)
    }),
    ("masked", |e, x| {
        let mask = e.mask(LANES)?;
        e.open_masked(&x, mask).map(drop)
    }),
];

/// A product is owed in strand two; its result is used in strand one.
#[test]
fn a_byte_of_another_strand_is_refused_wherever_it_goes() {
    for (name, uses) in USES {
        let results = in_two_strands(|mut one, mut two| {
            let x = wrong(&mut two)?;
            uses(&mut one, x)
        });
        is_misuse(name, &results);
    }
}

/// A value of strand two that strand one closed as linear and settled cannot be opened in strand two either,
/// where it still owes its product: neither in the first computation there nor in a later one.
#[test]
fn what_another_strand_settled_does_not_leave_where_it_is_owed() {
    for before in [0, 1] {
        let results = in_two_strands(|mut one, mut two| {
            for _ in 0..before {
                let y = right(&mut two)?;
                settled(&mut two, y)?;
            }
            let x = wrong(&mut two)?;
            let verified = linear(&mut one, vec![x])?;
            opened(&mut two, &verified)
        });
        is_misuse("there", &results);
    }
}

/// A value that was closed in another strand and is not settled does not leave either, even if what was
/// closed before it is settled.
#[test]
fn what_is_closed_and_not_settled_does_not_leave() {
    let results = in_two_strands(|mut one, mut two| {
        let y = right(&mut one)?;
        let first = one.close(y);
        let x = wrong(&mut one)?;
        let _second = one.close(x.clone());
        settle(&mut one, first)?;
        let verified = linear(&mut two, vec![x])?;
        opened(&mut one, &verified)
    });
    is_misuse("waiting", &results);
}

/// A semi-honest engine records nothing: what it made is no value of a malicious one after it on the same
/// strand.
#[test]
fn a_byte_without_active_security_is_refused_wherever_it_goes() {
    for (name, uses) in USES {
        let results = TrioHarness::default().patient().act(|trio| {
            let mut curious = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
            let x = wrong(&mut curious)?;
            let x = settled(&mut curious, x)?.into_inner();
            uses(&mut engine(curious.into_trio()), x)
        });
        is_misuse(name, &results);
    }
}

/// What a semi-honest engine settled is not opened by the malicious one after it, nor settled there.
#[test]
fn a_settled_or_pending_value_without_active_security_stays_one() {
    for settle_before in [true, false] {
        let results = TrioHarness::default().patient().act(|trio| {
            let mut curious = Rep3::new(trio, Protocol::Gf4Circuit, Security::SemiHonest);
            let x = wrong(&mut curious)?;
            let pending = curious.close(vec![x]);
            if settle_before {
                let verified = settle(&mut curious, pending)?;
                return opened(&mut engine(curious.into_trio()), &verified);
            }
            settle(&mut engine(curious.into_trio()), pending).map(drop)
        });
        is_misuse("curious", &results);
    }
}

/// Blocks and bits of another strand are refused.
#[test]
fn blocks_and_bits_of_another_strand_are_refused() {
    type UseBlock = fn(&mut Rep3, &Block) -> Result<(), Abort>;
    let blocks: [(&str, UseBlock); 8] = [
        ("add", |e, x| {
            let mut y = e.random_blocks(LANES);
            e.add_block(&mut y, x)
        }),
        ("add to", |e, x| e.add_public_block(&mut x.clone(), &[1])),
        ("combine", |e, x| e.combine(x, &[1; LANES]).map(drop)),
        ("multiply", |e, x| e.multiply(x, x).map(drop)),
        ("dot", |e, x| e.dot(&[(x, x)]).map(drop)),
        ("convert", |e, x| {
            let bytes: Result<[Byte; 16], Abort> = e.convert(x.clone());
            bytes.map(drop)
        }),
        ("zero", |e, x| e.are_zero(std::slice::from_ref(x)).map(drop)),
        // these give no error: the session has ended, and what they give is worth nothing
        ("square and join", |e, x| {
            let squared = e.square(x);
            let joined = e.join(&[&squared, x]);
            let cause = e.trio().session().cause();
            assert!(matches!(cause, Some(Abort::Misuse { .. })), "{cause:?}");
            e.combine(&joined, &[1; 2 * LANES]).map(drop)
        }),
    ];
    for (name, uses) in blocks {
        let results = in_two_strands(|mut one, mut two| {
            let x = two.random_blocks(LANES);
            let x = two.multiply(&x, &x)?;
            uses(&mut one, &x)
        });
        is_misuse(name, &results);
    }
    type UseBit = fn(&mut Rep3, Bit) -> Result<(), Abort>;
    let bits: [(&str, UseBit); 3] = [
        ("run", |e, x| {
            let mut g = Build::new();
            let input = g.input(1);
            g.output(&input);
            let program = g.finish();
            e.run(&mut [ProgramRun::new(&program, vec![x])])
        }),
        ("convert", |e, x| {
            let byte: Result<Byte, Abort> = e.convert([(); 8].map(|()| x.clone()));
            byte.map(drop)
        }),
        ("join", |e, x| {
            let joined = e.join_bits(&[&x, &x]);
            let byte: Result<Byte, Abort> = e.convert([(); 8].map(|()| joined.clone()));
            byte.map(drop)
        }),
    ];
    for (name, uses) in bits {
        let results = in_two_strands(|mut one, mut two| {
            let x = wrong(&mut two)?;
            let [bit, ..]: [Bit; 8] = two.convert(x)?;
            uses(&mut one, bit)
        });
        is_misuse(name, &results);
    }
}

/// Two sessions of the same three parties, at each.
fn in_two_sessions(f: impl Fn(Rep3, Rep3) -> Result<(), Abort> + Sync) -> Vec<Result<(), Abort>> {
    let meshes: Vec<_> = memory::mesh(3).into_iter().map(Arc::new).collect();
    let party = |mesh: &Arc<divisi_net::Mesh>| {
        let start = |number| Trio::new(Session::start(mesh, number, &PublicParameters::new("two sessions"))?);
        f(engine(start(0)?), engine(start(1)?))
    };
    std::thread::scope(|scope| {
        let party = &party;
        let threads: Vec<_> = meshes.iter().map(|mesh| scope.spawn(move || party(mesh))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A computation of one session is number 0 there; it does not pay for number 0 of another, nor is it resumed
/// there.
#[test]
fn a_pending_value_of_another_session_is_refused() {
    let paid = in_two_sessions(|mut a, mut b| {
        let y = right(&mut a)?;
        let theirs = a.close(y);
        let x = wrong(&mut b)?;
        let _ours = b.close(x.clone());
        settle(&mut b, theirs)?;
        let verified = linear(&mut b, vec![x])?;
        opened(&mut b, &verified)
    });
    is_misuse("paid", &paid);
    let resumed = in_two_sessions(|mut a, mut b| {
        let x = wrong(&mut a)?;
        let x = a.close(x).resume(&mut b);
        assert!(matches!(b.trio().session().cause(), Some(Abort::Misuse { .. })));
        let verified = settled(&mut b, vec![x])?;
        opened(&mut b, &verified)
    });
    is_misuse("resumed", &resumed);
    let used = in_two_sessions(|mut a, mut b| {
        let x = right(&mut a)?;
        let pending = a.close(x);
        // the value is right and settled, but a sharing of another session is refused
        let x = settle(&mut a, pending)?.into_inner();
        let mut y = b.public(&[0; LANES]);
        b.add(&mut y, &x)
    });
    is_misuse("used", &used);
}

/// What was settled in one strand serves the others of its session, and leaves by any: a key schedule, and
/// the outputs of strands.
#[test]
fn what_is_settled_serves_every_strand_of_its_session() {
    let results = in_two_strands(|mut one, mut two| {
        let key = right(&mut one)?;
        let key = settled(&mut one, key)?;
        let mut x = right(&mut two)?;
        two.add(&mut x, key.get())?;
        two.sbox(Direction::Decrypt, &mut [&mut x])?;
        let output = settled(&mut two, vec![x])?;
        opened(&mut one, &output)
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    // but a value that was closed and is not settled is refused
    let early = in_two_strands(|mut one, mut two| {
        let key = right(&mut one)?;
        let _pending = one.close(key.clone());
        let mut x = two.public(&[0; LANES]);
        two.add(&mut x, &key)
    });
    is_misuse("early", &early);
}

/// What a program that is only foreseen returns is no value: the next foreseen program takes it, and nothing
/// else does. It would be opened as verified zeros, where the program gives 5a.
#[test]
fn what_was_only_foreseen_is_no_value() {
    let program = byte_product(2);
    let inputs = |e: &mut Rep3| -> Vec<Bit> {
        let bits = (0..16).map(|i| 0xdb7e >> i & 1 == 1);
        bits.map(|bit| e.public_bit(&[bit; LANES])).collect()
    };
    let act = |f: &(dyn Fn(&mut Rep3) -> Result<Vec<Vec<u8>>, Abort> + Sync)| {
        TrioHarness::default().patient().act(|trio| {
            let mut e = engine(trio);
            e.use_rounds(Rounds::Constant);
            f(&mut e)
        })
    };
    // as a byte, made of what the second program returns for what the first one returned
    let foreseen = |e: &mut Rep3| -> Result<Byte, Abort> {
        let (wires, mut out) = (inputs(e), None);
        e.foresee(|e| {
            let first = run_one(e, &program, wires)?;
            let second = run_one(e, &program, [&first[..], &first].concat())?;
            out = bytes(e, &second)?.pop();
            Ok(())
        })?;
        Ok(out.unwrap())
    };
    let ends = act(&|e| {
        foreseen(e)?;
        let wires = inputs(e);
        let out = run_one(e, &program, wires)?;
        let out = bytes(e, &out)?;
        let verified = linear(e, out)?;
        e.trio().open(&verified)
    });
    ends.into_iter().for_each(|end| assert_eq!(end.unwrap(), [[0x5a; LANES]]));
    for (name, uses) in USES {
        let ends = act(&|e| {
            let x = foreseen(e)?;
            uses(e, x).map(|()| Vec::new())
        });
        is_misuse(name, &ends);
    }
}

/// What is foreseen makes no products, as often as it is tried.
#[test]
fn products_are_not_foreseen() {
    let results = TrioHarness::default().patient().act(|trio| {
        let mut e = engine(trio);
        e.foresee(|e| e.random_bytes(LANES).map(drop))?;
        e.foresee(|e| right(e).map(drop))
    });
    is_misuse("foreseen", &results);
}
