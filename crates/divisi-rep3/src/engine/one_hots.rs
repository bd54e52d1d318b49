//! One-hot vectors ([`crate::ohv`]) that wait for the layer of S-boxes that takes them.

use crate::origin::EngineId;
use crate::record::Record;
use crate::sbox::Protocol;
use crate::wire::Shape;

/// The one-hot vectors of one layer of lookups. They cannot be copied, and the layer takes them by value.
pub struct OneHots {
    pub(crate) made: Record,
    /// The S-boxes that they are for.
    pub(crate) protocol: Protocol,
    /// The number of vectors that this strand made before them.
    pub(crate) number: u64,
    /// The strand and the security under which they were verified.
    pub(crate) engine_id: EngineId,
}

impl OneHots {
    /// Whether they were made for a layer of this shape, in the strand and with the security of that engine,
    /// for this protocol.
    pub(crate) fn fit(&self, engine_id: EngineId, protocol: Protocol, shape: &Shape) -> bool {
        if self.engine_id != engine_id {
            return false;
        }
        self.protocol == protocol && self.made.lanes() == shape.0
    }
}
