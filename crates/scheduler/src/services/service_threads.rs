//! Which threads are filch's own, so that none of them waits for another one to end.
//!
//! A handler may have the last [`Timers`](crate::timers::Timers), and a call of these may own the
//! scheduler, and drop it. Then its workers end, the last of them drops the handler, and that waits
//! for the thread of the timers. If that thread waited for the workers, both would wait for ever.
//!
//! So a thread that would wait for others to end asks here first, and if it is one of ours, it does
//! not wait: they end by themselves. Only two kinds of threads wait, then: the user's, and a worker
//! that drops the handler, which has left its pool by then. The thread that waits for that worker
//! has dropped the one owner of its scheduler; so a ring of such waits would be a ring of owners,
//! which nothing outside could have dropped.

/// Whether the calling thread is a timers', a blocking pool's, or a worker of any scheduler.
pub(crate) fn is_ours() -> bool {
    filch_blocking::is_blocking_thread()
        || filch_timers::is_timer_thread()
        || filch_processors::is_machine()
}
