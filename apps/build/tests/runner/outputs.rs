//! The outputs of an action.

use filch_build::digest::Digest;
use filch_build::reapi::{
    self, ActionResult, Command, Directory, Tree, command::OutputDirectoryFormat,
};
use filch_build::worker::RunError;
use prost::Message;
use rustix::process::geteuid;
use tonic::Code;

use crate::actions::{Bench, files, folder, refused, sh, stderr};

/// Runs a script without inputs that makes these outputs.
async fn make(bench: &Bench, script: &str, outputs: &[&str]) -> Result<ActionResult, RunError> {
    bench.sh_with(script, &Directory::default(), outputs).await
}

#[tokio::test]
async fn files_folders_and_links_are_kept() {
    let bench = Bench::new();
    let script = "
        printf one > b; printf two > a/x; chmod +x a/x; ln -s ../b a/link
        mkdir -p t/u/v t/w; printf 3 > t/u/v/f; printf 3 > t/w/g; ln -s u/v t/l; printf 9 > unnamed
    ";
    let outputs = ["t", "b", "a/x", "a/link", "missing", "also/missing"];
    let result = make(&bench, script, &outputs).await.unwrap();
    assert_eq!(result.exit_code, 0, "{:?}", result.stderr_raw);
    let [ax, b] = result.output_files.as_slice() else {
        panic!("{:?}", result.output_files);
    };
    assert_eq!((ax.path.as_str(), ax.is_executable), ("a/x", true));
    assert_eq!((b.path.as_str(), b.is_executable), ("b", false));
    assert_eq!(bench.text(&ax.digest).await, "two");
    assert_eq!(bench.text(&b.digest).await, "one");
    let [link] = result.output_symlinks.as_slice() else {
        panic!("{:?}", result.output_symlinks);
    };
    assert_eq!((&*link.path, &*link.target), ("a/link", "../b"));
    let [t] = result.output_directories.as_slice() else {
        panic!("{:?}", result.output_directories);
    };
    assert_eq!((t.path.as_str(), &t.root_directory_digest), ("t", &None));
    let tree: Tree = message(&bench, &t.tree_digest).await;
    let root = tree.root.unwrap();
    let names = root.directories.iter().map(|node| node.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["u", "w"]);
    assert_eq!(root.symlinks[0].target, "u/v");
    assert_eq!(tree.children.len(), 3);
}

/// Reads a message that an action has made.
async fn message<M: Message + Default>(bench: &Bench, blob: &Option<reapi::Digest>) -> M {
    let blob = blob.as_ref().unwrap().try_into().unwrap();
    M::decode(bench.blobs.read(blob).await.unwrap()).unwrap()
}

#[tokio::test]
#[expect(deprecated, reason = "clients of version 2.0 use these fields")]
async fn clients_of_version_2_0_get_what_they_know() {
    let bench = Bench::new();
    let command = |script: &str| Command {
        output_files: vec!["f".to_owned(), "l".to_owned()],
        output_directories: vec!["d".to_owned(), "m".to_owned()],
        output_directory_format: OutputDirectoryFormat::TreeAndDirectory as i32,
        ..sh(script)
    };
    let none = Directory::default();
    let good = command("printf 1 > f; ln -s f l; mkdir -p d/e; ln -s d m; printf 1 > d/e/f");
    let result = bench.command(&good, &none).await.unwrap();
    assert_eq!(result.output_files.len(), 1);
    assert_eq!(result.output_file_symlinks[0].path, "l");
    assert_eq!(result.output_directory_symlinks[0].path, "m");
    assert!(result.output_symlinks.is_empty());
    let root = &result.output_directories[0].root_directory_digest;
    let root: Directory = message(&bench, root).await;
    let child: Directory = message(&bench, &root.directories[0].digest).await;
    assert_eq!(child.files[0].name, "f");

    for (script, part) in [("mkdir f", "is a folder"), ("printf 1 > d", "is a file")] {
        let result = bench.command(&command(script), &none).await;
        refused(result, Code::FailedPrecondition, part);
    }
}

/// Some clients name the working directory as `.`, and what is in it as `./f` or `d/`.
#[tokio::test]
async fn paths_may_have_steps_that_lead_nowhere() {
    let bench = Bench::new();
    let inner = files(&[bench.file("given", "").await]);
    let root = Directory {
        directories: vec![folder(&bench, "in", &inner).await],
        ..Directory::default()
    };
    let command = |directory: &str, outputs: &[&str]| Command {
        working_directory: directory.to_owned(),
        output_paths: outputs.iter().map(ToString::to_string).collect(),
        ..sh("mkdir -p d && echo > f && echo > d/g")
    };
    let at_top = command(".", &["./f", "d/", "in//./given"]);
    let result = bench.command(&at_top, &root).await.unwrap();
    let kept = result.output_files.iter().map(|file| file.path.as_str());
    assert_eq!(kept.collect::<Vec<_>>(), ["f", "in/given"]);
    assert_eq!(result.output_directories[0].path, "d");

    #[expect(deprecated, reason = "clients of version 2.0 use this field")]
    let older = Command {
        output_directories: vec![".".to_owned()],
        ..command("./in/", &[])
    };
    for whole in [older, command("./in/", &["."])] {
        let result = bench.command(&whole, &root).await.unwrap();
        let [whole] = result.output_directories.as_slice() else {
            panic!("{:?}", result.output_directories);
        };
        // As the API names the whole working directory.
        assert_eq!(whole.path, "");
        let tree: Tree = message(&bench, &whole.tree_digest).await;
        let names = tree.root.unwrap().files.into_iter().map(|file| file.name);
        assert_eq!(names.collect::<Vec<_>>(), ["f", "given"]);
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused() {
    let bench = Bench::new();
    // Root can read everything.
    let closed: &[_] = if geteuid().is_root() {
        &[]
    } else {
        &[
            ("echo > o; chmod 0 o", "\"o\" cannot be read"),
            ("mkdir o; chmod 0 o", "\"o\" cannot be read"),
            ("echo > p/passwd; chmod 0 p", "\"p/passwd\" cannot be read"),
        ]
    };
    let scripts = [
        ("mkfifo o", "\"o\" is neither"),
        ("mkdir o; mkfifo o/pipe", "\"o/pipe\" is neither"),
        ("ln -s /etc/passwd o", "is absolute"),
        ("ln -s ../.. o", "leaves the folder"),
        ("mkdir o; ln -s ../../x o/l", "leaves the folder"),
        ("mkdir o; touch o/$(printf '\\377')", "not UTF-8"),
        (
            "rmdir p; ln -s /etc p",
            "\"p/passwd\" is behind a symbolic link",
        ),
        (
            "mkdir o; cd o; name=$(printf 'a%.0s' $(seq 250))
            for _ in $(seq 20); do mkdir $name; cd -P $name; done",
            "cannot be read",
        ),
    ];
    for &(script, part) in scripts.iter().chain(closed) {
        let result = make(&bench, script, &["o", "p/passwd"]).await;
        refused(result, Code::FailedPrecondition, part);
    }
}

#[tokio::test]
async fn too_many_and_too_large_outputs_are_refused() {
    let mut bench = Bench::new();
    let deep = "mkdir o; cd o; path=$(printf 'a/%.0s' $(seq 1000))
        for _ in 1 2 3; do mkdir -p $path; cd -P $path; done";
    let result = make(&bench, deep, &["o"]).await;
    refused(result, Code::ResourceExhausted, "in each other");
    (bench.limits.output_nodes, bench.limits.output_bytes) = (5, 1000);
    for (script, part) in [
        ("mkdir o; touch o/1 o/2 o/3 o/4 o/5", "more than 5 files"),
        ("head -c 1001 /dev/zero > o", "more than 1000 bytes"),
        ("truncate -s 1G o", "more than 1000 bytes"),
    ] {
        let result = make(&bench, script, &["o"]).await;
        refused(result, Code::ResourceExhausted, part);
    }
    let script = "mkdir o; touch o/1 o/2 o/3 o/4; head -c 1000 /dev/zero > o/1";
    assert!(make(&bench, script, &["o"]).await.is_ok());
}

#[tokio::test]
async fn large_files_go_in_and_out() {
    let bench = Bench::new();
    let script = "head -c 3000001 /dev/zero | tr '\\0' x > large";
    let made = make(&bench, script, &["large"]).await.unwrap();
    let large = Digest::try_from(made.output_files[0].digest.as_ref().unwrap()).unwrap();
    assert_eq!(large, Digest::of(&[b'x'; 3_000_001]));
    let mut file = bench.file("large", "").await;
    file.digest = Some(large.into());
    let copied = bench
        .sh_with("cp large again", &files(&[file]), &["again"])
        .await;
    let copied = copied.unwrap();
    assert_eq!(copied.output_files[0].digest, Some(large.into()));
}

#[tokio::test]
async fn closed_folders_are_removed() {
    let bench = Bench::new();
    let script = "mkdir -p a/b/c; touch a/b/c/f; chmod 0 a/b/c a/b; chmod 500 a .";
    // `run` checks what is left.
    assert!(bench.sh(script).await.is_ok());
}

/// The folders are deeper than a path, a thread's stack or the number of open files allows.
#[tokio::test]
async fn folders_of_any_depth_are_removed() {
    let bench = Bench::new();
    let script = "
        path=$(printf 'a/%.0s' $(seq 1000))
        for _ in $(seq 10); do mkdir -p $path && cd -P $path 2> /dev/null; done; touch file
    ";
    let result = bench.sh(script).await.unwrap();
    assert_eq!(result.exit_code, 0, "{}", stderr(&result));
}
