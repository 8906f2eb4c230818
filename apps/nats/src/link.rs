//! The route to another node: a scheduler hands it messages.

use std::cell::Cell;
use std::sync::Arc;

use async_nats::Client;
use async_nats::connection::State;
use filch_scheduler::{Pid, Protocol, Receiver, SendError, Undelivered};

use crate::codec::AnyCodec;
use crate::counters::Count;
use crate::outbox::{NoRoom, Outbox};
use crate::report::{Incident, Report};
use crate::wire::{begin_message, end_message};

thread_local! {
    /// The buffer in which the thread encodes its messages, one after the other.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The route to one life of a node. Once that is lost, it hands all messages back.
pub(crate) struct Link<P: Protocol> {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) codec: Arc<dyn AnyCodec<P::Message>>,
    pub(crate) client: Client,
    pub(crate) report: Arc<Report>,
}

impl<P: Protocol> Receiver<P> for Link<P> {
    /// Takes the message if there is room for it. Waits only for other threads that copy a message
    /// into the same outbox.
    ///
    /// # Errors
    /// [`Undelivered::NoRoute`], [`Undelivered::Backlog`], [`Undelivered::Unsendable`].
    fn receive(&self, to: Pid, message: P::Message) -> Result<(), SendError<P>> {
        self.take(to, &message).map_err(|reason| SendError {
            to,
            reason,
            message,
        })
    }
}

impl<P: Protocol> Link<P> {
    fn take(&self, to: Pid, message: &P::Message) -> Result<(), Undelivered> {
        let counters = &self.report.counters;
        let no_route = || {
            counters.add(Count::NoRoute, 1);
            Undelivered::NoRoute
        };
        if self.client.connection_state() != State::Connected {
            return Err(no_route());
        }
        // The buffer is away if a codec sends a message itself, after a large message or one that
        // was not encoded, and as the thread ends.
        let mut packet = BUFFER.try_with(Cell::take).unwrap_or_default();
        begin_message(to, &mut packet);
        if let Err(error) = self.codec.encode(message, &mut packet) {
            let error = &*error;
            self.report.tell(&Incident::Unencodable { to, error });
            return Err(Undelivered::Unsendable);
        }
        end_message(&mut packet);
        if packet.len() > self.client.max_payload() {
            counters.add(Count::Unsendable, 1);
            return Err(Undelivered::Unsendable);
        }
        let offered = self.outbox.offer(&mut packet);
        let _ = BUFFER.try_with(|kept| kept.set(packet));
        offered.map_err(|refused| match refused {
            NoRoom::Over => no_route(),
            NoRoom::Full => {
                counters.add(Count::Backlog, 1);
                let limit = self.outbox.limit();
                Undelivered::Backlog { limit }
            }
            NoRoom::TooLarge => {
                counters.add(Count::Unsendable, 1);
                Undelivered::Unsendable
            }
        })
    }
}
