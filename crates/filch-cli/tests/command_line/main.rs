//! The program as its users see it: output, errors, exit codes.

mod build_simulate;
mod common;
mod output;
mod program;
mod sources;

use std::path::Path;

use common::Scratch;
use program::{failure, figure, filch, filch_unread, stderr, stdout};

#[test]
fn without_arguments_it_counts_the_folder_it_is_run_in() {
    let scratch = Scratch::new("default");
    scratch.write("a", b"one two two");
    scratch.write("sub/b", b"Two THREE three\n");
    let output = filch(&[], scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(figure(&output, "files "), "2");
    assert_eq!(figure(&output, "words "), "6");
    assert_eq!(figure(&output, "distinct words"), "3");
    assert_eq!(figure(&output, "bytes "), "27");
    let lines: Vec<String> = stdout(&output).lines().take(3).map(str::to_owned).collect();
    assert_eq!(
        lines,
        ["         3  two", "         2  three", "         1  one"]
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn hidden_folders_and_caches_are_not_entered() {
    let scratch = Scratch::new("passed-by");
    scratch.write("seen", b"seen");
    scratch.write(".hidden-file", b"seen");
    scratch.write(".git/config", b"hidden");
    scratch.write("target/junk", b"cached");
    scratch.write(
        "target/CACHEDIR.TAG",
        b"Signature: 8a477f597d28d172789f06886806bc55\n",
    );
    scratch.write("no-cache/CACHEDIR.TAG", b"seen");
    let output = filch(&[], scratch.path());
    assert_eq!(stdout(&output).lines().next(), Some("         3  seen"));
    assert_eq!(figure(&output, "distinct words"), "1");
    let output = filch(&["count", "target"], scratch.path());
    assert_eq!(figure(&output, "files "), "2", "what is named is counted");
}

#[test]
fn a_file_that_is_no_text_is_skipped_and_the_rest_counted() {
    let scratch = Scratch::new("no-text");
    scratch.write("bad", b"words before \xff and after");
    scratch.write("good", b"good words");
    let output = filch(&[], scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        "skipped ./bad: not UTF-8 text (at byte 13)\n"
    );
    assert_eq!(figure(&output, "skipped "), "1");
    assert_eq!(figure(&output, "words "), "2");
}

#[test]
fn many_skipped_files_are_summed_up() {
    let scratch = Scratch::new("many-skips");
    for number in 0..25 {
        scratch.write(&format!("bad{number}"), b"\xff");
    }
    let output = filch(&[], scratch.path());
    assert_eq!(stderr(&output).lines().count(), 21);
    assert!(stderr(&output).ends_with("skipped 5 more\n"));
}

#[test]
fn no_workers_are_a_usage_error() {
    let scratch = Scratch::new("no-workers");
    let message = failure(&["--workers", "0"], scratch.path(), 2);
    assert!(message.contains("0 is not in 1.."), "{message}");
}

#[test]
fn an_option_before_a_command_and_a_bare_path_are_usage_errors() {
    for arguments in [&["--quiet", "count", "."][..], &["."]] {
        let message = failure(arguments, Path::new("."), 2);
        assert!(message.contains("Usage: filch"), "{message}");
    }
}

#[test]
fn help_and_the_version_are_printed() {
    let version = concat!("filch ", env!("CARGO_PKG_VERSION"), "\n");
    for (arguments, text) in [
        (&["--help"][..], "Usage: filch"),
        (&["--version"], version),
        (
            &["build", "simulate", "--help"],
            "Usage: filch build simulate",
        ),
    ] {
        let output = filch(arguments, Path::new("."));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains(text), "{}", stdout(&output));
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let scratch = Scratch::new("broken-pipe");
    let many: String = (0..100_000).map(|i| format!("word{i} ")).collect();
    scratch.write("many", many.as_bytes());
    let output = filch_unread(&["--top", "100000"], scratch.path());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[cfg(unix)]
mod unix {
    use crate::common::Scratch;
    use crate::program::{figure, filch, stderr};
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_are_not_followed_but_what_is_named_is() {
        let scratch = Scratch::new("links");
        scratch.write("folder/file", b"one");
        symlink("folder", scratch.path().join("link")).unwrap();
        symlink("nowhere", scratch.path().join("dangling")).unwrap();
        let output = filch(&[], scratch.path());
        assert_eq!(
            (figure(&output, "files "), stderr(&output)),
            ("1".into(), String::new())
        );
        let output = filch(&["count", "link"], scratch.path());
        assert_eq!(figure(&output, "files "), "1");
    }

    #[test]
    fn a_file_that_may_not_be_read_is_skipped() {
        let scratch = Scratch::new("forbidden");
        scratch.write("good", b"good");
        scratch.write("secret", b"secret");
        let secret = scratch.path().join("secret");
        fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
        let allowed_to_root = File::open(&secret).is_ok();
        let output = filch(&[], scratch.path());
        assert_eq!(output.status.code(), Some(0));
        if allowed_to_root {
            // Permissions do not bind this user; the unit tests of `io` open what is not there
            // instead.
            assert_eq!(figure(&output, "files "), "2");
        } else {
            assert!(stderr(&output).starts_with("skipped ./secret: "));
            assert_eq!(figure(&output, "files "), "1");
        }
    }
}
