//! The sources of text: several paths, pipes, standard input, and files with a stated size of zero.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::common::Scratch;
use crate::program::{command, failure, figure, filch, stderr, stdout};

/// Runs the program with that on its standard input.
fn filch_fed(arguments: &[&str], folder: &Path, input: &[u8]) -> Output {
    let mut command = command(arguments, folder);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Fails on the bytes that the program does not read.
    let feeder = thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = feeder.join().unwrap();
    output
}

#[test]
fn several_paths_are_counted_together() {
    let scratch = Scratch::new("several");
    scratch.write("folder/a", b"one two");
    scratch.write("folder/b", b"one");
    scratch.write("file", b"one");
    scratch.write("other", b"not named");
    let arguments = ["count", "folder", "-", "file", "folder/a"];
    let output = filch_fed(&arguments, scratch.path(), b"one three");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let paths = figure(&output, "paths ");
    assert_eq!(paths, "folder, -, file, folder/a");
    assert_eq!(figure(&output, "files "), "5");
    assert_eq!(figure(&output, "bytes "), "29");
    assert_eq!(
        stdout(&output).lines().next(),
        Some("         5  one"),
        "what is named twice is counted twice"
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn standard_input_is_counted_if_nothing_is_named() {
    let scratch = Scratch::new("input");
    scratch.write("file", b"not named");
    for arguments in [&["count"][..], &["count", "-"], &["count", "-", "-"]] {
        let output = filch_fed(arguments, scratch.path(), b"one two two");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(figure(&output, "files "), "1", "{arguments:?}");
        assert_eq!(figure(&output, "words "), "3", "{arguments:?}");
    }
    let output = filch(&["count"], scratch.path());
    assert_eq!(figure(&output, "bytes "), "0", "it is empty");
}

#[test]
fn standard_input_of_many_blocks_is_counted_to_its_end() {
    let text = "wörd ".repeat(300_000);
    let output = filch_fed(&["count"], Path::new("."), text.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(figure(&output, "words "), "300000");
    assert_eq!(figure(&output, "bytes "), "1800000");
}

#[test]
fn standard_input_is_counted_up_to_where_it_is_no_text() {
    let mut bytes = b"word ".repeat(100_000);
    bytes.extend(b"\xff and more");
    let output = filch_fed(&["count"], Path::new("."), &bytes);
    assert_eq!(output.status.code(), Some(1));
    // Whole blocks.
    let counted = figure(&output, "bytes ");
    assert_eq!(
        stderr(&output),
        format!(
            "filch: cannot count standard input: not UTF-8 text (at byte 500000) \
             (its first {counted} bytes are counted)\n"
        )
    );
    let output = filch_fed(&["count"], Path::new("."), b"word \0");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "", "there is no result");
}

#[test]
fn what_is_not_there_is_an_error() {
    let scratch = Scratch::new("missing");
    let message = failure(&["count", "nowhere"], scratch.path(), 1);
    let begin = "filch: cannot count nowhere: ";
    assert!(message.starts_with(begin), "{message}");
    let message = failure(&["count", "nowhere", "no"], scratch.path(), 1);
    assert_eq!(message.lines().count(), 2, "{message}");
}

#[test]
fn what_cannot_be_counted_is_an_error_and_the_others_are_counted() {
    let scratch = Scratch::new("one-missing");
    scratch.write("good", b"good words");
    scratch.write("bad", b"bad\0");
    let arguments = ["count", "nowhere", "good", "bad"];
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(figure(&output, "words "), "2");
    assert_eq!(figure(&output, "skipped "), "2");
    let messages = stderr(&output);
    assert!(
        messages.contains("filch: cannot count nowhere: "),
        "{messages}"
    );
    let bad = "filch: cannot count bad: not UTF-8 text (at byte 3)\n";
    assert!(messages.contains(bad), "{messages}");
    // Without the good one there is nothing to count.
    failure(&["count", "bad"], scratch.path(), 1);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_if_it_is_named_and_not_waited_for_if_it_is_found() {
    let scratch = Scratch::new("pipe");
    scratch.write("good", b"good");
    let pipe = scratch.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let output = filch(&[], scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "skipped ./pipe: not a regular file\n");
    let writer = thread::spawn(move || std::fs::write(pipe, b"good pipe"));
    let output = filch(&["count", "pipe", "good"], scratch.path());
    writer.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(figure(&output, "words "), "3");
    assert_eq!(figure(&output, "files "), "2");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_refused() {
    for device in ["/dev/zero", "/dev/null"] {
        let message = failure(&["count", device], Path::new("."), 1);
        let reason = "neither a folder, a regular file nor a pipe";
        assert_eq!(message, format!("filch: cannot count {device}: {reason}\n"));
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{failure, figure, filch, stderr, stdout};
    use std::fs;
    use std::path::Path;

    #[test]
    fn files_that_say_they_are_empty_are_counted_to_their_end() {
        for path in ["/proc/version", "/proc/filesystems"] {
            assert_eq!(fs::metadata(path).unwrap().len(), 0, "{path}");
            let output = filch(&["count", path], Path::new("."));
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let content = fs::read(path).unwrap();
            assert_eq!(figure(&output, "bytes "), content.len().to_string());
        }
        let output = filch(
            &["count", "/proc/self/status", "--top", "1000"],
            Path::new("."),
        );
        let words = stdout(&output);
        for word in ["  name\n", "  filch\n", "  nonvoluntary_ctxt_switches\n"] {
            assert!(words.contains(word), "{words}");
        }
    }

    #[test]
    fn a_file_that_says_it_is_longer_than_it_is_ends() {
        let path = "/sys/devices/system/cpu/online";
        let (Ok(content), Ok(metadata)) = (fs::read(path), fs::metadata(path)) else {
            // Not all containers have it.
            return;
        };
        assert!(metadata.len() > content.len() as u64);
        let output = filch(&["count", path], Path::new("."));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(figure(&output, "bytes "), content.len().to_string());
    }

    /// A file of 256 GiB, mostly zeros: eight bytes for each page that the process could have.
    #[test]
    fn a_file_that_hardly_ends_is_no_text() {
        let path = "/proc/self/pagemap";
        let message = failure(&["count", path], Path::new("."), 1);
        let reason = format!("filch: cannot count {path}: not UTF-8 text (at byte ");
        assert!(message.starts_with(&reason), "{message}");
    }
}
