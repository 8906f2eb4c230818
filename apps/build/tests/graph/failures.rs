//! Jobs that fail, and builds that end early.

use std::fs;

use crate::leaver::pipe;
use crate::project::{Log, Project};

const GRAPH: &str = r#"job = [
    { id = "bad", sh = "echo broken >&2; exit 3", outputs = ["bad.out"] },
    { id = "after", sh = "true", deps = ["bad"] },
    { id = "last", sh = "true", deps = ["after", "good"] },
    { id = "good", sh = "true" },
]"#;

#[tokio::test]
async fn what_depends_on_a_failed_job_is_skipped() {
    let project = Project::new(&[]);
    let (summary, log) = project.run(GRAPH).await;
    let lines = [
        "bad failed: its command ended with the exit code 3",
        "good built",
    ];
    assert_eq!(log.lines[..2], lines);
    assert_eq!(log.lines[2..], ["after skipped", "last skipped"]);
    assert_eq!(log.stderr, "broken\n");
    assert_eq!((summary.built, summary.failed, summary.skipped), (1, 1, 2));
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let project = Project::new(&[]);
    let runs = project.path().join("runs");
    let runs = runs.display();
    let graph = format!("[[job]]\nid = 'a'\nsh = 'echo ran >> {runs}; exit 1'");
    for _ in 0..2 {
        assert_eq!(project.run(&graph).await.0.failed, 1);
    }
    assert_eq!(project.read("runs"), "ran\nran\n");
}

#[tokio::test]
async fn fail_fast_ends_the_build() {
    let mut project = Project::new(&[]);
    project.fail_fast = true;
    let (summary, _) = project.run(GRAPH).await;
    assert_eq!((summary.built, summary.failed, summary.skipped), (0, 1, 3));
    // Jobs that run are ended as well.
    project.at_a_time = 2;
    let graph = "job = [{ id = 'long', sh = 'sleep 1000' }, { id = 'bad', sh = 'exit 1' }]";
    let (summary, _) = project.run(graph).await;
    assert_eq!((summary.failed, summary.skipped), (1, 1));
}

#[tokio::test]
async fn each_failure_is_told_by_its_reason() {
    let project = Project::new(&[("in", "")]);
    for (job, part) in [
        (
            "sh = 'true'\noutputs = ['o']",
            "did not make the output \"o\"",
        ),
        ("command = ['no-such']", "\"no-such\" cannot be started"),
        ("sh = 'sleep 1000'\ntimeout = 0.05", "longer than 50ms"),
        ("sh = 'mkfifo o'\noutputs = ['o']", "neither a file"),
        (
            "sh = ':'\ninputs = ['in']\noutputs = ['in/o']",
            "needs a folder",
        ),
    ] {
        let (summary, log) = project.run(&format!("[[job]]\nid = 'a'\n{job}")).await;
        assert_eq!(summary.failed, 1);
        assert!(log.lines[0].contains(part), "{:?}", log.lines);
    }
}

#[tokio::test]
async fn a_dropped_build_leaves_nothing() {
    let project = Project::new(&[("out", "old")]);
    let ready = pipe(project.path(), "ready");
    let script = format!("echo new > out; echo > {ready}; sleep 1000");
    let graph = format!("[[job]]\nid = 'a'\nsh = '{script}'\noutputs = ['out']");
    let build = project.build(&graph);
    let mut log = Log::default();
    tokio::select! {
        summary = build.run(&mut log) => panic!("{summary:?}"),
        read = tokio::fs::read(&ready) => assert!(read.is_ok()),
    }
    assert_eq!(project.read("out"), "old");
    let actions = project.path().join(".filch/actions");
    assert_eq!(fs::read_dir(actions).unwrap().count(), 0);
}
