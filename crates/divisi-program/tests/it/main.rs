//! Programs and applications of the mixed engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod alike;
mod answers;
mod applications;
mod exact;
mod fuzz;
mod images;
mod nets;
mod openings;
mod parties;
mod random;
mod ranges;
mod receivers;
mod refusals;
mod rounds;
mod settings;
mod statements;
mod wide;
mod words;
