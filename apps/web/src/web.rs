//! A web service: axum's router on hyper's connections, and a process that has the state.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use async_net::TcpStream;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_actors::{Caller, Inbox};
use filch_scheduler::{Event, Handle, Pid, Protocol};
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;
use smol_hyper::rt::FuturesIo;

use crate::unless_asked;

// ANCHOR: state
/// The protocol of the processes here.
#[derive(Debug)]
pub enum Visits {}

/// A visit of a page; the caller gets its number.
#[derive(Debug)]
pub struct Visit {
    page: String,
    caller: Caller<u64>,
}

impl Protocol for Visits {
    type Input = ();
    type Message = Visit;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Counts visits until it is asked to end: the one owner of the numbers, and so no lock.
pub async fn counter(mut inbox: Inbox<Visits>) {
    let mut visits = HashMap::new();
    while let Event::Message(Visit { page, caller }) = inbox.next().await {
        let number = visits.entry(page).or_insert(0);
        *number += 1;
        caller.answer(*number);
    }
}
// ANCHOR_END: state

// ANCHOR: router
/// The process that counts, and the way to it.
#[derive(Clone, Debug)]
struct Counter {
    handle: Handle<Visits>,
    pid: Pid,
    timers: Timers,
}

async fn visit(
    State(counter): State<Counter>,
    Path(page): Path<String>,
) -> Result<String, StatusCode> {
    let asked = counter
        .handle
        .ask(counter.pid, |caller| Visit { page, caller });
    match counter.timers.timeout(Duration::from_secs(1), asked).await {
        Ok(Ok(number)) => Ok(format!("visit {number}\n")),
        Ok(Err(_gone)) => Err(StatusCode::SERVICE_UNAVAILABLE),
        Err(_too_late) => Err(StatusCode::GATEWAY_TIMEOUT),
    }
}

/// Returns the pages, which ask the process `counter`.
pub fn router(handle: Handle<Visits>, pid: Pid, timers: Timers) -> Router {
    let counter = Counter {
        handle,
        pid,
        timers,
    };
    Router::new()
        .route("/{page}", get(visit))
        .with_state(counter)
}
// ANCHOR_END: router

// ANCHOR: serve
/// Serves the pages over a connection. Asked to end, it finishes the request that it has.
pub async fn serve(mut inbox: Inbox<Visits>, socket: TcpStream, pages: Router) {
    let service = TowerToHyperService::new(pages);
    let served = http1::Builder::new().serve_connection(FuturesIo::new(socket), service);
    let mut served = pin!(served);
    let end = match unless_asked(&mut inbox, served.as_mut()).await {
        Some(end) => end,
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = end {
        inbox.fail(error);
    }
}
// ANCHOR_END: serve
