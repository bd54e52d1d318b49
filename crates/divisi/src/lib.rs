//! Threshold symmetric cryptography among machines that trust nobody.
