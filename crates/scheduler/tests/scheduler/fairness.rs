//! Row B11, as far as it goes: no process that is Ready waits for ever, whatever the others do.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};

use crate::common::{Scripted, scheduler, scripted, start};
use filch_scheduler::Pid;

/// On one worker: a pair plays ping-pong on top of the deque, a third process goes on for ever in
/// the global queue, and a fourth lies at the bottom of the deque. It runs, and ends the game.
#[test]
fn b11_the_bottom_of_the_deque_is_reached_whoever_plays_on_top() {
    let scheduler = scheduler(1);
    let over = Arc::new(AtomicBool::new(false));
    let pids: Arc<OnceLock<[Pid; 3]>> = Arc::default();
    let player = |partner: usize, mut wakes_the_last: bool| -> Scripted {
        let (over, pids) = (Arc::clone(&over), Arc::clone(&pids));
        scripted(move |context, events, out| {
            if over.load(Ordering::Acquire) {
                out.done(0);
                return Ok(());
            }
            if !events.is_empty() {
                let pids = pids.get().ok_or("the game has not begun")?;
                if std::mem::take(&mut wakes_the_last) {
                    context
                        .send(pids[2], (0, 0))
                        .map_err(|error| error.to_string())?;
                }
                // The partner may have seen that the game is over.
                let _ = context.send(pids[partner], (0, 0));
            }
            out.idle();
            Ok(())
        })
    };
    let players = [player(1, true), player(0, false)];
    let last = scripted({
        let over = Arc::clone(&over);
        move |_, events, out| {
            if events.is_empty() {
                out.idle();
            } else {
                over.store(true, Ordering::Release);
                out.done(1);
            }
        }
    });
    let busy = scripted({
        let over = Arc::clone(&over);
        move |_, _, out| {
            if over.load(Ordering::Acquire) {
                out.done(0);
            } else {
                out.go_on();
            }
        }
    });
    let players = players.map(|player| scheduler.submit(player, "run", 0).unwrap());
    let last = scheduler.submit(last, "run", 0).unwrap();
    let busy = scheduler.submit(busy, "run", 0).unwrap();
    pids.set([players[0].pid(), players[1].pid(), last.pid()])
        .unwrap();
    scheduler.send(players[0].pid(), (0, 0)).unwrap();
    assert_eq!(last.join().unwrap(), 1);
    assert_eq!(busy.join().unwrap(), 0);
}

/// One worker is kept: two hundred processes are submitted, and then a message is sent to one that
/// waits for it. A failure: it gets the message after all of them have had their turn.
#[test]
fn a_message_does_not_wait_behind_all_that_are_new() {
    let scheduler = scheduler(1);
    let turns = Arc::new(AtomicU64::new(0));
    let turn = |waits: bool| {
        let turns = Arc::clone(&turns);
        scripted(move |_, events, out| {
            if waits && events.is_empty() {
                out.idle();
            } else {
                out.done(turns.fetch_add(1, Ordering::Relaxed));
            }
        })
    };
    let hears = scheduler.submit(turn(true), "run", 0).unwrap();
    scheduler.wait_for_standstill().unwrap();
    let (keeps, is_kept) = mpsc::channel();
    let (goes_on, may_go_on) = mpsc::channel();
    let keeper = start(&scheduler, move |_, _, out| {
        keeps.send(()).map_err(|error| error.to_string())?;
        may_go_on.recv().map_err(|error| error.to_string())?;
        out.done(0);
        Ok(())
    });
    is_kept.recv().unwrap();
    let submit = |_| scheduler.submit(turn(false), "run", 0).unwrap();
    let new: Vec<_> = (0..200).map(submit).collect();
    scheduler.send(hears.pid(), (0, 0)).unwrap();
    goes_on.send(()).unwrap();
    keeper.join().unwrap();
    for process in new {
        process.join().unwrap();
    }
    let before = hears.join().unwrap();
    // As many tasks come out of the global queue at once.
    assert!(before <= 17, "{before} had their turn before");
}
