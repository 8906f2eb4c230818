//! Drawing as its users see it: the picture, the table, errors, exit codes.

mod common;
mod picture;
mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::Scratch;
use picture::decode;
use program::{assert_fits, failure, figure, filch, filch_unread, help, stderr, stdout};

/// Draws a small picture with further arguments.
#[track_caller]
fn draw(scratch: &Scratch, file: &str, further: &[&str]) -> Output {
    let arguments = [&["mandelbrot", file, "--size", "96x64"], further].concat();
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    output
}

/// Returns the rows of the table: a worker's index or `all`, its tiles, stolen jobs, milliseconds,
/// and so on.
fn rows(output: &Output) -> Vec<Vec<String>> {
    let report = stdout(output);
    let table = report
        .lines()
        .skip_while(|line| !line.starts_with("worker "));
    let row = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    table.skip(1).map(row).collect()
}

/// Returns the sum of a column of all workers, which must equal that of the last row.
#[track_caller]
fn sum(rows: &[Vec<String>], column: usize) -> u64 {
    let (all, workers) = rows.split_last().unwrap();
    let value = |row: &Vec<String>| row[column].parse::<u64>().unwrap();
    assert_eq!(all[0], "all");
    assert_eq!(workers.iter().map(value).sum::<u64>(), value(all));
    value(all)
}

#[test]
fn it_draws_a_picture_of_the_size_that_was_asked_for() {
    let scratch = Scratch::new("picture");
    draw(&scratch, "out.png", &[]);
    let (width, height, pixels) = decode(&scratch.path().join("out.png"));
    assert_eq!((width, height, pixels.len()), (96, 64, 96 * 64));
    let middle = pixels[32 * 96 + 48];
    assert_eq!(middle, [0; 3], "a point of the set");
    assert_ne!(pixels[0], middle, "a point far from it");
}

#[test]
fn its_table_has_times_steals_and_each_worker() {
    let scratch = Scratch::new("table");
    let output = draw(&scratch, "out.png", &["--threads", "3"]);
    assert_eq!(figure(&output, "picture "), "out.png, 96x64 pixels");
    assert_eq!(figure(&output, "tiles "), "32, of 256 pixels at most");
    for time in ["one thread ", "3 workers "] {
        let value = figure(&output, time);
        let milliseconds: f64 = value.strip_suffix(" ms").unwrap().parse().unwrap();
        assert!(milliseconds > 0.0, "{time}{value}");
    }
    assert!(figure(&output, "speed-up ").parse::<f64>().unwrap() > 0.0);

    let rows = rows(&output);
    let names: Vec<_> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["0", "1", "2", "all"]);
    assert_eq!(sum(&rows, 1), 32);
    let stolen = sum(&rows, 2);
    assert_eq!(figure(&output, "jobs "), format!("31, stolen {stolen}"));
    for row in &rows {
        assert_eq!((row.len(), row[5].as_str()), (6, "%"), "{row:?}");
        assert!((0.0..=100.0).contains(&row[4].parse().unwrap()), "{row:?}");
    }
}

#[test]
fn the_file_is_the_same_for_any_number_of_threads() {
    let scratch = Scratch::new("same");
    let files = ["1", "2", "5"].map(|threads| {
        draw(&scratch, threads, &["--threads", threads]);
        fs::read(scratch.path().join(threads)).unwrap()
    });
    assert!(files.iter().all(|file| *file == files[0]));
}

#[test]
fn who_tints_each_tile_in_the_colour_that_the_table_has_for_its_worker() {
    let scratch = Scratch::new("who");
    let untinted = draw(&scratch, "plain.png", &[]);
    assert!(!stdout(&untinted).contains("tint"));
    let output = draw(&scratch, "who.png", &["--who", "--threads", "2"]);
    assert_fits(&stdout(&output), 80);
    let [plain, who] = ["plain.png", "who.png"].map(|file| decode(&scratch.path().join(file)).2);

    let rows = rows(&output);
    assert_eq!(
        (rows[0][6].as_str(), rows[1][6].as_str()),
        ("#ff0000", "#00ffff")
    );
    let tints = [[255, 0, 0], [0, 255, 255_u16]];
    let mut drawn = [0; 2];
    for (plain, who) in plain.iter().zip(who) {
        let tinted = |tint: &[u16; 3]| {
            let half =
                |channel: usize| (u16::from(plain[channel]) + tint[channel]).div_ceil(2) as u8;
            [half(0), half(1), half(2)]
        };
        let worker = tints.iter().position(|tint| tinted(tint) == who);
        drawn[worker.unwrap_or_else(|| panic!("{who:?} is no tint of {plain:?}"))] += 1;
    }
    // All tiles of this size have 192 pixels.
    let tiles = [0, 1].map(|worker: usize| rows[worker][1].parse::<usize>().unwrap());
    assert_eq!(drawn, tiles.map(|tiles| 192 * tiles));
}

#[test]
fn a_file_that_is_there_is_replaced() {
    let scratch = Scratch::new("replaced");
    scratch.write("out.png", &[7; 1_000_000]);
    draw(&scratch, "out.png", &[]);
    draw(&scratch, "fresh.png", &[]);
    let [replaced, fresh] = ["out.png", "fresh.png"].map(|file| scratch.path().join(file));
    assert_eq!(fs::read(replaced).unwrap(), fs::read(fresh).unwrap());
}

#[test]
fn a_file_that_cannot_be_made_is_an_error() {
    let scratch = Scratch::new("no-file");
    scratch.write("folder/file", b"");
    for file in ["nowhere/out.png", "folder", "folder/file/out.png"] {
        let message = failure(&["mandelbrot", file], scratch.path(), 1);
        let begin = format!("filch: cannot write {file}: ");
        assert!(message.starts_with(&begin), "{message}");
    }
}

#[test]
fn wrong_arguments_are_usage_errors_and_leave_no_file() {
    let scratch = Scratch::new("usage");
    for (arguments, reason) in [
        (&["--size", "0x480"][..], "a picture without pixels"),
        (&["--size", "640x0"], "a picture without pixels"),
        (&["--size", "640"], "not of the form WIDTHxHEIGHT"),
        (&["--size=-1x-1"], "not of the form WIDTHxHEIGHT"),
        (&["--size", "99999x99999"], "more than 67108864 pixels"),
        (&["--size", "99999999999x1"], "more than 67108864 pixels"),
        (&["--threads", "0"], "0 threads can run nothing"),
        (&["--threads", "10000000"], "10000000 threads are more than"),
        (&["--threads=-1"], "'-1'"),
        (&["--threads", "two"], "'two'"),
        (&["--top", "3"], "'--top'"),
        (&["another.png"], "'another.png'"),
    ] {
        let arguments = [&["mandelbrot", "out.png"], arguments].concat();
        let message = failure(&arguments, scratch.path(), 2);
        assert!(message.contains(reason), "{arguments:?}: {message}");
        assert!(!scratch.path().join("out.png").exists(), "{arguments:?}");
    }
    failure(&["mandelbrot"], scratch.path(), 2);
    let options_of_counting = ["--workers", "1", "mandelbrot", "out.png"];
    failure(&options_of_counting, scratch.path(), 2);
}

#[test]
fn a_reader_that_has_read_enough_is_no_error_and_the_picture_is_there() {
    let scratch = Scratch::new("drawn-broken-pipe");
    let arguments = ["mandelbrot", "out.png", "--size", "96x64"];
    let output = filch_unread(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
    assert_eq!(decode(&scratch.path().join("out.png")).0, 96);
}

#[test]
fn help_says_what_is_drawn_and_what_the_table_has() {
    let words = [
        "OUT.png",
        "--threads",
        "--size",
        "1280x720",
        "--who",
        "equal",
        "stole",
    ];
    let help = help(&["mandelbrot", "--help"], &words);
    assert!(!help.contains("--top"), "{help}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let arguments = ["mandelbrot", "/dev/full", "--size", "96x64"];
    let message = failure(&arguments, Path::new("."), 1);
    assert!(
        message.starts_with("filch: cannot write /dev/full: No space left"),
        "{message}"
    );
}
