//! What the system knows of this process: its threads, its memory.

use std::fs;

/// How many threads there are, as the kernel counts them. None where there is no `/proc`.
pub(crate) fn threads() -> Option<usize> {
    Some(fs::read_dir("/proc/self/task").ok()?.count())
}

/// The names of the threads, for people.
pub(crate) fn thread_names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = tasks.flatten().map(|task| {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.trim().to_owned()
    });
    names.collect()
}

/// The bytes that are resident. None where there is no `/proc`.
pub(crate) fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
