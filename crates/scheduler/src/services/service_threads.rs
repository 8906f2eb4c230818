//! Which threads are filch's own, so that none of them waits for another one to end.
//!
//! What owns what is the user's affair: a handler may have the last
//! [`Timers`](crate::timers::Timers), and a call of these may own the scheduler, and drop it. Then
//! its workers end, the last of them drops the handler, and that waits for the thread of the timers.
//! If that thread waited for the workers, both would wait for ever; and so in any longer ring.
//!
//! So a thread that would wait for others to end asks here first, and if it is one of ours, it does
//! not wait: they end by themselves. Only two kinds of threads wait, then: the user's, and a worker
//! that drops the handler, which has left its pool by then. The thread that waits for that worker
//! has dropped the one owner of its scheduler; so a ring of such waits would be a ring of owners,
//! which nothing outside could have dropped.

use std::cell::Cell;

filch_sync::thread_local! {
    /// Set on a thread that one of the services here has made.
    static SERVES: Cell<bool> = Cell::new(false)
}

/// The calling thread is a service's, for its whole life.
pub(crate) fn enlist() {
    SERVES.with(|serves| serves.set(true));
}

/// Whether the calling thread is one of ours: a service's, a timers', or a worker of any scheduler.
pub(crate) fn is_ours() -> bool {
    SERVES.with(Cell::get) || filch_timers::is_timer_thread() || filch_processors::is_machine()
}
