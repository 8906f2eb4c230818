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
//! Nothing says whose it is, but **no process of an action is older than its first one**. So an
//! orphan that is older than the first process of every action that runs belongs to none of them,
//! and is killed. (Of two that began in the same tick of the system's clock, 10 ms, neither is
//! older.) This is looked at when an action ends, once its group is killed and its first process
//! reaped: what they leave behind has come by then. With one action at a time, no orphan outlives
//! its action. With several, it ends at the latest with the last of those that ran when it began.
//!
//! * **A number is no stranger's.** A child keeps its number, and its place in the system's list of
//!   children, until it is reaped. Starts, reaping and killing are under one lock, so the list is
//!   whole, and what was an orphan in it is one when it is killed. A child that was there before
//!   orphans were asked for is never touched.
//! * **It may fork meanwhile.** Its children come here before its own end can be waited for. So
//!   what is killed is waited for, and then they are looked at, until none is to be killed.
//! * **It may end by itself.** It would keep its number, so all are looked at from time to time
//!   while an action runs.
//!
//! The list is that of the main thread, which gets all orphans while it lives. In the usual case it
//! is empty, and to read it is all that an action costs.
//!
//! What remains: a process that starts itself anew again and again is always young, so it lives as
//! long as actions overlap; a crowd that forks faster than it is killed is not caught at all, which
//! is what a container's limit of processes is for. A process of another user is not killed, nor is
//! what an action asks of another program (`systemd-run`, `docker run`). Without `/proc`, with a
//! kernel without `CONFIG_PROC_CHILDREN`, and elsewhere than on Linux, orphans go elsewhere.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::time::Duration;

use filch_sync::lock;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
use tokio::time;

/// So often orphans are looked at while an action runs.
const PAUSE: Duration = Duration::from_secs(1);

/// None if this process has not asked for orphans.
static FAMILY: Mutex<Option<Family>> = Mutex::new(None);

/// The children of this process.
#[derive(Debug)]
struct Family {
    /// The system's list of those of the main thread.
    list: File,
    /// Those that were there before.
    strangers: HashSet<Pid>,
    /// The first processes of the actions that run.
    leaders: HashSet<Pid>,
}

/// Lets no process outlive its action by leaving the process group: this process becomes the parent
/// of orphans, and kills those that belong to no action that runs.
///
/// A program calls it before it runs actions, if its actions are all that it starts. Children that
/// it has already are not touched; but what these leave behind may be, and so may what else the
/// system gives to the first process of a container.
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

/// Waits for the first process of an action, whose group has been killed, and kills what the action
/// leaves behind.
pub(super) fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(child);
    // This may take a while, so it is not under the lock. There is no error that `wait` has not.
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
            // Another thread may have reaped it. Should the system have gone through all numbers
            // since then and be at this one again, this waits too long; it kills nothing.
            let _ = wait_unreaped(pid);
        }
    }
}

/// Looks at orphans from time to time.
pub(super) async fn watch() -> Infallible {
    loop {
        time::sleep(PAUSE).await;
        look();
    }
}

/// Waits until a child has ended, and leaves its number reserved.
pub(super) fn wait_unreaped(pid: Pid) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))?;
    Ok(())
}

/// Looks at all orphans; returns those that it has killed.
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
        // What cannot be known makes no orphan older.
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

    /// The children of the main thread.
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

/// Whether the child had ended: then it is no more.
fn reap(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)))
}

/// When the process was started, in the system's ticks.
fn birth(pid: Pid) -> Option<u64> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // Field 22 of proc_pid_stat(5). The second is the program's name in brackets, whatever it is.
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}
