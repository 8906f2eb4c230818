//! Jobs that are built, and jobs that are not built again.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::project::{Log, Project};

const CHAIN: &str = r#"
    [[job]]
    id = "upper"
    sh = "tr a-z A-Z < in/text > out/upper"
    inputs = ["in/*"]
    outputs = ["out/upper"]
    [[job]]
    id = "twice"
    command = ["sh", "-c", "cat out/upper out/upper > twice"]
    deps = ["upper"]
    outputs = ["twice"]
    [[job]]
    id = "other"
    sh = "cp other.in other.out"
    inputs = ["other.in"]
    outputs = ["other.out"]
"#;

/// Checks that the build had this event.
#[track_caller]
fn has(log: &Log, line: &str) {
    assert!(log.lines.iter().any(|it| it == line), "{:?}", log.lines);
}

fn chain() -> Project {
    Project::new(&[("in/text", "abc"), ("other.in", "other")])
}

#[tokio::test]
async fn a_second_build_is_cached_and_touches_nothing() {
    let project = chain();
    let (summary, _) = project.run(CHAIN).await;
    assert_eq!((summary.built, summary.cached, summary.failed), (3, 0, 0));
    assert_eq!(project.read("twice"), "ABCABC");
    assert_eq!(project.read("other.out"), "other");
    let inode = || fs::metadata(project.path().join("twice")).unwrap().ino();
    let before = inode();
    let (summary, _) = project.run(CHAIN).await;
    assert_eq!((summary.built, summary.cached), (0, 3));
    assert_eq!(inode(), before);
    // Outputs that were lost or changed by hand come back.
    fs::remove_dir_all(project.path().join("out")).unwrap();
    project.write("twice", "ABCABX");
    assert_eq!(project.run(CHAIN).await.0.cached, 3);
    assert_eq!(project.read("out/upper"), "ABC");
    assert_eq!(project.read("twice"), "ABCABC");
}

#[tokio::test]
async fn a_change_builds_what_depends_on_it_and_nothing_else() {
    let project = chain();
    project.run(CHAIN).await;
    project.write("in/text", "xyz");
    let (_, log) = project.run(CHAIN).await;
    let mut lines = log.lines;
    lines.sort();
    assert_eq!(lines, ["other cached", "twice built", "upper built"]);
    assert_eq!(project.read("twice"), "XYZXYZ");
    // Its output is as before, so nothing after it is run.
    project.write("in/text", "XyZ");
    let (summary, log) = project.run(CHAIN).await;
    has(&log, "upper built");
    has(&log, "twice cached");
    assert_eq!(summary.critical_path, ["upper", "twice"]);
    // A new file that matches a pattern is a change.
    project.write("in/more", "");
    let (_, log) = project.run(CHAIN).await;
    has(&log, "upper built");
}

#[tokio::test]
async fn folders_links_and_programs_are_outputs_and_inputs() {
    let graph = r#"
        [[job]]
        id = "make"
        sh = """
            mkdir -p d/e; echo 'echo ran' > d/e/tool; chmod +x d/e/tool
            ln -s e/tool d/l; ln -s d/l l
        """
        outputs = ["d", "l"]

        [[job]]
        id = "use"
        sh = "d/e/tool > ran; sh l >> ran; cat d/l >> ran"
        deps = ["make"]
        outputs = ["ran"]
    "#;
    let project = Project::new(&[("d/old", "is replaced")]);
    let (summary, log) = project.run(graph).await;
    assert_eq!(summary.built, 2, "{log:?}");
    assert_eq!(project.read("ran"), "ran\nran\necho ran\n");
    assert!(!project.path().join("d/old").exists());
    let tool = fs::metadata(project.path().join("d/e/tool")).unwrap();
    assert_eq!(tool.permissions().mode() & 0o777, 0o755);
    let link = fs::read_link(project.path().join("l")).unwrap();
    assert_eq!(link.to_str(), Some("d/l"));
    let inode = || fs::metadata(project.path().join("d")).unwrap().ino();
    let before = inode();
    assert_eq!(project.run(graph).await.0.cached, 2);
    assert_eq!(inode(), before);
    // A folder where a file comes, and a file where a folder comes.
    fs::remove_file(project.path().join("l")).unwrap();
    fs::create_dir(project.path().join("l")).unwrap();
    fs::remove_dir_all(project.path().join("d")).unwrap();
    project.write("d", "");
    assert_eq!(project.run(graph).await.0.cached, 2);
    assert_eq!(project.read("d/l"), "echo ran\n");
}

#[tokio::test]
async fn only_what_is_named_is_there() {
    let graph = r#"
        env = { A = "1", B = "1" }
        [[job]]
        id = "a"
        sh = ": > found; find . -type f | sort > found; echo $A $B $HOME >> found; touch src/made"
        inputs = ["src", "top.*", "*.sh"]
        outputs = ["found", "src/made"]
        env = { B = "2" }
    "#;
    let files = "src/a src/b/c src/.hidden src/made top.x other run.sh found";
    let files: Vec<_> = files.split(' ').map(|path| (path, "")).collect();
    let project = Project::new(&files);
    assert_eq!(project.run(graph).await.0.built, 1);
    let all = "./found\n./run.sh\n./src/a\n./src/b/c\n./top.x\n1 2\n";
    assert_eq!(project.read("found"), all);
}

#[tokio::test]
async fn links_do_not_lead_out_of_the_project() {
    let graph = r#"job = [
        { id = "in", sh = "cat link", inputs = ["link"] },
        { id = "out", sh = "echo > outside/file", outputs = ["outside/file"] },
        { id = "deep", sh = "echo > outside/a/file", outputs = ["outside/a/file"] },
    ]"#;
    let project = Project::new(&[]);
    let elsewhere = tempfile::TempDir::new().unwrap();
    symlink("/etc/passwd", project.path().join("link")).unwrap();
    symlink(elsewhere.path(), project.path().join("outside")).unwrap();
    let (summary, log) = project.run(graph).await;
    assert_eq!(summary.failed, 3);
    assert!(log.lines[0].contains("link: it is a link that"), "{log:?}");
    for line in &log.lines {
        assert!(line.contains("leaves the project"), "{line}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
