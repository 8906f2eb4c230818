//! What waits to be sent to one node: a queue that never blocks its senders, with room for so many
//! bytes, and the task that empties it.

use std::sync::{Arc, OnceLock};

use async_nats::{Client, Subject};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, Semaphore, TryAcquireError};

use crate::counters::Count;
use crate::life::Life;
use crate::report::Report;
use crate::wire::{Frame, HEADER, Header, Kind, kind_of};

/// A packet has more bytes only if it has a single frame. What waits goes together: that is the
/// difference between one message of NATS for each of ours and one for many. Twice as many bytes,
/// or half, are no faster.
const PACKET: usize = 32 * 1024;

/// So many frames are taken at a time.
const BATCH: usize = 1024;

/// The end where frames come in.
pub(crate) struct Outbox {
    queue: UnboundedSender<Vec<u8>>,
    /// For messages, in bytes. What nodes say to each other needs none: there is little of it.
    /// Closed when no more messages are taken.
    room: Semaphore,
    limit: usize,
    /// The life that the packets are for, once it is known.
    there: OnceLock<Life>,
    /// Nothing more is to be sent.
    stop: Notify,
}

/// Why an outbox does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Later, perhaps.
    Full,
    /// It is larger than all the room.
    TooLarge,
    /// The node is lost.
    Over,
}

impl Outbox {
    /// An outbox with room for so many bytes, and its other end.
    pub(crate) fn new(limit: usize) -> (Arc<Self>, UnboundedReceiver<Vec<u8>>) {
        let (queue, frames) = unbounded_channel();
        let limit = limit.min(Semaphore::MAX_PERMITS);
        let outbox = Self {
            queue,
            room: Semaphore::new(limit),
            limit,
            there: OnceLock::new(),
            stop: Notify::new(),
        };
        (Arc::new(outbox), frames)
    }

    /// Takes the frame of a message. Never blocks.
    pub(crate) fn offer(&self, frame: Vec<u8>) -> Result<(), NoRoom> {
        let bytes = match u32::try_from(frame.len()) {
            Ok(bytes) if frame.len() <= self.limit => bytes,
            _ => return Err(NoRoom::TooLarge),
        };
        match self.room.try_acquire_many(bytes) {
            Ok(permit) => permit.forget(),
            Err(TryAcquireError::NoPermits) => return Err(NoRoom::Full),
            Err(TryAcquireError::Closed) => return Err(NoRoom::Over),
        }
        self.queue.send(frame).map_err(|_| NoRoom::Over)
    }

    /// Takes a frame that is no message. If the node is lost, that frame is, too.
    pub(crate) fn tell(&self, frame: &Frame<'_>) {
        let _ = self.queue.send(frame.to_bytes());
    }

    /// The packets are for that life.
    pub(crate) fn is_for(&self, there: Life) {
        // It is told once: another life has another outbox.
        let _ = self.there.set(there);
    }

    /// Takes no more messages, and says goodbye.
    pub(crate) fn leave(&self) {
        self.room.close();
        self.tell(&Frame::Plain(Kind::Leaving));
    }

    /// Sends nothing more.
    pub(crate) fn stop(&self) {
        self.room.close();
        self.stop.notify_one();
    }

    /// How many bytes there are room for.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// How many bytes of messages wait.
    pub(crate) fn waiting(&self) -> usize {
        self.limit.saturating_sub(self.room.available_permits())
    }
}

/// The end where packets go out.
pub(crate) struct Outgoing {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) frames: UnboundedReceiver<Vec<u8>>,
    pub(crate) client: Client,
    pub(crate) report: Arc<Report>,
    /// Of the node's mail.
    pub(crate) subject: Subject,
    /// Where NATS says that nobody listens there.
    pub(crate) nobody: Subject,
    /// Of the first packet.
    pub(crate) header: Header,
}

/// Nothing more can be sent, or is to be.
struct Stopped;

impl Outgoing {
    /// Sends what comes, until it is told to stop or has said goodbye.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::new();
        let mut is_over = false;
        while !is_over {
            let outbox = Arc::clone(&self.outbox);
            tokio::select! {
                biased;
                () = outbox.stop.notified() => break,
                _ = self.frames.recv_many(&mut batch, BATCH) => {}
            }
            let is_last = |frame: &Vec<u8>| kind_of(frame) == Some(Kind::Leaving);
            is_over = batch.iter().any(is_last);
            if self.send(&mut batch).await.is_err() {
                break;
            }
        }
        self.outbox.stop();
        self.frames.close();
        while let Ok(frame) = self.frames.try_recv() {
            batch.push(frame);
        }
        self.report.counters.add(Count::Dropped, messages(&batch));
    }

    /// Sends these frames, and waits until the system has them: so long, others gather.
    async fn send(&mut self, batch: &mut Vec<Vec<u8>>) -> Result<(), Stopped> {
        let mut freed = 0;
        while !batch.is_empty() {
            let count = self.fitting(batch);
            let frames = &batch[..count];
            let packet = self.packet(frames);
            let messages = messages(frames);
            freed += frames
                .iter()
                .filter(is_message)
                .map(Vec::len)
                .sum::<usize>();
            let wants_answer =
                |frame: &Vec<u8>| matches!(kind_of(frame), Some(Kind::Hello | Kind::Pulse));
            let subject = self.subject.clone();
            let sent = if frames.iter().any(wants_answer) {
                let nobody = self.nobody.clone();
                let publish = self
                    .client
                    .publish_with_reply(subject, nobody, packet.into());
                self.unless_stopped(publish).await?
            } else {
                let publish = self.client.publish(subject, packet.into());
                self.unless_stopped(publish).await?
            };
            if sent.is_ok() {
                self.header.packets += 1;
                self.header.messages += messages;
                self.report.counters.add(Count::Sent, messages);
            } else {
                // The server has become one that takes less, or there will be none any more.
                self.report.counters.add(Count::Dropped, messages);
            }
            batch.drain(..count);
        }
        // Without a connection this waits for one. It does not fail while there may be one.
        let flush = self.client.flush();
        let _ = self.unless_stopped(flush).await?;
        self.outbox.room.add_permits(freed);
        Ok(())
    }

    async fn unless_stopped<T>(&self, done: impl Future<Output = T>) -> Result<T, Stopped> {
        tokio::select! {
            biased;
            () = self.outbox.stop.notified() => Err(Stopped),
            done = done => Ok(done),
        }
    }

    /// How many of the frames go into one packet: at least one.
    fn fitting(&self, frames: &[Vec<u8>]) -> usize {
        let most = PACKET.min(self.client.max_payload());
        let mut bytes = HEADER;
        let fits = |frame: &&Vec<u8>| {
            bytes += frame.len();
            bytes <= most
        };
        frames.iter().take_while(fits).count().max(1)
    }

    fn packet(&self, frames: &[Vec<u8>]) -> Vec<u8> {
        let bytes: usize = frames.iter().map(Vec::len).sum();
        let mut packet = Vec::with_capacity(HEADER + bytes);
        let to = self.outbox.there.get().copied();
        Header { to, ..self.header }.put(&mut packet);
        for frame in frames {
            packet.extend_from_slice(frame);
        }
        packet
    }
}

fn is_message(frame: &&Vec<u8>) -> bool {
    kind_of(frame) == Some(Kind::Message)
}

fn messages(frames: &[Vec<u8>]) -> u64 {
    frames.iter().filter(is_message).count() as u64
}
