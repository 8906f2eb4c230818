//! A server on filch's futures: [`Server`] accepts and keeps its connections, [`echo`] and [`web`]
//! are what a connection does.
//!
//! The sockets are `async-net`'s, which has a thread of its own that waits for the system; any
//! other crate whose futures need no runtime of their own will do.

#![forbid(unsafe_code)]

pub mod echo;
mod server;
pub mod web;

pub use server::Server;

use filch_actors::Inbox;
use filch_scheduler::{Event, Protocol};
use futures_lite::future;

// ANCHOR: unless
/// Waits for a future, unless the function is asked to end: then `None`. That is looked at first,
/// and once in each turn: a future that is always ready does not get ahead of it.
async fn unless_asked<P: Protocol, T>(
    inbox: &mut Inbox<P>,
    ready: impl Future<Output = T>,
) -> Option<T> {
    future::yield_now().await; // an inbox gets its events between two turns
    let asked = async {
        while !matches!(inbox.next().await, Event::Cancel(_)) {}
        None
    };
    future::or(asked, async { Some(ready.await) }).await
}
// ANCHOR_END: unless
#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use filch_actors::dynamic::Dynamic;
    use filch_actors::prelude::*;
    use filch_scheduler::Scheduler;

    use super::unless_asked;

    /// A function is asked in the middle of a turn. It sees that in the next one, although what it
    /// waits for is always ready.
    #[test]
    fn an_ask_comes_before_what_is_always_ready() {
        let scheduler = Scheduler::<Dynamic>::builder().workers(1).build().unwrap();
        let meeting = Arc::new(Barrier::new(2));
        let in_turn = Arc::clone(&meeting);
        let busy = scheduler.spawn_with(move |mut inbox| async move {
            in_turn.wait();
            in_turn.wait();
            let mut missed = 0;
            while missed < 100 && unless_asked(&mut inbox, async {}).await.is_some() {
                missed += 1;
            }
            missed
        });
        let busy = busy.unwrap();
        meeting.wait();
        scheduler.cancel(busy.pid(), "that is all").unwrap();
        meeting.wait();
        assert_eq!(busy.join().unwrap(), 0);
    }
}
