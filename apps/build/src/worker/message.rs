//! Messages that are blobs.

use prost::Message;

use super::access::Access;
use super::error::RunError;
use crate::digest::Digest;

/// The most bytes of a message that a worker reads.
const MOST: u64 = 64 << 20;

/// Reads a message; errors call it `kind`.
pub(super) async fn read<M: Message + Default>(
    digest: Digest,
    kind: &str,
    access: &impl Access,
) -> Result<M, RunError> {
    if digest.size() > MOST {
        let why = format!("the {kind} {digest} has more than {MOST} bytes");
        return Err(RunError::Refused(why));
    }
    let bytes = access.read(digest).await?;
    M::decode(bytes)
        .map_err(|error| RunError::Refused(format!("the blob {digest} is not a {kind}: {error}")))
}
