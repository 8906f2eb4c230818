//! A report for people, line by line.

use std::time::Duration;

use super::{MOST, ProcessList};
use crate::Node;
use crate::observe::info::{PendingCommand, ProcessDetails, ProcessInfo};
use crate::table::{Placement, Table};
use crate::tests::Any;

fn process() -> ProcessInfo {
    let table = Table::<Any>::new(Node::default());
    let slot = table.occupy(Placement::default()).unwrap();
    ProcessInfo::of(table.pid_of(slot), slot)
}

/// The lines after the column names.
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
    let command = PendingCommand {
        tag: 7,
        age,
        calls: None,
        is_limited: false,
    };
    let mut details = ProcessDetails {
        type_name: "Type",
        method: "run".into(),
        age,
        parent: None,
        commands: Vec::new(),
    };
    info.details = Some(Box::new(details.clone()));
    assert_eq!(lines(info.clone()), [format!("{line}  Type, 1.5 s old")]);
    details.parent = Some(parent);
    let call = PendingCommand {
        tag: 8,
        calls: Some(parent),
        is_limited: true,
        ..command
    };
    details.commands = vec![command.clone(), call];
    info.details = Some(Box::new(details.clone()));
    let known = [
        format!("{line}  Type, 1.5 s old, of {parent}"),
        "    command 7, for 1.5 s".to_owned(),
        format!("    call 8 of {parent}, which has a time limit, for 1.5 s"),
    ];
    assert_eq!(lines(info.clone()), known);
    details.commands = vec![command; MOST + 2];
    info.details = Some(Box::new(details));
    let known = lines(info);
    assert_eq!(known.len(), 1 + MOST + 1);
    assert_eq!(known.last().unwrap(), "    and 2 commands more");
}
