//! Blobs that travel compressed by Zstandard.

use std::io;

use async_compression::tokio::bufread::{ZstdDecoder, ZstdEncoder};
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio_util::io::{ReaderStream, StreamReader};
use tonic::Status;

use super::byte_stream::Sink;
use super::status::invalid;
use crate::storage::StorageError;

/// The most bytes of a piece, on either side.
const PIECE: usize = 256 << 10;

/// Compresses a blob.
pub(super) fn compress(
    pieces: impl Stream<Item = Result<Bytes, StorageError>>,
) -> impl Stream<Item = Result<Bytes, Status>> {
    let reader = StreamReader::new(pieces.map_err(io::Error::other));
    let pieces = ReaderStream::with_capacity(ZstdEncoder::new(reader), PIECE);
    pieces.map_err(|error| match error.downcast::<StorageError>() {
        Ok(error) => error.into(),
        Err(error) => Status::internal(error.to_string()),
    })
}

/// Makes a sink of compressed bytes, and the stream of what they were.
pub(super) fn decompress() -> (Compressed, impl Stream<Item = Result<Bytes, Status>>) {
    let (pipe, other) = duplex(PIECE);
    let mut decoder = ZstdDecoder::new(BufReader::new(other));
    decoder.multiple_members(true);
    let pieces = ReaderStream::with_capacity(decoder, PIECE);
    let pieces = pieces.map_err(|error| invalid(format_args!("not zstd: {error}")));
    (Compressed { pipe, taken: 0 }, pieces)
}

/// Takes compressed bytes.
#[derive(Debug)]
pub(super) struct Compressed {
    pipe: DuplexStream,
    taken: u64,
}

impl Sink for Compressed {
    fn taken(&self) -> u64 {
        self.taken
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), Status> {
        self.taken += bytes.len() as u64;
        let written = self.pipe.write_all(&bytes).await;
        // The stream's end says more.
        written.map_err(|_| invalid("bytes after the end of the blob"))
    }
}
