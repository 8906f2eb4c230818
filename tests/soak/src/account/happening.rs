//! Events and their counts, the totals of the report; and the findings, with the stage and the
//! phase of each.

use std::sync::Mutex;

use crate::account::{Count, lock};

macro_rules! happenings {
    ($($name:ident => $text:literal,)*) => {
        /// A kind of event that the report counts.
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum Happening {
            $($name,)*
        }

        const TEXTS: &[&str] = &[$($text,)*];
    };
}

happenings! {
    Submitted => "processes that started",
    RefusedByInit => "submissions refused by `init`: error, panic, or no such method",
    RefusedByHook => "submissions refused by the start hook, or by its panic",
    RefusedByLimit => "submissions refused by the limit of processes",
    RefusedByShutdown => "submissions refused by a shutdown",
    Stepped => "steps",
    EndedDone => "processes done",
    EndedFailed => "processes that failed",
    EndedPanicked => "processes that panicked",
    EndedTerminated => "processes terminated",
    EndedLinked => "processes ended by a link",
    EndedWaitsForNothing => "processes that waited for nothing",
    EndedUpgrade => "processes ended by an upgrade that did not start",
    EndedShutDown => "processes closed by a shutdown without patience left",
    Joined => "exits joined, or tried and joined later",
    ExitCalled => "exits told by `on_exit`",
    ClosePanicked => "panics in `close`",
    HookPanicked => "panics in the end hook",
    DestructorPanicked => "panics in destructors",
    CallPanicked => "panics in `on_exit` calls",
    Sent => "messages sent",
    Read => "messages read",
    HandedBackNoSuchProcess => "messages handed back: no such process",
    HandedBackFull => "messages handed back: mailbox full",
    DroppedWithProcess => "messages dropped with their receiver, or left by a step",
    TimedMessages => "messages sent by timers and intervals",
    Asked => "commands yielded",
    Answered => "commands answered with a reply",
    AnsweredError => "commands answered with an error",
    AnsweredPanic => "commands answered by a panic of their handler",
    AnsweredAbandoned => "commands abandoned",
    Monitored => "monitors",
    ToldDown => "monitors told",
    Demonitored => "monitors ended in time",
    Linked => "links",
    ToldExited => "links told, to processes that trap exits",
    Unlinked => "links ended in time",
    Named => "names given",
    NameTaken => "names that were taken",
    Unnamed => "names taken away",
    UpgradedOutside => "upgrades asked for by others",
    UpgradedSelf => "upgrades of a process by itself",
    Terminations => "terminations asked for",
    Blocked => "blocking calls in steps",
    Spawned => "futures spawned",
    FutureEnded => "futures that ended with their output",
    FutureAborted => "futures aborted",
    FuturePanicked => "futures that panicked",
    Looked => "lists, dumps and statistics taken",
    Schedulers => "schedulers built",
    Shutdowns => "shutdowns of a scheduler at rest",
    ShutdownsInTheMidst => "shutdowns and drops amid a burst",
    ShutdownsFromInside => "schedulers dropped on their own worker",
    BoundThreads => "threads reserved",
}

static COUNTS: [Count; TEXTS.len()] = [const { Count::new() }; TEXTS.len()];

pub(crate) fn note(happening: Happening) {
    COUNTS[happening as usize].add(1);
}

/// Returns each kind and its count.
pub(crate) fn totals() -> impl Iterator<Item = (&'static str, i64)> {
    TEXTS.iter().copied().zip(COUNTS.iter().map(Count::get))
}

/// The current place in the plan.
static PLACE: Mutex<Place> = Mutex::new(Place {
    seed: 0,
    phase: 0,
    stage: "start",
});

static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Raised by all progress; the watchdog looks at it.
static PROGRESS: Count = Count::new();

/// The most findings of one phase that are printed: more tell nothing new.
const MOST_PRINTED: usize = 20;

/// A seed, and the place that its plan has reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) seed: u64,
    pub(crate) phase: u64,
    pub(crate) stage: &'static str,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, phase, stage } = self;
        write!(f, "seed {seed}, phase {phase}, {stage}")
    }
}

pub(crate) fn begin_phase(seed: u64, phase: u64) {
    *lock(&PLACE) = Place {
        seed,
        phase,
        stage: "begin",
    };
    progress();
}

pub(crate) fn begin_stage(stage: &'static str) {
    lock(&PLACE).stage = stage;
    progress();
}

pub(crate) fn place() -> Place {
    *lock(&PLACE)
}

pub(crate) fn progress() {
    PROGRESS.add(1);
}

/// Returns the count of all progress.
pub(crate) fn progress_so_far() -> i64 {
    PROGRESS.get()
}

/// Notes something that does not hold, and prints it with the options that repeat it.
pub(crate) fn complain(message: impl Into<String>) {
    let (place, message) = (place(), message.into());
    let mut found = lock(&FOUND);
    if found.len() < MOST_PRINTED {
        let Place { seed, phase, .. } = place;
        eprintln!("VIOLATION ({place}): {message}\n  again: --seed {seed} --phase {phase}");
    }
    found.push(format!("{place}: {message}"));
}

/// Returns all findings so far.
pub(crate) fn found() -> Vec<String> {
    lock(&FOUND).clone()
}

pub(crate) fn is_clean() -> bool {
    lock(&FOUND).is_empty()
}
