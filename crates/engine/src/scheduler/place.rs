//! The place of a scheduler in its engine, before a thread drives it.

use std::sync::Arc;

use filch_event_queue::Receiver;
use filch_parker::Parker;

use crate::message::Message;
use crate::scheduler::stats::Stats;

/// The place of a scheduler, which others can reach already. It goes to the thread that will drive
/// the scheduler.
pub(crate) struct Place {
    pub(crate) number: usize,
    pub(crate) queue: Receiver<Message>,
    pub(crate) parker: Parker,
    pub(crate) stats: Arc<Stats>,
}
