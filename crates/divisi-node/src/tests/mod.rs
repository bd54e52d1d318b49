//! Three servers in threads over TLS, clients honest and not.

mod attacks;
mod faults;
mod house;
mod keys;
mod liars;
mod text;
mod waiting;
