//! Two coordinators on one shared storage of any kind.

use filch_build::digest::Digest;
use tonic::Code;

use crate::client::{refused, with_output};
use crate::server::{TestServer, noise, place};

/// Changes behind the storage's back, by the name of an entry.
pub(crate) trait Behind {
    fn remove(&self, name: &str);
    fn replace(&self, name: &str, bytes: &[u8]);
}

/// Checks that each coordinator has what the other stores.
pub(crate) async fn share_a_cache<R>(
    one: &TestServer<R>,
    two: &TestServer<R>,
    behind: &impl Behind,
) {
    // Several parts, of which the last is not full.
    let large = noise((20 << 20) + 1, 1);
    let digest = one.store(&large).await;
    let absent = Digest::of(b"absent");
    assert_eq!(two.missing(vec![digest, absent]).await.unwrap(), [absent]);
    assert!(two.read(digest).await.unwrap() == large);
    let part = two.read_part(digest, 9 << 20, 10).await.unwrap();
    assert!(part == large[9 << 20..][..10]);
    let small = two.store(b"small").await;
    assert_eq!(one.read(small).await.unwrap(), b"small");
    let action = Digest::of(b"an action");
    let result = with_output("out", small);
    one.learn(action, &result).await.unwrap();
    assert_eq!(two.known(action).await.unwrap(), result);
    // The storage may forget anything: without its blob, the result is none.
    let name = |digest| format!("blobs/{}", place(digest));
    behind.remove(&name(small));
    let answer = one.known(action).await;
    refused(answer, Code::NotFound, "not all of its blobs");
    // Wrong bytes from somebody else are not served.
    let mut wrong = large.clone();
    wrong[3 << 20] ^= 1;
    behind.replace(&name(digest), &wrong);
    refused(two.read(digest).await, Code::DataLoss, "are those of");
    assert!(!one.has(digest).await);
}
