//! What processes take of the processors.

use std::fs;
use std::io;
use std::time::Duration;

/// So much a process and those that it started have taken of the processors, to 10 ms.
pub(crate) fn cpu_time(process: u32) -> io::Result<Duration> {
    let children = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(children)?;
    let children = children.split_whitespace();
    let processes = children.filter_map(|child| child.parse().ok());
    processes.chain([process]).map(of_one).sum()
}

fn of_one(process: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program, in brackets, may have spaces in it. Two fields of what follows, the
    // twelfth and the next, are its own time and the kernel's for it, in hundredths of a second.
    let numbers = stat.rsplit(')').next().unwrap_or_default();
    let numbers = numbers.split_whitespace().skip(11).take(2);
    let hundredths = numbers.filter_map(|number| number.parse::<u64>().ok());
    Ok(Duration::from_millis(10 * hundredths.sum::<u64>()))
}
