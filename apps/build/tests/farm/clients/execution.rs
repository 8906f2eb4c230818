//! Bazel's actions run on the farm.

use std::process::Command;

use rustix::process::Signal;

use crate::bazel::{Bazel, Build};
use crate::c_program;
use crate::farm::{Farm, SLOTS};
use crate::servers::wait_for;

/// When half of the actions have ended, one of the two workers stops during its actions, and is
/// killed. The build never notices.
#[test]
fn a_build_survives_a_worker() {
    let Some(bazel) = Bazel::find() else { return };
    c_program::write(&bazel.workspace()).unwrap();
    let farm = Farm::start(&[]);
    let (doomed, _other) = (farm.worker("doomed"), farm.worker("other"));
    wait_for("two workers", || {
        (farm.metric("workers", None) == 2).then_some(())
    });
    let executor = format!("--remote_executor=grpc://{}", farm.address);
    let options = [
        &*executor,
        "--spawn_strategy=remote",
        "--genrule_strategy=remote",
    ];

    let build = bazel.start(c_program::TARGET, &options);
    wait_for("half of the actions", || {
        (farm.metric("actions", None) >= c_program::ACTIONS / 2).then_some(())
    });
    doomed.signal(Signal::STOP);
    // It gets actions, and cannot finish any.
    wait_for("a worker with all that it can run", || {
        let running = farm.metric("worker_running_actions", Some(("worker", "doomed")));
        (running == SLOTS).then_some(())
    });
    drop(doomed);
    let build = Build::of(build.wait_with_output());
    build.assert_all("remote", c_program::ACTIONS);
    assert_eq!(farm.metric("workers", None), 1);
    assert!(farm.metric("actions_retried", None) >= SLOTS);
    assert_eq!(
        farm.metric("actions", Some(("outcome", "succeeded"))),
        c_program::ACTIONS
    );
    let ran = Command::new(bazel.workspace().join(c_program::PROGRAM))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), c_program::printed());

    bazel.clean();
    let again = bazel.build(c_program::TARGET, &options);
    again.assert_all("remote cache hit", c_program::ACTIONS);
    assert_eq!(farm.metric("result_hits", None), c_program::ACTIONS);
}
