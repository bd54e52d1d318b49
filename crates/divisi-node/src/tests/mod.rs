//! Three servers in threads over TLS, clients honest and not.

mod another_key;
mod attacks;
mod clients;
mod crowd;
mod digest;
mod disks;
mod faults;
mod garbled;
mod gcm;
mod harness;
mod interrupted;
mod keys;
mod lengths;
mod liars;
mod modes;
mod orders;
mod own_process;
mod pool;
mod press;
mod reload;
mod rogue;
mod status;
mod stores;
mod streams;
mod versions;
mod waiting;

pub(crate) use disks::TestDisk;
pub(crate) use gcm::open;
pub(crate) use harness::{Clock, ServersHarness, ahead};
