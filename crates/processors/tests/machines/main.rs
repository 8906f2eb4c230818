//! Blocking calls, guests, bound tasks, resizes, watching, sources, idle priority and quiescence on
//! real threads.
//!
//! No sleeps: a thread that has to wait for another waits on a barrier or a channel, and a test
//! that fails may hang, until the watchdog of the test runner.

mod blocking;
mod bound;
mod dump;
mod guests;
mod guests_and_others;
mod hooks;
mod pool;
mod quiescence;
mod refused;
mod reserve;
mod resize;
mod running;
mod short_external_tasks;
mod source;
mod stopping;
mod threads;
mod watch;
