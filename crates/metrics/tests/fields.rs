//! Every count of the scheduler is a metric, or is left out on purpose.
//!
//! [`Stats`](filch_scheduler::Stats) may get more fields, and a pattern in another crate cannot
//! name all of them. So the test reads them as data.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use filch_actors::WhenFull;
use filch_actors::prelude::*;
use filch_metrics::SchedulerMetrics;
use filch_scheduler::{Protocol, Scheduler, from_fn};
use filch_sync::asymmetric::{heavy, register};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::Value;

enum Any {}

impl Protocol for Any {
    type Input = ();
    type Message = ();
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}

/// Each field that is shown, and the beginning of its lines.
const SHOWN: [(&str, &str); 18] = [
    ("live", "processes "),
    ("dropped", "messages_dropped_total "),
    ("queues.new", "runnable{queue=\"new\"} "),
    ("queues.woken", "runnable{queue=\"woken\"} "),
    ("queues.given_way", "runnable{queue=\"given_way\"} "),
    ("queues.idle_priority", "runnable{queue=\"idle_priority\"} "),
    ("queues.local", "runnable{queue=\"local\"} "),
    ("workers.steps", "steps_total{"),
    ("workers.messages", "messages_total{"),
    ("workers.commands", "commands_total{"),
    ("workers.completions", "completions_total{"),
    ("workers.empty_steps", "empty_steps_total{"),
    ("workers.ended", "processes_ended_total{"),
    ("workers.failed", "processes_failed_total{"),
    ("workers.processor.stolen", "stolen_total{"),
    ("workers.processor.steals", "steals_total{"),
    ("workers.processor.parks", "parks_total{"),
    ("workers.processor.wake_ups", "wake_ups_total{"),
];

/// The other counts of the processors: for people who work on them.
const NOT_SHOWN: [&str; 20] = [
    "workers.processor.run",
    "workers.processor.visits",
    "workers.processor.external_tasks",
    "workers.processor.panicked",
    "workers.processor.scheduled",
    "workers.processor.from_injector",
    "workers.processor.from_yielded",
    "workers.processor.looks",
    "workers.processor.rotated",
    "workers.processor.balanced",
    "workers.processor.failed_steals",
    "workers.processor.spins",
    "workers.processor.watches",
    "workers.processor.idle_priority",
    "workers.processor.blocking_calls",
    "workers.processor.blocked_in_place",
    "workers.processor.made_way",
    "workers.processor.handed_to_waiters",
    "workers.processor.sent_to_bound",
    "workers.processor.retired",
];

/// Adds up the numbers in each field, whose name is the path to it.
fn collect(way: &str, value: &Value, fields: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(inner) => {
            for (name, value) in inner {
                let dot = if way.is_empty() { "" } else { "." };
                collect(&format!("{way}{dot}{name}"), value, fields);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(way, item, fields)),
        number => *fields.entry(way.to_owned()).or_default() += number.as_u64().unwrap(),
    }
}

#[test]
fn no_field_is_forgotten() {
    let scheduler = Scheduler::<Any>::builder().workers(2).build().unwrap();
    let handle = scheduler.handle();
    let mut registry = Registry::with_prefix("filch");
    registry.register_collector(Box::new(SchedulerMetrics::new(handle.clone())));
    let process = scheduler.submission(from_fn(|_, _, _| Ok(())), "run", ());
    let process = process.mailbox_with(0, WhenFull::DropNewest).submit();
    let process = process.unwrap();
    (0..3).for_each(|_| scheduler.send(process.pid(), ()).unwrap());
    // From then on all counts stay as they are.
    scheduler.shutdown(Duration::ZERO).unwrap();
    let mut fields = BTreeMap::new();
    let stats = serde_json::to_value(handle.stats()).unwrap();
    collect("", &stats, &mut fields);
    let known = SHOWN.iter().map(|(field, _)| *field).chain(NOT_SHOWN);
    assert_eq!(
        fields.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        known.collect::<BTreeSet<_>>(),
        "each field is a metric, or is left out on purpose: say so above, and in the README"
    );
    assert_eq!(fields["dropped"], 3);
    // One count is the process's own.
    let is_passed = register() && heavy().is_ok();
    let fences = format!("heavy_fences_total {}", u64::from(is_passed));
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let mut lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("filch_"))
        .collect();
    for (field, beginning) in SHOWN {
        let (own, rest): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|line| line.starts_with(beginning));
        assert!(!own.is_empty(), "{field} is shown\n{text}");
        let values = own.iter().filter_map(|line| line.rsplit(' ').next());
        let sum: u64 = values.map(|value| value.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, fields[field], "{field}\n{text}");
        lines = rest;
    }
    assert_eq!(lines, [fences], "nothing else is shown");
}
