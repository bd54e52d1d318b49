//! What a test may leave out of the protocol, and what its corrupt party may do ([`crate::garbled`]).

#[cfg(feature = "testing")]
use divisi_core::testing::memory::Needle;

/// Something that the protocol needs and that has no check of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    /// The evaluator compares only the first halves of tables.
    OneHalf,
    /// The evaluator does not compare the last piece of tables.
    LastPiece,
    /// The digest of output labels covers only the first 64.
    FewLabels,
    /// r12 is left out of the decoding bits.
    NoR12,
    /// r23 is left out of the circuit.
    NoR23,
    /// The secrets that are derived for a call do not depend on the call.
    SameCall,
    /// Nothing is compared before labels are sent.
    NoBarrier,
    /// Pairs are hashed where gates are hashed.
    PairsAsGates,
    /// Each group of lanes begins anew with the tweaks of its gates.
    SharedTweak,
    /// The second half of a call that was garbled ahead numbers the wires of its inputs from the
    /// beginning again.
    WiresAnew,
    /// The digest of a list of pairs is made of the labels that are sent.
    ListOfLabels,
    /// The digest of a list of pairs covers only its first half.
    HalfList,
    /// The digest of a list of pairs does not depend on their order.
    Unordered,
}

/// What a corrupt party does where a blind change of a message is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// A garbler adds Delta to the last word of its half of each table, so that a gate adds a bit to its
    /// result.
    BendGate,
    /// A garbler sends the other label of the first input wire.
    OtherInput,
    /// P1 changes the first decoding bit, and takes whatever z comes of it.
    OtherDecoding,
    /// The evaluator keeps and sends z with this bit changed.
    OtherResult(usize),
}

/// The weakness and the lie that are in force, if any, and what a test plants.
#[derive(Clone, Copy, Default)]
pub(crate) struct GarbledDeviation {
    pub(crate) weakness: Option<Weakness>,
    pub(crate) lie: Option<Lie>,
    /// Delta of every call, for tests that look where it lies.
    #[cfg(feature = "testing")]
    pub(crate) delta: Option<&'static Needle>,
    /// Labels of every group of lanes, likewise.
    #[cfg(feature = "testing")]
    pub(crate) labels: Option<&'static Planted>,
}

/// Labels for zero that a test looks for, by their places in a group: wire by wire, the lanes of each
/// together.
#[cfg(feature = "testing")]
pub struct Planted {
    /// For some input wires x = u + x23: the place, and the labels of u and of x23.
    pub inputs: Vec<(usize, [Needle; 2])>,
    /// The place and the label of an output y + r23, where y is the first of these wires.
    pub output: (usize, Needle),
}

#[cfg(feature = "testing")]
impl Planted {
    pub(crate) fn plant_inputs(&self, sums: &mut [u128], knowns: &mut [u128]) {
        for (at, [sum, known]) in &self.inputs {
            for (needle, labels) in [(sum, &mut *sums), (known, &mut *knowns)] {
                if let Some(label) = labels.get_mut(*at) {
                    *label = word(needle);
                }
            }
        }
    }

    pub(crate) fn plant_masks(&self, drawn: &mut [u128]) {
        let (at, output) = &self.output;
        if let (Some(label), Some((_, [sum, known]))) = (drawn.get_mut(*at), self.inputs.first()) {
            *label = word(output) ^ word(sum) ^ word(known);
        }
    }
}

/// A needle as a word. Its bytes are wiped where they were put together.
#[cfg(feature = "testing")]
fn word(needle: &Needle) -> u128 {
    let mut bytes = zeroize::Zeroizing::new([0; 16]);
    needle.plant(&mut bytes);
    u128::from_le_bytes(*bytes)
}
