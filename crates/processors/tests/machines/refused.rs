//! The system gives a pool some threads, and then no more.
#![cfg(target_os = "linux")]

use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use crate::pool::{finish, job, processors, started, takes};

/// In a process of its own, which has memory for two stacks of this size.
const STACK: usize = 1 << 30;

fn in_a_process_of_its_own(test: &str, run: fn()) {
    const INSIDE: &str = "FILCH_TEST_WITHOUT_THREADS";
    if std::env::var_os(INSIDE).is_some() {
        return run();
    }
    let kibibytes = (2 * STACK + STACK / 2) >> 10;
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\""),
        ])
        .arg(std::env::current_exe().unwrap())
        .args([&format!("refused::{test}"), "--exact", "--test-threads=1"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
}

/// A failure: a task waits for a thread that there is not.
#[test]
fn the_threads_that_there_are_do_all_the_work() {
    in_a_process_of_its_own("the_threads_that_there_are_do_all_the_work", || {
        let (pool, machines) = started(processors(8).stack_size(STACK));
        let (say, ran) = mpsc::channel();
        for round in 0..200 {
            for _ in 0..8 {
                let say = say.clone();
                pool.inject(job(move |_| {
                    takes(Duration::from_micros(50));
                    say.send(round).unwrap();
                }));
            }
            assert_eq!(ran.iter().take(8).sum::<i32>(), 8 * round);
        }
        let threads = pool.threads();
        assert!(threads.started <= 2 && threads.refused > 0, "{threads:?}");
        finish(&pool, machines);
    });
}

/// Tasks that come meanwhile wait until a call is back. A failure: for ever.
#[test]
fn calls_come_back_without_a_substitute() {
    in_a_process_of_its_own("calls_come_back_without_a_substitute", || {
        let (pool, machines) = started(processors(1).stack_size(STACK));
        let (say, ran) = mpsc::channel();
        for _ in 0..8 {
            let say = say.clone();
            pool.inject(job(move |pool| {
                pool.blocking(|| takes(Duration::from_millis(2)));
                say.send(()).unwrap();
            }));
        }
        assert_eq!(ran.iter().take(8).count(), 8);
        let threads = pool.threads();
        assert!(threads.started <= 2 && threads.refused > 0, "{threads:?}");
        finish(&pool, machines);
    });
}
