//! A connection on which the client has to begin.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The first bytes that a client has to send in time: the length of HTTP/2's preface. Until they
/// are there, or differ from it, nothing else limits the wait for the client. Any HTTP/1 request
/// that this server answers is at least as long.
const PREFACE: usize = 24;

/// A connection on which the client has to begin in time, or its read fails.
pub(super) struct Begun<S> {
    stream: S,
    /// The number of these bytes that are still missing.
    missing: usize,
    /// `None` once they are there.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Begun<S> {
    pub(super) fn within(patience: Duration, stream: S) -> Self {
        Self {
            stream,
            missing: PREFACE,
            deadline: Some(Box::pin(sleep(patience))),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Begun<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(deadline) = &mut self.deadline else {
            return read;
        };
        if read.is_pending() {
            return deadline
                .as_mut()
                .poll(context)
                .map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        self.missing = self.missing.saturating_sub(buffer.filled().len() - before);
        if self.missing == 0 {
            self.deadline = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Begun<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
