//! Which calls of the user's code have not returned.

use filch_processors::{Inside, RunningTask};

use crate::api::running_call::CommandLabel;
use crate::{CallKind, Handle, Pid, Protocol, RunningCall};

impl<P: Protocol> Handle<P> {
    /// The calls of the user's code that are under way: on the workers, and on
    /// [`BlockingThreads`](crate::BlockingThreads) for this scheduler's processes. Takes some locks
    /// for a moment, and disturbs nothing else.
    pub fn running(&self) -> Vec<RunningCall> {
        let mut running = self.running_commands();
        let tasks = self.shared.processors.running();
        running.extend(tasks.into_iter().map(|task| self.call_of(task)));
        running
    }

    fn running_commands(&self) -> Vec<RunningCall> {
        let mut commands = commands(&self.shared.calls);
        for command in &mut commands {
            command.type_name = self.type_name(command.process);
        }
        commands
    }

    fn type_name(&self, process: Option<Pid>) -> Option<&'static str> {
        let journal = self.shared.journal.as_ref()?;
        journal.type_name(process?)
    }

    /// What a worker is in the middle of.
    pub(crate) fn call_of(&self, task: RunningTask) -> RunningCall {
        let process = task.label.and_then(|label| self.labelled(label));
        let kind = match task.inside {
            // Each process has a label, and jobs have none.
            Inside::Piece => CallKind::Job,
            Inside::BlockingCall if task.label.is_none() => CallKind::Job,
            Inside::BlockingCall => CallKind::Blocking,
            Inside::Task if process.is_some_and(|process| self.has_exited(process)) => {
                CallKind::AfterEnd
            }
            Inside::Task => CallKind::Step,
            _ => CallKind::Destructor,
        };
        RunningCall {
            thread: task.thread,
            process,
            type_name: self.type_name(process),
            kind,
            elapsed: task.elapsed,
        }
    }

    /// Whether the process has left its exit, and its worker only tells of it.
    fn has_exited(&self, process: Pid) -> bool {
        let slot = self.table().find(process);
        slot.is_none_or(|slot| slot.life.is_set())
    }
}

/// The commands that run on blocking threads.
pub(crate) fn commands(calls: &filch_blocking::Calls<CommandLabel>) -> Vec<RunningCall> {
    let running = calls.running().into_iter().map(|call| RunningCall {
        thread: call.thread,
        process: Some(call.label.process),
        type_name: None,
        kind: CallKind::Command {
            tag: call.label.tag,
            label: call.label.label,
        },
        elapsed: call.elapsed,
    });
    running.collect()
}
