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

use std::future::Future;

use filch_actors::Inbox;
use filch_scheduler::{Event, Protocol};
use futures_lite::future;

// ANCHOR: unless
/// Waits for a future, unless the function is asked to end before it is ready: then `None`, and the
/// future is dropped.
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
