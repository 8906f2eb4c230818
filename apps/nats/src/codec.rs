//! Codecs: they turn messages into bytes, and bytes into messages.

use std::error::Error;

/// Turns messages into bytes, and back. Both nodes need the same codec.
///
/// ```
/// use std::str::Utf8Error;
///
/// struct Text;
///
/// impl filch_nats::Codec<String> for Text {
///     type Error = Utf8Error;
///
///     fn encode(&self, message: &String, bytes: &mut Vec<u8>) -> Result<(), Utf8Error> {
///         bytes.extend_from_slice(message.as_bytes());
///         Ok(())
///     }
///
///     fn decode(&self, bytes: &[u8]) -> Result<String, Utf8Error> {
///         std::str::from_utf8(bytes).map(str::to_owned)
///     }
/// }
/// ```
pub trait Codec<M>: Send + Sync + 'static {
    /// The reason that a message cannot be encoded, or bytes cannot be decoded.
    type Error: Error + Send + Sync + 'static;

    /// Appends the bytes of `message` to `bytes`, and leaves what is there. Called by the sender,
    /// which keeps the message, as it may have to be handed back. A panic goes to the sender.
    ///
    /// # Errors
    /// The message is handed back, as [unsendable](filch_scheduler::Undelivered::Unsendable).
    fn encode(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Decodes a message from bytes that another program has sent: they may be anything. Called on
    /// the transport's thread. A panic is contained, and counted as an error.
    ///
    /// # Errors
    /// The bytes are dropped, and counted as [undecodable](crate::Stats::undecodable).
    fn decode(&self, bytes: &[u8]) -> Result<M, Self::Error>;
}

/// A codec with boxed errors, which are only for people.
pub(crate) trait AnyCodec<M>: Send + Sync {
    fn encode(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), BoxedError>;
    fn decode(&self, bytes: &[u8]) -> Result<M, BoxedError>;
}

pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

impl<M, C: Codec<M>> AnyCodec<M> for C {
    fn encode(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), BoxedError> {
        Ok(Codec::encode(self, message, bytes)?)
    }

    fn decode(&self, bytes: &[u8]) -> Result<M, BoxedError> {
        Ok(Codec::decode(self, bytes)?)
    }
}

/// The [postcard](::postcard) format for messages that serde knows: small and fast, and without
/// names of fields, so both nodes must have the same type. Bytes left over are an error.
#[cfg(feature = "postcard")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Postcard;

#[cfg(feature = "postcard")]
impl<M: serde::Serialize + serde::de::DeserializeOwned> Codec<M> for Postcard {
    type Error = postcard::Error;

    fn encode(&self, message: &M, bytes: &mut Vec<u8>) -> Result<(), postcard::Error> {
        postcard::to_io(message, bytes).map(drop)
    }

    fn decode(&self, bytes: &[u8]) -> Result<M, postcard::Error> {
        match postcard::take_from_bytes(bytes)? {
            (message, []) => Ok(message),
            _ => Err(postcard::Error::DeserializeBadEncoding),
        }
    }
}

#[cfg(all(test, feature = "postcard"))]
mod tests {
    use super::{Codec, Postcard};

    #[test]
    fn postcard_appends_and_takes_all_of_it() {
        let mut bytes = vec![7];
        let message = (3_u64, "three".to_owned());
        Postcard.encode(&message, &mut bytes).unwrap();
        assert_eq!(bytes[0], 7);
        let read: (u64, String) = Postcard.decode(&bytes[1..]).unwrap();
        assert_eq!(read, message);
        bytes.push(0);
        let more: Result<(u64, String), _> = Postcard.decode(&bytes[1..]);
        assert_eq!(more, Err(postcard::Error::DeserializeBadEncoding));
    }
}
