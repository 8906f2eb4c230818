//! A process to which the system refuses threads.

use std::env;
use std::process::Command;

/// Some user's who is not privileged, and to whom the limit of processes applies.
const NOBODY: u32 = 61_234;

/// The time after which a process that hangs is ended, in seconds.
const PATIENCE: u32 = 60;

/// Runs `body` in a process of its own, as a user that may be [refused threads](refuse_threads).
/// `test` is the name of the calling test, which that process runs again.
///
/// # Panics
/// If `body` does, or hangs.
pub fn in_a_process_of_its_own(test: &str, body: fn()) {
    const INSIDE: &str = "FILCH_TEST_IN_A_PROCESS_OF_ITS_OWN";
    if env::var_os(INSIDE).is_some() {
        // SAFETY: calls of the system with numbers alone. The alarm ends the process.
        unsafe {
            libc::alarm(PATIENCE);
            if libc::getuid() == 0 {
                assert_eq!((libc::setgid(NOBODY), libc::setuid(NOBODY)), (0, 0));
            }
        }
        return body();
    }
    let output = Command::new(env::current_exe().expect("it runs"))
        .args([test, "--exact", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .expect("the system runs this program again");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
}

/// Lets the system refuse all further threads of this process, which is
/// [one of its own](in_a_process_of_its_own), until [`allow_threads`].
pub fn refuse_threads() {
    limit_threads(|_| 1);
}

/// Lets the system give threads again.
pub fn allow_threads() {
    limit_threads(|most| most);
}

fn limit_threads(limit: impl FnOnce(libc::rlim_t) -> libc::rlim_t) {
    let mut limits = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both are given a structure that lives for as long as the call.
    let result = unsafe {
        libc::getrlimit(libc::RLIMIT_NPROC, &mut limits);
        limits.rlim_cur = limit(limits.rlim_max);
        libc::setrlimit(libc::RLIMIT_NPROC, &limits)
    };
    assert_eq!(result, 0, "the limit of processes is set");
}
