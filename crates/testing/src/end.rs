//! A wait for an end that may not come.

use filch_scheduler::{Handle, Pid, Protocol};

/// Waits until nothing can run any more in the scheduler. Blocks for ever if a process never stops
/// running.
///
/// Where a `join` would wait for ever, this shows the reason. Call it after joining all other
/// threads of the test that send messages or complete commands.
///
/// # Panics
/// If the process `pid` has not ended by then, with what each process [waits
/// for](filch_scheduler::Standstill); or if it is called on one of the scheduler's workers.
pub fn wait_for_end<P: Protocol>(scheduler: &Handle<P>, pid: Pid) {
    match scheduler.wait_for_standstill() {
        Ok(standstill) => {
            let lives = standstill
                .processes
                .iter()
                .any(|process| process.pid == pid);
            assert!(!lives, "process {pid} never ends: {standstill}");
        }
        Err(error) => panic!("process {pid} cannot be waited for: {error}"),
    }
}
