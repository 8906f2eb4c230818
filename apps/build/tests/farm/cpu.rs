//! The processor time of processes.

use std::fs;
use std::io;
use std::time::Duration;

/// Returns the processor time of a process and those that it started, to 10 ms.
pub(crate) fn cpu_time(process: u32) -> io::Result<Duration> {
    let children = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(children)?;
    let children = children.split_whitespace();
    let processes = children.filter_map(|child| child.parse().ok());
    processes.chain([process]).map(of_one).sum()
}

fn of_one(process: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The program's name, in brackets, may have spaces in it. Of the fields after it, the twelfth
    // and the next are its own time and the kernel's for it, in hundredths of a second.
    let numbers = stat.rsplit(')').next().unwrap_or_default();
    let numbers = numbers.split_whitespace().skip(11).take(2);
    let hundredths = numbers.filter_map(|number| number.parse::<u64>().ok());
    Ok(Duration::from_millis(10 * hundredths.sum::<u64>()))
}

/// Writes the median, the least and the greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let [first, .., last] = &values[..] else {
        return format!("{values:?}");
    };
    format!("{:7.2} ({first:.2} to {last:.2})", values[values.len() / 2])
}
