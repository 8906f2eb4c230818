//! Which threads are filch's own, so that none of them waits for another one to end.
//!
//! A call of one scheduler's worker may own another scheduler, and drop it, while a worker of that
//! one drops the first one's owner. If both waited for the other's workers, they would do so until
//! the time of their shutdowns is over.
//!
//! So a thread that shuts a scheduler down asks here first, and if it is one of ours, it does not
//! wait for the workers: they leave by themselves. The destructors of the services wait for nothing
//! anyway. Only two kinds of threads wait, then: the user's, and a worker or closing thread that
//! drops a handler or hooks, which belongs to no pool any more.

/// Whether the calling thread is a timers', a blocking pool's, or a worker of any scheduler.
pub fn is_ours() -> bool {
    filch_blocking::is_blocking_thread()
        || filch_timers::is_timer_thread()
        || filch_processors::is_machine()
}
