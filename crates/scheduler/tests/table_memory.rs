//! The memory of its queue that an ended process keeps.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use filch_process_state::Reason;
use filch_scheduler::table::{Item, Placement, Table};
use filch_scheduler::{Event, Node, Outcome, Protocol};
use filch_slab::Batch;

enum Model {}

impl Protocol for Model {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

struct Counting;

thread_local! {
    /// The bytes that this thread has allocated and not freed.
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as i64);
        // SAFETY: as ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as i64);
        // SAFETY: as ours.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_queue_of_an_ended_process_keeps_no_block() {
    let table = Table::<Model>::new(Node::default());
    let slot = table.occupy(Placement::default()).unwrap();
    let pid = table.pid_of(slot);
    slot.state.submit().unwrap();
    slot.state.start().unwrap();
    let before = BYTES.get();
    for number in 0..1_000 {
        let claim = table.claim(pid, slot).unwrap();
        claim.fill(Item::Event(Event::Message(number)));
        let _ = table.wake(slot, Reason::Message);
    }
    assert!(BYTES.get() > before);
    slot.events.close();
    let mut batch = Batch::default();
    // SAFETY: this thread has made it Running, and ends it once.
    unsafe {
        table.complete(slot, drop);
        table.tell_into(slot, &mut batch, || Ok(Outcome::Output(())));
    }
    assert_eq!(BYTES.get(), before, "a handle is kept");
    table.give_back(&mut batch);
    // SAFETY: the handle's pin.
    let _ = unsafe { table.unpin(table.slot(pid.slot())) };
    assert_eq!(BYTES.get(), before);
}
