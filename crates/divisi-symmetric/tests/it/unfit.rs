//! Calls of the modes that compute whole messages, with one argument that does not fit the others: each is
//! refused, whichever argument it is, and also where it fits in its last eight bits.

use divisi_core::{Abort, Direction, Plain, PlainByte};
use divisi_symmetric::aes::{self, RoundKeys};
use divisi_symmetric::mode::one_shot::gcm_siv::{self, NonceHead};
use divisi_symmetric::mode::one_shot::siv::SivKey;
use divisi_symmetric::mode::one_shot::wrap::{self, WrapForm, unwraps};
use divisi_symmetric::mode::one_shot::{bitwise, ccm, gcm, stealing, xts};

/// The arguments of a call, as far as it has them: lengths in bytes, but for `bits`.
#[derive(Clone, Debug)]
struct Call {
    /// The initial vector, tweak or nonce of each message.
    ivs: Vec<usize>,
    /// The associated data of each message.
    aads: Vec<usize>,
    /// The tag of each message that is opened.
    tags: Vec<usize>,
    /// How many tags there are, where each is a block.
    blocks: usize,
    /// The public text of each message.
    rows: Vec<usize>,
    /// The number of lanes of each byte of a secret text.
    text: Vec<usize>,
    bits: usize,
}

impl Call {
    fn ivs(&self) -> Vec<Vec<u8>> {
        rows(&self.ivs)
    }

    fn nonces(&self) -> Vec<NonceHead> {
        rows(&self.aads).into_iter().map(|aad| NonceHead { nonce: [7; 12], aad }).collect()
    }

    /// As many as there are nonces, or associated data if only their number is another than that of texts.
    fn heads(&self) -> Vec<ccm::Head> {
        let count = if self.ivs.len() == 3 { self.aads.len() } else { self.ivs.len() };
        let row = |lengths: &[usize], i: usize| vec![5; *lengths.get(i).unwrap_or(&lengths[0])];
        (0..count).map(|i| ccm::Head { nonce: row(&self.ivs, i), aad: row(&self.aads, i) }).collect()
    }

    fn blocks(&self) -> Vec<[u8; 16]> {
        vec![[9; 16]; self.blocks]
    }
}

fn rows(lengths: &[usize]) -> Vec<Vec<u8>> {
    lengths.iter().map(|length| vec![5; *length]).collect()
}

fn secret(lanes: &[usize]) -> Vec<PlainByte> {
    lanes.iter().map(|lanes| PlainByte::new(vec![3; *lanes])).collect()
}

fn key() -> RoundKeys<PlainByte> {
    aes::expand(&mut Plain, &secret(&[1; 16])).unwrap()
}

/// Lists with one element less, more and 256 more, and with an element that is one less, one more or 256
/// more, at either end.
fn unfit(list: &[usize]) -> Vec<Vec<usize>> {
    let Some((last, front)) = list.split_last() else { return Vec::new() };
    let longer = |by: usize| [list, &vec![*last; by]].concat();
    let mut all = vec![front.to_vec(), longer(1), longer(256)];
    for at in [0, list.len() - 1] {
        for element in [list[at].wrapping_sub(1), list[at] + 1, list[at] + 256] {
            if element < usize::MAX {
                let mut list = list.to_vec();
                list[at] = element;
                all.push(list);
            }
        }
    }
    all
}

/// Which arguments of a call may have another length by themselves.
#[derive(PartialEq, Eq)]
enum Free {
    Nothing,
    /// Texts of any length, as long as it is the same of all messages.
    Text,
}

struct Case {
    name: &'static str,
    fit: Call,
    free: Free,
    /// Numbers of bits that do not fit.
    bits: &'static [usize],
    run: fn(&Call) -> Result<(), Abort>,
}

fn cases() -> Vec<Case> {
    let none =
        Call { ivs: vec![], aads: vec![], tags: vec![], blocks: 0, rows: vec![], text: vec![], bits: 0 };
    let ivs = vec![16; 3];
    let shared = |bytes: usize, bits| Call { ivs: ivs.clone(), text: vec![3; bytes], bits, ..none.clone() };
    let public = |bytes: usize, bits| Call { ivs: ivs.clone(), rows: vec![bytes; 3], bits, ..none.clone() };
    let head = |ivs| Call { ivs, aads: vec![4; 3], ..none.clone() };
    let steals: &[usize] = &[0, 1, 127, 128, 137, 133 + 2048];
    let case = |name, fit, free, bits, run| Case { name, fit, free, bits, run };
    vec![
        case("bitwise encrypt", shared(2, 11), Free::Nothing, &[0, 8, 17, 11 + 2048], |call| {
            let text = secret(&call.text);
            bitwise::encrypt(&mut Plain, &key(), &call.ivs(), call.bits, &text).map(drop)
        }),
        case("bitwise decrypt", public(2, 11), Free::Nothing, &[0, 8, 17, 11 + 2048], |call| {
            bitwise::decrypt(&mut Plain, &key(), &call.ivs(), call.bits, &rows(&call.rows)).map(drop)
        }),
        case("stealing encrypt", shared(17, 133), Free::Nothing, steals, |call| {
            let text = secret(&call.text);
            stealing::encrypt(&mut Plain, &key(), &call.ivs(), call.bits, &text).map(drop)
        }),
        case("stealing decrypt", public(17, 133), Free::Nothing, steals, |call| {
            stealing::decrypt(&mut Plain, &key(), &call.ivs(), call.bits, &rows(&call.rows)).map(drop)
        }),
        case("stealing encrypt a block", shared(16, 128), Free::Nothing, &[121, 127, 129], |call| {
            let text = secret(&call.text);
            stealing::encrypt(&mut Plain, &key(), &call.ivs(), call.bits, &text).map(drop)
        }),
        case("stealing decrypt a block", public(16, 128), Free::Nothing, &[121, 127, 129], |call| {
            stealing::decrypt(&mut Plain, &key(), &call.ivs(), call.bits, &rows(&call.rows)).map(drop)
        }),
        case("xts", shared(17, 133), Free::Nothing, steals, |call| {
            let (keys, direction) = ([&key(), &key()], Direction::Decrypt);
            xts::crypt(&mut Plain, keys, direction, &call.ivs(), call.bits, &secret(&call.text)).map(drop)
        }),
        case("xts of a block", shared(16, 128), Free::Nothing, &[121, 127, 129], |call| {
            let (keys, direction) = ([&key(), &key()], Direction::Encrypt);
            xts::crypt(&mut Plain, keys, direction, &call.ivs(), call.bits, &secret(&call.text)).map(drop)
        }),
        case("ccm seal", Call { text: vec![3; 5], ..head(vec![12; 3]) }, Free::Text, &[], |call| {
            ccm::seal(&mut Plain, &key(), &call.heads(), 16, &secret(&call.text)).map(drop)
        }),
        case(
            "ccm open",
            Call { rows: vec![5; 3], tags: vec![16; 3], ..head(vec![12; 3]) },
            Free::Text,
            &[],
            |call| {
                let (text, tags) = (rows(&call.rows), rows(&call.tags));
                ccm::open(&mut Plain, &key(), &call.heads(), &text, &tags).map(drop)
            },
        ),
        case("gcm-siv seal", Call { text: vec![3; 17], ..head(vec![]) }, Free::Text, &[], |call| {
            gcm_siv::seal(&mut Plain, &key(), &call.nonces(), &secret(&call.text)).map(drop)
        }),
        case(
            "gcm-siv open",
            Call { rows: vec![17; 3], blocks: 3, ..head(vec![]) },
            Free::Text,
            &[],
            |call| {
                let (text, tags) = (rows(&call.rows), call.blocks());
                gcm_siv::open(&mut Plain, &key(), &call.nonces(), &text, &tags).map(drop)
            },
        ),
        case(
            "siv open",
            Call { rows: vec![5; 3], aads: vec![4; 3], blocks: 3, ..none.clone() },
            Free::Text,
            &[],
            |call| {
                let key = SivKey::new(&mut Plain, &secret(&[1; 32]))?;
                let (ivs, text) = (call.blocks(), rows(&call.rows));
                key.open(&mut Plain, &[rows(&call.aads)], &ivs, &text).map(drop)
            },
        ),
        case(
            "siv seal",
            Call { text: vec![3; 17], aads: vec![4; 3], ..none.clone() },
            Free::Text,
            &[],
            |call| {
                let key = SivKey::new(&mut Plain, &secret(&[1; 32]))?;
                key.seal(&mut Plain, 3, &[rows(&call.aads)], &secret(&call.text)).map(drop)
            },
        ),
        case("gcm", Call { text: vec![3; 17], ..none.clone() }, Free::Text, &[], |call| {
            let (key, iv) = (aes::expand(&mut Plain, &secret(&[3; 16]))?, secret(&[3; 12]));
            gcm::crypt(&mut Plain, &key, Direction::Encrypt, &iv, &[], &secret(&call.text)).map(drop)
        }),
        case("wrap", Call { text: vec![3; 16], ..none.clone() }, Free::Text, &[], |call| {
            wrap::wrap(&mut Plain, &key(), WrapForm::Kw, false, &secret(&call.text)).map(drop)
        }),
        case("unwrap", Call { text: vec![3; 24], ..none }, Free::Text, &[], |call| {
            wrap::unwrap(&mut Plain, &key(), WrapForm::Kw, false, &secret(&call.text)).map(drop)
        }),
    ]
}

/// Whether a list differs from another in its length alone, or in the length of all its elements.
fn is_another_length(list: &[usize], fit: &[usize]) -> bool {
    list.iter().all(|element| Some(element) == fit.first())
}

#[test]
fn what_does_not_fit_the_rest_of_a_call_is_refused() {
    for Case { name, fit, free, bits, run } in cases() {
        run(&fit).unwrap_or_else(|e| panic!("{name}: {e}"));
        let refused = |call: &Call| {
            let what = run(call);
            assert!(matches!(what, Err(Abort::Misuse { .. })), "{name}: {call:?}: {:?}", what.err());
        };
        let lists: [(fn(&mut Call) -> &mut Vec<usize>, bool); 5] = [
            (|call| &mut call.ivs, false),
            (|call| &mut call.aads, false),
            (|call| &mut call.tags, false),
            (|call| &mut call.rows, false),
            (|call| &mut call.text, true),
        ];
        for (list, is_text) in lists {
            let own = list(&mut fit.clone()).clone();
            for changed in unfit(&own) {
                if is_text && free == Free::Text && is_another_length(&changed, &own) {
                    continue;
                }
                let mut call = fit.clone();
                *list(&mut call) = changed;
                refused(&call);
            }
        }
        if fit.blocks > 0 {
            [2, 4, 3 + 256].into_iter().for_each(|blocks| refused(&Call { blocks, ..fit.clone() }));
        }
        if !fit.ivs.is_empty() {
            // no message at all
            let none =
                Call { ivs: vec![], aads: vec![], tags: vec![], rows: vec![], blocks: 0, ..fit.clone() };
            refused(&Call { text: vec![0; fit.text.len()], ..none });
        }
        bits.iter().for_each(|bits| refused(&Call { bits: *bits, ..fit.clone() }));
    }
}

/// KW has three halves of a block or more, KWP two.
#[test]
fn what_is_unwrapped_has_its_length() {
    for bytes in 0..=72 {
        let whole = bytes % 8 == 0;
        assert_eq!(
            [true, false].map(|padded| unwraps(bytes, padded)),
            [16, 24].map(|least| whole && bytes >= least)
        );
    }
}
