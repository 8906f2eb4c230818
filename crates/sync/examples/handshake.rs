//! "Either you see me or I see you": two threads each store, and then look at the other's store.
//!
//! The same lines run on std here, under loom with `--cfg loom` inside a model, and under shuttle.
//!
//! `cargo run -p filch-sync --features std --example handshake`

use filch_sync::atomic::{AtomicBool, Ordering, fence};
use filch_sync::{Arc, CachePadded, thread};

struct Flags {
    first: CachePadded<AtomicBool>,
    second: CachePadded<AtomicBool>,
}

/// Sets its own flag, and returns whether the other one is set.
fn announce_and_look(own: &AtomicBool, other: &AtomicBool) -> bool {
    // ORDERING: Relaxed, both accesses: the fence orders them.
    own.store(true, Ordering::Relaxed);
    // ORDERING: partner of itself on the other thread. One of the two fences comes first in their
    // single order, and the thread behind the other one sees its flag. Acquire and Release would
    // let both look before either flag has arrived.
    fence(Ordering::SeqCst);
    other.load(Ordering::Relaxed)
}

fn main() {
    for round in 0..1_000 {
        let flags = Arc::new(Flags {
            first: CachePadded::new(AtomicBool::new(false)),
            second: CachePadded::new(AtomicBool::new(false)),
        });
        let partner = thread::spawn({
            let flags = Arc::clone(&flags);
            move || announce_and_look(&flags.second, &flags.first)
        });
        let seen = announce_and_look(&flags.first, &flags.second);
        let by_partner = partner.join().expect("the partner does not panic");
        assert!(seen || by_partner, "round {round}: both missed the other");
    }
    println!("in a thousand rounds, at least one saw the other");
}
