//! The system's figures of this process: its threads and memory.

use std::fs;

/// Returns the number of threads, as the kernel counts them: a list of them may miss one beside
/// another that is just leaving. `None` without `/proc`.
pub(crate) fn threads() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    line?.trim().parse().ok()
}

/// Returns the names of the threads, for people.
pub(crate) fn thread_names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = tasks.flatten().map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.trim().to_owned()
    });
    names.collect()
}

/// Returns the resident bytes. `None` without `/proc`.
pub(crate) fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
