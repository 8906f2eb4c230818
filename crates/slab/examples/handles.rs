//! A table of sessions, and handles that outlive them: generations refuse the late ones.
//!
//! A handle is an index and a generation, copied freely. Its slot is reused by later sessions all
//! the while. The lesson: pin before use, and let the thread that is told `Last` clean and release
//! the slot.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use filch_slab::{AllocateError, Occupancy, Slab, Stale, Unpinned};

/// A slot. Each session writes its number into the slot before it announces itself.
#[derive(Default)]
struct Session {
    occupancy: Occupancy,
    number: AtomicU64,
}

#[derive(Clone, Copy)]
struct Handle {
    index: u32,
    generation: u32,
}

struct Table {
    slots: Slab<Session>,
}

impl Table {
    fn new() -> Self {
        Self {
            slots: Slab::with_limit(|_index| Session::default(), 8),
        }
    }

    fn slot(&self, index: u32) -> &Session {
        self.slots.get(index).expect("the index was allocated")
    }

    fn open(&self, number: u64) -> Result<Handle, AllocateError> {
        let index = self.slots.allocate()?;
        let slot = self.slot(index);
        // ORDERING: Relaxed: `occupy` publishes it to every visitor that pins this generation.
        slot.number.store(number, Ordering::Relaxed);
        // The occupant's pin. From here on its handle is good.
        let generation = slot.occupancy.occupy(1);
        Ok(Handle { index, generation })
    }

    /// Ends the session: its handle is no longer good once the last visitor has left.
    fn close(&self, handle: Handle) {
        let unpinned = self.slot(handle.index).occupancy.unpin();
        self.settle(handle.index, unpinned);
    }

    /// Returns the number of the session that `handle` names, or says that it is gone.
    fn visit(&self, handle: Handle) -> Option<u64> {
        let slot = self.slot(handle.index);
        match slot.occupancy.pin(handle.generation) {
            Ok(()) => {
                // ORDERING: Relaxed: `pin` has acquired it.
                let number = slot.number.load(Ordering::Relaxed);
                self.settle(handle.index, slot.occupancy.unpin());
                Some(number)
            }
            // Even a refused visit held a pin for a moment, which may have become the last.
            Err(Stale(unpinned)) => {
                self.settle(handle.index, unpinned);
                None
            }
        }
    }

    /// Does the duty of a thread that has given back a pin.
    fn settle(&self, index: u32, unpinned: Unpinned) {
        match unpinned {
            Unpinned::Others => {}
            Unpinned::Last => {
                // ORDERING: Relaxed: `release` publishes it to the next owner of the index.
                self.slot(index).number.store(0, Ordering::Relaxed);
                self.slots.release(index);
            }
        }
    }
}

fn main() {
    const SESSIONS: u64 = 1_000;
    let table = Table::new();

    // One handle, kept for ever, while its slot goes through a thousand sessions.
    let late = table.open(1).expect("the table is empty");
    assert_eq!(table.visit(late), Some(1));
    table.close(late);

    let start = Barrier::new(2);
    let refused = thread::scope(|scope| {
        let visitor = scope.spawn(|| {
            start.wait();
            (0..SESSIONS)
                .filter(|_| table.visit(late).is_none())
                .count()
        });
        start.wait();
        for number in 2..SESSIONS {
            // A visitor may delay the release of a slot: then another one is used.
            let handle = table.open(number).expect("one session at a time");
            assert_eq!(table.visit(handle), Some(number), "a stranger's session");
            table.close(handle);
        }
        visitor.join().expect("the visitor does not panic")
    });
    assert_eq!(refused as u64, SESSIONS, "every late visit is refused");
    println!(
        "{SESSIONS} late visits refused; {} slot(s) served {} sessions",
        table.slots.high_water(),
        SESSIONS - 1
    );
}
