//! Monitors and links: each tells once, of the right end, and none is forgotten.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use filch_scheduler::{Ended, ExitReason, Watch};

use crate::account::{Happening, Life, complain, lock, note};

/// The monitors and links of one phase.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    monitors: Book<Watch>,
    links: Book<Watch>,
}

type Book<W> = Mutex<HashMap<W, Entry>>;

/// A watch, made by the caller of `monitor` or `link` or by the process that is told, if earlier.
#[derive(Debug, Default)]
struct Entry {
    /// The watcher and the watched process; for a link, in either order.
    between: Option<(Arc<Life>, Arc<Life>)>,
    told: Option<ExitReason>,
    /// True if somebody ends it, perhaps too late: an end that is under way may then not be told.
    is_dropped: bool,
    /// True if it was ended in time.
    is_ended: bool,
}

impl Watches {
    pub(crate) fn monitored(&self, monitor: Watch, watcher: &Arc<Life>, watched: &Arc<Life>) {
        note(Happening::Monitored);
        add(&self.monitors, monitor, watcher, watched);
    }

    pub(crate) fn linked(&self, link: Watch, one: &Arc<Life>, other: &Arc<Life>) {
        note(Happening::Linked);
        add(&self.links, link, one, other);
    }

    /// Ends one of the monitors.
    pub(crate) fn demonitor(&self, index: u64) {
        let monitor = pick(&self.monitors, index);
        if let Some(monitor) = monitor
            && monitor.cancel()
        {
            note(Happening::Demonitored);
            end(&self.monitors, monitor);
        }
    }

    /// Ends one of the links.
    pub(crate) fn unlink(&self, index: u64) {
        let link = pick(&self.links, index);
        if let Some(link) = link
            && link.cancel()
        {
            note(Happening::Unlinked);
            end(&self.links, link);
        }
    }

    /// Checks a `Down` that the process `by` got.
    pub(crate) fn told_down(&self, down: Ended, by: &Life) {
        note(Happening::ToldDown);
        if by.pid() != Some(down.watch.watcher()) || down.pid != down.watch.watched() {
            complain(format!("{by} was told of another's monitor: {down:?}"));
        }
        tell(&self.monitors, down.watch, down.reason, by);
    }

    /// Checks an `Exited` that the process `by`, which traps exits, got.
    pub(crate) fn told_exited(&self, exited: Ended, by: &Life) {
        note(Happening::ToldExited);
        if !by.role.traps_exits {
            complain(format!("{by} traps no exits, and was told of one"));
        }
        if by.pid() != Some(exited.watch.other_than(exited.pid)) {
            complain(format!("{by} was told of another's link: {exited:?}"));
        }
        tell(&self.links, exited.watch, exited.reason, by);
    }

    /// Returns an end that is due, but has not been told.
    pub(crate) fn unrest(&self) -> Option<String> {
        let untold = |watcher: &Life, watched: &Life, entry: &Entry| {
            let is_due = watcher.is_alive() && !watcher.has_left.is_up() && is_over(watched);
            is_due && entry.told.is_none() && !entry.is_dropped
        };
        for entry in lock(&self.monitors).values() {
            if let Some((watcher, watched)) = &entry.between
                && untold(watcher, watched, entry)
            {
                return Some(format!("{watcher} was not told of the end of {watched}"));
            }
        }
        for entry in lock(&self.links).values() {
            let Some((one, other)) = &entry.between else {
                continue;
            };
            for (one, other) in [(one, other), (other, one)] {
                if !untold(one, other, entry) {
                    continue;
                }
                if one.role.traps_exits {
                    return Some(format!(
                        "{one} was not told that {other} ended, which it linked"
                    ));
                }
                if other.reason().is_some_and(|reason| !reason.is_normal()) {
                    return Some(format!(
                        "{one} goes on, and {other} failed, which it linked"
                    ));
                }
            }
        }
        None
    }

    /// Compares the ends that were told with those that the hook was told of.
    pub(crate) fn check_reasons(&self) {
        for entry in lock(&self.monitors).values() {
            if let (Some((_, watched)), Some(told)) = (&entry.between, &entry.told) {
                check_reason(watched, told);
            }
        }
    }
}

fn is_over(life: &Life) -> bool {
    life.completed.get() > 0
}

fn check_reason(watched: &Life, told: &ExitReason) {
    let right = match told {
        ExitReason::NoSuchProcess | ExitReason::NotStarted(_) => return,
        told => watched.reason().is_none_or(|reason| reason == *told),
    };
    if !right {
        let reason = watched.reason();
        complain(format!(
            "{watched} ended with {reason:?}, and a monitor was told {told:?}"
        ));
    }
}

fn add<W: Eq + Hash>(book: &Book<W>, watch: W, one: &Arc<Life>, other: &Arc<Life>) {
    let between = (Arc::clone(one), Arc::clone(other));
    lock(book).entry(watch).or_default().between = Some(between);
}

/// Picks one of them, which the caller ends.
fn pick<W: Clone>(book: &Book<W>, index: u64) -> Option<W> {
    let mut book = lock(book);
    let place = index.checked_rem(book.len() as u64)?;
    let (watch, entry) = book.iter_mut().nth(place as usize)?;
    entry.is_dropped = true;
    Some(watch.clone())
}

fn end<W: Eq + Hash>(book: &Book<W>, watch: W) {
    lock(book).entry(watch).or_default().is_ended = true;
}

fn tell<W: Eq + Hash>(book: &Book<W>, watch: W, reason: ExitReason, by: &Life) {
    let mut book = lock(book);
    let entry = book.entry(watch).or_default();
    if let Some(before) = &entry.told {
        complain(format!(
            "{by} was told twice by one watch: {before}, then {reason}"
        ));
    }
    if entry.is_ended {
        complain(format!(
            "{by} was told by a watch that had been ended in time: {reason}"
        ));
    }
    entry.told = Some(reason);
}
