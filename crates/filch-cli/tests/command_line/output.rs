//! The contents of the output streams, and their width.

use crate::common::Scratch;
use crate::program::{figure, filch, stderr, stdout};

fn two_files() -> Scratch {
    let scratch = Scratch::new("output");
    scratch.write("good", b"one two two");
    scratch.write("bad", b"\xff");
    scratch
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
    assert!(statistics.contains("time   ") && statistics.contains(" ms\n"));
    let rows = |name: &str| {
        let rows = statistics.lines().filter(|line| line.starts_with(name));
        rows.map(|row| row.split_whitespace().count())
            .sum::<usize>()
    };
    for worker in ["0 ", "1 ", "2 ", "all "] {
        assert_eq!(rows(worker), 1 + 12, "{worker}: {statistics}");
    }
    // A merger, two readers, and six counters.
    let all = statistics.lines().find(|line| line.starts_with("all "));
    assert_eq!(all.unwrap().split_whitespace().nth(1), Some("9"));
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
    let arguments = ["count", "nowhere", "good", "--quiet"];
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("filch: cannot count nowhere: "));
    assert_eq!(figure(&output, "words "), "3");
}

#[test]
fn long_words_are_cut_where_the_table_ends() {
    let scratch = Scratch::new("long-words");
    scratch.write("latin", "x".repeat(69).as_bytes());
    scratch.write("fits", "y".repeat(68).as_bytes());
    let output = filch(&[], scratch.path());
    let lines = stdout(&output);
    let mut lines = lines.lines().map(|line| &line[12..]);
    assert_eq!(lines.next(), Some(&*format!("{}…", "x".repeat(67))));
    assert_eq!(lines.next(), Some(&*"y".repeat(68)));
    let output = filch(&[&["count"][..], &["latin"; 40]].concat(), scratch.path());
    let paths = format!("\npaths           {}…\n", &"latin, ".repeat(40)[..63]);
    assert!(stdout(&output).contains(&paths), "{}", stdout(&output));
}
