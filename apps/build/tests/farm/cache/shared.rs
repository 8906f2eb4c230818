//! Two coordinators on one shared storage of any kind.

use filch_build::digest::Digest;
use filch_build::reapi::{
    ActionResult, GetActionResultRequest, OutputFile, UpdateActionResultRequest,
};
use tonic::Code;

use crate::server::{TestServer, noise, refused};

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
    assert!(two.has(digest).await && !two.has(Digest::of(b"absent")).await);
    assert!(two.read(digest).await.unwrap() == large);
    let part = two.read_part(digest, 9 << 20, 10).await.unwrap();
    assert!(part == large[9 << 20..][..10]);
    let small = two.store(b"small").await;
    assert_eq!(one.read(small).await.unwrap(), b"small");
    let action = Digest::of(b"an action");
    let result = ActionResult {
        output_files: vec![OutputFile {
            path: "out".into(),
            digest: Some(small.into()),
            ..Default::default()
        }],
        ..Default::default()
    };
    let request = UpdateActionResultRequest {
        action_digest: Some(action.into()),
        action_result: Some(result.clone()),
        ..Default::default()
    };
    one.actions().update_action_result(request).await.unwrap();
    let request = GetActionResultRequest {
        action_digest: Some(action.into()),
        ..Default::default()
    };
    let answer = two.actions().get_action_result(request.clone()).await;
    assert_eq!(answer.unwrap().into_inner(), result);
    // The storage may forget anything: without its blob, the result is none.
    let name = |digest: Digest| {
        let hex = digest.hex();
        format!("blobs/{}/{hex}", &hex[..2])
    };
    behind.remove(&name(small));
    let answer = one.actions().get_action_result(request).await;
    refused(answer, Code::NotFound, "not all of its blobs");
    // Wrong bytes from somebody else are not served.
    let mut wrong = large.clone();
    wrong[3 << 20] ^= 1;
    behind.replace(&name(digest), &wrong);
    refused(two.read(digest).await, Code::DataLoss, "are those of");
    assert!(!one.has(digest).await);
}
