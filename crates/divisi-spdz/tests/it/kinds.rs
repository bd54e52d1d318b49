//! All kinds of preprocessing that a stock can have.

use crate::common::{StockDirs, parameters};
use crate::engines::given_bits;
use divisi_core::testing::{Harness, party};
use divisi_core::{Boolean, Lookup, Lookups, Opens, ProgramRun};
use divisi_field::Gf48;
use divisi_spdz::stock::Lots;
use divisi_spdz::{AuthBit, SpdzProtocol};
use divisi_symmetric::des;

/// Each protocol finds in a stock what it takes, in whichever series it is.
#[test]
fn every_kind_is_found() {
    let more = [
        (Lots::Bits, 100),
        (Lots::ByteTriples, 40),
        (Lots::SixTriples, 70),
        (Lots::Units { log: 6 }, 3),
        (Lots::BitTriples, 9),
    ];
    let mut dirs = StockDirs { more: more.to_vec(), ..StockDirs::empty(2) };
    Harness::new(2, &parameters()).act(|session| dirs.make(session)).into_iter().for_each(|end| end.unwrap());
    let index = 0b10_0110;
    let expected: Vec<bool> = (0..4).map(|k| des::SBOXES[0].values[index] >> k & 1 == 1).collect();
    for protocol in SpdzProtocol::ALL {
        dirs.protocol = protocol;
        if protocol != SpdzProtocol::Raw {
            let ends = dirs.all(0x53);
            assert!(ends.iter().all(|end| *end == Ok(0xed)), "{protocol:?}: {ends:?}");
        }
        let ends = Harness::new(2, &parameters()).act(|session| {
            let mut e = dirs.begin(session)?;
            let wires = (0..6).map(|k| given_bits(&mut e, party(1), &[index >> k & 1 == 1]));
            let wires = wires.collect::<Result<Vec<_>, _>>()?;
            let program = crate::nets::online::program();
            let mut jobs = [ProgramRun::new(&program, wires[..3].to_vec())];
            let mut layer = [Lookup { table: &des::SBOXES[0], wires }];
            e.look_up(&mut layer)?;
            if protocol == SpdzProtocol::Lookup {
                e.run(&mut jobs)?;
            }
            let [layer] = layer;
            Opens::<Vec<AuthBit<Gf48>>>::reveal(&mut e, layer.wires)
        });
        let expected: Vec<Vec<bool>> = expected.iter().map(|bit| vec![*bit]).collect();
        assert!(ends.iter().all(|end| end.as_ref() == Ok(&expected)), "{protocol:?}: {ends:?}");
    }
}
