//! The launcher and the init of a sandbox: processes with one thread.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use prost::Message as _;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Gid, Uid};
use rustix::io::retry_on_intr;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getegid, geteuid,
    pidfd_open, set_dumpable_behavior, set_parent_process_death_signal, setrlimit, setsid, wait,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    configure_capability_in_ambient_set, set_capabilities, set_no_new_privs, set_thread_gid,
    set_thread_groups, set_thread_uid,
};

use super::root::{self, FOLDER, Parts, as_path};
use super::{LAUNCHER, Order, Report, frame};
use crate::worker::process::{TRIES, find, keep_from_actions};

/// The argument that makes a launcher an init.
pub(super) const INIT: &str = "init";

/// The user of actions, if the worker is root: nobody.
const NOBODY: u32 = 65534;

/// The rights of an init: to mount, and to forbid new spaces.
const RIGHTS: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::SYS_RESOURCE];

/// Is a launcher or an init; returns the exit code of the action.
pub(super) fn run(is_init: bool) -> io::Result<u8> {
    keep_from_actions();
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let ended = match is_init {
        true => init(&socket),
        false => launch(&socket),
    };
    ended.or_else(|report| {
        (&socket).write_all(&report.encode_to_vec())?;
        Ok(1)
    })
}

/// Reads an order, which its length precedes.
fn receive(mut socket: &UnixStream) -> io::Result<Order> {
    let mut length = [0; size_of::<usize>()];
    socket.read_exact(&mut length)?;
    let mut bytes = vec![0; usize::from_ne_bytes(length)];
    socket.read_exact(&mut bytes)?;
    Ok(Order::decode(&bytes[..])?)
}

/// Makes the spaces and starts the init in them; returns its exit code.
fn launch(socket: &UnixStream) -> Result<u8, Report> {
    let order = receive(socket).map_err(Report::at("read its order"))?;
    if let Some(cgroup) = &order.cgroup {
        let entered = fs::write(as_path(cgroup).join("cgroup.procs"), "0");
        entered.map_err(Report::at("enter the control group"))?;
    }
    // Memory is taken from actions before it is taken from the worker.
    fs::write("/proc/self/oom_score_adj", "500").map_err(Report::at("stand back for memory"))?;
    let is_given = geteuid().is_root().then(|| give(as_path(&order.folder)));
    let parts = match is_given {
        Some(Err(error)) if error.kind() != io::ErrorKind::InvalidInput => {
            return Err(Report::at("give the folder away")(error));
        }
        Some(Ok(())) => {
            // Root reaches what its own folders hide from others.
            unshare(UnshareFlags::NEWNS)?;
            let parts = Parts::take(&order)?;
            stop_being_root().map_err(Report::at("stop being root"))?;
            Some(parts)
        }
        // It is not root, or is root where there are no other users.
        _ => None,
    };
    enter_spaces(order.has_network)?;
    let parts = parts.map_or_else(|| Parts::take(&order), Ok)?;
    parts.build(&order)?;
    if !order.has_network {
        start_loopback().map_err(Report::at("start the loopback device"))?;
    }
    let mut init = Init::start().map_err(Report::at("start the init"))?;
    init.order(&order).map_err(Report::at("order the init"))?;
    let code = init.end(socket).map_err(Report::at("wait for the init"))?;
    io::copy(&mut &init.socket, &mut &*socket).map_err(Report::at("report"))?;
    Ok(code)
}

/// Gives the action's folder to the user of actions. A file with more names is also elsewhere, so
/// it stays root's.
fn give(node: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(node)?;
    if found.is_dir() {
        for entry in fs::read_dir(node)? {
            give(&entry?.path())?;
        }
    } else if found.nlink() > 1 {
        return Ok(());
    }
    lchown(node, Some(NOBODY), Some(NOBODY))
}

fn stop_being_root() -> io::Result<()> {
    set_thread_groups(&[])?;
    set_thread_gid(Gid::from_raw(NOBODY))?;
    set_thread_uid(Uid::from_raw(NOBODY))?;
    // Else its own files in /proc stay root's.
    Ok(set_dumpable_behavior(DumpableBehavior::Dumpable)?)
}

#[expect(deprecated, reason = "it is unsafe with `FILES` alone")]
fn unshare(flags: UnshareFlags) -> Result<(), Report> {
    rustix::thread::unshare(flags).map_err(Report::at("make name spaces"))?;
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(Report::at("keep mounts to itself"))
}

/// Makes the spaces, where this user is the same one, and has the rights of an init.
fn enter_spaces(has_network: bool) -> Result<(), Report> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags =
        UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if !has_network {
        flags |= UnshareFlags::NEWNET;
    }
    unshare(flags)?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("gid_map", format!("{group} {group} 1")),
        ("uid_map", format!("{user} {user} 1")),
    ] {
        let written = fs::write(Path::new("/proc/self").join(file), text);
        written.map_err(Report::at("name the users of a name space"))?;
    }
    let all = RIGHTS.into_iter().collect();
    let mut sets = rustix::thread::capabilities(None).map_err(Report::at("read its rights"))?;
    sets.inheritable = all;
    set_capabilities(None, sets).map_err(Report::at("pass rights on"))?;
    for right in RIGHTS {
        configure_capability_in_ambient_set(right, true).map_err(Report::at("pass rights on"))?;
    }
    Ok(())
}

/// Starts the device `lo`, number 1 in every space, by the message `RTM_NEWLINK` of rtnetlink(7).
fn start_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_ACK: u16 = 1 | 4;
    const IFF_UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_ACK.to_ne_bytes());
    // Its number, its sender; the family, the type.
    message.extend([0; 12]);
    message.extend(1_u32.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    // The protocol 0 is that of routes.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 64];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // After its head, the error.
    match answer[16..20].try_into().map(i32::from_ne_bytes) {
        Ok(0) if length >= 20 => Ok(()),
        code => Err(io::Error::from_raw_os_error(-code.unwrap_or(0))),
    }
}

/// The init, as its launcher sees it.
struct Init {
    process: Child,
    socket: UnixStream,
}

impl Init {
    fn start() -> io::Result<Self> {
        let (socket, its) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.args([LAUNCHER, INIT]).env_clear();
        let process = command.stdin(OwnedFd::from(its)).spawn()?;
        Ok(Self { process, socket })
    }

    /// Orders it, once it has reported that it dies with this process.
    fn order(&self, order: &Order) -> io::Result<()> {
        let mut socket = &self.socket;
        socket.read_exact(&mut [0])?;
        socket.write_all(&frame(order))
    }

    /// Waits until it ends, or kills it when the worker closes the socket.
    fn end(&mut self, worker: &UnixStream) -> io::Result<u8> {
        let init = pidfd_open(Pid::from_child(&self.process), PidfdFlags::empty())?;
        let mut either = [
            PollFd::new(&init, PollFlags::IN),
            PollFd::new(worker, PollFlags::RDHUP),
        ];
        retry_on_intr(|| poll(&mut either, None))?;
        if !either[1].revents().is_empty() {
            self.process.kill()?;
        }
        // The system has killed it, if it has no code.
        let code = self.process.wait()?.code().unwrap_or(128 + 9);
        Ok(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

/// Runs the program; returns its exit code.
fn init(socket: &UnixStream) -> Result<u8, Report> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Report::at("die with its launcher"))?;
    // The action has the same user, but is not to look at it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Report::at("hide"))?;
    (&*socket).write_all(&[0]).map_err(Report::at("report"))?;
    let order = receive(socket).map_err(Report::at("read its order"))?;
    setsid().map_err(Report::at("make a session"))?;
    root::enter()?;
    fs::write("/proc/sys/user/max_user_namespaces", "0")
        .map_err(Report::at("forbid name spaces"))?;
    drop_rights().map_err(Report::at("drop its rights"))?;
    let not_started = |error: io::Error| Report {
        step: None,
        error: error.to_string(),
    };
    let name = order.arguments.first();
    let name = name.ok_or_else(|| not_started(io::Error::other("there is none")))?;
    limit(&order).map_err(Report::at("set a limit"))?;
    let variables = order.environment.iter();
    let variables = variables.filter_map(|it| it.split_once('='));
    let folder = Path::new(FOLDER).join(&order.directory);
    let path = variables.clone().find(|(name, _)| *name == "PATH");
    let found = find(name, path.map(|(_, path)| path), &folder).map_err(not_started)?;
    let mut command = Command::new(found);
    command
        .arg0(name)
        .args(&order.arguments[1..])
        .current_dir(folder);
    command.env_clear().envs(variables).stdin(Stdio::null());
    let mut tries = 0;
    let child = loop {
        match command.spawn() {
            // Another starting process may have it open for a moment.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                thread::sleep(Duration::from_millis(1));
            }
            started => break started.map_err(not_started)?,
        }
    };
    bury(Pid::from_child(&child)).map_err(Report::at("wait for the program"))
}

fn drop_rights() -> rustix::io::Result<()> {
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets)?;
    set_no_new_privs(true)
}

fn limit(order: &Order) -> rustix::io::Result<()> {
    for (resource, most) in [
        (Resource::Core, Some(0)),
        (Resource::Data, order.data),
        (Resource::Fsize, Some(order.file_size)),
        (Resource::Nofile, Some(order.open_files)),
        // Of this user in this space.
        (Resource::Nproc, Some(order.processes)),
    ] {
        let Some(most) = most else { continue };
        let outside = rustix::process::getrlimit(resource).maximum;
        let most = outside.map_or(most, |outside| outside.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// Waits for all processes that come here, until the program's own has ended; returns its exit
/// code, as shells do: 128 plus the signal.
fn bury(program: Pid) -> rustix::io::Result<u8> {
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty()))? {
            Some((pid, status)) if pid == program => {
                let signal = || 128 + status.terminating_signal().unwrap_or_default();
                let code = status.exit_status().unwrap_or_else(signal);
                return Ok(u8::try_from(code).unwrap_or(u8::MAX));
            }
            _ => {}
        }
    }
}
