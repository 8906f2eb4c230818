//! The launcher and the init of a sandbox: processes with one thread.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use prost::Message;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Gid, Uid};
use rustix::io::{Errno, retry_on_intr};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};
use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions, getegid, geteuid,
    kill_process_group, set_dumpable_behavior, set_parent_process_death_signal, setrlimit, setsid,
    wait,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    configure_capability_in_ambient_set, set_capabilities, set_no_new_privs, set_thread_gid,
    set_thread_groups, set_thread_uid,
};

use super::root::{self, FOLDER, Parts, as_path};
use super::{KILLED, NOBODY, Order, Report, Setup, frame};
use crate::worker::process::{TRIES, find, keep_from_actions};

/// The rights of an init: to mount, and to forbid new spaces.
const RIGHTS: [CapabilitySet; 2] = [CapabilitySet::SYS_ADMIN, CapabilitySet::SYS_RESOURCE];

/// Is a launcher or an init.
pub(super) fn run(is_init: bool) -> io::Result<()> {
    keep_from_actions();
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let ended = match is_init {
        true => init(&socket).map(|code| report(&socket, &Report::ended(code))),
        false => launch(&socket).map(Ok),
    };
    ended.unwrap_or_else(|failed| report(&socket, &failed))
}

fn report(mut socket: &UnixStream, report: &Report) -> io::Result<()> {
    socket.write_all(&frame(report))
}

/// Reads a message, which its length precedes.
fn receive<M: Message + Default>(mut socket: &UnixStream) -> Result<M, Report> {
    let mut receive = || {
        let mut length = [0; size_of::<usize>()];
        socket.read_exact(&mut length)?;
        let mut bytes = vec![0; usize::from_ne_bytes(length)];
        socket.read_exact(&mut bytes)?;
        Ok(M::decode(&bytes[..])?)
    };
    receive().map_err(Report::at::<io::Error>("read what it is to do"))
}

/// Makes the spaces, starts the init in them, sends it its order, and passes its report on.
fn launch(socket: &UnixStream) -> Result<(), Report> {
    let setup: Setup = receive(socket)?;
    if let Some(cgroup) = &setup.cgroup {
        let entered = fs::write(as_path(cgroup).join("cgroup.procs"), "0");
        entered.map_err(Report::at("enter the control group"))?;
    }
    // Memory is taken from actions before it is taken from the worker.
    fs::write("/proc/self/oom_score_adj", "500").map_err(Report::at("stand back for memory"))?;
    let parts = if setup.gives {
        // Root reaches what its own folders hide from others.
        unshare(UnshareFlags::NEWNS)?;
        let parts = Parts::take(&setup)?;
        stop_being_root().map_err(Report::at("stop being root"))?;
        enter_spaces(setup.has_network)?;
        parts
    } else {
        enter_spaces(setup.has_network)?;
        Parts::take(&setup)?
    };
    parts.build(&setup)?;
    if !setup.has_network {
        start_loopback().map_err(Report::at("start the loopback device"))?;
    }
    let mut init = Init::start().map_err(Report::at("start the init"))?;
    init.prepare(&setup)
        .map_err(Report::at("prepare the init"))?;
    let order: Order = receive(socket)?;
    init.send(&order).map_err(Report::at("order the init"))?;
    init.end(socket).map_err(Report::at("wait for the init"))
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
        command.arg("init").env_clear();
        let process = command.stdin(OwnedFd::from(its)).spawn()?;
        Ok(Self { process, socket })
    }

    /// Lets it begin, once it has said that it dies with this process.
    fn prepare(&self, setup: &Setup) -> io::Result<()> {
        (&self.socket).read_exact(&mut [0])?;
        self.send(setup)
    }

    fn send(&self, message: &impl Message) -> io::Result<()> {
        (&self.socket).write_all(&frame(message))
    }

    /// Passes its report on, and waits until it ends; or kills it when the worker closes the
    /// socket.
    fn end(&mut self, mut worker: &UnixStream) -> io::Result<()> {
        let mut either = [
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(worker, PollFlags::RDHUP),
        ];
        retry_on_intr(|| poll(&mut either, None))?;
        if either[1].revents().is_empty() {
            // The worker may have gone, too.
            if let Ok(0) = io::copy(&mut &self.socket, &mut worker) {
                let _ = report(worker, &Report::ended(KILLED));
            }
        }
        Ok(())
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        // With it all processes of its space end. The only possible error is that they have.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the program; returns its exit code.
fn init(socket: &UnixStream) -> Result<i32, Report> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Report::at("die with its launcher"))?;
    // The action has the same user, but is not to look at it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(Report::at("hide"))?;
    (&*socket).write_all(&[0]).map_err(Report::at("report"))?;
    let setup: Setup = receive(socket)?;
    setsid().map_err(Report::at("make a session"))?;
    root::enter()?;
    fs::write("/proc/sys/user/max_user_namespaces", "0")
        .map_err(Report::at("forbid name spaces"))?;
    drop_rights().map_err(Report::at("drop its rights"))?;
    limit(&setup).map_err(Report::at("set a limit"))?;
    let order: Order = receive(socket)?;
    let name = order.arguments.first();
    let name = name.ok_or_else(|| Report::not_started(io::Error::other("there is none")))?;
    let variables = order.environment.iter();
    let variables = variables.filter_map(|it| it.split_once('='));
    let folder = Path::new(FOLDER).join(&order.directory);
    let path = variables.clone().find(|(name, _)| *name == "PATH");
    let found = find(name, path.map(|(_, path)| path), &folder).map_err(Report::not_started)?;
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
            started => break started.map_err(Report::not_started)?,
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

fn limit(setup: &Setup) -> rustix::io::Result<()> {
    for (resource, most) in [
        (Resource::Core, Some(0)),
        (Resource::Data, setup.data),
        (Resource::Fsize, Some(setup.file_size)),
        (Resource::Nofile, Some(setup.open_files)),
        // Of this user in this space.
        (Resource::Nproc, Some(setup.processes)),
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

/// Waits for all processes that come here, until the program's own has ended, and kills those that
/// are left; returns the program's exit code, as shells do: 128 plus the signal.
fn bury(program: Pid) -> rustix::io::Result<i32> {
    let mut code = 0;
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty())) {
            Ok(Some((pid, status))) if pid == program => {
                let signal = || 128 + status.terminating_signal().unwrap_or_default();
                code = status.exit_status().unwrap_or_else(signal);
                // The group of 1 stands for all processes of the space, but this one.
                match kill_process_group(Pid::INIT, Signal::KILL) {
                    Err(Errno::SRCH) | Ok(()) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(_) => {}
            Err(Errno::CHILD) => return Ok(code),
            Err(error) => return Err(error),
        }
    }
}
