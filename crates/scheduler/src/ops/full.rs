//! Messages for which a mailbox has no room.

use std::sync::Arc;

use filch_process_state::{Reason, Wake};
use filch_process_table::{Excess, Mailbox, MailboxError, Refusal};
use filch_sync::atomic::Ordering;
use filch_sync::panic::drop_contained;

use crate::api::pinned::Pinned;
use crate::api::submission::Options;
use crate::ops::send::refused;
use crate::table::body::Slot;
use crate::table::item::{Item, Signal};
use crate::{Handle, Pid, Protocol, SendError, Undelivered};

impl<P: Protocol> Handle<P> {
    /// Does with a message for `to`, in that slot, what the process's mailbox says. The caller has
    /// a pin. If the process has become Ready by that, `run` has it run.
    #[cold]
    pub(crate) fn send_without_room(
        &self,
        to: Pid,
        slot: &Slot<P>,
        message: P::Message,
        no_room: MailboxError,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let (limit, excess) = match no_room {
            // Of a process that has ended, nobody will ever empty the mailbox.
            _ if slot.events.is_closed() => {
                return Err(refused(to, Undelivered::NoSuchProcess, message));
            }
            MailboxError::Closed => return Err(refused(to, Undelivered::Future, message)),
            MailboxError::Elsewhere(place) => {
                return self.keep_latest(to, slot, message, place, run);
            }
            MailboxError::Full(limit, excess) => (limit, excess),
        };
        match excess {
            Excess::Refuse => {}
            Excess::Drop => {
                self.count_dropped(1);
                drop_contained(message);
                return Ok(());
            }
            Excess::End => {
                if slot.mailbox.overflow() {
                    // If it ends by itself meanwhile, that will do.
                    let _ = self.signal(to, Signal::Full(limit));
                }
            }
        }
        Err(refused(to, Undelivered::Full { limit }, message))
    }

    /// Puts the message among the latest ones.
    fn keep_latest(
        &self,
        to: Pid,
        slot: &Slot<P>,
        message: P::Message,
        place: u32,
        run: impl FnOnce(&Slot<P>),
    ) -> Result<(), SendError<P>> {
        let latest = self.shared.latest.at(place);
        let kept = latest.keep(message, || slot.events.is_closed());
        let kept = kept.map_err(|message| refused(to, Undelivered::NoSuchProcess, message))?;
        if kept.has_dropped {
            self.count_dropped(1);
        }
        if kept.is_first {
            let signal = Item::Signal(Signal::Latest(Arc::clone(latest)));
            // Refused: the process has just ended, and what was kept went with it.
            let pushed = slot.events.push(signal);
            if pushed.is_ok() && self.table().wake(slot, Reason::Message) == Wake::Enqueue {
                run(slot);
            }
        }
        Ok(())
    }

    /// So many messages were dropped for want of room.
    pub(crate) fn count_dropped(&self, messages: usize) {
        // ORDERING: Relaxed: a figure for people.
        let dropped = &self.shared.dropped;
        dropped.fetch_add(messages as u64, Ordering::Relaxed);
    }

    /// As [`admit`](Self::admit), with a place for the latest messages, if the options say so.
    pub(crate) fn admit_with(&self, options: &mut Options) -> Result<Pinned<P>, Refusal> {
        let Some(most) = options.latest else {
            return self.admit(options);
        };
        let place = self.shared.latest.open(most)?;
        options.placement.mailbox = Mailbox::Elsewhere(place);
        let admitted = self.admit(options);
        admitted.inspect_err(|_| self.shared.latest.close(place))
    }

    /// The process in that slot is over, and its queue closed: so are its latest messages. The
    /// caller has its pin still.
    #[inline]
    pub(crate) fn drop_latest(&self, slot: &Slot<P>) {
        if slot.mailbox.has_number() {
            self.close_latest(slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn close_latest(&self, slot: &Slot<P>) {
        if let Some(place) = slot.mailbox.elsewhere() {
            self.shared.latest.close(place);
        }
    }
}
