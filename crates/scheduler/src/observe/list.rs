//! What processes are doing, as a table for people.

use std::fmt;
use std::time::Duration;

use crate::observe::info::ProcessInfo;
use crate::observe::observer::{PendingCommand, ProcessDetails};

/// A table for people: a line with the names of the columns, and one for each of these processes;
/// behind that one, if a journal is kept, a line for each command that is under way.
#[derive(Debug, Clone, Copy)]
pub struct ProcessList<'a>(pub &'a [ProcessInfo]);

impl fmt::Display for ProcessList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            "process", "is", "commands", "mailbox", "steps", "messages"
        )?;
        self.0.iter().try_for_each(|process| process.write(f))
    }
}

impl ProcessInfo {
    /// Its line, behind a line break.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mailbox = match self.undelivered {
            Some(count) => count.to_string(),
            None => self.queued.to_string(),
        };
        write!(
            f,
            "\n{:<16}{:<10}{:>10}{:>10}{:>10}{:>10}",
            self.pid.to_string(),
            self.activity,
            self.outstanding,
            mailbox,
            self.steps,
            self.messages,
        )?;
        if !self.names.is_empty() {
            write!(f, "  {}", self.names.join(", "))?;
        }
        self.details.iter().try_for_each(|details| details.write(f))
    }
}

impl ProcessDetails {
    /// The rest of the line, and one for each command, up to [`MOST`].
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}, {} old", self.type_name, Seconds(self.age))?;
        if let Some(parent) = self.parent {
            write!(f, ", of {parent}")?;
        }
        for command in self.commands.iter().take(MOST) {
            write!(f, "\n{command}")?;
        }
        match self.commands.len().checked_sub(MOST) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n    and {more} commands more"),
        }
    }
}

/// Commands of a process that are shown.
const MOST: usize = 16;

impl fmt::Display for PendingCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.calls {
            Some(_) => "call",
            None => "command",
        };
        write!(f, "    {what} {}", self.tag)?;
        if let Some(callee) = self.calls {
            write!(f, " of {callee}")?;
        }
        if self.is_limited {
            f.write_str(", which has a time limit")?;
        }
        write!(f, ", for {}", Seconds(self.age))
    }
}

/// A time, as people read it at night.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.0.as_secs_f64())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::{MOST, ProcessList};
    use crate::observe::info::ProcessInfo;
    use crate::observe::observer::{PendingCommand, ProcessDetails};
    use crate::table::{Placement, Table};
    use crate::{Node, Protocol};

    enum Any {}

    impl Protocol for Any {
        type Input = ();
        type Message = ();
        type Command = ();
        type Reply = ();
        type Output = ();
        type Error = String;
    }

    fn process() -> ProcessInfo {
        let table = Table::<Any>::new(Node::default());
        table.occupy(&Placement::default()).unwrap();
        let pin = table.iter().next().unwrap();
        ProcessInfo::of(pin.pid(), pin.slot())
    }

    /// The lines behind the one with the names of the columns.
    fn lines(process: ProcessInfo) -> Vec<String> {
        let text = ProcessList(&[process]).to_string();
        let mut lines = text.lines().map(str::to_owned);
        let columns = lines.next().unwrap();
        assert!(columns.starts_with("process") && columns.ends_with("messages"));
        lines.collect()
    }

    #[test]
    fn a_process_has_a_line_which_ends_with_its_names() {
        let mut process = process();
        let unnamed = lines(process.clone());
        let columns = "starting           0         0         0         0";
        assert!(unnamed[0].ends_with(columns), "{unnamed:?}");
        assert_eq!(unnamed.len(), 1);
        process.names = vec!["one".into(), "two".into()];
        assert_eq!(lines(process), [format!("{}  one, two", unnamed[0])]);
    }

    #[test]
    fn what_a_journal_knows_stands_behind() {
        let mut info = process();
        let parent = info.pid;
        let line = lines(info.clone()).remove(0);
        let age = Duration::from_millis(1_500);
        let mut details = ProcessDetails::new("Type", age, None);
        info.details = Some(Box::new(details.clone()));
        assert_eq!(lines(info.clone()), [format!("{line}  Type, 1.5 s old")]);
        details.parent = Some(parent);
        let mut call = PendingCommand::new(8, age);
        (call.calls, call.is_limited) = (Some(parent), true);
        details.commands = vec![PendingCommand::new(7, age), call];
        info.details = Some(Box::new(details.clone()));
        let known = [
            format!("{line}  Type, 1.5 s old, of {parent}"),
            "    command 7, for 1.5 s".to_owned(),
            format!("    call 8 of {parent}, which has a time limit, for 1.5 s"),
        ];
        assert_eq!(lines(info.clone()), known);
        details.commands = vec![PendingCommand::new(7, age); MOST + 2];
        info.details = Some(Box::new(details));
        let known = lines(info);
        assert_eq!(known.len(), 1 + MOST + 1);
        assert_eq!(known.last().unwrap(), "    and 2 commands more");
    }
}
