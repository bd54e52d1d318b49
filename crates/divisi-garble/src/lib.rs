//! Authenticated garbling among any number of parties, all but one of them possibly malicious (WRK17, ePrint 2017/189).
#![forbid(unsafe_code)]
