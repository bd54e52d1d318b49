//! The place of Kubernetes KMS v2 on a unix socket: Status, Encrypt and Decrypt over gRPC, by the same
//! [`Backend`](crate::backend::Backend). It is not there yet.
