//! An echo.

// ANCHOR: echo
use std::io;
use std::net::Shutdown;

use async_net::TcpStream;
use filch_actors::{Inbox, dynamic::Dynamic};
use futures_lite::{AsyncReadExt, AsyncWriteExt};

use crate::unless_asked;

/// Repeats what comes, and fails if the connection does.
pub async fn echo(mut inbox: Inbox<Dynamic>, socket: TcpStream) {
    if let Err(error) = repeat(&mut inbox, socket).await {
        inbox.fail(error);
    }
}

/// Asked to end, it shuts down its reading side: what has arrived is repeated, then comes the end.
async fn repeat(inbox: &mut Inbox<Dynamic>, mut socket: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match unless_asked(inbox, socket.read(&mut buffer)).await {
            None => socket.shutdown(Shutdown::Read)?,
            Some(Ok(0)) => return Ok(()),
            Some(length) => socket.write_all(&buffer[..length?]).await?,
        }
    }
}
// ANCHOR_END: echo
