//! A world in which the plan is carried out: events in the order of their times.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use filch_scheduler::ExitReason;

use super::script::{Fact, Script, Time};
use crate::plan::child::{ChildId, Life};
use crate::plan::event::{Action, ChildError, Event, Request, RequestId};
use crate::plan::machine::Plan;

/// An event of the world itself.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Started(ChildId, Life),
    Ended(ChildId, Life),
    Request(usize),
    Stop,
}

/// A living process.
#[derive(Debug)]
struct Process {
    life: Life,
    nth: usize,
    ends_at: Option<Time>,
}

struct World<'a> {
    script: &'a Script,
    plan: Plan<()>,
    origin: Instant,
    now: Time,
    coming: BTreeMap<(Time, usize), Happening>,
    expected: usize,
    processes: BTreeMap<ChildId, Process>,
    lives: BTreeMap<ChildId, usize>,
    answered: Vec<bool>,
    facts: Vec<(Time, Fact)>,
}

/// Returns the facts of the plan in that world, until the supervisor has ended.
///
/// # Panics
/// If a child has two lives at once, the plan ends a process that does not live, a request is
/// answered twice or never, or a child is left when the supervisor ends.
pub(super) fn carry_out(script: &Script) -> Vec<(Time, Fact)> {
    let mut plan = Plan::new(script.rules);
    for spec in &script.children {
        plan.add(spec.clone()).expect("the names are different");
    }
    let mut world = World {
        script,
        plan,
        origin: Instant::now(),
        now: 0,
        coming: BTreeMap::new(),
        expected: 0,
        processes: BTreeMap::new(),
        lives: BTreeMap::new(),
        answered: vec![false; script.requests.len()],
        facts: Vec::new(),
    };
    for (number, (time, _)) in script.requests.iter().enumerate() {
        world.expect(*time, Happening::Request(number));
    }
    world.expect(script.stop_at, Happening::Stop);
    world.tell(Event::Begin);
    while !world.is_over() {
        world.go_on();
    }
    assert!(world.processes.is_empty(), "left: {:?}", world.processes);
    let arrived = script
        .requests
        .iter()
        .filter(|(time, _)| *time <= world.now);
    assert!(
        world.answered[..arrived.count()]
            .iter()
            .all(|answered| *answered)
    );
    world.facts
}

impl World<'_> {
    fn is_over(&self) -> bool {
        matches!(self.facts.last(), Some((_, Fact::End(_))))
    }

    fn expect(&mut self, time: Time, happening: Happening) {
        self.coming.insert((time, self.expected), happening);
        self.expected += 1;
    }

    fn go_on(&mut self) {
        let deadline = self.plan.deadline().map(|deadline| {
            let since = deadline.saturating_duration_since(self.origin);
            since.as_nanos() as Time
        });
        let (&(time, number), _) = self.coming.first_key_value().expect("it stops some day");
        if let Some(deadline) = deadline.filter(|deadline| *deadline < time) {
            self.now = self.now.max(deadline);
            return self.tell(Event::Time);
        }
        let happening = self
            .coming
            .remove(&(time, number))
            .expect("it is the first");
        self.now = time;
        match happening {
            Happening::Started(child, life) => self.tell(Event::Started { child, life }),
            Happening::Ended(child, life) => self.ended(child, life),
            Happening::Request(number) => {
                let request = self.script.requests[number].1.clone();
                self.tell(Event::Request(RequestId(number as u64), request));
            }
            Happening::Stop => self.tell(Event::Stop),
        }
    }

    fn ended(&mut self, child: ChildId, life: Life) {
        let process = self.processes.get(&child);
        let is_now = |process: &&Process| process.life == life && process.ends_at == Some(self.now);
        let Some(process) = process.filter(is_now) else {
            // It ended earlier, by an action of the plan.
            return;
        };
        let reason = self.script.life(child, process.nth).reason();
        self.processes.remove(&child);
        let ended = |reason| Event::Ended {
            child,
            life,
            reason,
        };
        self.tell(ended(reason));
        // A repeated or late end means nothing.
        if !self.is_over() {
            self.tell(ended(ExitReason::Done));
            self.tell(Event::Started { child, life });
            self.tell(Event::Time);
        }
    }

    fn tell(&mut self, event: Event<()>) {
        self.hand_over(event);
        while let Some(action) = self.plan.next_action() {
            assert!(!self.is_over(), "{action:?} after the end");
            self.act(action);
        }
    }

    fn hand_over(&mut self, event: Event<()>) {
        let now = self.origin + Duration::from_nanos(self.now);
        self.plan.handle(event, now);
    }

    fn note(&mut self, fact: Fact) {
        self.facts.push((self.now, fact));
    }

    fn act(&mut self, action: Action<()>) {
        match action {
            Action::Start { child, life } => self.start(child, life),
            Action::AskToEnd(child) => {
                self.note(Fact::AskToEnd(child));
                let heeds_after = self.script.life(child, self.nth(child)).heeds_after;
                self.ends_by(child, self.now + heeds_after);
            }
            Action::Terminate(child) => {
                self.note(Fact::Terminate(child));
                let dies_after = self.script.life(child, self.nth(child)).dies_after;
                self.ends_by(child, self.now + dies_after);
            }
            Action::GiveUp { .. } => unreachable!("no start has a limit"),
            Action::Begun => self.note(Fact::Begun),
            Action::Answer(RequestId(number), answer) => {
                let number = number as usize;
                assert!(!self.answered[number], "{number} is answered twice");
                self.answered[number] = true;
                let error = answer.as_ref().err();
                if let Some(spec) = error.and_then(|refused| refused.spec.as_ref()) {
                    let request = &self.script.requests[number].1;
                    assert_eq!(
                        request,
                        &Request::Start(spec.clone()),
                        "that one comes back"
                    );
                } else if let Some(refused) = error {
                    let request = &self.script.requests[number].1;
                    let keeps = !matches!(request, Request::Start(_));
                    assert!(keeps || refused.error == ChildError::Stopping);
                }
                self.note(Fact::Answer(
                    number,
                    answer.map_err(|refused| refused.error),
                ));
            }
            Action::End(outcome) => self.note(Fact::End(outcome)),
        }
    }

    fn start(&mut self, child: ChildId, life: Life) {
        self.note(Fact::Start(child));
        let nth = self.lives.entry(child).or_insert(0);
        let script = self.script.life(child, *nth);
        let started_at = self.now + script.start_takes;
        let ends_at = if script.starts {
            script.lasts.map(|lasts| started_at + lasts)
        } else {
            Some(started_at)
        };
        let process = Process {
            life,
            nth: *nth,
            ends_at,
        };
        *nth += 1;
        let other = self.processes.insert(child, process);
        assert!(other.is_none(), "two lives at once: {child}, {other:?}");
        let happening = if script.starts {
            Happening::Started(child, life)
        } else {
            Happening::Ended(child, life)
        };
        if script.start_takes > 0 {
            self.expect(started_at, happening);
        } else if script.starts {
            self.hand_over(Event::Started { child, life });
        } else {
            self.processes.remove(&child);
            let reason = script.reason();
            self.hand_over(Event::Ended {
                child,
                life,
                reason,
            });
        }
        if script.starts
            && let Some(ends_at) = ends_at
        {
            self.expect(ends_at, Happening::Ended(child, life));
        }
    }

    /// Returns the number of the child's present life in the script.
    fn nth(&self, child: ChildId) -> usize {
        let process = self.processes.get(&child);
        process.expect("what is ended lives").nth
    }

    fn ends_by(&mut self, child: ChildId, time: Time) {
        let process = self.processes.get_mut(&child).expect("it lives");
        if process.ends_at.is_none_or(|ends_at| time < ends_at) {
            process.ends_at = Some(time);
            let life = process.life;
            self.expect(time, Happening::Ended(child, life));
        }
    }
}
