//! The builds that clients have asked for lately, and how actions ended since the start.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use filch_sync::lock;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

use super::snapshot::{Actions, Build, Failed, Lost};
use crate::reapi::RequestMetadata;

/// The number of builds, failed actions and lost workers that are remembered.
const MOST: usize = 50;
/// The most characters of a name.
const LONGEST: usize = 80;

/// The client's build that an action is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    pub(super) id: String,
    tool: String,
    /// The name of all invocations that belong together, as those of one user's script.
    pub(super) group: Arc<str>,
    /// The priority that it gives its action; a lower one goes first.
    pub(super) priority: i32,
    /// The kind of its action, and the target.
    pub(super) target: String,
}

impl Invocation {
    /// Takes the client's names, each cut if too long; empty if it does not give them.
    pub fn new(said: &RequestMetadata, priority: i32) -> Self {
        let tool = said.tool_details.clone().unwrap_or_default();
        let tool = format!("{} {}", tool.tool_name, tool.tool_version);
        let target = format!("{} {}", said.action_mnemonic, said.target_id);
        let group = match said.correlated_invocations_id.as_str() {
            "" => &said.tool_invocation_id,
            group => group,
        };
        Self {
            id: cut(&said.tool_invocation_id).to_owned(),
            tool: cut(tool.trim()).to_owned(),
            group: cut(group).into(),
            priority,
            target: cut(target.trim()).to_owned(),
        }
    }
}

/// The end of an action, or of one run of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Cached,
    Succeeded,
    Failed,
    Retried,
}

#[derive(Debug, Default)]
pub(super) struct Builds {
    books: Mutex<Books>,
    pub(super) times: Times,
}

/// The seconds that actions waited for a worker and ran.
#[derive(Debug, Clone)]
pub struct Times {
    /// From the client's request to the worker's start.
    pub waited: Histogram,
    /// From there to the end.
    pub ran: Histogram,
}

impl Default for Times {
    fn default() -> Self {
        // From a millisecond to 74 hours.
        let histogram = || Histogram::new(exponential_buckets(0.001, 4.0, 15));
        Self {
            waited: histogram(),
            ran: histogram(),
        }
    }
}

#[derive(Debug, Default)]
struct Books {
    total: Actions,
    /// Oldest first.
    builds: VecDeque<Build>,
    failed: VecDeque<Failed>,
    lost: VecDeque<Lost>,
}

/// An action that was asked for. Unless it is settled, dropping it counts the action as failed.
#[derive(Debug)]
#[must_use]
pub(super) struct Asked<'a> {
    builds: &'a Builds,
    id: &'a str,
}

impl Asked<'_> {
    /// Records that the action has ended, or that a run will say how it does.
    pub(super) fn settled(self) {
        mem::forget(self);
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.builds.note(self.id, End::Failed);
    }
}

impl Builds {
    /// Counts an action that a client asked for.
    pub(super) fn asked<'a>(&'a self, invocation: &'a Invocation) -> Asked<'a> {
        let mut books = self.lock();
        let id = &invocation.id;
        let now = SystemTime::now();
        if let Some(build) = books.build(id) {
            build.pending += 1;
            build.last = now;
        } else {
            let build = Build {
                invocation: id.clone(),
                tool: invocation.tool.clone(),
                first: now,
                last: now,
                pending: 1,
                actions: Actions::default(),
            };
            keep(&mut books.builds, build);
        }
        Asked { builds: self, id }
    }

    /// Counts, for its build, an action that has ended or is run again.
    pub(super) fn note(&self, id: &str, end: End) {
        let mut books = self.lock();
        if let Some(build) = books.build(id) {
            build.last = SystemTime::now();
            build.pending -= u64::from(end != End::Retried).min(build.pending);
            count(&mut build.actions, end);
        }
    }

    /// Counts once, whatever number of builds asked, an action that has ended or is run again.
    pub(super) fn count(&self, end: End) {
        count(&mut self.lock().total, end);
    }

    /// Remembers an action that failed.
    pub(super) fn failed(&self, failed: Failed) {
        keep(&mut self.lock().failed, failed);
    }

    /// Remembers a worker that was lost.
    pub(super) fn lost(&self, name: &str, why: &str) {
        let lost = Lost {
            name: name.to_owned(),
            at: SystemTime::now(),
            why: why.to_owned(),
        };
        keep(&mut self.lock().lost, lost);
    }

    /// The counts since the start, and what is remembered, the latest first.
    pub(super) fn recent(&self) -> (Actions, Vec<Build>, Vec<Failed>, Vec<Lost>) {
        let books = self.lock();
        let (builds, failed) = (latest(&books.builds), latest(&books.failed));
        (books.total, builds, failed, latest(&books.lost))
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }
}

impl Books {
    fn build(&mut self, id: &str) -> Option<&mut Build> {
        self.builds
            .iter_mut()
            .rev()
            .find(|build| build.invocation == id)
    }
}

/// Adds an item to the last ones.
fn keep<T>(items: &mut VecDeque<T>, item: T) {
    if items.len() == MOST {
        items.pop_front();
    }
    items.push_back(item);
}

fn latest<T: Clone>(items: &VecDeque<T>) -> Vec<T> {
    items.iter().rev().cloned().collect()
}

fn count(actions: &mut Actions, end: End) {
    let counter = match end {
        End::Cached => &mut actions.cached,
        End::Succeeded => &mut actions.succeeded,
        End::Failed => &mut actions.failed,
        End::Retried => &mut actions.retried,
    };
    *counter += 1;
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(LONGEST);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

#[cfg(test)]
mod tests {
    use super::{Invocation, LONGEST, RequestMetadata};
    use crate::reapi::ToolDetails;

    #[test]
    fn long_names_are_cut_between_characters() {
        let long = "ä".repeat(LONGEST + 1);
        let cut = "ä".repeat(LONGEST);
        let said = |id: &str| RequestMetadata {
            tool_invocation_id: id.to_owned(),
            tool_details: Some(ToolDetails {
                tool_name: id.to_owned(),
                ..ToolDetails::default()
            }),
            ..RequestMetadata::default()
        };
        let invocation = Invocation::new(&said(&long), 0);
        assert_eq!((&invocation.id, &invocation.tool), (&cut, &cut));
        assert_eq!(*invocation.group, *cut);
        let invocation = Invocation::new(&said("a"), 0);
        assert_eq!((&*invocation.id, &*invocation.group), ("a", "a"));
    }
}
