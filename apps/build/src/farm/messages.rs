//! Checks of the messages from workers.

use tonic::{Code, Status};

use super::failure::Failure;
use crate::digest::Digest;
use crate::protocol::{self, Blobs, Hello, MOST_IN_MESSAGE};

/// The most slots of a worker.
pub(super) const MOST_SLOTS: usize = 1024;
/// The most bytes of a worker's name or address.
const LONGEST: usize = 256;

pub(super) fn check_hello(hello: &Hello) -> Result<(), Status> {
    let refused = |why: String| Err(Status::invalid_argument(why));
    let slots = hello.slots as usize;
    if slots == 0 || slots > MOST_SLOTS {
        return refused(format!("{slots} slots: 1 to {MOST_SLOTS} are allowed"));
    }
    if hello.name.len() > LONGEST || hello.address.len() > LONGEST {
        return refused(format!("a name or an address of more than {LONGEST} bytes"));
    }
    let address: Result<tonic::transport::Uri, _> = hello.address.parse();
    let is_http = |uri: &tonic::transport::Uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some()
    };
    if !hello.address.is_empty() && !address.is_ok_and(|uri| is_http(&uri)) {
        return refused(format!("{:?} is not http://host:port", hello.address));
    }
    Ok(())
}

pub(super) fn digests(blobs: Blobs) -> Result<Vec<Digest>, Status> {
    if blobs.blobs.len() > MOST_IN_MESSAGE {
        let most = format!("more than {MOST_IN_MESSAGE} blobs in a message");
        return Err(Status::resource_exhausted(most));
    }
    let digests = blobs.blobs.iter().map(Digest::try_from);
    let digests = digests.collect::<Result<_, _>>();
    digests.map_err(|error| Status::invalid_argument(error.to_string()))
}

pub(super) fn failure_of(failure: protocol::Failure) -> Result<Failure, Status> {
    let code = Code::from_i32(failure.code);
    if code == Code::Ok {
        return Err(Status::invalid_argument("a failure whose code is OK"));
    }
    if failure.missing.is_empty() {
        return Ok(Failure::new(code, failure.message));
    }
    let blobs = failure.missing;
    Ok(Failure::missing(digests(Blobs { blobs })?))
}
