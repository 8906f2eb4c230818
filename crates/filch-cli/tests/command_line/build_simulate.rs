//! `filch build simulate`, as a user runs it.

use std::fs;
use std::path::Path;

use crate::common::Scratch;
use crate::program::{assert_fits, failure, figure, filch, stderr, stdout};

/// Returns the report of a quick simulation, without its real times.
#[track_caller]
fn simulate(scratch: &Scratch, further: &[&str]) -> String {
    let arguments = [&["build", "simulate", "--quick"], further].concat();
    let output = filch(&arguments, scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let report = stdout(&output);
    let speed = report.rfind("\npolicy ").unwrap();
    assert!(report[speed..].contains("simulated in"), "{report}");
    report[..speed].to_owned()
}

/// Returns the first number in the line of a policy, in the first table.
fn makespan(report: &str, policy: &str) -> f64 {
    let line = report.lines().find_map(|line| line.strip_prefix(policy));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap().parse().unwrap()
}

const POLICIES: [&str; 4] = ["filch", "FIFO", "always wait", "near first"];

#[test]
fn its_table_has_a_line_for_each_policy_and_none_is_below_the_bound() {
    let scratch = Scratch::new("build-table");
    let arguments = ["build", "simulate", "--quick", "--jobs", "2000"];
    let output = filch(&arguments, scratch.path());
    let bound = figure(&output, "lower bound ");
    let bound: f64 = bound.split_whitespace().next().unwrap().parse().unwrap();
    let report = stdout(&output);
    for policy in POLICIES {
        assert!(makespan(&report, policy) >= bound, "{policy}: {report}");
        let lines = report.lines().filter(|line| line.starts_with(policy));
        assert_eq!(lines.count(), 3, "{policy}: {report}");
    }
    assert_fits(&report, 80);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let scratch = Scratch::new("build-seeds");
    let size = [
        "--jobs",
        "3000",
        "--workers",
        "20",
        "--slots",
        "2",
        "--seed",
    ];
    let run = |seed| simulate(&scratch, &[&size[..], &[seed]].concat());
    let first = run("1");
    assert!(first == run("1") && first != run("2"));
}

#[test]
fn a_ratio_and_a_share_of_cached_results_are_as_asked_for() {
    let scratch = Scratch::new("build-ratio");
    let report = simulate(
        &scratch,
        &["--jobs", "2000", "--ratio", "2.5", "--cached", "1"],
    );
    assert!(report.contains("transfer/run    2.500,"), "{report}");
    // There is nothing to do: workers have all results.
    assert_eq!(makespan(&report, "always wait"), 0.0);
    assert!(report.contains("results used again"), "{report}");
    let report = simulate(&scratch, &["--jobs", "2000"]);
    assert!(!report.contains("results used again"), "{report}");
}

const FARM: &str = "\
[[pools]]
name = 'linux'
workers = 30
cpus = 8
properties = { os = 'linux' }
[[pools]]
name = 'mac'
workers = 5
[[invocations]]
name = 'nightly'
jobs = 2000
priority = 5
[[invocations]]
name = 'nightly'
jobs = 20
cpus = 8
[[invocations]]
name = 'mine'
jobs = 10
properties = { os = 'linux' }
";

#[test]
fn the_invocations_and_the_pools_of_a_farm_have_their_lines() {
    let scratch = Scratch::new("build-farm");
    let run = |farm: &str| {
        fs::write(scratch.path().join("farm.toml"), farm).unwrap();
        [
            "build",
            "simulate",
            "--farm",
            "farm.toml",
            "--deps-timeout",
            "1",
        ]
    };
    let output = filch(&run(FARM), scratch.path());
    let report = stdout(&output);
    assert_fits(&report, 80);
    for line in [
        "pool linux ",
        "pool mac ",
        "invocation nightly ",
        "invocation mine ",
    ] {
        assert_eq!(report.matches(line).count(), 4, "{line}: {report}");
    }
    for (right, wrong, reason) in [
        ("workers = 30", "workers = 0", "needs a worker that fits"),
        ("cpus = 8\n[", "cpus = 9\n[", "a job that asks for 9 CPUs"),
        ("cpus = 8", "cpu = 8", "unknown field `cpu`"),
    ] {
        let message = failure(&run(&FARM.replace(right, wrong)), scratch.path(), 2);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let scratch = Scratch::new("build-usage");
    for (arguments, reason) in [
        (&["--workers", "0"][..], "0 is not in 1.."),
        (&["--jobs", "0"], "0 is not in 1.."),
        (&["--jobs", "10000001"], "10000001 is not in 1..=10000000"),
        (&["--slots", "0"], "0 is not in 1..="),
        (&["--layers", "0"], "0 is not in 1..="),
        (
            &["--layers", "21", "--jobs", "20"],
            "21 layers need as many jobs, not 20",
        ),
        (&["--layers", "1", "--ratio", "1"], "no job has inputs"),
        (&["--fan-in", "0"], "0 is not in 1..="),
        (&["--skew", "0"], "0 is not in 1..="),
        (&["--bandwidth", "0"], "not from 0.000001 to 1000000"),
        (&["--bandwidth", "NaN"], "not from 0.000001 to 1000000"),
        (&["--bandwidth", "inf"], "not from 0.000001 to 1000000"),
        (&["--bandwidth", "fast"], "not a number"),
        (&["--latency=-1"], "not from 0 to 1000000"),
        (&["--ratio", "0"], "not from 0.000001"),
        (&["--run", "NaN"], "not from 0.000001"),
        (&["--run-sigma", "4"], "not from 0 to 3"),
        (&["--size", "0"], "not from 0.000001"),
        (&["--cached", "1.5"], "not from 0 to 1"),
        (&["--cached", "NaN"], "not from 0 to 1"),
        (&["--deps-timeout", "NaN"], "and not `never`"),
        (&["--farm", "absent.toml"], "No such file"),
        (&["--farm", "/dev/null"], "missing field `pools`"),
    ] {
        let arguments = [&["build", "simulate", "--quick"], arguments].concat();
        let message = failure(&arguments, scratch.path(), 2);
        assert!(message.contains(reason), "{arguments:?}: {message}");
    }
}

#[test]
fn a_timeout_that_never_ends_is_refused_where_it_leaves_jobs_for_ever() {
    let arguments = ["build", "simulate", "--quick", "--deps-timeout", "never"];
    let message = failure(&arguments, Path::new("."), 2);
    assert!(message.contains("policy `filch`"), "{message}");
    assert!(
        message.contains("20000 of 20000 jobs wait for ever"),
        "{message}"
    );
}
