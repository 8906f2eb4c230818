//! Attacks by actions: each one succeeds without a sandbox, and fails in it, whoever the worker is.

use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use bazel_remote_apis::build::bazel::remote::execution::v2::{Platform, platform::Property};
use filch_build::farm::FarmConfig;
use filch_build::reapi::Action;
use filch_build::server::{Config, Running, Server, StartError};
use rustix::process::{Signal, geteuid};
use tempfile::TempDir;

use super::processes::read;
use super::together::until;
use crate::client::{Client, coordinator, sh};
use crate::leaver::{Leaver, pipe};
use crate::program::{Program, filch_build, wait_for};

/// A user without rights.
const USER: u32 = 12345;

/// Attacks: their names, and scripts that end with 0 if they succeed. `$worker` is the worker's
/// process; `$all` is a folder that actions may read, with the worker's folder and its token in it.
const ATTACKS: &[(&str, &str)] = &[
    ("read the token", "grep -q sesame $all/token"),
    (
        "read the worker's environment",
        "grep -q sesame /proc/$worker/environ",
    ),
    (
        "read the worker's command line",
        "grep -q coordinator /proc/$worker/cmdline",
    ),
    (
        "look into the worker's memory",
        "grep -q . /proc/$worker/maps",
    ),
    ("list other processes", "ls /proc | grep -qx $worker"),
    ("signal the worker", "kill -0 $worker"),
    ("signal another action", "kill -0 $(other)"),
    (
        "trace another action",
        "perl -e 'exit syscall($ARGV[0], 16, $ARGV[1] + 0, 0, 0)' $ptrace $(other)",
    ),
    (
        "read another action's folder",
        "grep -rq 'of another' $all/worker/actions --include=mine",
    ),
    (
        "read the worker's cache",
        "find $all/worker/cache -type f | grep -q .",
    ),
    (
        "write the worker's cache",
        "touch $all/worker/cache/planted",
    ),
    ("write to the system", "touch $all/written"),
    ("see files in /tmp", "test -e $private/seen"),
    ("leave a file in /tmp", "touch $private-left"),
    ("use a device", "test -e /dev/kmsg"),
    (
        "reach the coordinator",
        "bash -c \": < /dev/tcp/127.0.0.1/$port\"",
    ),
    (
        "reach another action's socket",
        "perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => \"\\0$ARGV[0]\")' $key",
    ),
    (
        "reach another action's memory",
        "perl -e 'exit !defined shmget($ARGV[0], 8, 0)' $key",
    ),
    (
        "start many processes",
        "perl -e 'for (1..200) { my $new = fork // exit 1; $new or exec \"sleep\", 100 }'",
    ),
    ("take much memory", "perl -e '$x = \"x\" x (512 << 20)'"),
    ("write a large file", "head -c 2000000 /dev/zero > large"),
    (
        "open many files",
        "perl -e 'for (1..200) { open my $it, \"<\", \"/dev/null\" or exit 1; push @all, $it }'",
    ),
    ("mount", "unshare -Urm mount -t tmpfs none /mnt"),
    ("become root", "[ $($all/root -u) = 0 ]"),
];

/// Another action, which is attacked.
const OTHER: &str = "echo 'of another' > mine; exec perl -MIO::Socket::UNIX -e '
    $socket = IO::Socket::UNIX->new(Local => \"\\0$ARGV[0]\", Listen => 1) or die;
    defined shmget $ARGV[0], 8, 01666 or die;
    open my $ready, \">\", $ARGV[1] or die;
    close $ready;
    sleep 1000' $key $all/ready other-$key";

/// A worker as a process, in a folder with its token and with what is attacked.
struct Bench {
    server: Running,
    client: Client,
    worker: Program,
    folder: TempDir,
    /// A folder that actions should not see.
    private: TempDir,
    key: u32,
}

/// Makes a folder of this user's in `/tmp`.
fn folder(user: u32) -> TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    chown(folder.path(), Some(user), Some(user)).unwrap();
    folder
}

/// Starts a worker for this user.
fn worker(user: u32, to: SocketAddr, folder: &Path, options: &[&str]) -> Program {
    // The programs of the tests may be where only root gets.
    let program = folder.join("filch-build");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_filch-build"), &program).unwrap();
        let sandbox = env!("CARGO_BIN_EXE_filch-sandbox");
        fs::copy(sandbox, folder.join("filch-sandbox")).unwrap();
    }
    let mut command = Command::new(program);
    command.args([
        "worker",
        "--slots",
        "2",
        "--coordinator",
        &format!("http://{to}"),
    ]);
    command.arg("--cache").arg(folder.join("worker"));
    command.arg("--token-file").arg(folder.join("token"));
    command.args(["--property", "dockerNetwork=standard"]);
    command.args(["--memory-limit", "256M", "--process-limit", "100"]);
    command.args(["--file-limit", "1M", "--open-file-limit", "100"]);
    command.args(options).env("SECRET", "sesame");
    command.stderr(Stdio::piped());
    if geteuid().as_raw() != user {
        command.uid(user).gid(user);
    }
    Program::start(|_| command)
}

impl Bench {
    async fn new(user: u32, options: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (server, client) = coordinator(FarmConfig::default()).await;
        let (folder, private) = (folder(user), folder(user));
        fs::write(private.path().join("seen"), "").unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("token"), "sesame").unwrap();
        chown(path("token"), Some(user), Some(user)).unwrap();
        fs::set_permissions(path("token"), Permissions::from_mode(0o600)).unwrap();
        fs::copy("/usr/bin/id", path("root")).unwrap();
        fs::set_permissions(path("root"), Permissions::from_mode(0o4755)).unwrap();
        pipe(folder.path(), "ready");
        let seen = folder.path().to_str().unwrap();
        let options = [options, &["--sandbox-path", seen]].concat();
        let worker = worker(user, server.address(), folder.path(), &options);
        until(&server, |farm| farm.workers.len() == 1).await;
        Self {
            server,
            client,
            worker,
            folder,
            private,
            // ORDERING: Relaxed; only the number matters.
            key: std::process::id() * 16 + NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Makes a script that has the names of attacks.
    fn script(&self, script: &str) -> String {
        let (worker, port) = (self.worker.process.id(), self.server.address().port());
        let (all, private) = (self.folder.path().display(), self.private.path().display());
        let ptrace = if cfg!(target_arch = "x86_64") {
            101
        } else {
            117
        };
        let key = self.key;
        format!(
            "worker={worker} port={port} all={all} private={private} ptrace={ptrace} key={key}\n\
            other() {{ grep -ls [o]ther-$key /proc/[0-9]*/cmdline | head -n 1 | cut -d / -f 3; }}\n\
            {script}"
        )
    }

    /// Runs all attacks; returns those that succeed.
    async fn attack(&self) -> Vec<&'static str> {
        let input = self.client.put("something for the cache").await;
        let inputs = [("input", input)];
        let reads = self.client.script("cat input", &inputs, &[]).await;
        self.client.result(reads).await;
        let _other = self.client.begin(&self.script(OTHER)).await;
        read(self.folder.path().join("ready").to_str().unwrap()).await;
        let mut succeeded = Vec::new();
        for (name, script) in ATTACKS {
            let result = self.client.sh(&self.script(script), &[]).await;
            let left = format!("{}-left", self.private.path().display());
            let is_left = fs::remove_file(left).is_ok();
            if result.exit_code == 0 && (is_left || !name.starts_with("leave")) {
                succeeded.push(*name);
            }
        }
        let remove = "perl -e 'shmctl shmget($ARGV[0], 8, 0), 0, 0' $key";
        self.client.sh(&self.script(remove), &[]).await;
        succeeded
    }
}

/// Returns the users that tests can be: root, and another one; or the only one.
fn users() -> Vec<u32> {
    match geteuid().as_raw() {
        0 => vec![0, USER],
        user => vec![user],
    }
}

/// Returns true if the system lets processes of a user trace each other.
fn may_trace() -> bool {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    scope.is_ok_and(|scope| scope.trim() == "0") || !Path::new("/proc/sys/kernel/yama").exists()
}

#[tokio::test]
async fn what_an_action_does_without_a_sandbox_it_cannot_do_in_one() {
    for user in users() {
        let free = Bench::new(user, &["--no-sandbox"]).await.attack().await;
        let all: Vec<_> = ATTACKS.iter().map(|(name, _)| *name).collect();
        let expected = all.into_iter().filter(|name| match *name {
            // A test that is not root makes no program that becomes root.
            "become root" => geteuid().is_root(),
            "trace another action" => user == 0 || may_trace(),
            _ => true,
        });
        let expected: Vec<_> = expected.collect();
        assert_eq!(free, expected, "without a sandbox, as {user}");
        let caught = Bench::new(user, &[]).await.attack().await;
        assert_eq!(caught, [""; 0], "in the sandbox, as {user}");
    }
}

#[tokio::test]
async fn an_action_has_the_network_if_it_asks_for_it() {
    let bench = Bench::new(geteuid().as_raw(), &[]).await;
    let script = bench.script("bash -c \": < /dev/tcp/127.0.0.1/$port\"");
    let action = Action {
        platform: Some(Platform {
            properties: vec![Property {
                name: "dockerNetwork".into(),
                value: "standard".into(),
            }],
        }),
        ..Action::default()
    };
    let action = bench.client.action(&sh(&script), &[], action).await;
    assert_eq!(bench.client.result(action).await.exit_code, 0);
}

#[tokio::test]
async fn an_action_without_network_reaches_itself() {
    let bench = Bench::new(geteuid().as_raw(), &[]).await;
    let script = "perl -MIO::Socket::INET -e '
        $all = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", Listen => 1) or die;
        IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => $all->sockport) or die'";
    assert_eq!(bench.client.sh(script, &[]).await.exit_code, 0);
}

#[tokio::test]
async fn a_killed_worker_takes_its_actions_along_and_its_next_life_their_folders() {
    for user in users() {
        let bench = Bench::new(user, &[]).await;
        let mut leaver = Leaver::new(bench.folder.path());
        let script = format!("{}echo > $all/ready; sleep 1000", leaver.script());
        let _running = bench.client.begin(&bench.script(&script)).await;
        read(bench.folder.path().join("ready").to_str().unwrap()).await;
        assert!(leaver.lives());
        bench.worker.signal(Signal::KILL);
        wait_for("the end of the action", || (!leaver.lives()).then_some(()));
        let actions = bench.folder.path().join("worker/actions");
        let left = || fs::read_dir(&actions).into_iter().flatten().count();
        // With that of the sandbox for the next action.
        assert_ne!(left(), 0);
        let port = (Ipv4Addr::LOCALHOST, 1).into();
        let _next = worker(user, port, bench.folder.path(), &[]);
        wait_for("an empty folder", || {
            (actions.exists() && left() == 0).then_some(())
        });
    }
}

/// Starts a worker where no user name spaces may be made; returns its end.
fn without_spaces(folder: &TempDir, options: &[&str]) -> Program {
    let mut inner = filch_build(&["worker", "--coordinator", "http://127.0.0.1:1", "--cache"]);
    inner.arg(folder.path().join("worker")).args(options);
    let mut command = Command::new("unshare");
    let forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", forbid]);
    command.arg(inner.get_program()).args(inner.get_args());
    command.stderr(Stdio::piped());
    Program::start(|_| command)
}

#[tokio::test]
async fn a_worker_that_cannot_make_sandboxes_does_not_start() {
    let folder = TempDir::new().unwrap();
    let (status, said) = without_spaces(&folder, &[]).wait().await;
    assert_eq!(status.code(), Some(1), "{said}");
    for part in [
        "actions cannot get a sandbox",
        "it cannot make name spaces",
        "--no-sandbox",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let worker = without_spaces(&folder, &["--no-sandbox"]);
    // It looks for its coordinator.
    wait_for("its folder", || {
        folder.path().join("worker/actions").exists().then_some(())
    });
    drop(worker);
}

#[tokio::test]
async fn a_path_among_the_workers_own_files_is_refused() {
    let folder = TempDir::new().unwrap();
    let own: PathBuf = folder.path().join("worker/actions");
    let options = ["--sandbox-path", own.to_str().unwrap()];
    let worker = Program::worker(
        "http://127.0.0.1:1",
        &folder.path().join("worker"),
        &options,
        &[],
    );
    let (status, said) = worker.wait().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(
        said.contains("the worker keeps its own files there"),
        "{said}"
    );
}

#[tokio::test]
async fn a_coordinator_is_open_to_others_only_if_that_is_asked_for() {
    let config = Config {
        listen: (Ipv4Addr::UNSPECIFIED, 0).into(),
        ..Config::default()
    };
    let refused = Server::start(config.clone()).await.unwrap_err();
    assert!(matches!(refused, StartError::Insecure(_)), "{refused}");
    let insecure = true;
    Server::start(Config { insecure, ..config }).await.unwrap();
}
