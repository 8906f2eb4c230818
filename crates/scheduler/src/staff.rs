//! Which threads are ours, so that none of them waits for another one to end.
//!
//! Who owns whom is the user's affair: a handler may have the last
//! [`Timers`](crate::timers::Timers), one of these may have the scheduler, and drop it. Then its
//! workers end, the last of them drops the handler, and that waits for the thread of timers. If
//! that one waited for the workers, both would wait for ever; and so in any longer ring.
//!
//! So whoever has to wait for threads to end asks here first, and if its own is one of ours, it
//! leaves them to themselves: they end when they get there. Only two kinds of threads wait, then:
//! the user's own, and a worker that drops the handler, which is none of ours any more by then. It
//! is waited for by somebody who has dropped the one owner of its scheduler; so a ring of such
//! waits would be a ring of owners, which nobody could have dropped from outside.

use std::cell::Cell;

filch_sync::thread_local! {
    /// On a thread that one of the services here has made.
    static SERVES: Cell<bool> = Cell::new(false)
}

/// The calling thread is a service's, for as long as it lives.
pub(crate) fn enlist() {
    SERVES.with(|serves| serves.set(true));
}

/// Whether the calling thread is one of ours: a service's, timers', or a worker of any scheduler.
pub(crate) fn is_ours() -> bool {
    SERVES.with(Cell::get) || filch_timers::is_timer_thread() || filch_processors::is_machine()
}
