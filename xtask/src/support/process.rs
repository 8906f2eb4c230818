//! Running cargo and the test programs that it built.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::error::Result;

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

/// The files in `directories` below `root` that end in `.extension`, relative to `root`, sorted.
pub(crate) fn files_below(
    root: &Path,
    directories: &[&str],
    extension: &str,
) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<_> = directories.iter().map(|name| root.join(name)).collect();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                // A workspace of its own may have been built where it is.
                if !path.ends_with("target") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path.strip_prefix(root)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// cargo, of the toolchain that runs this program, at the workspace's root.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// cargo of another toolchain, if it is installed: `nightly`, or `1.88` for the newest of that
/// series.
pub(crate) fn other_toolchain(name: &str) -> Option<Command> {
    let listed = Command::new("rustup")
        .args(["toolchain", "list"])
        .output()
        .ok()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_of_series = |toolchain: &&str| {
        let rest = toolchain.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['-', '.']))
    };
    let toolchain = listed.split_whitespace().filter(is_of_series).max()?;
    let mut command = Command::new("rustup");
    command
        .args(["run", toolchain, "cargo"])
        .current_dir(root());
    // This program was started by the pinned cargo, which points its children to itself.
    command
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN");
    Some(command)
}

/// True if a program is installed, which ends well with that argument.
pub(crate) fn runs(program: &str, argument: &str) -> bool {
    let mut probe = Command::new(program);
    probe
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
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

/// The files that git knows, and those that it would add, relative to the root.
pub(crate) fn known_files() -> Result<String> {
    git(&["ls-files", "--cached", "--others", "--exclude-standard"])
}

/// Unpacks an archive. What is in it is modified now, or cargo would take it for old.
pub(crate) fn untar(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-xmf").arg(archive).arg("-C").arg(folder);
    if tar.status()?.success() {
        return Ok(());
    }
    Err(format!("{} cannot be unpacked", archive.display()).into())
}

/// Makes a folder, empty.
pub(crate) fn fresh_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// A tree of sources and where its builds go.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Tree {
    /// Returns this workspace, built in `target/NAME`, so that the plain build is not evicted.
    pub(crate) fn here(name: &str) -> Self {
        Self {
            root: root().to_owned(),
            target: target_directory(name),
        }
    }

    /// [`cargo`] for a plain build of this tree.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// [`cargo`] for a build of this tree with `--cfg NAME`.
    pub(crate) fn cargo_with_cfg(&self, name: &str) -> Command {
        let mut command = self.cargo();
        command.env("RUSTFLAGS", format!("--cfg {name}"));
        command
    }
}

/// [`Tree::cargo_with_cfg`] for this workspace.
pub(crate) fn cargo_with_cfg(name: &str) -> Command {
    Tree::here(name).cargo_with_cfg(name)
}

/// A target directory beside the plain build's.
pub(crate) fn target_directory(name: &str) -> PathBuf {
    root().join("target").join(name)
}

/// Runs `command` and passes both of its streams on as one, line by line, while collecting them.
pub(crate) fn tee(command: &mut Command) -> Result<(ExitStatus, String)> {
    let (mut child, output) = spawn_with_one_output(command)?;
    let mut collected = String::new();
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        std::io::stdout().write_all(&line)?;
        collected.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok((child.wait()?, collected))
}

/// The end of a program that was run by [`run_within`].
pub(crate) struct Ended {
    /// `None`: it was killed at its limit.
    pub status: Option<ExitStatus>,
    /// Both streams, in the order in which they were written.
    pub output: String,
    pub elapsed: Duration,
}

/// Runs `command` silently, and kills it once it has run for `limit`.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<Ended> {
    let started = Instant::now();
    let (mut child, mut output) = spawn_with_one_output(command.stdin(Stdio::null()))?;
    let (send, receive) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes).map(|_| ());
        // The end of the output is the end of the program; the receiver may have given up on it.
        let _ = send.send(read);
        bytes
    });
    let finished = receive.recv_timeout(limit);
    if finished.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let bytes = reader.join().expect("the reader does not panic");
    Ok(Ended {
        status: finished.is_ok().then_some(status),
        output: String::from_utf8_lossy(&bytes).into_owned(),
        elapsed: started.elapsed(),
    })
}

fn spawn_with_one_output(
    command: &mut Command,
) -> Result<(std::process::Child, std::io::PipeReader)> {
    let (reader, writer) = std::io::pipe()?;
    let child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The parent's copies of the write end live in `command`; they must go, or the reader never
    // sees the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok((child, reader))
}
