//! The verdict on processes that cannot run, and the report for people.

use std::time::Duration;

use filch_process_state::LetGo;

use crate::table::{Placement, Table};
use crate::tests::Any;
use crate::{Node, PendingFuture, PendingTimers, ProcessInfo, Standstill, Verdict};

/// Makes processes that wait: for any event, or, as futures, for their wakers.
fn waiting(count: usize, future: bool) -> Vec<ProcessInfo> {
    let table = Table::<Any>::new(Node::default());
    let idle = |_| {
        let slot = table.occupy(Placement::default()).unwrap();
        slot.stats.set_future(future);
        slot.state.submit().unwrap();
        slot.state.start().unwrap();
        assert_eq!(slot.state.idle(), Ok(LetGo::Waits));
        ProcessInfo::of(table.pid_of(slot), slot)
    };
    (0..count).map(idle).collect()
}

fn standstill(
    processes: Vec<ProcessInfo>,
    futures: Vec<PendingFuture>,
    timers: Option<PendingTimers>,
) -> Standstill {
    Standstill {
        processes,
        futures,
        timers,
    }
}

/// The verdict, and the first line of the report.
fn said(standstill: &Standstill) -> (Verdict, String) {
    let report = standstill.to_string();
    let headline = report.lines().next().unwrap_or_default();
    (standstill.verdict(), headline.to_owned())
}

#[test]
fn processes_that_wait_for_messages() {
    let all_ended = standstill(Vec::new(), Vec::new(), None);
    assert_eq!(
        said(&all_ended),
        (Verdict::AllEnded, "all processes have ended".to_owned())
    );
    let (verdict, headline) = said(&standstill(waiting(2, false), Vec::new(), None));
    assert_eq!(verdict, Verdict::Deadlock);
    assert!(headline.starts_with("processes that wait: 2; commands under way outside: 0; "));
    let next = Duration::from_secs(3);
    let timers = PendingTimers { count: 1, next };
    let (verdict, headline) = said(&standstill(waiting(1, false), Vec::new(), Some(timers)));
    assert_eq!(verdict, Verdict::AwaitsTimers(timers));
    assert!(headline.ends_with("; pending timers: 1, the first due in 3s:"));
}

#[test]
fn futures_that_wait_for_their_wakers() {
    let processes = waiting(2, true);
    let pids = [processes[0].pid, processes[1].pid];
    let pending = |wakers: usize| {
        let futures = pids.map(|pid| PendingFuture {
            pid,
            awaits: Vec::new(),
            wakers: if pid == pids[0] { wakers } else { 0 },
        });
        standstill(processes.clone(), futures.to_vec(), None)
    };
    let (verdict, headline) = said(&pending(0));
    assert_eq!(verdict, Verdict::Deadlock);
    assert!(headline.contains("futures with a waker outside: 0; unless a thread outside"));
    let (verdict, headline) = said(&pending(1));
    assert_eq!(verdict, Verdict::AwaitsOutside);
    assert!(headline.contains("futures with a waker outside: 1; nothing runs"));
}
