//! Where statements stand in a program's text, and what its values are called: for error messages.

use crate::program::{Action, Input, Script, Statement, Value};

impl Script {
    /// Notes that a line names a party.
    pub(crate) fn name_party(&mut self, party: u8, line: usize) {
        self.lines.entry(party).or_insert(line);
    }

    /// The first line of the text that names a party; `None` for one that no line names, or without a text.
    #[must_use]
    pub fn line_of_party(&self, party: u8) -> Option<usize> {
        self.lines.get(&party).copied()
    }

    /// The first line that garbles a circuit; `None` without one, or without a text.
    #[must_use]
    pub(crate) fn line_of_garbled(&self) -> Option<usize> {
        let garbled = self.statements.iter().find(|of| matches!(of.op, Action::Garbled(_)))?;
        self.sources.get(garbled.results.first()?)?.0
    }

    /// Notes that a line makes a value, and what it calls the value.
    pub(crate) fn note_source(&mut self, value: &Value, line: usize, name: Option<&str>) {
        let source = self.sources.entry(value.id).or_default();
        source.0 = source.0.or(Some(line));
        if let Some(name) = name {
            source.1 = Some(name.to_owned());
        }
    }

    /// Gives a value a name, by which error messages call it.
    pub fn name(&mut self, value: &Value, name: &str) {
        self.sources.entry(value.id).or_default().1 = Some(name.to_owned());
    }

    /// The name of a value, if it has one.
    #[must_use]
    pub fn name_of(&self, value: &Value) -> Option<&str> {
        let name = self.sources.get(&value.id).and_then(|(_, name)| name.as_deref());
        name.or_else(|| self.input_of(value.id).map(|input| input.name.as_str()))
    }

    /// The input that is this value, if one is.
    pub(crate) fn input_of(&self, id: usize) -> Option<&Input> {
        self.inputs.iter().find(|input| input.value.id == id)
    }

    /// Where a statement is, for error messages: its line, or its number if the program is no text.
    pub(crate) fn place_of(&self, statement: &Statement) -> String {
        let assumed = match statement.op {
            Action::Assume(number) => self.assumptions.get(number).and_then(|a| a.line),
            _ => None,
        };
        let of = |id: &usize| self.sources.get(id).and_then(|(line, _)| *line);
        match assumed.or_else(|| statement.results.first().and_then(of)) {
            Some(line) => format!("line {line}"),
            None => {
                let same = |other: &Statement| std::ptr::eq(other, statement);
                let number = self.statements.iter().position(same).unwrap_or(0);
                format!("statement {}", number + 1)
            }
        }
    }

    /// The name of one entry of a value, for error messages; entries are counted from 1.
    pub(crate) fn name_of_entry(&self, id: usize, entry: usize) -> String {
        let value = self.value(id);
        match (self.name_of(value), value.shape().entries()) {
            (Some(name), 1) => name.to_owned(),
            (Some(name), _) => format!("value {} of {name}", entry + 1),
            (None, 1) => "a value without a name".to_owned(),
            (None, _) => format!("value {} of those without a name", entry + 1),
        }
    }
}
