//! What an engine claims to withstand: the rows of SECURITY.md's first table.

use serde_json::{Value, json};

/// The security that an engine claims, with one kind of adversary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityClaim {
    /// The engine, and the kind of adversary where the engine has more than one.
    pub engine: &'static str,
    /// The possible numbers of parties.
    pub parties: String,
    /// The statistical security: how probable it is that a lie passes, or a value leaks.
    pub statistical: String,
    /// The computational security, and the model where it stands on lattices.
    pub computational: String,
}

impl SecurityClaim {
    /// A claim about this number of parties.
    #[must_use]
    pub fn new(engine: &'static str, parties: &std::ops::RangeInclusive<usize>) -> SecurityClaim {
        let parties = match (parties.start(), parties.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        };
        SecurityClaim { engine, parties, statistical: String::new(), computational: String::new() }
    }

    /// The same claim with this statistical security.
    #[must_use]
    pub fn statistical(self, bits: impl Into<String>) -> SecurityClaim {
        SecurityClaim { statistical: bits.into(), ..self }
    }

    /// The same claim with this computational security.
    #[must_use]
    pub fn computational(self, bits: impl Into<String>) -> SecurityClaim {
        SecurityClaim { computational: bits.into(), ..self }
    }
}

/// The hardness of a ring, as the JSON of commands has it; null for the ring of tests.
#[must_use]
pub fn lattice_json(hardness: Option<divisi_bgv::parameters::Hardness>) -> Value {
    let Some(hardness) = hardness else { return Value::Null };
    json!({
        "block_size": hardness.block_size,
        "dimension": hardness.dimension,
        "classical_bits": hardness.classical_bits(),
        "quantum_bits": hardness.quantum_bits(),
        "core_svp_bits": hardness.core_svp_bits(),
        "core_svp_quantum_bits": hardness.core_svp_quantum_bits(),
        "model": divisi_bgv::parameters::Hardness::MODELS,
    })
}

#[cfg(test)]
mod tests {
    use super::super::all;

    /// The cells of a row of a table.
    fn cells(line: &str) -> Vec<&str> {
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    /// Each row of the table is one claim of an engine, and each claim has its row.
    #[test]
    fn the_table_of_security_md_has_what_the_engines_claim() {
        let page = include_str!("../../../../SECURITY.md");
        let mut rows = page.lines().skip_while(|line| !line.starts_with("| engine | parties |"));
        let head = cells(rows.next().unwrap());
        let [parties, statistical, computational] = ["parties", "statistical", "computational"]
            .map(|name| head.iter().position(|cell| *cell == name).unwrap());
        let rows: Vec<Vec<&str>> = rows.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
        let claims: Vec<_> = all().iter().flat_map(|engine| engine.claims()).collect();
        assert_eq!(rows.len(), claims.len());
        for claim in &claims {
            let row = rows.iter().find(|row| row[0] == claim.engine).unwrap();
            assert_eq!(row[parties], claim.parties, "{}", claim.engine);
            assert_eq!(row[statistical], claim.statistical, "{}", claim.engine);
            assert_eq!(row[computational], claim.computational, "{}", claim.engine);
        }
    }
}
