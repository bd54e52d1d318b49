//! Whose turn it is: the client that was served longest ago goes first, however many connections and requests
//! another client has.

use std::collections::HashMap;

/// When each client was served last, by its name in the configuration.
#[derive(Default)]
pub(crate) struct Turns {
    count: u64,
    served: HashMap<String, u64>,
}

/// How many clients are remembered: more than can be connected.
const REMEMBERED: usize = 1024;

impl Turns {
    /// A client was served.
    pub fn serve(&mut self, client: &str) {
        self.count += 1;
        self.served.insert(client.to_owned(), self.count);
        if self.served.len() > REMEMBERED {
            // who was served longest ago is first anyway
            if let Some(oldest) =
                self.served.iter().min_by_key(|(_, last)| **last).map(|(name, _)| name.clone())
            {
                self.served.remove(&oldest);
            }
        }
    }

    /// The client with the smaller number is served sooner.
    pub fn of(&self, client: &str) -> u64 {
        self.served.get(client).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_served_longest_ago_goes_first() {
        let mut turns = Turns::default();
        for client in ["a", "b", "a"] {
            turns.serve(client);
        }
        let mut order = ["a", "b", "c"];
        order.sort_by_key(|client| turns.of(client));
        assert_eq!(order, ["c", "b", "a"]);
        (0..2 * REMEMBERED).for_each(|i| turns.serve(&i.to_string()));
        assert_eq!(turns.served.len(), REMEMBERED);
    }
}
