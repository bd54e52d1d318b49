//! Nets of what every session does, whatever protocol it runs (docs/nets.md).

mod draws;
