//! An echo.

// ANCHOR: echo
use std::io;
use std::pin::pin;

use async_net::TcpStream;
use filch_actors::{Inbox, dynamic::Dynamic};
use futures_lite::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, future};

use crate::unless_asked;

/// Repeats what comes, and fails if the connection does. Asked to end, it repeats what has arrived,
/// a buffer at most, and waits for nothing.
pub async fn echo(mut inbox: Inbox<Dynamic>, socket: TcpStream) {
    let mut repeated = pin!(repeat(socket));
    let end = match unless_asked(&mut inbox, repeated.as_mut()).await {
        None => future::poll_once(repeated).await,
        end => end,
    };
    if let Some(Err(error)) = end {
        inbox.fail(error);
    }
}

async fn repeat(mut socket: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while let length @ 1.. = socket.read(&mut buffer).await? {
        socket.write_all(&buffer[..length]).await?;
        future::yield_now().await; // else one poll lasts as long as a peer sends
    }
    Ok(())
}
// ANCHOR_END: echo
#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};
    use futures_lite::io::Cursor;

    use super::repeat;

    /// A socket that is always ready: two buffers, of which the first is repeated over the second.
    #[test]
    fn a_poll_repeats_one_buffer() {
        let mut repeated = Box::pin(repeat(Cursor::new(vec![0; 8192])));
        assert!(block_on(poll_once(&mut repeated)).is_none());
        assert!(block_on(repeated).is_ok());
    }
}
