//! Groups: a process is in one from its joining to its leaving or its end.

use std::sync::mpsc;

use filch_actors::GroupError;
use filch_actors::prelude::*;
use filch_scheduler::{Event, ProcessHandle, Undelivered};

use crate::common::{scheduler, summing, waiting};

#[test]
fn what_is_broadcast_reaches_each_member_once_in_order_of_joining() {
    let scheduler = scheduler(2);
    let members: Vec<_> = (0..3)
        .map(|_| scheduler.submit(summing(2), "run", 0).unwrap())
        .collect();
    for member in members.iter().rev() {
        scheduler.join_group("sums", member.pid()).unwrap();
    }
    scheduler.join_group("others", members[0].pid()).unwrap();
    let expected: Vec<_> = members.iter().rev().map(ProcessHandle::pid).collect();
    assert_eq!(scheduler.group("sums"), expected);
    let mut asked = Vec::new();
    let broadcast = scheduler.broadcast("sums", |pid| {
        asked.push(pid);
        (0, asked.len() as u64)
    });
    assert_eq!((broadcast.sent, broadcast.refused.len()), (3, 0));
    assert_eq!(asked, expected);
    assert!(scheduler.leave_group("sums", members[1].pid()));
    assert!(!scheduler.leave_group("sums", members[1].pid()));
    assert_eq!(scheduler.broadcast("sums", |_| (0, 10)).sent, 2);
    scheduler.send(members[1].pid(), (0, 100)).unwrap();
    let sums: Vec<_> = members.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(sums, [13, 102, 11]);
    for name in ["sums", "others", "none"] {
        assert_eq!(scheduler.group(name), [], "{name}");
        assert_eq!(scheduler.broadcast(name, |_| unreachable!()).sent, 0);
    }
}

#[test]
fn who_joins_twice_or_has_ended_is_refused() {
    let scheduler = scheduler(1);
    let member = scheduler.submit(waiting(), "run", 0).unwrap();
    let pid = member.pid();
    scheduler.join_group("one", pid).unwrap();
    let again = scheduler.join_group("one", pid);
    assert!(matches!(again, Err(GroupError::AlreadyMember { pid: twice, .. }) if twice == pid));
    scheduler.cancel(pid, "that is all").unwrap();
    member.join().unwrap();
    let late = scheduler.join_group("one", pid);
    assert!(
        matches!(late, Err(GroupError::NoSuchProcess(_))),
        "{late:?}"
    );
    assert_eq!(scheduler.group("one"), []);
}

#[test]
fn a_full_member_gives_its_message_back() {
    let scheduler = scheduler(1);
    let (go, gone) = mpsc::channel();
    let busy = scheduler
        .submission_with(move |mut inbox| async move {
            inbox.handle().blocking(|| gone.recv()).unwrap();
            matches!(inbox.next().await, Event::Message((0, 1)))
        })
        .mailbox(1)
        .spawn()
        .unwrap();
    scheduler.join_group("one", busy.pid()).unwrap();
    assert_eq!(scheduler.broadcast("one", |_| (0, 1)).sent, 1);
    let broadcast = scheduler.broadcast("one", |_| (0, 2));
    assert_eq!((broadcast.sent, broadcast.refused.len()), (0, 1));
    let refused = &broadcast.refused[0];
    assert_eq!((refused.to, refused.message), (busy.pid(), (0, 2)));
    assert_eq!(refused.reason, Undelivered::Full { limit: 1 });
    go.send(()).unwrap();
    assert!(busy.join().unwrap());
}

/// The end and the joining race: nothing of the process is left in the group.
#[test]
fn an_ended_process_is_in_no_group() {
    let scheduler = scheduler(2);
    for round in 0..5_000 {
        let brief = scheduler.submit(summing(1), "run", 0).unwrap();
        let pid = brief.pid();
        scheduler.send(pid, (0, round)).unwrap();
        let joined = scheduler.join_group("brief", pid).is_ok();
        brief.join().unwrap();
        assert_eq!(scheduler.group("brief"), [], "{round}, joined: {joined}");
    }
}
