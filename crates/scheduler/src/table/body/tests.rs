//! The memory of an event, a signal and a slot.

use super::{Item, Signal};
use crate::process::event::Event;
use crate::protocol::Protocol;
use crate::table::slot::Slot;

enum Small {}

impl Protocol for Small {
    type Input = ();
    type Message = u64;
    type Command = u64;
    type Reply = u64;
    type Output = u64;
    type Error = String;
}

/// Signals add no byte to an event. A slot holds a small process, its exit, its queue, its limit
/// and its stats, beside the queue's first block.
#[test]
fn sizes() {
    assert_eq!(size_of::<Event<Small>>(), 32);
    assert_eq!(size_of::<Item<Small>>(), size_of::<Event<Small>>());
    assert_eq!(size_of::<Signal<Small>>(), 16);
    assert_eq!(size_of::<Slot<Small>>(), 160);
}
