//! Clients that keep files in the cache, as the README sets them up: ccache, sccache and Gradle.
//! Each finds what it stored, with nothing left of its own.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::farm::{Farm, TOKEN};
use crate::installed;
use crate::program::{Program, wait_for};

/// Starts a farm that requires a token, for a source file in that folder.
fn start(folder: &Path) -> Farm {
    fs::write(folder.join("a.c"), "int a;\n").unwrap();
    Farm::with_token(folder, &[])
}

#[test]
fn ccache_finds_what_it_stored() {
    let Some(ccache) = installed::of_the_system("ccache") else {
        return;
    };
    for layout in ["", "|layout=bazel"] {
        let folder = tempfile::tempdir().unwrap();
        let farm = start(folder.path());
        let url = format!("http://{}/files/ccache{layout}", farm.address);
        for (cache, wanted) in [
            ("1", "remote_storage_miss\t1\n"),
            ("2", "remote_storage_hit\t1\n"),
        ] {
            let run = |arguments: &[&str]| {
                let mut command = installed::command(&ccache, folder.path());
                command.env("CCACHE_DIR", folder.path().join(cache));
                let storage = format!("{url}|bearer-token={TOKEN}");
                command.env("CCACHE_REMOTE_STORAGE", storage);
                installed::said(command.args(arguments))
            };
            run(&["gcc", "-c", "a.c"]);
            let said = run(&["--print-stats"]);
            assert!(said.contains(wanted), "{layout}\n{said}");
        }
    }
}

/// Its server is another one for each compilation.
#[test]
fn sccache_finds_what_it_stored() {
    let Some(sccache) = installed::from_python("bin/sccache") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let farm = start(folder.path());
    for (server, wanted) in [
        ("1", "\"cache_writes\":1,"),
        ("2", "\"cache_hits\":{\"counts\":{\"C/C++\":1}"),
    ] {
        let socket = folder.path().join(server);
        let command = |arguments: &[&str]| {
            let mut command = installed::command(&sccache, folder.path());
            command.env("SCCACHE_SERVER_UDS", &socket);
            command.env(
                "SCCACHE_WEBDAV_ENDPOINT",
                format!("http://{}/files", farm.address),
            );
            command.env("SCCACHE_WEBDAV_KEY_PREFIX", "sccache");
            command.env("SCCACHE_WEBDAV_TOKEN", TOKEN);
            command.args(arguments);
            command
        };
        let _server = Program::start(|_| {
            let mut command = command(&[]);
            command.envs(["START_SERVER", "NO_DAEMON"].map(|it| (format!("SCCACHE_{it}"), "1")));
            command
        });
        wait_for("sccache", || UnixStream::connect(&socket).ok());
        installed::said(&mut command(&["gcc", "-c", "a.c", "-o", "a.o"]));
        // It stores the result when the compiler has ended.
        wait_for(wanted, || {
            let said = installed::said(&mut command(&["--show-stats", "--stats-format", "json"]));
            said.contains(wanted).then_some(())
        });
    }
}

#[test]
fn gradle_finds_what_it_stored() {
    let Some(gradle) = installed::of_the_system("gradle") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let farm = start(folder.path());
    let settings = format!(
        "buildCache {{\n    \
             local {{ enabled = false }}\n    \
             remote(HttpBuildCache) {{\n        \
                 url = 'http://{}/files/gradle/'\n        \
                 push = true\n        \
                 credentials {{ username = 'gradle'; password = '{TOKEN}' }}\n    \
             }}\n\
         }}\n",
        farm.address
    );
    let build = "task upper {\n    \
        inputs.file 'a.c'\n    \
        outputs.file 'upper'\n    \
        outputs.cacheIf { true }\n    \
        doLast { file('upper').text = file('a.c').text.toUpperCase() }\n\
        }\n";
    fs::write(folder.path().join("settings.gradle"), settings).unwrap();
    fs::write(folder.path().join("build.gradle"), build).unwrap();
    let run = || {
        let mut command = installed::command(&gradle, folder.path());
        let arguments = ["--build-cache", "--no-daemon", "--console=plain", "upper"];
        installed::said(command.args(arguments))
    };
    let first = run();
    assert!(first.contains("1 executed"), "{first}");
    fs::remove_dir_all(folder.path().join(".gradle")).unwrap();
    fs::remove_file(folder.path().join("upper")).unwrap();
    let second = run();
    assert!(second.contains(":upper FROM-CACHE"), "{second}");
    let text = fs::read_to_string(folder.path().join("upper")).unwrap();
    assert_eq!(text, "INT A;\n");
}
