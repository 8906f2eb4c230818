//! The builds that clients have asked for lately, and how actions ended since the start.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use filch_sync::lock;

use super::snapshot::{Actions, Build};

/// So many builds are remembered.
const MOST: usize = 50;
/// So many characters of a name.
const LONGEST: usize = 80;

/// Which build of a client an action is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The client's name of the build; empty if it has none.
    pub id: String,
    /// The client's own name and version; empty if it does not say.
    pub tool: String,
}

/// How an action ended, or how a run of it did.
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

impl Builds {
    /// An action was asked for.
    pub(super) fn asked(&self, invocation: &Invocation) {
        let mut books = self.lock();
        let id = cut(&invocation.id);
        let now = SystemTime::now();
        if let Some(build) = books.build(id) {
            build.pending += 1;
            build.last = now;
            return;
        }
        if books.builds.len() == MOST {
            books.builds.pop_front();
        }
        books.builds.push_back(Build {
            invocation: id.to_owned(),
            tool: cut(&invocation.tool).to_owned(),
            first: now,
            last: now,
            pending: 1,
            actions: Actions::default(),
        });
    }

    /// An action that a build asked for has ended, or is run again.
    pub(super) fn note(&self, id: &str, end: End) {
        let mut books = self.lock();
        if let Some(build) = books.build(cut(id)) {
            build.last = SystemTime::now();
            build.pending -= u64::from(end != End::Retried).min(build.pending);
            count(&mut build.actions, end);
        }
    }

    /// An action has ended, or is run again, however many builds asked for it.
    pub(super) fn count(&self, end: End) {
        count(&mut self.lock().total, end);
    }

    /// Since the start.
    pub(super) fn total(&self) -> Actions {
        self.lock().total
    }

    /// The latest one first.
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
