//! Running cargo and the test programs that it built.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::Result;

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // cargo says it to what it runs; the program may have been built in another copy.
        let package = std::env::var_os("CARGO_MANIFEST_DIR");
        let package = package.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = PathBuf::from(package).join("..");
        root.canonicalize().unwrap_or(root)
    });
    &ROOT
}

/// The files that git knows, and those that it would add, relative to the root, sorted. One that
/// was deleted, and the deletion is not committed, is not there.
pub(crate) fn known_files() -> Result<Vec<PathBuf>> {
    let listed = git(&["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let files = listed.lines().map(PathBuf::from);
    let mut files: Vec<_> = files.filter(|file| root().join(file).is_file()).collect();
    files.sort();
    Ok(files)
}

/// The known files of Rust in a folder.
pub(crate) fn sources(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let mut files = known_files()?;
    let is_source = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "rs");
    files.retain(|file| file.starts_with(&folder) && is_source(file));
    Ok(files)
}

/// cargo, of the toolchain that runs this program, at the workspace's root. Not incremental: a
/// build from nothing takes a third less.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.env("CARGO_INCREMENTAL", "0").current_dir(root());
    command
}

/// A program of another toolchain, if that is installed: of `nightly`, or of `1.88` for the newest
/// of that series.
pub(crate) fn of_toolchain(name: &str, program: &str) -> Option<Command> {
    let mut list = Command::new("rustup");
    let listed = list.args(["toolchain", "list"]).output().ok()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_of_series = |toolchain: &&str| {
        let rest = toolchain.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    let toolchain = listed.split_whitespace().filter(is_of_series).max()?;
    let mut command = Command::new("rustup");
    command.args(["run", toolchain, program]);
    command.current_dir(root());
    // This program was started by the pinned cargo, which points its children to itself.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    Some(command)
}

/// True if a program is installed, which ends well with that argument.
pub(crate) fn runs(program: &str, argument: &str) -> bool {
    let probe = Command::new(program).arg(argument).output();
    probe.is_ok_and(|output| output.status.success())
}

/// Returns the output of git at the workspace's root.
pub(crate) fn git(arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    let output = git.args(arguments).current_dir(root()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Makes a folder, empty.
pub(crate) fn fresh_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// The checkers that have a view of the code of their own, by `--cfg`.
pub(crate) const CHECKERS: [&str; 2] = ["loom", "shuttle"];

/// Writes a file, unless that is what it has: cargo builds again what is newer than its build.
pub(crate) fn write(contents: &[u8], to: &Path) -> Result<()> {
    if fs::read(to).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::write(to, contents)?)
}

/// A tree of sources, and the folder where its builds go.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Tree {
    /// Returns the tree of that name, whose builds are in `target/NAME`, so that the plain build is
    /// not evicted: a workspace of its own, or else this one.
    pub(crate) fn named(name: &str) -> Self {
        let folder = match name {
            "apps" => "apps",
            "rivals" | "bench" | "carry" | "ordered" => "benches/rivals",
            _ => "",
        };
        Self {
            root: root().join(folder),
            target: target_directory(name),
        }
    }

    /// [`cargo`] for a build of this tree; in a folder that is named after a checker, as that sees
    /// the code.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", &self.target);
        for checker in CHECKERS {
            if self.target.ends_with(checker) {
                command.env("RUSTFLAGS", format!("--cfg {checker}"));
            }
        }
        command
    }
}

/// The workspaces beside this one, each with a lock file of its own: the build farm and messages
/// over NATS; the comparisons with other crates.
pub(crate) const BESIDE: [&str; 2] = ["apps", "rivals"];

/// [`Tree::cargo`] of the tree of that name; no name means the plain build.
pub(crate) fn cargo_in(name: &str) -> Command {
    if name.is_empty() {
        return cargo();
    }
    Tree::named(name).cargo()
}

/// A target directory beside the plain build's.
pub(crate) fn target_directory(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// The end of a program that was run.
pub(crate) struct Ended {
    /// `None`: it was killed at its limit.
    pub status: Option<ExitStatus>,
    /// Both streams, in the order in which they were written.
    pub output: String,
    pub elapsed: Duration,
}

/// Runs `command` and passes both of its streams on as one, line by line, while collecting them.
pub(crate) fn tee(command: &mut Command) -> Result<(ExitStatus, String)> {
    let ended = run(command, Duration::MAX, true)?;
    Ok((ended.status.ok_or("there is no limit")?, ended.output))
}

/// Runs `command` silently, and kills it once it has run for `limit`.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<Ended> {
    run(command.stdin(Stdio::null()), limit, false)
}

fn run(command: &mut Command, limit: Duration, is_shown: bool) -> Result<Ended> {
    let started = Instant::now();
    let (reader, writer) = std::io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // Our copies of the write end live in `command`; they must go, or there is no end to read.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (send, ends) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut collected = String::new();
        let lines = BufReader::new(reader).split(b'\n');
        for line in lines.map_while(std::io::Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if is_shown {
                println!("{line}");
            }
            collected = collected + &line + "\n";
        }
        // The end of the output is the end of the program; the receiver may have given up on it.
        let _ = send.send(());
        collected
    });
    let is_killed = ends.recv_timeout(limit).is_err();
    if is_killed {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok(Ended {
        status: (!is_killed).then_some(status),
        output: reader.join().expect("the reader does not panic"),
        elapsed: started.elapsed(),
    })
}
