//! Messages from the wire: any bytes, and good messages that were changed on the way.

use bytes::{Buf, BufMut};
use futures_util::Stream;
use proptest::collection::vec;
use proptest::prelude::*;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};

/// Sends and takes bytes as they are.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut bytes = vec![0; from.remaining()];
        from.copy_to_slice(&mut bytes);
        Ok(Some(bytes))
    }
}

/// A change of a good message on its way.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), 1..90_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

pub(crate) fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        let index = |at: usize| if length == 0 { 0 } else { at % length };
        match change {
            Change::Set(at, byte) if length > 0 => bytes[index(*at)] = *byte,
            Change::Flip(at, bit) if length > 0 => bytes[index(*at)] ^= 1 << bit,
            Change::Insert(at, more) => {
                let at = index(*at);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = index(*at);
                bytes.drain(at..(at + count).min(length));
            }
            Change::Repeat(at, count) => {
                let at = index(*at);
                let part = bytes[at..(at + count).min(length)].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {}
        }
    }
    bytes
}

/// Calls the method with messages that may be of other types; the answers come as bytes.
pub(crate) async fn open(
    channel: Channel,
    method: &str,
    messages: impl Stream<Item = Vec<u8>> + Send + 'static,
) -> Result<Streaming<Vec<u8>>, Status> {
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.unwrap();
    let path = PathAndQuery::try_from(method).unwrap();
    let answers = grpc.streaming(Request::new(messages), path, Raw).await?;
    Ok(answers.into_inner())
}

/// Checks that this may be the answer to a bad message.
pub(crate) fn check_status(status: &Status) -> Result<(), TestCaseError> {
    // Bytes that are not protobuf, or no message at all, are an internal error to tonic.
    let text = status.message();
    let no_message =
        text.contains("failed to decode Protobuf message") || text == "Missing request message.";
    // A handler that panics resets its stream, which its client sees as `Cancelled`.
    let bad = matches!(
        status.code(),
        Code::Internal | Code::Unknown | Code::Unavailable | Code::Cancelled
    );
    prop_assert!(!bad || no_message, "{}", status);
    Ok(())
}
