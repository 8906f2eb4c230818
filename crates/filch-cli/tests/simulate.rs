//! Simulating as its users see it: the picture, the table, errors, exit codes.

mod common;
mod picture;
mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::Scratch;
use picture::decode;
use program::{assert_fits, failure, figure, filch, filch_unread, help, stderr, stdout};

/// Plays a short game with further arguments.
#[track_caller]
fn simulate(scratch: &Scratch, further: &[&str]) -> Output {
    let arguments = [&["simulate", "--frames", "20", "--boids", "300"], further].concat();
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    output
}

/// The rows of the table: a worker, its scheduler, its tasks, how often it gave way.
fn rows(output: &Output) -> Vec<Vec<String>> {
    let report = stdout(output);
    let table = report
        .lines()
        .skip_while(|line| !line.starts_with("worker "));
    // A scheduler's name may have two words.
    let row = |line: &str| {
        let columns = line
            .split("  ")
            .map(str::trim)
            .filter(|column| !column.is_empty());
        columns.map(str::to_owned).collect()
    };
    table.skip(1).map(row).collect()
}

#[test]
fn its_last_frame_is_a_picture() {
    let scratch = Scratch::new("frame");
    let output = simulate(&scratch, &["out.png"]);
    assert_eq!(figure(&output, "picture "), "out.png, 1280x720 pixels");
    let (width, height, pixels) = decode(&scratch.path().join("out.png"));
    assert_eq!((width, height), (1280, 720));
    let lit = pixels.iter().filter(|pixel| **pixel != [0; 3]).count();
    assert!((1_000..300 * 20 * 4).contains(&lit), "{lit}");
}

#[test]
fn without_a_file_it_writes_none() {
    let scratch = Scratch::new("no-picture");
    let output = simulate(&scratch, &[]);
    assert!(!stdout(&output).contains("picture"));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn its_result_is_the_same_for_any_number_of_schedulers_and_another_for_another_seed() {
    let scratch = Scratch::new("same-game");
    let play = |seed: &str, schedulers| {
        let file = format!("{seed}-{schedulers}");
        let arguments = [&file, "--seed", seed, "--schedulers", schedulers];
        let output = simulate(&scratch, &arguments);
        let sums = ["world ", "sound "].map(|name| figure(&output, name));
        (sums, fs::read(scratch.path().join(file)).unwrap())
    };
    let expected = play("1", "1");
    assert!(
        ["2", "3"]
            .iter()
            .all(|schedulers| play("1", schedulers) == expected)
    );
    let other = play("18446744073709551615", "3");
    assert!(other.0[0] != expected.0[0] && other.0[1] != expected.0[1] && other.1 != expected.1);
}

#[test]
fn its_table_has_frame_times_and_workers() {
    let scratch = Scratch::new("frame-times");
    let output = simulate(&scratch, &[]);
    assert_fits(&stdout(&output), 80);
    assert!(figure(&output, "frames ").starts_with("20, in "));
    assert_eq!(figure(&output, "boids "), "300, seed 1");
    let times = ["p50 ", "p99 ", "p99.9 ", "max "].map(|name| {
        let value = figure(&output, name);
        value.strip_suffix(" ms").unwrap().parse::<f64>().unwrap()
    });
    assert!(times[0] > 0.0 && times.is_sorted(), "{times:?}");
    let bars = stdout(&output);
    let bars = bars
        .lines()
        .filter_map(|line| line.strip_prefix("  below "));
    let frames = bars.map(|bar| {
        bar.split_whitespace()
            .nth(2)
            .unwrap()
            .parse::<u32>()
            .unwrap()
    });
    assert_eq!(frames.sum::<u32>(), 20);

    let rows = rows(&output);
    let of = |worker: &str| rows.iter().find(|row| row[0] == worker).unwrap();
    assert_eq!(of("render")[1..3], ["main", "21"]);
    assert_eq!(of("physics")[1..3], ["thread 1", "40"]);
    assert_eq!(of("audio")[1], "thread 2");
    assert_eq!(of("input")[1..3], ["thread 3", "1"]);
    assert_eq!(rows.len(), 4);
}

#[test]
fn a_file_that_cannot_be_made_is_an_error() {
    let scratch = Scratch::new("no-frame");
    scratch.write("folder/file", b"");
    for file in ["nowhere/out.png", "folder", "folder/file/out.png"] {
        let message = failure(&["simulate", file], scratch.path(), 1);
        let begin = format!("filch: cannot write {file}: ");
        assert!(message.starts_with(&begin), "{message}");
    }
}

#[test]
fn wrong_arguments_are_usage_errors_and_leave_no_file() {
    let scratch = Scratch::new("simulate-usage");
    for (arguments, reason) in [
        (&["--frames", "0"][..], "0 is not in 1.."),
        (&["--frames", "4294967296"], "4294967296 is not in 1.."),
        (&["--boids", "0"], "0 is not in 1..=100000"),
        (&["--boids", "100001"], "100001 is not in 1..=100000"),
        (&["--boids=-1"], "'-1'"),
        (&["--seed=-1"], "'-1'"),
        (&["--seed", "one"], "'one'"),
        (&["--schedulers", "0"], "0 is not in 1..=3"),
        (&["--schedulers", "4"], "4 is not in 1..=3"),
        (&["another.png"], "'another.png'"),
    ] {
        let arguments = [&["simulate", "out.png"], arguments].concat();
        let message = failure(&arguments, scratch.path(), 2);
        assert!(message.contains(reason), "{arguments:?}: {message}");
        assert!(!scratch.path().join("out.png").exists(), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let scratch = Scratch::new("simulated-broken-pipe");
    let arguments = ["simulate", "--frames", "2", "--boids", "10"];
    let output = filch_unread(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn help_says_what_is_simulated_and_what_the_table_has() {
    let words = [
        "OUT.png",
        "--frames",
        "600",
        "--boids",
        "2000",
        "--seed",
        "--schedulers",
        "boids",
        "last bit",
        "gives way",
    ];
    help(&["simulate", "--help"], &words);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let arguments = ["simulate", "/dev/full", "--frames", "2", "--boids", "10"];
    let message = failure(&arguments, Path::new("."), 1);
    assert!(
        message.starts_with("filch: cannot write /dev/full: No space left"),
        "{message}"
    );
}
