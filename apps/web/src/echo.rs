//! An echo server: a function that accepts, and one for each connection.

use std::io;
use std::net::Shutdown;

use async_net::{TcpListener, TcpStream};
use filch_actors::prelude::*;
use filch_actors::{Inbox, dynamic::Dynamic};
use futures_lite::{AsyncReadExt, AsyncWriteExt};

use crate::unless_asked;

// ANCHOR: accept
/// Accepts until it is asked to end.
///
/// # Errors
/// Those of the listener. One of a connection ends that connection alone.
pub async fn accept(mut inbox: Inbox<Dynamic>, listener: TcpListener) -> io::Result<()> {
    while let Some(accepted) = unless_asked(&mut inbox, listener.accept()).await {
        let (socket, _) = accepted?;
        let connection = |inbox| echo(inbox, socket);
        if inbox.handle().spawn_with(connection).is_err() {
            break; // the scheduler is shutting down
        }
    }
    Ok(())
}
// ANCHOR_END: accept

// ANCHOR: echo
/// Repeats what comes. Asked to end, it hears no more, and repeats what has arrived before.
async fn echo(mut inbox: Inbox<Dynamic>, mut socket: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match unless_asked(&mut inbox, socket.read(&mut buffer)).await {
            None => socket.shutdown(Shutdown::Read)?,
            Some(Ok(0)) => return Ok(()),
            Some(length) => socket.write_all(&buffer[..length?]).await?,
        }
    }
}
// ANCHOR_END: echo
