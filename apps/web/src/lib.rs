//! Two servers on filch's futures: [`echo`], and [`web`], a service whose state is a process.
//!
//! The sockets are `async-net`'s, which has a thread of its own that waits for the system; any
//! other crate whose futures need no runtime of its own will do.

#![forbid(unsafe_code)]

pub mod echo;
pub mod web;

use std::future::Future;

use filch_actors::Inbox;
use filch_scheduler::{Event, Protocol};
use futures_lite::future;

// ANCHOR: unless
/// Waits for a future, unless the function is asked to end before it is ready: then `None`, and the
/// future may be waited for again.
async fn unless_asked<P: Protocol, T>(
    inbox: &mut Inbox<P>,
    ready: impl Future<Output = T>,
) -> Option<T> {
    let asked = async {
        while !matches!(inbox.next().await, Event::Cancel(_)) {}
        None
    };
    future::or(async { Some(ready.await) }, asked).await
}
// ANCHOR_END: unless
