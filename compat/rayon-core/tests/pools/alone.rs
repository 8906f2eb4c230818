//! Tests that need a process of their own: the global pool is built once, and an abort ends all.

use std::env;
use std::process::{Command, Output};

/// Set in the process of the test.
const INSIDE: &str = "RAYON_CORE_TEST_ALONE";

/// Runs `inside` in another process, which is this program with that one test (`module::name`) and
/// these variables, and returns its output; `None` in that process.
pub(crate) fn run(test: &str, variables: &[(&str, &str)], inside: impl FnOnce()) -> Option<Output> {
    if env::var_os(INSIDE).is_some() {
        inside();
        return None;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_remove("RAYON_NUM_THREADS")
        .env_remove("RAYON_RS_NUM_CPUS")
        .envs(variables.iter().copied())
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test"), "{test}: {said}");
    Some(output)
}

/// As [`run`], and checks that it succeeds.
pub(crate) fn passes(test: &str, variables: &[(&str, &str)], inside: impl FnOnce()) {
    if let Some(output) = run(test, variables, inside) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{test}: {said}");
    }
}

/// As [`run`], and checks that it aborts with this message.
pub(crate) fn aborts(test: &str, saying: &str, inside: impl FnOnce()) {
    if let Some(output) = run(test, &[], inside) {
        let said = String::from_utf8_lossy(&output.stderr);
        // An exit has a code, a signal has none.
        assert_eq!(output.status.code(), None, "{test}: {said}");
        assert!(said.contains(saying), "{test}: {said}");
    }
}
