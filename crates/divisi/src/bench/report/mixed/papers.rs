//! The figures that GYKW prints of its implementation and its estimates: none of them was measured here.

use serde_json::{Value, json};

/// The paper.
pub const SOURCE: &str = "GYKW: Scalable Mixed-Mode MPC (IEEE S&P 2024)";
/// The machines on which the paper measured.
pub const MACHINES: &str = "a machine for each party, AWS m5.2xlarge; Local: 10 Gbit/s, 0.1 ms; LAN: 1 Gbit/s, 0.1 ms; WAN: 200 Mbit/s, 100 ms";
/// The columns of Tables 2 and 3.
pub const PARTIES: [usize; 6] = [2, 4, 8, 16, 32, 64];

/// A row of Table 2 or 3.
pub struct Row {
    /// The table.
    pub table: u8,
    /// The operation here.
    pub op: &'static str,
    /// The network.
    pub network: &'static str,
    /// The figures, one for each of [`PARTIES`].
    pub figures: [f64; 6],
}

const fn row(table: u8, op: &'static str, network: &'static str, figures: [f64; 6]) -> Row {
    Row { table, op, network, figures }
}

/// Table 2 in milliseconds online for one item; Table 3 in microseconds for one triple.
pub const ROWS: [Row; 12] = [
    row(2, "b2a", "Local", [0.038, 0.046, 0.05, 0.066, 0.11, 0.494]),
    row(2, "b2a", "LAN", [0.038, 0.049, 0.06, 0.09, 0.157, 3.461]),
    row(2, "b2a", "WAN", [0.066, 0.076, 0.181, 0.357, 0.988, 4.696]),
    row(2, "a2b", "Local", [0.012, 0.002, 0.003, 0.004, 0.006, 0.05]),
    row(2, "a2b", "LAN", [0.006, 0.004, 0.006, 0.012, 0.023, 0.049]),
    row(2, "a2b", "WAN", [0.157, 0.087, 0.12, 0.147, 0.209, 0.333]),
    row(3, "triple-bool", "Local", [0.7, 3.6, 8.2, 8.1, 17.0, 34.2]),
    row(3, "triple-bool", "LAN", [0.7, 3.5, 8.5, 9.3, 18.6, 37.2]),
    row(3, "triple-bool", "WAN", [0.7, 3.5, 14.9, 24.1, 49.2, 99.5]),
    row(3, "triple-arith", "Local", [11.4, 26.7, 46.7, 61.0, 94.6, 174.9]),
    row(3, "triple-arith", "LAN", [12.6, 27.9, 63.4, 109.3, 191.1, 418.2]),
    row(3, "triple-arith", "WAN", [11.4, 27.9, 128.0, 312.2, 674.0, 1621.5]),
];

/// The rows of an operation.
pub fn rows(op: &str) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.op == op)
}

/// Section 8.6: gigabytes that a party sends, and as many that it receives, for AES-128 garbled among 128
/// parties; then those that a party receives, and those that it sends, by the optimized BMR protocol.
pub const GARBLING: [f64; 3] = [51.12, 107.37, 0.33];

/// All figures, for the report's JSON.
pub fn to_json() -> Value {
    let row = |row: &Row| {
        json!({
            "source": SOURCE,
            "table": row.table,
            "op": row.op,
            "network": row.network,
            "parties": PARTIES,
            "unit": if row.table == 2 { "ms" } else { "us" },
            "figures": row.figures,
        })
    };
    let [each_way, received, sent] = GARBLING;
    json!({
        "tables": ROWS.iter().map(row).collect::<Vec<_>>(),
        "garbling": {
            "source": SOURCE,
            "circuit": "aes128",
            "parties": 128,
            "gigabytes_each_way": each_way,
            "bmr_gigabytes_received": received,
            "bmr_gigabytes_sent": sent,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_program::applications::table6;

    /// Table 4 follows from the counts of Table 6, the LAN rows of Table 3 and the times of B2A and A2B,
    /// within a percent and rounding, so its rows were copied correctly.
    #[test]
    fn table_4_follows_from_tables_3_and_6() {
        let of = |op: &str, n: usize| {
            let row = ROWS.iter().find(|row| row.op == op && row.network == "LAN" && row.table == 3).unwrap();
            row.figures[PARTIES.iter().position(|parties| *parties == n).unwrap()] * 1e-6
        };
        for (column, (n, b2a, a2b)) in [(4, 1.09e-3, 2.75e-3), (16, 5.53e-3, 14.4e-3)].into_iter().enumerate()
        {
            for row in &table6::ROWS {
                let computed = row.ands as f64 * of("triple-bool", n)
                    + row.products as f64 * of("triple-arith", n)
                    + row.b2a as f64 * b2a
                    + row.a2b as f64 * a2b;
                let printed = row.seconds[column];
                assert!((computed - printed).abs() < 0.01 * printed + 0.006, "{} {n}: {computed}", row.title);
            }
        }
    }

    #[test]
    fn each_operation_has_three_networks() {
        for op in ["b2a", "a2b", "triple-bool", "triple-arith"] {
            assert_eq!(rows(op).count(), 3);
        }
        assert_eq!(to_json()["tables"].as_array().unwrap().len(), ROWS.len());
    }
}
