//! The resident memory of an idle process, with the allocator's own share. Each count is measured
//! in a program of its own, where nothing was freed before: this one, run anew.
#![cfg(target_os = "linux")]

mod counting;
mod idler;

use std::env;
use std::fs;
use std::process::Command;

use filch_scheduler::Scheduler;

use counting::Words;
use idler::idler;

const COUNT: &str = "FILCH_TEST_IDLE_PROCESSES";

/// Returns the resident bytes of this program.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = kibibytes.unwrap().trim().trim_end_matches(" kB");
    1024 * kibibytes.parse::<i64>().unwrap()
}

/// Makes that many processes, which get a message each, and prints the cost of one.
fn measure(count: usize) {
    let scheduler = Scheduler::<Words>::builder().workers(2).build().unwrap();
    let make = |count: usize| {
        for number in 0..count {
            let process = scheduler.submit(idler(), "run", ()).unwrap();
            scheduler.send(process.pid(), 7).unwrap();
            // Now and then, so that the run queues stay short.
            if number % 256 == 0 || number + 1 == count {
                while scheduler.stats().total().messages <= number as u64 {
                    std::thread::yield_now();
                }
            }
        }
    };
    let before = resident();
    make(count);
    println!("resident: {}", (resident() - before) / count as i64);
}

#[test]
fn an_idle_process_with_a_mailbox_is_260_bytes_resident() {
    if let Ok(count) = env::var(COUNT) {
        return measure(count.parse().unwrap());
    }
    let counts = [(1 << 17) - 1, 1 << 17, 150_000, 200_000];
    let resident = counts.map(|count| {
        let output = Command::new(env::current_exe().unwrap())
            .arg("--nocapture")
            .env(COUNT, count.to_string())
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let figure = output
            .lines()
            .find_map(|line| line.split("resident: ").nth(1));
        let bytes = figure.unwrap().parse::<i64>().unwrap();
        println!("{count} processes: {bytes} bytes each");
        bytes
    });
    assert!(resident.iter().all(|&bytes| bytes <= 260), "{resident:?}");
}
