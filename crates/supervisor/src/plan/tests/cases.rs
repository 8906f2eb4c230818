//! Cases that are rare in made-up worlds.

use std::time::{Duration, Instant};

use filch_scheduler::ExitReason;

use crate::plan::child::{ChildId, ChildRef, Life, Spec, State};
use crate::plan::event::{Action, Event, Failure};
use crate::plan::machine::{Plan, Rules};
use crate::settings::{Backoff, Intensity, Restart, Shutdown, Strategy};

/// A plan that a test drives event by event.
struct Told {
    plan: Plan<()>,
    now: Instant,
}

impl Told {
    /// Begins with that many children, which are being started.
    fn new(strategy: Strategy, children: usize, restarts: usize) -> Self {
        let period = Duration::from_secs(1);
        let mut plan = Plan::new(Rules {
            strategy,
            intensity: Intensity { restarts, period },
            backoff: Backoff::NONE,
        });
        for _ in 0..children {
            let spec = Spec {
                name: None,
                restart: Restart::Permanent,
                shutdown: Shutdown::Unlimited,
                start: None,
                make: (),
            };
            plan.add(spec).expect("it has no name");
        }
        let now = Instant::now();
        plan.handle(Event::Begin, now);
        Self { plan, now }
    }

    /// Returns the present life of the child.
    fn life(&mut self, child: u64) -> Life {
        let child = self.plan.child_mut(ChildId(child)).expect("it exists");
        child.state.life().expect("it lives")
    }

    fn started(&mut self, number: u64) {
        let (child, life) = (ChildId(number), self.life(number));
        self.plan.handle(Event::Started { child, life }, self.now);
    }

    fn ended(&mut self, number: u64) {
        let (child, life) = (ChildId(number), self.life(number));
        let reason = ExitReason::WaitsForNothing;
        let ended = Event::Ended {
            child,
            life,
            reason,
        };
        self.plan.handle(ended, self.now);
    }

    fn is_starting(&mut self, child: u64) -> bool {
        let child = self.plan.child_mut(ChildId(child)).expect("it exists");
        matches!(child.state, State::Starting { .. })
    }

    fn outcome(&mut self) -> Option<Result<(), Failure>> {
        let mut outcome = None;
        while let Some(action) = self.plan.next_action() {
            if let Action::End(end) = action {
                outcome = Some(end);
            }
        }
        outcome
    }
}

/// The job that ends the group of child 0 handles its first end. In the same job the child begins
/// anew, and ends again, after child 1 has. So child 1 is the one that has failed too often.
#[test]
fn an_end_is_decided_in_its_turn() {
    let mut told = Told::new(Strategy::OneForAll, 3, 1);
    (0..3).for_each(|child| told.started(child));
    told.ended(2);
    // 1 is asked to end, and 0 ends by itself.
    told.ended(0);
    told.ended(1);
    told.started(0);
    told.started(1);
    assert!(told.is_starting(2));
    told.ended(1);
    told.ended(0);
    told.started(2);
    // Asked to end, as 1 was one failure too many.
    told.ended(2);
    let child = ChildRef::Id(ChildId(1));
    let reason = ExitReason::WaitsForNothing;
    let expected = Failure::TooManyFailures { child, reason };
    assert_eq!(told.outcome(), Some(Err(expected)));
}
