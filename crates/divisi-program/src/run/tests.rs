//! What a run holds meanwhile.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::{lower, text};
use divisi_core::{PublicParameters, local};
use divisi_field::zp::P32;
use divisi_mixed::Gmw;
use divisi_ot::SetupConfig;

/// A result is held until the last node that needs it is computed, outputs to the end; and none is held whose
/// size is not its node's.
#[test]
fn results_are_held_as_long_as_they_are_needed() {
    let body = "input x 1 num 3 in 0..9\ninput a 1 bits 2 3\ny = add x x\nz = add y x\nb = not a\n\
        output z 1\noutput b 1\n";
    let program = text::read(&format!("divisi program 1\n{body}"), &|_| Err("none".into())).unwrap();
    let code = lower(&program).unwrap();
    let ends = local::run(2, &PublicParameters::new("held"), |session| {
        let first = session.me().index() == 0;
        let plain = Modulus::new(P32).unwrap();
        let mut mixed = Mixed::new(Gmw::deferred(session, SetupConfig::default()), plain, None, None)?;
        let given = [Entries::Num(vec![5, 6, 7]), Entries::Bits(vec![vec![true, false]; 3])];
        let own = given.map(|given| first.then_some(given));
        let ahead = PreprocessedRun { signs: VecDeque::new(), garbled: VecDeque::new() };
        let (left, held) = (code.uses.clone(), code.nodes.iter().map(|_| None).collect());
        let mut run =
            Run { program: &program, code: &code, mixed: &mut mixed, plain, first, left, held, ahead };
        for id in code.layers.iter().flat_map(|layer| &layer.local) {
            run.local(*id, &own)?;
        }
        let held: Vec<Id> = (0..code.nodes.len()).filter(|id| run.held[*id].is_some()).collect();
        let [z, b] = code.outputs[..] else { return Err(unfit()) };
        let word = run.word(b)?.to_vec();
        let others = [
            (z, Held::Num(Num::new(WipedVec::zeros(4)))),
            (z, Held::Word(word.clone())),
            (b, Held::Num(Num::new(WipedVec::zeros(3)))),
            (b, Held::Word(word[..1].to_vec())),
            (b, Held::Word([&word[..], &word[..1]].concat())),
        ];
        let refused = others.map(|(id, held)| run.keep(id, held).is_err());
        Ok((held, refused))
    });
    let mut outputs = code.outputs.clone();
    outputs.sort_unstable();
    assert_eq!(ends.unwrap(), [(outputs.clone(), [true; 5]), (outputs, [true; 5])]);
}
