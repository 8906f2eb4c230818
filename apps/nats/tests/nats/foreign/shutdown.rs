//! A scheduler is shut down while messages flow.

use std::time::Duration;

use filch_nats::{Ended, NodeLost};
use filch_scheduler::{Node, Undelivered};

use super::common::{News, Note, TestNode, eventually, next, pair, send_until_cut_off};

/// A failure: the shutdown waits for the transport, a lost message is not accounted for, or the
/// other node is not told.
#[test]
fn a_scheduler_that_is_shut_down_says_goodbye() {
    let Some((here, there)) = pair() else { return };
    let (one, at_one) = here.forward();
    let (other, notes) = there.forward();
    here.monitor(one, other, 0);
    let TestNode {
        nats, scheduler, ..
    } = there;
    let (taken, mut down) = std::thread::scope(|threads| {
        let down = threads.spawn(move || {
            for _ in 0..1000 {
                next(&notes);
            }
            let report = scheduler.shutdown(Duration::from_secs(30)).unwrap();
            assert!(report.is_clean(), "{report}");
            notes
        });
        let taken = send_until_cut_off(&here, other, 0);
        (taken, down.join().unwrap().into_iter())
    });
    here.wait_for(News::Lost(Node(2), NodeLost::Left));
    match next(&at_one) {
        Note::Ended(0, Ended::Process(_) | Ended::Node(NodeLost::Left)) => {}
        other => panic!("{other:?}"),
    }
    // This ends the whole transport, with its thread.
    nats.leave();
    let stats = eventually("all to be counted", || {
        Some(here.nats.stats()).filter(|stats| stats.sent + stats.dropped >= taken)
    });
    assert_eq!(stats.sent + stats.dropped, taken, "{stats}");
    assert!(down.all(|note| matches!(note, Note::Number(_))));
    let received = nats.stats();
    let came = received.delivered + received.no_such_process + received.missed;
    assert!(came <= stats.sent, "{received}");
    assert_eq!(stats.ended, 1);
}

/// A failure: a thread or a scheduler is kept.
#[test]
fn a_transport_that_is_dropped_ends() {
    let Some((here, there)) = pair() else { return };
    let (pid, _) = here.forward();
    let TestNode {
        nats, scheduler, ..
    } = there;
    drop(nats.clone());
    drop(nats);
    here.wait_for(News::Lost(Node(2), NodeLost::Left));
    // It says goodbye before it ends.
    let refused = eventually("a refusal", || scheduler.send(pid, Note::Number(1)).err());
    assert_eq!(refused.reason, Undelivered::NoRoute);
    eventually("the watcher to end", || {
        (scheduler.live() == 0).then_some(())
    });
}
