//! For whom an engine computes.

use std::sync::Arc;

/// For whom something is computed: names that the engine only keeps and gives back, one for each part of the
/// work.
pub type Account = Arc<[String]>;
