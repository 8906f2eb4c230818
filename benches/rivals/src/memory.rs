//! The resident memory of a program.

use std::fs;
use std::mem::MaybeUninit;

/// The bytes of this program that are resident. 0 where the system does not say.
pub(crate) fn resident() -> i64 {
    of_status("self", "VmRSS:")
}

/// The most bytes of this program that were resident at a time. 0 where the system does not say.
pub(crate) fn peak() -> i64 {
    of_status("self", "VmHWM:")
}

/// The bytes of another program that are resident, now and at most.
pub(crate) fn resident_and_peak(process: u32) -> [i64; 2] {
    ["VmRSS:", "VmHWM:"].map(|field| of_status(&process.to_string(), field))
}

fn of_status(process: &str, field: &str) -> i64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
    1024 * kib.unwrap_or(0)
}

/// Room for so many, whose pages are resident from now on.
pub(crate) fn touched<T>(count: u64) -> Vec<T> {
    let mut room = Vec::with_capacity(count as usize);
    room.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
    room
}
