//! A web service: axum's router on hyper's connections, and a process that has the state.

use std::collections::HashMap;
use std::pin::pin;

use async_net::{TcpListener, TcpStream};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use filch_actors::prelude::*;
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
type Counter = (Handle<Visits>, Pid);

async fn visit(
    State((handle, counter)): State<Counter>,
    Path(page): Path<String>,
) -> Result<String, StatusCode> {
    let number = handle.ask(counter, |caller| Visit { page, caller }).await;
    let number = number.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(format!("visit {number}\n"))
}

/// Returns the pages, which ask the process `counter`.
pub fn router(handle: Handle<Visits>, counter: Pid) -> Router {
    Router::new()
        .route("/{page}", get(visit))
        .with_state((handle, counter))
}
// ANCHOR_END: router

// ANCHOR: serve
/// Serves the pages until it is asked to end.
///
/// # Errors
/// Those of the listener.
pub async fn serve(
    mut inbox: Inbox<Visits>,
    listener: TcpListener,
    pages: Router,
) -> std::io::Result<()> {
    while let Some(accepted) = unless_asked(&mut inbox, listener.accept()).await {
        let (socket, _) = accepted?;
        let pages = pages.clone();
        if inbox
            .handle()
            .spawn_with(|inbox| connection(inbox, socket, pages))
            .is_err()
        {
            break;
        }
    }
    Ok(())
}

/// Asked to end, it finishes the request that it has, and closes.
async fn connection(
    mut inbox: Inbox<Visits>,
    socket: TcpStream,
    pages: Router,
) -> hyper::Result<()> {
    let service = TowerToHyperService::new(pages);
    let served = http1::Builder::new().serve_connection(FuturesIo::new(socket), service);
    let mut served = pin!(served);
    match unless_asked(&mut inbox, served.as_mut()).await {
        Some(end) => end,
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    }
}
// ANCHOR_END: serve
