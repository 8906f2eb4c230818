//! The life of a process between two messages. No other library has such a word, so there is only
//! the floor to compare with.

use std::hint::black_box;

use filch_process_state::{LetGo, ProcessState, Reason, Wake};

use crate::clock::cost;
use crate::floor::uncontended_rmws;
use crate::harness::{Effort, Scenario};

pub(crate) fn scenarios(effort: Effort) -> Vec<Scenario> {
    let turns = effort.operations(2_000_000);
    vec![
        Scenario::new("start + idle + wake, one thread", "ns per turn")
            .contender("filch-process-state", turn(turns))
            .floor("three uncontended RMWs", uncontended_rmws(3, turns)),
    ]
}

fn turn(turns: u64) -> impl FnMut() -> f64 {
    let state = ProcessState::new_ready();
    move || {
        cost(turns, || {
            for _ in 0..turns {
                assert_eq!(black_box(state.start()), Ok(()));
                assert_eq!(black_box(state.idle()), Ok(LetGo::Waits));
                assert_eq!(black_box(state.wake(Reason::Message)), Wake::Enqueue);
            }
        })
    }
}
