//! The program itself, on the example.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::leaver::{Leaver, pipe};

fn filch_build(graph: &Path, more: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_filch-build"));
    program.arg("run").arg(graph).args(more);
    program.args(see(graph)).output().unwrap()
}

/// Lets jobs see the folder of the graph.
fn see(graph: &Path) -> [&OsStr; 2] {
    [
        "--sandbox-path".as_ref(),
        graph.parent().unwrap().as_os_str(),
    ]
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn the_example_is_built_once() {
    let folder = TempDir::new().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/words");
    copy(&example, folder.path());
    let graph = folder.path().join("graph.toml");
    for part in ["3 built, 0 cached", "0 built, 3 cached"] {
        let output = filch_build(&graph, &[]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(part), "{text}");
        let words = fs::read_to_string(folder.path().join("words.txt")).unwrap();
        assert_eq!(words.lines().next().unwrap().trim(), "3 is");
    }
}

#[test]
fn a_failure_is_the_exit_code() {
    let folder = TempDir::new().unwrap();
    let graph = folder.path().join("graph.toml");
    fs::write(&graph, "[[job]]\nid = 'a'\nsh = 'echo why >&2; exit 9'\n").unwrap();
    let output = filch_build(&graph, &["--fail-fast"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let why = "job \"a\" failed: its command ended with the exit code 9";
    assert!(stderr.contains(why), "{stderr}");
    assert!(stderr.contains("why"), "{stderr}");
    fs::write(&graph, "[[job]]\nid = 'a'\n").unwrap();
    let output = filch_build(&graph, &[]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let why = "graph.toml:2: job \"a\": there is no command";
    assert!(stderr.contains(why), "{stderr}");
}

#[test]
fn what_leaves_the_group_of_its_job_ends_with_it_and_what_was_there_before_stays() {
    let folder = TempDir::new().unwrap();
    let graph = folder.path().join("graph.toml");
    let mut leaver = Leaver::new(folder.path());
    let job = leaver.script();
    fs::write(&graph, format!("[[job]]\nid = 'a'\nsh = '''{job}'''\n")).unwrap();
    let before = folder.path().join("before");
    fs::create_dir(&before).unwrap();
    let mut before = Leaver::new(&before);
    // It becomes the program, with a child that reads until the test ends.
    let hold = before.hold();
    let script = format!("{hold}exec 3<&0; cat <&3 & exec 3<&- 9>&-; exec \"$0\" run \"$@\"");
    let mut shell = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_filch-build");
    let shell = shell
        .args(["-c", &script, program])
        .arg(&graph)
        .args(see(&graph));
    let mut running = shell.stdin(Stdio::piped()).spawn().unwrap();
    let _reads = running.stdin.take();
    assert!(running.wait().unwrap().success());
    assert!(!leaver.lives());
    assert!(before.lives());
}

#[test]
fn an_interrupt_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM] {
        interrupt_by(signal);
    }
}

fn interrupt_by(signal: Signal) {
    let folder = TempDir::new().unwrap();
    let graph = folder.path().join("graph.toml");
    let ready = pipe(folder.path(), "ready");
    let mut leaver = Leaver::new(folder.path());
    let script = format!("{}echo > {ready}; sleep 1000", leaver.script());
    fs::write(&graph, format!("[[job]]\nid = 'a'\nsh = '''{script}'''\n")).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_filch-build"));
    let mut running = program
        .arg("run")
        .arg(&graph)
        .args(see(&graph))
        .spawn()
        .unwrap();
    fs::read(&ready).unwrap();
    kill_process(Pid::from_child(&running), signal).unwrap();
    let status = running.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(2), None));
    assert!(!leaver.lives());
    let actions = fs::read_dir(folder.path().join(".filch/actions"));
    assert_eq!(actions.unwrap().count(), 0);
    fs::write(&graph, "[[job]]\nid = 'a'\nsh = 'true'\n").unwrap();
    assert!(filch_build(&graph, &[]).status.success());
}
