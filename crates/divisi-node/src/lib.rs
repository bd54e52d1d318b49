//! Client and server of the three: requests, agreement on inputs, keys, release.
