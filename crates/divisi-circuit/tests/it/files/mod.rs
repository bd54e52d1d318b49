//! Random files of circuits, and values the other way round.

/// A random file in either format: gates by their kinds and operands, modulo the wires that exist.
pub fn file(older: bool, inputs: usize, gates: &[(u8, u16, u16, u16)], outputs: usize) -> String {
    let mut wires = inputs;
    let mut text = String::new();
    for &(kind, x, y, z) in gates {
        let at = |i: u16| usize::from(i) % wires;
        // near wires more often, so that circuits become deep and repeat themselves
        let near = |i: u16| wires - 1 - usize::from(i % 5) % wires;
        let (x, y, z) = (if kind & 1 == 0 { near(x) } else { at(x) }, near(y), at(z));
        let line = match (kind >> 1) % if older { 14 } else { 20 } {
            0 => format!("2 1 {x} {x} {wires} XOR"),
            1 => format!("2 1 {x} {x} {wires} AND"),
            2 | 3 => format!("1 1 {x} {wires} INV"),
            4..=6 => format!("2 1 {x} {y} {wires} XOR"),
            7..=9 => format!("2 1 {x} {z} {wires} AND"),
            10 => format!("2 1 {x} {y} {wires} OR"),
            11 => format!("2 1 {x} {z} {wires} Nor"),
            12 => format!("2 1 {x} {z} {wires} NAND"),
            13 => format!("2 1 {x} {y} {wires} xnor"),
            14 | 15 => format!("1 1 {} {wires} EQ", z & 1),
            16 | 17 => format!("1 1 {x} {wires} EQW"),
            _ => {
                let line = format!("6 3 {x} {y} {z} {z} {z} {x} {wires} {} {} MAND", wires + 2, wires + 1);
                wires += 2;
                line
            }
        };
        wires += 1;
        text += &line;
        text += "\n";
    }
    let outputs = outputs.min(wires);
    let header = if older {
        format!("{} {wires}\n{} {} {outputs}\n\n", gates.len(), inputs / 2, inputs - inputs / 2)
    } else {
        format!("{} {wires}\n1 {inputs}\n2 {} {}\n\n", gates.len(), outputs / 3, outputs - outputs / 3)
    };
    header + &text
}

/// The wires of every value in reverse order.
pub fn turned(widths: &[usize], wires: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut rest = wires;
    let mut value = |width: &usize| {
        let (value, after) = rest.split_at(*width);
        rest = after;
        value.iter().rev().cloned().collect::<Vec<_>>()
    };
    widths.iter().flat_map(&mut value).collect()
}
