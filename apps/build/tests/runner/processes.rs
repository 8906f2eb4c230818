//! The processes of an action: their environment and their end.

use std::fs;
use std::future;
use std::path::Path;
use std::time::Duration;

use bazel_remote_apis::google::protobuf;
use filch_build::digest::Digest;
use filch_build::reapi::{Action, Command, Directory};
use filch_build::worker::keep_from_actions;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;
use tonic::Code;

use crate::actions::{Bench, folder, refused, sh, stderr, stdout, variable};

#[tokio::test]
async fn an_exit_code_is_a_result() {
    let bench = Bench::new();
    let result = bench.sh("echo out; echo err >&2; exit 7").await.unwrap();
    assert_eq!(result.exit_code, 7);
    assert_eq!((stdout(&result), stderr(&result)), ("out\n", "err\n"));
    assert_eq!(bench.sh("kill -TERM $$").await.unwrap().exit_code, 128 + 15);
    let metadata = result.execution_metadata.unwrap();
    assert_eq!(metadata.worker, "tester");
    let times = [
        metadata.worker_start_timestamp,
        metadata.input_fetch_start_timestamp,
        metadata.input_fetch_completed_timestamp,
        metadata.execution_start_timestamp,
        metadata.execution_completed_timestamp,
        metadata.output_upload_start_timestamp,
        metadata.output_upload_completed_timestamp,
        metadata.worker_completed_timestamp,
    ];
    let times = times.map(|time| time.map(|time| (time.seconds, time.nanos)).unwrap());
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn nothing_of_the_worker_leaks() {
    keep_from_actions();
    let bench = Bench::new();
    let mut command = sh("/usr/bin/env; cat; ls /proc/self/fd | wc -l; pwd; umask");
    command.environment_variables = vec![variable("ONLY", "this")];
    let result = bench
        .command(&command, &Directory::default())
        .await
        .unwrap();
    let (variables, rest): (Vec<_>, Vec<_>) =
        stdout(&result).lines().partition(|line| line.contains('='));
    // The shell sets the others.
    let made = ["ONLY=this", "PWD=", "SHLVL=", "_=", "OLDPWD="];
    for variable in &variables {
        let is_made = made.iter().any(|name| variable.starts_with(name));
        assert!(is_made, "{variable}");
    }
    assert!(variables.contains(&"ONLY=this"));
    // The three streams, and the folder that `ls` reads.
    assert_eq!(rest[0], "4");
    assert_eq!(rest[1], "/build");
}

#[tokio::test]
async fn a_program_is_found_as_the_action_says() {
    let bench = Bench::new();
    let root = bench.tool("echo $0 $1").await;
    for (program, path) in [("./tool", None), ("tool", Some("/nowhere:."))] {
        let variables = path.map(|path| variable("PATH", path));
        let command = Command {
            arguments: vec![program.to_owned(), "x".to_owned()],
            environment_variables: variables.into_iter().collect(),
            ..Command::default()
        };
        let result = bench.command(&command, &root).await.unwrap();
        assert!(stdout(&result).ends_with("tool x\n"), "{}", stdout(&result));
    }
    for program in ["no-such-program", "./no-such-program", "/no/such/program"] {
        let arguments = vec![program.to_owned()];
        let command = Command {
            arguments,
            ..Command::default()
        };
        let result = bench.command(&command, &root).await;
        let why = format!("the program {program:?} cannot be started");
        refused(result, Code::InvalidArgument, &why);
    }
}

/// As with `execvp`: what may not be run is not what is looked for.
#[tokio::test]
async fn the_search_goes_on_past_what_may_not_be_run() {
    let bench = Bench::new();
    let mut closed = bench.tool("exit 1").await;
    closed.files[0].is_executable = false;
    let open = bench.tool("exit 7").await;
    let below = [
        folder(&bench, "a", &closed).await,
        folder(&bench, "b", &open).await,
    ];
    let root = Directory {
        directories: below.to_vec(),
        ..Directory::default()
    };
    let command = |path: &str| Command {
        arguments: vec!["tool".to_owned()],
        environment_variables: vec![variable("PATH", path)],
        ..Command::default()
    };
    let result = bench.command(&command("a:b:/bin"), &root).await.unwrap();
    assert_eq!(result.exit_code, 7);
    let result = bench.command(&command("a"), &root).await;
    refused(result, Code::InvalidArgument, "Permission denied");
}

#[tokio::test]
async fn a_command_that_cannot_be_one_is_refused() {
    let bench = Bench::new();
    let none = Directory::default();
    let change = |change: fn(&mut Command)| {
        let mut command = sh("true");
        change(&mut command);
        command
    };
    let variables = |variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|(name, value)| variable(name, value));
        let environment_variables = variables.collect();
        Command {
            environment_variables,
            ..sh("true")
        }
    };
    let outputs = |paths: &[&str]| Command {
        output_paths: paths.iter().map(ToString::to_string).collect(),
        ..sh("true")
    };
    let directory = |directory: &str| Command {
        working_directory: directory.to_owned(),
        ..sh("true")
    };
    for (command, part) in [
        (Command::default(), "names no program"),
        (change(|it| it.arguments[0].clear()), "names no program"),
        (change(|it| it.arguments.push("\0".to_owned())), "zero byte"),
        (variables(&[("a=", "")]), "\"a=\""),
        (variables(&[("", "")]), "\"\""),
        (variables(&[("a", ""), ("a", "b")]), "twice"),
        (directory(".."), "working directory"),
        (directory("/tmp"), "absolute"),
        (directory("./.."), "working directory"),
        (directory("gone"), "\"gone\""),
        (outputs(&["../x"]), "\"../x\""),
        (outputs(&["x/.."]), "\"x/..\""),
        (outputs(&["./../x"]), "\"../x\""),
        (outputs(&["/x"]), "absolute"),
        (outputs(&["/"]), "absolute"),
        (outputs(&["x", "x"]), "twice"),
        (outputs(&["x", "./x/"]), "twice"),
        (
            change(|it| it.output_node_properties = vec!["mtime".to_owned()]),
            "mtime",
        ),
    ] {
        let result = bench.command(&command, &none).await;
        refused(result, Code::InvalidArgument, part);
    }
}

#[tokio::test]
async fn what_is_no_action_is_refused() {
    let bench = Bench::new();
    let noise = bench.put("this is not a message").await;
    refused(
        bench.run(noise).await,
        Code::InvalidArgument,
        "not a Action",
    );
    let empty = bench.message(&Action::default()).await;
    refused(bench.run(empty).await, Code::InvalidArgument, "is missing");
    let missing = Digest::of(b"nobody has this");
    let result = bench.run(missing).await;
    refused(result, Code::FailedPrecondition, "there is no blob");
}

#[tokio::test]
async fn too_much_output_kills() {
    let mut bench = Bench::new();
    bench.limits.stream = 100_000;
    for stream in ["1", "2"] {
        let script = format!("while :; do echo xxxxxxxxxxxxxxxxxxxxxx; done >&{stream}");
        let result = bench.sh(&script).await;
        refused(result, Code::ResourceExhausted, "more than 100000 bytes");
    }
    // A longer output that is allowed becomes a blob.
    let result = bench
        .sh("head -c 100000 /dev/zero | tr '\\0' x")
        .await
        .unwrap();
    assert_eq!(bench.text(&result.stdout_digest).await.len(), 100_000);
    assert!(result.stdout_raw.is_empty());
}

#[tokio::test]
async fn a_time_limit_kills_all_processes() {
    let mut bench = Bench::bare();
    let pids = bench.folder.path().with_extension("pids");
    let script = format!("sleep 1000 & echo $$ $! > {}; wait", pids.display());
    let command = bench.message(&sh(&script)).await;
    let root = bench.message(&Directory::default()).await;
    let run = async |bench: &Bench, timeout: Option<(i64, i32)>| {
        let timeout = timeout.map(|(seconds, nanos)| protobuf::Duration { seconds, nanos });
        let action = Action {
            command_digest: Some(command.into()),
            input_root_digest: Some(root.into()),
            timeout,
            ..Action::default()
        };
        bench.run(bench.message(&action).await).await
    };
    let limit = Some((0, 200_000_000));
    // Its own limit ends it; so does the worker's, if it gives none or the same.
    for timeout in [limit, None, Some((0, 0)), limit] {
        let result = run(&bench, timeout).await;
        refused(result, Code::DeadlineExceeded, "longer than 200ms");
        assert_dead(&pids);
        bench.limits.time = Duration::from_millis(200);
    }
    fs::remove_file(&pids).unwrap();
    for (timeout, why) in [
        ((0, 200_000_001), "the most here is 200ms"),
        ((i64::MAX, 0), "the most here is 200ms"),
        ((-1, 0), "not a time limit"),
    ] {
        let result = run(&bench, Some(timeout)).await;
        refused(result, Code::InvalidArgument, why);
    }
    assert!(!pids.exists(), "it ran");
}

#[tokio::test]
async fn a_time_limit_kills_a_first_process_that_has_joined_another_group() {
    let mut bench = Bench::bare();
    bench.limits.time = Duration::from_millis(200);
    let mark = bench.folder.path().with_extension("mark");
    // If nothing kills it, it ends by itself and leaves a mark.
    let script = format!(
        "exec perl -e '$SIG{{ALRM}} = sub {{ mkdir \"{}\"; exit }}; alarm 5; \
        setpgrp(0, getpgrp(getppid())) or die; sleep 1000'",
        mark.display()
    );
    let result = bench.sh(&script).await;
    refused(result, Code::DeadlineExceeded, "longer than 200ms");
    assert!(!mark.exists(), "it was not killed");
}

#[tokio::test]
async fn a_cancel_kills_all_processes() {
    let bench = Bench::bare();
    let pids = bench.folder.path().with_extension("fifo");
    // No program makes the pipe: its start would not be under the lock of the runner's starts.
    mknodat(CWD, &pids, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let script = format!("sleep 1000 & echo $$ $! > {}; wait", pids.display());
    let action = bench.action(&sh(&script), &Directory::default()).await;
    // Cancelled by the argument, and by dropping the future.
    for drops in [false, true] {
        let (cancel, cancelled) = oneshot::channel::<()>();
        let (runner, blobs) = (bench.runner(), bench.blobs.clone());
        let run = tokio::spawn(async move {
            let cancelled = async { drop(cancelled.await) };
            runner.run(action, &blobs, cancelled).await
        });
        // It is running once it has written its ids.
        let written = tokio::fs::read_to_string(&pids).await.unwrap();
        if drops {
            run.abort();
            assert!(run.await.unwrap_err().is_cancelled());
        } else {
            cancel.send(()).unwrap();
            refused(run.await.unwrap(), Code::Cancelled, "cancelled");
        }
        bench.nothing_is_left().await;
        let seen = bench.folder.path().with_extension("pids");
        fs::write(&seen, written).unwrap();
        assert_dead(&seen);
        fs::remove_file(seen).unwrap();
    }
    fs::remove_file(pids).unwrap();
}

#[tokio::test]
async fn what_the_first_process_leaves_behind_is_killed() {
    let bench = Bench::bare();
    let pids = bench.folder.path().with_extension("pids");
    // Its streams stay open, but the end of the first process counts.
    let script = format!("sleep 1000 & echo $! > {}; echo done", pids.display());
    let result = bench.sh(&script).await.unwrap();
    assert_eq!((result.exit_code, stdout(&result)), (0, "done\n"));
    assert_dead(&pids);
    // A process that has left the group lives on, but nobody waits for it.
    let pids_file = pids.display();
    let script = format!("setsid sleep 1000 & echo $! > {pids_file}; echo done");
    let result = bench.sh(&script).await.unwrap();
    assert_eq!((result.exit_code, stdout(&result)), (0, "done\n"));
    let pid = fs::read_to_string(&pids).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    fs::remove_file(pids).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_executables_are_written_and_run_at_a_time() {
    let bench = Bench::new();
    let root = bench.tool("echo ran").await;
    let command = Command {
        arguments: vec!["./tool".to_owned()],
        ..Command::default()
    };
    let action = bench.action(&command, &root).await;
    let runner = bench.runner();
    let runs = (0..100).map(|_| {
        let (runner, blobs) = (runner.clone(), bench.blobs.clone());
        tokio::spawn(async move { runner.run(action, &blobs, future::pending()).await })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(stdout(&run.await.unwrap().unwrap()), "ran\n");
    }
    drop(runner);
    bench.nothing_is_left().await;
}

/// Checks that killed processes are gone, or dead and not yet reaped by their parent.
#[track_caller]
fn assert_dead(pids: &Path) {
    let pids = fs::read_to_string(pids).unwrap();
    assert!(!pids.trim().is_empty());
    for pid in pids.split_whitespace() {
        // A killed process may take a moment to end.
        let is_alive = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let state = stat.rsplit(") ").next().unwrap_or_default().chars().next();
            state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
        };
        let is_gone = (0..100_000).any(|_| {
            std::thread::yield_now();
            !is_alive()
        });
        assert!(is_gone, "the process {pid} lives");
    }
}
