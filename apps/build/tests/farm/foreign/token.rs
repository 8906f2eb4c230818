//! A farm that requires a token.

use super::bazel::{Bazel, LOCAL};
use super::farm::{Farm, TOKEN};

/// Writes one action with a unique output.
fn write(bazel: &Bazel, text: &str) {
    let command = format!("echo {text} > $@");
    bazel.write(&format!(
        "genrule(name = \"make\", outs = [\"out\"], cmd = {command:?})\n"
    ));
}

#[test]
fn a_wrong_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let farm = Farm::with_token(folder.path(), &[]);
    for (token, expected) in [(None, 401), (Some("wrong"), 401), (Some(TOKEN), 200)] {
        for path in ["/status", "/metrics"] {
            assert_eq!(farm.get(path, token).0, expected, "{path} with {token:?}");
        }
    }
    let Some(bazel) = Bazel::find() else { return };

    // This version of Bazel asks for the server's capabilities without its headers, so no token
    // helps; newer ones send them. moon is the client that gets in by gRPC.
    write(&bazel, "one");
    let cache = format!("--remote_cache=grpc://{}", farm.address);
    let refused = bazel.build("//:make", &[&cache]);
    assert!(!refused.status.success(), "{}", refused.log);
    let why = "UNAUTHENTICATED: a token is needed, and none or a wrong one was sent";
    assert!(refused.log.contains(why), "{}", refused.log);

    // To an HTTP cache, Bazel sends the password in its URL. If the cache refuses it, Bazel goes on
    // without the cache.
    let local = |password: &str| {
        let cache = format!("--remote_cache=http://bazel:{password}@{}", farm.address);
        bazel.build("//:make", &[&*cache, LOCAL[0], LOCAL[1]])
    };
    write(&bazel, "two");
    let written = farm.metric("blobs_written", None);
    let refused = local("wrong");
    assert!(refused.log.contains("401"), "{}", refused.log);
    assert_eq!(farm.metric("blobs_written", None), written);
    bazel.clean();
    local(TOKEN).assert_all("local", 1);
    assert!(farm.metric("blobs_written", None) > written);
}
