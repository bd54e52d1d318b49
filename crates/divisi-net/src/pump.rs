//! The signal that wakes the pump ([`crate::push`]).

use crate::world::lock;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long bytes that the kernel did not take may wait before the pump hands them to it.
const STUCK: Duration = Duration::from_millis(1);

/// Wakes the pump's thread, which hands queued bytes to the kernel while all strands compute.
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

    /// Waits until there are queued bytes, and a little longer; false at the end of the mesh.
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
