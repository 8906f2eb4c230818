//! Which processes are in which group.

use std::collections::BTreeMap;
use std::sync::Arc;

use filch_sync::{Mutex, lock};

use crate::{EndCall, Pid};

/// Which processes are in which group. A group is there while it has members.
///
/// Its lock is held for a moment by those that join, leave or look; no user's code runs under it.
#[derive(Default)]
pub(crate) struct Groups(Mutex<BTreeMap<Arc<str>, Vec<Member>>>);

pub(crate) struct Member {
    pid: Pid,
    /// Takes it out of the group. `None` for a moment, before it is with the process.
    pub(crate) at_end: Option<EndCall>,
}

impl Groups {
    /// Whether it was not a member.
    pub(crate) fn add(&self, name: &Arc<str>, pid: Pid) -> bool {
        let mut groups = lock(&self.0);
        let members = groups.entry(Arc::clone(name)).or_default();
        let is_new = members.iter().all(|member| member.pid != pid);
        if is_new {
            members.push(Member { pid, at_end: None });
        }
        is_new
    }

    /// What takes the member out at its end; it comes back if that has been.
    pub(crate) fn set_end(&self, name: &str, pid: Pid, at_end: EndCall) -> Result<(), EndCall> {
        let mut groups = lock(&self.0);
        let members = groups.get_mut(name).into_iter().flatten();
        match members.into_iter().find(|member| member.pid == pid) {
            Some(member) => {
                member.at_end = Some(at_end);
                Ok(())
            }
            None => Err(at_end),
        }
    }

    /// Whether it was one.
    pub(crate) fn remove(&self, name: &str, pid: Pid) -> Option<Member> {
        let mut groups = lock(&self.0);
        let members = groups.get_mut(name)?;
        let place = members.iter().position(|member| member.pid == pid)?;
        let member = members.remove(place);
        if members.is_empty() {
            groups.remove(name);
        }
        Some(member)
    }

    pub(crate) fn members(&self, name: &str) -> Vec<Pid> {
        let groups = lock(&self.0);
        let members = groups.get(name).into_iter().flatten();
        members.map(|member| member.pid).collect()
    }
}
