//! The ways in which a worker lets others run.

/// The way in which a worker lets others run.
pub(crate) trait GiveWay {
    /// Returns when it is the worker's turn again.
    fn give_way(&self);
}
