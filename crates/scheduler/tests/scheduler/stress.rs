//! Many processes at once, on real threads: nothing lost, nothing doubled, everybody closed once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::{Command, closed_once, scheduler, scripted, summing};
use filch_scheduler::{Event, Pid};

/// A ring of processes passes a token round and round: every hop is a send to a process that is
/// idle, or about to be.
#[test]
fn a_token_goes_round_a_ring() {
    const RING: usize = 200;
    const HOPS: u64 = 20_000;
    for workers in [1, 2, 4] {
        let scheduler = scheduler(workers);
        let pids: Arc<std::sync::OnceLock<Vec<Pid>>> = Arc::default();
        let nodes: Vec<_> = (0..RING)
            .map(|own| {
                let pids = Arc::clone(&pids);
                let node = scripted(move |context, events, out| {
                    for event in events {
                        let Event::Message((_, hops @ 0..=HOPS)) = event else {
                            out.done(0);
                            return Ok(());
                        };
                        let ring = pids.get().ok_or("the ring is not closed yet")?;
                        if hops == HOPS {
                            // Tell everybody; those behind us have ended by the time the news is
                            // all round.
                            for &pid in ring.iter().filter(|&&pid| pid != context.pid()) {
                                let _ = context.send(pid, (0, u64::MAX));
                            }
                            out.done(HOPS);
                            return Ok(());
                        }
                        let sent = context.send(ring[(own + 1) % RING], (0, hops + 1));
                        sent.map_err(|error| error.to_string())?;
                    }
                    out.idle();
                    Ok(())
                });
                let closed = node.closed();
                (scheduler.submit(node, "run", 0).unwrap(), closed)
            })
            .collect();
        pids.set(nodes.iter().map(|(handle, _)| handle.pid()).collect())
            .unwrap();
        scheduler.send(nodes[0].0.pid(), (0, 0)).unwrap();
        let mut last = 0;
        for (handle, closed) in nodes {
            last += handle.join().unwrap();
            assert!(closed_once(&closed));
        }
        assert_eq!(last, HOPS, "exactly one node saw the last hop");
    }
}

/// Ten thousand processes, each yielding commands that complete on the spot or from another thread,
/// and sending its result to one collector.
#[test]
fn ten_thousand_processes_report_to_one() {
    const PROCESSES: u64 = 10_000;
    let scheduler = scheduler(2);
    let collector = scheduler.submit(summing(PROCESSES), "run", 0).unwrap();
    let to = collector.pid();
    let handles: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut replies = 0;
            let process = scripted(move |context, events, out| {
                if events.is_empty() {
                    out.yield_command(0, Command::Echo(number));
                    let echo = match number % 100 {
                        0 => Command::EchoLater,
                        _ => Command::Echo,
                    };
                    out.yield_command(1, echo(1));
                }
                for event in events {
                    let Event::Completed { tag, result } = event else {
                        panic!("{event:?}")
                    };
                    let value = result.map_err(|error| error.to_string())?;
                    assert_eq!(value, if tag == 0 { number } else { 1 });
                    replies += 1;
                }
                if replies < 2 {
                    out.wait();
                } else {
                    context
                        .send(to, (0, number))
                        .map_err(|error| error.to_string())?;
                    out.done(number);
                }
                Ok(())
            });
            let closed = process.closed();
            (scheduler.submit(process, "run", 0).unwrap(), closed)
        })
        .collect();
    for (number, (handle, closed)) in (0..).zip(handles) {
        assert_eq!(handle.join().unwrap(), number);
        assert_eq!(closed.load(Ordering::Relaxed), 1);
    }
    assert_eq!(collector.join().unwrap(), PROCESSES * (PROCESSES - 1) / 2);
    let total = scheduler.stats().total();
    assert_eq!(total.ended, PROCESSES + 1);
    assert_eq!(total.messages, PROCESSES);
    assert_eq!(
        (total.commands, total.completions),
        (2 * PROCESSES, 2 * PROCESSES)
    );
}

/// Short-lived processes are submitted and joined from several threads, so that slots are used
/// again and again while others send to names that may be stale.
#[test]
fn a13_slots_are_used_again_under_fire() {
    let scheduler = scheduler(2);
    let (names, stale) = std::sync::mpsc::channel::<Pid>();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let (scheduler, names) = (scheduler.handle(), names.clone());
            scope.spawn(move || {
                for value in 0..3_000 {
                    let handle = scheduler.submit(summing(1), "run", 0).unwrap();
                    names.send(handle.pid()).unwrap();
                    scheduler.send(handle.pid(), (0, value)).unwrap();
                    assert_eq!(
                        handle.join().unwrap(),
                        value,
                        "somebody else's message came first"
                    );
                }
            });
        }
        drop(names);
        let scheduler = scheduler.handle();
        scope.spawn(move || {
            let mut last = None;
            for pid in stale {
                // The previous name of this thread's list: mostly gone, sometimes not, never
                // somebody else.
                if let Some(gone) = last.replace(pid)
                    && scheduler.processes().iter().all(|&live| live != gone)
                {
                    assert!(scheduler.send(gone, (0, u64::MAX)).is_err());
                }
            }
        });
    });
}
