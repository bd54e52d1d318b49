//! What wakes the pump ([`crate::push`]).

use crate::world::lock;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long what the kernel did not take may lie before the pump takes care of it.
const STUCK: Duration = Duration::from_millis(1);

/// Wakes the thread that pushes on what the kernel did not take while all strands compute.
#[derive(Default)]
pub(crate) struct Pump {
    state: Mutex<Order>,
    bell: Condvar,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Order {
    #[default]
    Sleep,
    Work,
    End,
}

impl Pump {
    pub fn wake(&self) {
        let mut state = lock(&self.state);
        if *state == Order::Sleep {
            *state = Order::Work;
            self.bell.notify_all();
        }
    }

    pub fn end(&self) {
        *lock(&self.state) = Order::End;
        self.bell.notify_all();
    }

    pub fn is_ended(&self) -> bool {
        *lock(&self.state) == Order::End
    }

    /// Waits until there is something to push on, and a little longer; false at the end.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        while *state == Order::Sleep {
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if *state == Order::End {
            return false;
        }
        state = self.bell.wait_timeout(state, STUCK).unwrap_or_else(PoisonError::into_inner).0;
        if *state == Order::End {
            return false;
        }
        *state = Order::Sleep;
        true
    }
}
