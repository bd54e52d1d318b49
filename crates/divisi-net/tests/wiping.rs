//! Messages leave no trace in memory that this crate freed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "it/parties/mod.rs"]
mod parties;

use divisi_net::{Mesh, Options, PartyId, step};
use parties::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The body of a whole frame, and of a frame with its header as it waits to be sent. TLS has smaller buffers.
const BODY: usize = 64 * 1024;
const QUEUED: usize = BODY + 20;
/// What the messages are made of.
const MARK: [u8; 16] = *b"share share here";

static FREED: AtomicUsize = AtomicUsize::new(0);
static WAITED: AtomicUsize = AtomicUsize::new(0);
static MARKED: AtomicUsize = AtomicUsize::new(0);

/// An allocator that looks at the memory that is freed.
struct Watch;

// SAFETY: all memory comes from `System` and goes back to it with the layout that it was asked for with.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if matches!(layout.size(), BODY | QUEUED) {
            // SAFETY: the block is still allocated, has this size, and was zeroed when it was allocated.
            let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
            FREED.fetch_add(1, Ordering::SeqCst);
            WAITED.fetch_add(usize::from(bytes.len() == QUEUED), Ordering::SeqCst);
            MARKED.fetch_add(usize::from(bytes.windows(MARK.len()).any(|w| w == MARK)), Ordering::SeqCst);
        }
        // SAFETY: the caller's promise about block and layout is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;

/// Sends more than sockets hold before anything is read, drops some unread, and receives the rest.
fn exchange(meshes: &[Mesh], body: &[u8], out: &mut [u8]) {
    let (first, second) = (meshes[0].open(1, 0).unwrap(), meshes[1].open(1, 0).unwrap());
    for _ in 0..200 {
        first.send(p(2), step!("x"), 1, body).unwrap();
    }
    for _ in 0..190 {
        second.recv(PartyId::P1, step!("x"), out).unwrap();
        assert!(out == body);
    }
    second.poison();
}

#[test]
fn bodies_are_wiped_before_they_are_freed() {
    let body = MARK.repeat(BODY / MARK.len());
    let mut out = vec![0; BODY];
    // The mark is found in memory that nobody wiped.
    drop(body.clone());
    assert_eq!(MARKED.swap(0, Ordering::SeqCst), 1);
    let options = Options { timeout: Duration::from_secs(20), ..Options::default() };
    for meshes in both(2, &options) {
        FREED.store(0, Ordering::SeqCst);
        exchange(&meshes, &body, &mut out);
        drop(meshes);
        assert!(FREED.load(Ordering::SeqCst) >= 190);
        assert_eq!(MARKED.load(Ordering::SeqCst), 0);
    }
    // Sockets did not take all at once.
    assert!(WAITED.load(Ordering::SeqCst) > 0);
}
