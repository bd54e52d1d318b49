//! The log lines of a schedule.

use std::collections::BTreeMap;

/// Lines for the log: at most [`Log::EACH`] of one client at a time, so that they do not drown those of
/// others.
#[derive(Default)]
pub(super) struct Log {
    lines: Vec<String>,
    by_client: BTreeMap<String, usize>,
}

impl Log {
    pub const EACH: usize = 50;

    pub fn note(&mut self, client: &str, line: String) {
        let count = self.by_client.entry(client.to_owned()).or_default();
        *count += 1;
        if *count <= Log::EACH {
            self.lines.push(line);
        }
    }

    pub fn take(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut self.by_client);
        for (client, count) in all.into_iter().filter(|(_, count)| *count > Log::EACH) {
            self.lines.push(format!("client {client}: {} more lines at the same time", count - Log::EACH));
        }
        std::mem::take(&mut self.lines)
    }
}
