//! The journal's notes, which leave nothing behind.

use filch_scheduler::{
    Context, ExitReason, LifeCycle, Observer, Process, Scheduler, SubmitError, from_fn,
};
use filch_sync::lock;

use super::Journal;
use crate::prelude::*;
use crate::tests::Any;

struct NamelessOnly;

impl LifeCycle<Any> for NamelessOnly {
    fn on_start(
        &self,
        context: &Context<'_, Any>,
        _: &dyn Process<Any>,
        _: &str,
    ) -> Result<(), String> {
        match context.info().names.is_empty() {
            true => Ok(()),
            false => Err("no names here".to_owned()),
        }
    }
}

/// Two commands share a tag, and the younger is completed first; and calls come for a process that
/// has ended.
#[test]
fn a_command_is_known_by_its_number_and_not_by_its_tag() {
    let scheduler = Scheduler::<Any>::builder().workers(1).build().unwrap();
    let idle = || from_fn(|_, _, _| Ok(()));
    let new = || scheduler.submit(idle(), "run", ()).unwrap().pid();
    let (pid, callee) = (new(), new());
    let journal = Journal::default();
    journal.begin(pid, "First", "run", Some(callee));
    let older = journal.begin_command(pid, 7);
    let younger = journal.begin_command(pid, 7);
    journal.note_call(pid, older, callee, true);
    journal.end_command(pid, younger);
    journal.end_command(pid, younger);
    journal.replace(pid, "Second", "walk");
    let details = journal.details(pid).unwrap();
    assert_eq!((details.type_name, &*details.method), ("Second", "walk"));
    assert_eq!(details.parent, Some(callee));
    let [command] = &details.commands[..] else {
        panic!("{details:?}");
    };
    assert_eq!((command.tag, command.calls), (7, Some(callee)));
    assert!(command.is_limited && command.age <= details.age);
    journal.end(pid, &ExitReason::Done);
    journal.end_command(pid, older);
    journal.note_call(pid, older, callee, false);
    assert_eq!(journal.details(pid), None);
    assert!(journal.0.iter().all(|shard| lock(shard).is_empty()));
}

/// A failure: an entry stays, so that memory grows with each process.
#[test]
fn the_journal_forgets_what_has_ended() {
    let journal = Journal::default();
    let scheduler = Scheduler::<Any>::builder().workers(1);
    let scheduler = scheduler.observer(journal.clone());
    let scheduler = scheduler.hooks(NamelessOnly).build().unwrap();
    let noted = || {
        journal
            .0
            .iter()
            .map(|shard| lock(shard).len())
            .sum::<usize>()
    };
    let idle = || from_fn(|_, _, _| Ok(()));
    let process = scheduler.submit(idle(), "run", ()).unwrap();
    let future = scheduler.spawn(std::future::pending::<()>()).unwrap();
    assert_eq!(noted(), 2);
    let refused = scheduler.submission(idle(), "run", ()).name("named");
    assert!(matches!(refused.submit(), Err(SubmitError::Init(_))));
    assert_eq!(noted(), 2);
    scheduler.terminate(process.pid()).unwrap();
    process.join().unwrap_err();
    future.abort();
    future.join().unwrap_err();
    assert_eq!(noted(), 0);
}
