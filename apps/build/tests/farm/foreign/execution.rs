//! Bazel's actions run on the farm.

use std::process::Command;

use rustix::process::Signal;

use super::bazel::{Bazel, Build};
use super::c_program;
use super::farm::{Farm, SLOTS};
use crate::program::wait_for;

/// When half of the actions have ended, one of the two workers stops during its actions, and is
/// killed. The build never notices.
#[test]
fn a_build_survives_a_worker() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    let farm = Farm::start(&[]);
    let (doomed, _other) = (farm.worker("doomed"), farm.worker("other"));
    farm.wait_for("workers", None, 2);

    let build = bazel.start_on(&farm.address, c_program::TARGET);
    wait_for("half of the actions", || {
        (farm.metric("actions", None) >= c_program::ACTIONS / 2).then_some(())
    });
    doomed.signal(Signal::STOP);
    // It gets actions, and cannot finish any.
    farm.wait_for("worker_running_actions", Some(("worker", "doomed")), SLOTS);
    drop(doomed);
    let build = Build::of(build.wait_with_output());
    build.assert_all("remote", c_program::ACTIONS);
    assert_eq!(farm.metric("workers", None), 1);
    assert!(farm.metric("actions_retried", None) >= SLOTS);
    let succeeded = farm.metric("actions", Some(("outcome", "succeeded")));
    assert_eq!(succeeded, c_program::ACTIONS);
    let program = bazel.workspace().join(c_program::PROGRAM);
    let ran = Command::new(program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), c_program::printed());

    bazel.clean();
    let again = bazel.start_on(&farm.address, c_program::TARGET);
    let again = Build::of(again.wait_with_output());
    again.assert_all("remote cache hit", c_program::ACTIONS);
    assert_eq!(farm.metric("result_hits", None), c_program::ACTIONS);
}
