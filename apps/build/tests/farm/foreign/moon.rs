//! moon, another client of the cache: by gRPC, with a token.

use std::fs;
use std::path::Path;

use super::farm::{Farm, TOKEN};
use crate::installed;

/// The name that moon uses for the instance; it can be changed.
const INSTANCE: &str = "moon-outputs";

fn write(workspace: &Path, address: &str) {
    for folder in [".moon", "app"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    let settings = format!(
        "projects: {{ app: 'app' }}\n\
         telemetry: false\n\
         remote: {{ api: 'grpc', host: 'grpc://{address}', auth: {{ token: 'FARM_TOKEN' }} }}\n"
    );
    let project = "tasks:\n  \
        build:\n    \
        command: 'sh -c \"rev input.txt > output.txt && echo ran >> times.txt\"'\n    \
        inputs: ['input.txt']\n    \
        outputs: ['output.txt']\n    \
        toolchains: 'system'\n";
    fs::write(workspace.join(".moon/workspace.yml"), settings).unwrap();
    fs::write(workspace.join("app/moon.yml"), project).unwrap();
    fs::write(workspace.join("app/input.txt"), "hclif\n").unwrap();
    let ignored = "/.moon/cache\noutput.txt\ntimes.txt\n";
    fs::write(workspace.join(".gitignore"), ignored).unwrap();
}

#[test]
fn moon_finds_what_it_stored() {
    let Some(moon) = installed::moon() else {
        return;
    };
    let Some(git) = installed::of_the_system("git") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    let farm = Farm::with_token(folder.path(), &["--instance", INSTANCE]);
    write(&workspace, &farm.address);
    let run = |program: &Path, arguments: &[&str], token: &str| {
        // moon compiles its plug-ins there, which takes seconds.
        let mut command = installed::command(program, &installed::folder().join("moon"));
        command.args(arguments).current_dir(&workspace);
        command.env("FARM_TOKEN", token);
        for person in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{person}_NAME"), "test");
            command.env(format!("GIT_{person}_EMAIL"), "test");
        }
        installed::said(&mut command)
    };
    fs::create_dir_all(installed::folder().join("moon")).unwrap();
    run(&git, &["init", "--quiet"], "");
    run(&git, &["add", "--all"], "");
    run(&git, &["commit", "--quiet", "--message", "All"], "");

    // Starts from the files in the folder, without what moon knows of it.
    let build = |token: &str| {
        let _ = fs::remove_dir_all(workspace.join(".moon/cache"));
        let _ = fs::remove_file(workspace.join("app/output.txt"));
        run(&moon, &["run", "app:build"], token)
    };

    let refused = build("wrong");
    assert!(refused.contains("a token is needed"), "{refused}");
    assert_eq!(farm.metric("blobs_written", None), 0, "{refused}");

    let first = build(TOKEN);
    assert!(!first.contains("cached"), "{first}");
    assert_eq!(farm.metric("result_hits", None), 0);
    assert!(farm.metric("blobs_written", None) > 0, "{first}");

    let second = build(TOKEN);
    assert!(second.contains("cached from remote"), "{second}");
    assert!(farm.metric("result_hits", None) > 0, "{second}");
    let read = |path| fs::read_to_string(workspace.join(path)).unwrap();
    assert_eq!(read("app/output.txt"), "filch\n");
    assert_eq!(read("app/times.txt"), "ran\nran\n");
}
