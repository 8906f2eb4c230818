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

/// A change of a good message on its way: some bytes are lost, and others are put in their place.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    at: usize,
    lost: usize,
    put: Vec<u8>,
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
    let lost = prop_oneof![3 => 0..2_usize, 1 => 0..40_usize];
    let put = prop_oneof![vec(any::<u8>(), 0..2), vec(any::<u8>(), 0..12)];
    (any::<usize>(), lost, put).prop_map(|(at, lost, put)| Change { at, lost, put })
}

pub(crate) fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for Change { at, lost, put } in changes {
        let at = at % (bytes.len() + 1);
        let end = bytes.len().min(at + lost);
        bytes.splice(at..end, put.iter().copied());
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
