//! A farm that wants a token.

use std::fs;

use crate::bazel::Bazel;
use crate::farm::{Farm, TOKEN};

/// One action, whose output nothing else has.
fn write(bazel: &Bazel, text: &str) {
    let rule = format!("genrule(name = \"make\", outs = [\"out\"], cmd = \"echo {text} > $@\")\n");
    fs::write(bazel.workspace().join("BUILD"), rule).unwrap();
    fs::write(bazel.workspace().join("WORKSPACE"), "").unwrap();
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

    // This Bazel asks what the server can do without its headers, so that no token helps it: newer
    // ones send them. moon is the client by gRPC that is let in.
    write(&bazel, "one");
    let cache = format!("--remote_cache=grpc://{}", farm.address);
    let refused = bazel.build("//:make", &[&cache]);
    assert!(!refused.status.success(), "{}", refused.log);
    let why = "UNAUTHENTICATED: a token is needed, and none or a wrong one was sent";
    assert!(refused.log.contains(why), "{}", refused.log);

    // To an HTTP cache, Bazel sends the password of its URL. It goes on without a cache that
    // refuses it.
    let local = |password: &str| {
        let cache = format!("--remote_cache=http://bazel:{password}@{}", farm.address);
        let strategies = ["--spawn_strategy=local", "--genrule_strategy=local"];
        bazel.build("//:make", &[&*cache, strategies[0], strategies[1]])
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
