//! The mutant of A11: it verifies all groups except the last.

use crate::record::{Group, Visit};
use crate::relation::Weighed;

/// Visits all groups except the last.
pub(super) fn all_but_the_last(all: impl Fn(&mut dyn Visit), visit: &mut dyn Visit) {
    let mut counted = AllBut { left: 0, seen: 0, visit };
    all(&mut counted);
    counted.left = counted.seen.saturating_sub(1);
    all(&mut counted);
}

/// Visits the first `left` groups, and counts all.
struct AllBut<'a> {
    left: usize,
    seen: usize,
    visit: &'a mut dyn Visit,
}

impl Visit for AllBut<'_> {
    fn visit(&mut self, relation: &Weighed, group: &Group<'_>) {
        self.seen += 1;
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.visit.visit(relation, group);
        }
    }
}
