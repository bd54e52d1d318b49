//! What a call tells the log of its request.

use std::sync::{Arc, Mutex, PoisonError};

/// The longest name of a request that the log takes over.
const LONGEST_UID: usize = 64;

/// What a call tells the log: the name of the request, if its client gave it a sensible one.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Option<String>>>);

impl Told {
    pub fn name(&self, uid: &str) {
        let sensible = (1..=LONGEST_UID).contains(&uid.len())
            && uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if sensible {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(uid.to_owned());
        }
    }

    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_requests_are_short_words() {
        for (uid, sensible) in [
            ("a-1", true),
            ("", false),
            ("a b", false),
            ("\"", false),
            (&"a".repeat(65), false),
            (&"b".repeat(64), true),
        ] {
            let told = Told::default();
            told.name(uid);
            assert_eq!(told.take(), sensible.then(|| uid.to_owned()));
        }
    }
}
