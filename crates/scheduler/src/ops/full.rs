//! The room in mailboxes.

use filch_sync::atomic::Ordering;

use crate::{Handle, Pid, Protocol};

impl<P: Protocol> Handle<P> {
    /// Counts messages that were dropped for want of room: see [`Stats::dropped`](crate::Stats::dropped).
    pub fn count_dropped(&self, messages: usize) {
        // ORDERING: Relaxed: a figure for people.
        let dropped = &self.shared.dropped;
        dropped.fetch_add(messages as u64, Ordering::Relaxed);
    }

    /// So many messages of that process, which [reads them later](crate::Submission::reads_later), leave
    /// their room to others.
    pub fn give_room(&self, pid: Pid, messages: usize) {
        let table = self.table();
        if messages > 0
            && table.slot(pid.slot()).mailbox.is_limited()
            // It may have ended, and the slot be another's.
            && let Some(process) = table.pin(pid)
        {
            self.deliver(process.slot(), messages);
        }
    }
}
