//! The builds that clients have asked for lately, and how actions ended since the start.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use filch_sync::lock;

use super::snapshot::{Actions, Build};

/// The number of builds that are remembered.
const MOST: usize = 50;
/// The most characters of a name.
const LONGEST: usize = 80;

/// The client's build that an action is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    pub(super) id: String,
    tool: String,
}

impl Invocation {
    /// Takes the client's name of the build and its own name and version, each cut if too long;
    /// empty if it does not give them.
    pub fn new(id: &str, tool: &str) -> Self {
        Self {
            id: cut(id).to_owned(),
            tool: cut(tool).to_owned(),
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
}

#[derive(Debug, Default)]
struct Books {
    total: Actions,
    /// Oldest first.
    builds: VecDeque<Build>,
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
            if books.builds.len() == MOST {
                books.builds.pop_front();
            }
            books.builds.push_back(Build {
                invocation: id.clone(),
                tool: invocation.tool.clone(),
                first: now,
                last: now,
                pending: 1,
                actions: Actions::default(),
            });
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

    /// The counts since the start.
    pub(super) fn total(&self) -> Actions {
        self.lock().total
    }

    /// The remembered builds, the latest first.
    pub(super) fn recent(&self) -> Vec<Build> {
        self.lock().builds.iter().rev().cloned().collect()
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
    use super::{Invocation, LONGEST};

    #[test]
    fn long_names_are_cut_between_characters() {
        let long = "ä".repeat(LONGEST + 1);
        let cut = "ä".repeat(LONGEST);
        let invocation = Invocation::new(&long, &long);
        assert_eq!((&invocation.id, &invocation.tool), (&cut, &cut));
        assert_eq!(Invocation::new("a", "").id, "a");
    }
}
