//! The contents of the output streams, and their width.

use std::fs;

use serde_json::Value;

use crate::common::Scratch;
use crate::program::{assert_fits, failure, figure, filch, stderr, stdout};

fn two_files() -> Scratch {
    let scratch = Scratch::new("output");
    scratch.write("good", b"one two two");
    scratch.write("bad", b"\xff");
    scratch
}

fn parse(json: &str) -> Value {
    assert_eq!(json.lines().count(), 1, "{json}");
    serde_json::from_str(json).unwrap()
}

#[test]
fn statistics_are_shown_if_wanted_beside_the_result() {
    let scratch = two_files();
    let plain = filch(&["--workers", "3"], scratch.path());
    let output = filch(&["--workers", "3", "--stats"], scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&plain));
    let skipped = stderr(&plain);
    let statistics = stderr(&output);
    let statistics = statistics.strip_prefix(&skipped).unwrap();
    assert_fits(statistics, 80);
    assert!(statistics.contains("time   ") && statistics.contains(" ms\n"));
    let rows = |name: &str| {
        let rows = statistics.lines().filter(|line| line.starts_with(name));
        rows.map(|row| row.split_whitespace().count())
            .sum::<usize>()
    };
    // Twelve figures, in two tables.
    for worker in ["0 ", "1 ", "2 ", "all "] {
        assert_eq!(rows(worker), 2 + 12, "{worker}: {statistics}");
    }
    // A merger, two readers, and six counters.
    let all = statistics.lines().find(|line| line.starts_with("all "));
    assert_eq!(all.unwrap().split_whitespace().nth(1), Some("9"));
}

#[test]
fn json_has_the_result_and_with_stats_the_statistics() {
    let scratch = two_files();
    let long = "ä".repeat(300);
    scratch.write("long", long.as_bytes());
    let output = filch(&["count", "good", "bad", "long", "--json"], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    let json = parse(&stdout(&output));
    let expected = serde_json::json!({
        "paths": ["good", "bad", "long"],
        "files": 2,
        "bytes": 611,
        "words": 4,
        "distinct_words": 3,
        "top": [
            {"word": "two", "count": 2},
            {"word": "one", "count": 1},
            {"word": long, "count": 1},
        ],
        "skipped": [{"path": "bad", "reason": "not UTF-8 text (at byte 0)"}],
    });
    assert_eq!(json, expected);

    let arguments = ["--json", "--stats", "--workers", "2", "--top", "1"];
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        "skipped ./bad: not UTF-8 text (at byte 0)\n",
        "statistics are in the document"
    );
    let json = parse(&stdout(&output));
    assert_eq!(json["paths"], serde_json::json!(["."]));
    assert_eq!(json["top"].as_array().unwrap().len(), 1);
    let statistics = &json["statistics"];
    assert!(statistics["seconds"].as_f64().unwrap() > 0.0);
    let workers = statistics["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 2);
    let ended: u64 = workers
        .iter()
        .map(|worker| worker["ended"].as_u64().unwrap())
        .sum();
    assert_eq!(ended, 1 + 2 + 4, "a merger, readers, and counters");
}

#[test]
fn quiet_is_about_what_is_skipped_and_not_about_errors_and_statistics() {
    let scratch = two_files();
    for quiet in ["--quiet", "-q"] {
        let output = filch(&[quiet], scratch.path());
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stderr(&output), "");
        assert_eq!(figure(&output, "skipped "), "1");
    }
    let output = filch(&["--quiet", "--stats"], scratch.path());
    assert!(
        stderr(&output).starts_with("\ntime "),
        "{}",
        stderr(&output)
    );
    let arguments = ["count", "nowhere", "good", "--quiet", "--json"];
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("filch: cannot count nowhere: "));
    assert_eq!(parse(&stdout(&output))["words"], 3);
}

#[test]
fn wrong_combinations_are_usage_errors_and_leave_no_file() {
    let scratch = Scratch::new("combinations");
    for arguments in [
        &["--json", "count", "."][..],
        &["--quiet", "build", "simulate"],
        &["build", "simulate", "--quick", "--plots", "out", "--json"],
        &["count", "--json", "--json"],
        &["count", "--stats=yes"],
        &["count", "--top", "all"],
        &["."],
    ] {
        let message = failure(arguments, scratch.path(), 2);
        assert!(message.starts_with("error: "), "{arguments:?}: {message}");
        let left = fs::read_dir(scratch.path()).unwrap().count();
        assert_eq!(left, 0, "{arguments:?}");
    }
}

#[test]
fn long_words_are_cut_where_the_table_ends() {
    let scratch = Scratch::new("long-words");
    scratch.write("latin", "x".repeat(69).as_bytes());
    scratch.write("wide", "字".repeat(35).as_bytes());
    scratch.write("fits", "y".repeat(68).as_bytes());
    let output = filch(&[], scratch.path());
    let lines = stdout(&output);
    let mut lines = lines.lines().map(|line| &line[12..]);
    assert_eq!(lines.next(), Some(&*format!("{}…", "x".repeat(67))));
    assert_eq!(lines.next(), Some(&*"y".repeat(68)));
    // Two columns each.
    assert_eq!(lines.next(), Some(&*format!("{}…", "字".repeat(33))));
}

#[test]
fn many_paths_are_cut_where_the_table_ends() {
    let scratch = two_files();
    let arguments = [&["count"][..], &["good"; 40]].concat();
    let output = filch(&arguments, scratch.path());
    assert_fits(&stdout(&output), 80);
    assert!(figure(&output, "paths ").ends_with('…'));
    assert_eq!(figure(&output, "files "), "40");
}

#[cfg(target_os = "linux")]
mod terminals {
    use std::fs::File;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, TryRecvError, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::common::Scratch;
    use crate::program::stderr;
    use crate::terminal::Terminal;

    fn start(arguments: &[&str], folder: &Path, stdout: Stdio, stderr: Stdio) -> Child {
        Command::new(env!("CARGO_BIN_EXE_filch"))
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .unwrap()
    }

    #[test]
    fn tables_are_as_wide_as_the_terminal_and_not_less_than_80_columns() {
        let scratch = Scratch::new("wide");
        scratch.write("long", "x".repeat(300).as_bytes());
        for (terminal, table) in [(120, 120), (40, 80)] {
            let mut terminal = Terminal::new(terminal);
            let line = terminal.line();
            let mut count = start(&["--stats"], scratch.path(), line, Stdio::null());
            let shown = terminal.rest();
            assert!(count.wait().unwrap().success());
            let widest = shown.lines().map(|line| line.chars().count()).max();
            assert_eq!(widest, Some(table), "{shown}");

            let mut terminal = Terminal::new(130);
            let line = terminal.line();
            let mut count = start(&["--stats"], scratch.path(), Stdio::null(), line);
            let shown = terminal.rest();
            assert!(count.wait().unwrap().success());
            let tables = shown.lines().filter(|line| line.starts_with("worker "));
            assert_eq!(tables.count(), 1, "{shown}");
        }
    }

    /// Writes to pipes until it is told to end, for a minute at most.
    fn feed(pipes: &[PathBuf], end: &Receiver<()>) {
        let latest = Instant::now() + Duration::from_secs(60);
        let pipes = pipes.iter().map(|pipe| File::create(pipe).unwrap());
        let mut pipes: Vec<_> = pipes.collect();
        while end.try_recv() == Err(TryRecvError::Empty) && Instant::now() < latest {
            for pipe in &mut pipes {
                pipe.write_all(&b"word ".repeat(100)).unwrap();
            }
        }
    }

    /// Three programs read until the last one to start shows its progress.
    #[test]
    fn progress_is_shown_on_a_terminal_unless_it_is_quiet() {
        let scratch = Scratch::new("progress");
        let pipes = ["quiet", "piped", "shown"].map(|name| scratch.path().join(name));
        assert!(
            Command::new("mkfifo")
                .args(&pipes)
                .status()
                .unwrap()
                .success()
        );
        let (done, end) = channel();
        let feeder = thread::spawn(move || feed(&pipes, &end));
        let count = |arguments: &[&str], stderr| {
            let arguments = [&["count"], arguments].concat();
            start(&arguments, scratch.path(), Stdio::piped(), stderr)
        };
        let (mut silence, mut terminal) = (Terminal::new(80), Terminal::new(80));
        let mut quiet = count(&["quiet", "--quiet"], silence.line());
        let piped = count(&["piped"], Stdio::piped());
        let mut loud = count(&["shown"], terminal.line());
        let shown = terminal.until("iB/s");
        assert!(shown.contains("iB read, "), "{shown:?}");
        assert!(
            !shown.contains('%'),
            "nobody knows how much there is: {shown:?}"
        );
        done.send(()).unwrap();
        let last = terminal.rest();
        assert!(last.ends_with("\r\u{1b}[2K"), "it stays there: {last:?}");
        assert_eq!(silence.rest(), "");
        let piped = piped.wait_with_output().unwrap();
        assert_eq!(stderr(&piped), "");
        assert!([&mut quiet, &mut loud].map(|child| child.wait().unwrap().success()) == [true; 2]);
        feeder.join().unwrap();
    }
}
