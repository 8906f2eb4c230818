//! Bazel runs its actions itself, and stores their results in the farm's cache.

use super::bazel::{Bazel, LOCAL};
use super::c_program;
use super::farm::Farm;

#[test]
fn what_was_built_once_is_not_built_again() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    for protocol in ["http", "grpc"] {
        let farm = Farm::start(&[]);
        let cache = format!("--remote_cache={protocol}://{}", farm.address);
        let options = [&*cache, LOCAL[0], LOCAL[1]];
        bazel.clean();
        let build = bazel.build(c_program::TARGET, &options);
        build.assert_all("local", c_program::ACTIONS);
        assert_eq!(farm.metric("result_hits", None), 0);
        bazel.clean();
        let again = bazel.build(c_program::TARGET, &options);
        again.assert_all("remote cache hit", c_program::ACTIONS);
        assert_eq!(farm.metric("result_hits", None), c_program::ACTIONS);
    }
}
