//! Tests of the crates above the scheduler, from outside, on real threads.

mod at_end;
mod blocking;
mod calls;
mod calls_without_answer;
mod cancels;
#[expect(dead_code, reason = "the tests of the scheduler itself use the rest")]
#[path = "../../../scheduler/tests/scheduler/common.rs"]
mod common;
mod diagnosis;
mod dynamic;
mod full_mailboxes;
mod future_ends;
mod future_mail;
mod future_places;
mod futures;
mod groups;
mod guests;
mod inboxes;
mod journal;
mod late_senders;
mod names;
mod nodes;
mod ownership;
mod process_calls;
mod promises;
mod ties;
mod timer_races;
mod timers;
mod waiting;
