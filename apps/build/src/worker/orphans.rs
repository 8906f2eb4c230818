//! Orphans: processes of actions whose parents have ended.
//!
//! The end of an action kills its process group. A process that has left the group, by `setsid` or
//! as a daemon, would outlive the action, and its time limit. The system gives an orphan to the
//! nearest ancestor that has asked for orphans; the program asks, so all come here:
//!
//! ```text
//! worker ─┬─ first process of A ── …
//!         ├─ first process of B ── …
//!         └─ an orphan: of A, of B, or of an action that has ended?
//! ```
//!
//! Nothing says which action an orphan belongs to, but **no process of an action is older than its
//! first one**. So an orphan older than the first process of every running action belongs to none
//! of them, and is killed. (Of two that began in the same tick of the system's clock, 10 ms,
//! neither is older.) The check is made when an action ends, once its group is killed and its first
//! process reaped: its orphans are here by then. With one action at a time, no orphan outlives its
//! action. With several, it ends at the latest with the last of those that ran when it began.
//!
//! * **No stranger has its number.** A child keeps its number, and its place in the system's list
//!   of children, until it is reaped. Starts, reaping and killing are under one lock, so the list
//!   is complete, and an orphan in it is still one when it is killed. A child that was there before
//!   orphans were asked for is never touched.
//! * **It may fork meanwhile.** Its children come here before its own end can be waited for. So the
//!   killed ones are waited for, and then the list is checked again, until none is to be killed.
//! * **It may end by itself.** It would keep its number, so orphans are also checked from time to
//!   time while an action runs.
//!
//! The list is that of the main thread, which gets all orphans while it lives. Usually it is empty,
//! and reading it is the whole cost for an action.
//!
//! Some processes remain. One that starts itself anew again and again is always young, so it lives
//! as long as actions overlap. A crowd that forks faster than it is killed is never caught; a
//! container's limit of processes is for that. A process of another user is not killed, nor are
//! those that an action starts by other programs (`systemd-run`, `docker run`). Without `/proc` or
//! `CONFIG_PROC_CHILDREN`, and on other systems than Linux, orphans do not come here.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::time::Duration;

use filch_sync::lock;
use rustix::fs::Mode;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, umask, waitid};
use tokio::time;

/// The time between two checks for orphans while an action runs.
const PAUSE: Duration = Duration::from_secs(1);

/// `None` if this process has not asked for orphans.
static FAMILY: Mutex<Option<Family>> = Mutex::new(None);

/// The children of this process.
#[derive(Debug)]
struct Family {
    /// The system's list of children of the main thread.
    list: File,
    /// The children that were there before.
    strangers: HashSet<Pid>,
    /// The first processes of the actions that run.
    leaders: HashSet<Pid>,
}

/// Keeps processes from outliving their action by leaving its process group: this process becomes
/// the parent of orphans, and kills those that belong to no running action.
///
/// A program calls it before it runs actions, if it starts nothing else. Children that it has
/// already are not touched; but the orphans that these leave may be killed, and so may others that
/// the system gives to the first process of a container.
///
/// # Errors
/// If the system does not list the children of a process, as Linux does. Then orphans go elsewhere,
/// as before.
pub fn adopt_orphans() -> io::Result<()> {
    let own = getpid();
    let list = format!("/proc/self/task/{}/children", own.as_raw_nonzero());
    let mut family = Family {
        list: File::open(list)?,
        strangers: HashSet::new(),
        leaders: HashSet::new(),
    };
    family.strangers = family.children()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(own))?;
    *lock(&FAMILY) = Some(family);
    Ok(())
}

/// Starts the first process of an action.
pub(super) fn start(process: &mut Command) -> io::Result<Child> {
    let mut family = lock(&FAMILY);
    let child = process.spawn()?;
    if let Some(family) = &mut *family {
        family.leaders.insert(Pid::from_child(&child));
    }
    Ok(child)
}

/// Waits for the first process of an action, whose group has been killed, and kills the orphans
/// that the action leaves.
pub(super) fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(child);
    // This may take a while, so it is done without the lock. `wait` reports any error as well.
    let _ = wait_unreaped(pid);
    let status = {
        let mut family = lock(&FAMILY);
        if let Some(family) = &mut *family {
            family.leaders.remove(&pid);
        }
        child.wait()
    };
    loop {
        let killed = look();
        if killed.is_empty() {
            return status;
        }
        for pid in killed {
            // Another thread may have reaped it. If the system has meanwhile gone through all
            // numbers and reused this one, this waits too long, but kills nothing.
            let _ = wait_unreaped(pid);
        }
    }
}

/// Checks for orphans from time to time.
pub(super) async fn watch() -> Infallible {
    loop {
        time::sleep(PAUSE).await;
        look();
    }
}

/// Waits until a child has ended, without reaping it: its number stays reserved.
pub(super) fn wait_unreaped(pid: Pid) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))?;
    Ok(())
}

/// Checks all orphans; returns those that it has killed.
fn look() -> Vec<Pid> {
    let family = lock(&FAMILY);
    family.as_ref().map(Family::look).unwrap_or_default()
}

impl Family {
    fn look(&self) -> Vec<Pid> {
        let mut orphans = self.children().unwrap_or_else(|error| {
            tracing::warn!("what actions leave behind is not known: {error}");
            HashSet::new()
        });
        orphans.retain(|pid| !self.leaders.contains(pid) && !self.strangers.contains(pid));
        orphans.retain(|&pid| !reap(pid));
        if orphans.is_empty() {
            return Vec::new();
        }
        // An unknown birth makes no orphan older.
        let leaders = self.leaders.iter();
        let first = leaders.map(|&pid| birth(pid).unwrap_or(0)).min();
        let is_left = |&pid: &Pid| match first {
            Some(first) => birth(pid).is_some_and(|birth| birth < first),
            None => true,
        };
        let is_killed = |&pid: &Pid| kill_process(pid, Signal::KILL).is_ok();
        let orphans = orphans.into_iter();
        orphans.filter(is_left).filter(is_killed).collect()
    }

    /// Lists the children of the main thread.
    fn children(&self) -> io::Result<HashSet<Pid>> {
        let mut list = &self.list;
        let mut text = String::new();
        list.rewind()?;
        list.read_to_string(&mut text)?;
        let pids = text.split_ascii_whitespace();
        Ok(pids
            .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
            .collect())
    }
}

/// Reaps a child that has ended; returns true if it had.
fn reap(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)))
}

/// Returns when the process was started, in ticks of the system.
fn birth(pid: Pid) -> Option<u64> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // Field 22 of proc_pid_stat(5). The second is the program's name in brackets, with any bytes.
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// Keeps actions from inheriting what this process inherited itself: open files, and the mask of
/// permissions. A program that runs actions calls it first.
pub fn keep_from_actions() {
    close_fds::set_fds_cloexec(3, &[]);
    // So that everyone may read what actions make.
    umask(Mode::WGRP | Mode::WOTH);
}
