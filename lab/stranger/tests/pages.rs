//! The program of each page, as build.rs found it there.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
