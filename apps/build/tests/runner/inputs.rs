//! The inputs of an action: valid trees are laid out, others refused.

use std::fs;

use bazel_remote_apis::google::protobuf::UInt32Value;
use filch_build::digest::Digest;
use filch_build::reapi::{Command, Directory, DirectoryNode, FileNode, NodeProperties, Tree};
use filch_build::storage::{Location, Storage};
use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use prost::Message;
use tonic::Code;

use crate::actions::{Bench, files, folder, link, refused, sh, stdout};

fn folders(directories: Vec<DirectoryNode>) -> Directory {
    Directory {
        directories,
        ..Directory::default()
    }
}

#[tokio::test]
async fn the_folder_holds_the_inputs_and_nothing_else() {
    let bench = Bench::new();
    let mut tool = bench.file("tool", "").await;
    tool.is_executable = true;
    let inner = Directory {
        directories: vec![folder(&bench, "empty", &Directory::default()).await],
        symlinks: vec![link("up", "../top")],
        ..files(&[bench.file("data", "text").await, tool])
    };
    let root = Directory {
        directories: vec![folder(&bench, "inner", &inner).await],
        ..files(&[bench.file("top", "top").await])
    };
    let mut command = sh("find .. | sort; cat up data; test -x tool && test ! -x data");
    command.working_directory = "inner".to_owned();
    command.output_paths = vec!["made/for/it".to_owned()];
    let result = bench.command(&command, &root).await.unwrap();
    let all = "..\n../inner\n../inner/data\n../inner/empty\n../inner/made\n../inner/made/for\n\
        ../inner/tool\n../inner/up\n../top\ntoptext";
    assert_eq!((result.exit_code, stdout(&result)), (0, all));
}

#[tokio::test]
async fn a_directory_that_is_not_canonical_is_refused() {
    let bench = Bench::new();
    let (a, b) = (bench.file("a", "").await, bench.file("b", "").await);
    let below = folder(&bench, "a", &Directory::default()).await;
    let mut nameless = Vec::new();
    for name in ["", ".", "..", "a/b", "/a", "a\0"] {
        nameless.push(vec![bench.file(name, "").await]);
    }
    let linked = |name, target| Directory {
        symlinks: vec![link(name, target)],
        ..Directory::default()
    };
    let nameless = nameless.iter().map(|nodes| (files(nodes), "name"));
    let mut bad: Vec<_> = nameless.collect();
    let properties = Some(NodeProperties {
        unix_mode: Some(UInt32Value { value: 0o4755 }),
        ..NodeProperties::default()
    });
    let with_properties = FileNode {
        node_properties: properties,
        ..a.clone()
    };
    let without_digest = FileNode {
        digest: None,
        ..a.clone()
    };
    let mut wrong_digest = a.clone();
    wrong_digest.digest.as_mut().unwrap().hash.pop();
    let folder_too = Directory {
        directories: vec![below],
        ..files(std::slice::from_ref(&a))
    };
    let link_too = Directory {
        symlinks: vec![link("a", "b")],
        ..files(std::slice::from_ref(&a))
    };
    bad.extend([
        (files(&[b.clone(), a.clone()]), "not sorted"),
        (files(&[a.clone(), a.clone()]), "two nodes"),
        (folder_too, "two nodes"),
        (link_too, "two nodes"),
        (files(&[with_properties]), "properties"),
        (files(&[without_digest]), "is missing"),
        (files(&[wrong_digest]), "not a SHA-256 digest"),
        (linked("a", "/etc"), "is absolute"),
        (linked("a", ".."), "leaves the folder"),
        (linked("a", "b/../.."), "leaves the folder"),
        (linked("a", ""), "has no target"),
    ]);
    for (directory, part) in bad {
        // At the top, and deeper, where a link may lead up.
        let deeper = folders(vec![folder(&bench, "z", &directory).await]);
        let result = bench.sh_with("true", &directory, &[]).await;
        refused(result, Code::InvalidArgument, part);
        if part != "leaves the folder" {
            let result = bench.sh_with("true", &deeper, &[]).await;
            refused(result, Code::InvalidArgument, part);
        }
    }
}

#[tokio::test]
async fn a_tree_that_unfolds_without_end_is_refused() {
    let mut bench = Bench::new();
    bench.limits.input_nodes = 1000;
    let mut directory = Directory::default();
    for _ in 0..40 {
        let a = folder(&bench, "a", &directory).await;
        directory = folders(vec![a, folder(&bench, "b", &directory).await]);
    }
    let result = bench.sh_with("true", &directory, &[]).await;
    refused(result, Code::InvalidArgument, "more than 1000 inputs");
    // Many levels down.
    let mut directory = Directory::default();
    for _ in 0..20 {
        directory = folders(vec![folder(&bench, &"x".repeat(250), &directory).await]);
    }
    let result = bench.sh_with("true", &directory, &[]).await;
    refused(result, Code::InvalidArgument, "longer than 3072 bytes");
    // A large size in few files.
    let mut file = bench.file("large", "").await;
    file.digest.as_mut().unwrap().size_bytes = i64::MAX;
    let result = bench.sh_with("true", &files(&[file]), &[]).await;
    refused(result, Code::InvalidArgument, "bytes");
}

#[tokio::test]
async fn a_missing_input_is_named() {
    let bench = Bench::new();
    let mut file = bench.file("gone", "").await;
    let missing = Digest::of(b"nobody has this");
    file.digest = Some(missing.into());
    let result = bench.sh_with("true", &files(&[file]), &[]).await;
    refused(result, Code::FailedPrecondition, &missing.to_string());
}

#[tokio::test]
async fn an_input_in_the_way_of_an_output_is_refused() {
    let bench = Bench::new();
    let root = Directory {
        symlinks: vec![link("link", ".")],
        ..files(&[bench.file("file", "").await])
    };
    for output in ["file/x", "file/x/y", "link/x"] {
        let result = bench.sh_with("true", &root, &[output]).await;
        refused(result, Code::InvalidArgument, "needs a folder");
    }
}

/// A tree whose root has no name.
#[derive(Debug, Clone)]
enum Node {
    File(String, bool),
    Link,
    Folder(Vec<(String, Node)>),
}

fn trees() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        ("[a-c]{0,3}", any::<bool>()).prop_map(|(text, executable)| Node::File(text, executable)),
        Just(Node::Link),
        Just(Node::Folder(Vec::new())),
    ];
    leaf.prop_recursive(4, 40, 6, |node| {
        btree_map("[a-zäß .]{0,6}x", node, 0..6)
            .prop_map(|nodes| Node::Folder(nodes.into_iter().collect()))
    })
}

fn directory(nodes: &[(String, Node)], blobs: &mut Vec<Vec<u8>>) -> Directory {
    let mut made = Directory::default();
    for (name, node) in nodes {
        let name = name.clone();
        match node {
            Node::File(text, is_executable) => {
                blobs.push(text.clone().into());
                made.files.push(FileNode {
                    name,
                    digest: Some(Digest::of(text.as_bytes()).into()),
                    is_executable: *is_executable,
                    ..Default::default()
                });
            }
            Node::Link => made.symlinks.push(link(&name, "some/where")),
            Node::Folder(nodes) => {
                let bytes = directory(nodes, blobs).encode_to_vec();
                let digest = Some(Digest::of(&bytes).into());
                blobs.push(bytes);
                made.directories.push(DirectoryNode { name, digest });
            }
        }
    }
    made
}

/// Any tree is laid out, and then kept with equal digests by an action that does nothing.
#[test]
#[expect(
    deprecated,
    reason = "only an output directory may be the whole folder"
)]
fn trees_go_through_a_folder_unchanged() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let config = ProptestConfig::with_cases(40);
    let outcome = TestRunner::new(config).run(&trees(), |tree| {
        let Node::Folder(nodes) = tree else {
            return Ok(());
        };
        runtime.block_on(async {
            let bench = Bench::new();
            let mut blobs = Vec::new();
            let root = directory(&nodes, &mut blobs);
            for blob in blobs {
                bench.put(blob).await;
            }
            let command = Command {
                output_directories: vec![String::new()],
                ..sh("true")
            };
            let result = bench.command(&command, &root).await.unwrap();
            let tree = result.output_directories[0].tree_digest.as_ref().unwrap();
            let tree = bench.blobs.read(tree.try_into().unwrap()).await.unwrap();
            prop_assert_eq!(Tree::decode(tree).unwrap().root.unwrap(), root);
            Ok(())
        })
    });
    outcome.unwrap();
}

/// An action may write to its inputs, large or small: those of other actions stay as they are.
#[tokio::test]
async fn an_input_is_the_actions_own() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Disk(folder.path().to_owned());
    let storage = Storage::open(&location, Default::default()).await.unwrap();
    let bench = Bench {
        blobs: storage.blobs,
        ..Bench::new()
    };
    let large = "large ".repeat(100_000);
    let mut nodes = vec![
        bench.file("empty", "").await,
        bench.file("large", &large).await,
    ];
    for number in 0..100 {
        let text = format!("input {number}\n");
        nodes.push(bench.file(&format!("small {number:02}"), &text).await);
    }
    nodes[50].is_executable = true;
    let root = files(&nodes);
    for _ in 0..2 {
        let script = "cat small*; wc -c < large; wc -c < empty; ls -l | grep -c ^-rwx; \
            for file in *; do echo more >> \"$file\"; done; tail -n 1 empty";
        let result = bench.sh_with(script, &root, &[]).await.unwrap();
        let mut expected: String = (0..100).map(|number| format!("input {number}\n")).collect();
        expected += "600000\n0\n1\nmore\n";
        assert_eq!((result.exit_code, stdout(&result)), (0, &*expected));
    }
    // A missing one is named, and a wrong one is removed.
    let small = Digest::of(b"input 7\n");
    let path = folder
        .path()
        .join(format!("blobs/{}/{}", &small.hex()[..2], small.hex()));
    fs::write(&path, "input 8\n").unwrap();
    let result = bench.sh_with("true", &root, &[]).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("are those of"), "{error}");
    assert!(!path.exists());
    let result = bench.sh_with("true", &root, &[]).await;
    refused(result, Code::FailedPrecondition, &small.hex());
}
