//! Messages that are blobs.

use prost::Message;

use super::access::Access;
use super::error::RunError;
use crate::digest::Digest;
use crate::reapi;

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

/// Reads the digest in a field that must be there.
pub(super) fn blob(digest: Option<&reapi::Digest>, of: &str) -> Result<Digest, RunError> {
    let digest =
        digest.ok_or_else(|| RunError::Refused(format!("the digest of {of} is missing")))?;
    Digest::try_from(digest)
        .map_err(|error| RunError::Refused(format!("the digest of {of} is wrong: {error}")))
}
