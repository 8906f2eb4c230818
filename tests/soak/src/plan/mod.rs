//! The plan of a phase: the deeds of its threads, and everybody's misbehaviour. A seed decides it.

mod deed;
mod phase;
mod role;

pub(crate) use deed::{Deed, Mix, Peer};
pub(crate) use phase::{Burst, Ending, Flood, MOST_FLOODED, OwnScheduler, Phase};
pub(crate) use role::{Begin, Faults, FutureEnd, FutureRole, Hook, Keep, KeepFuture, Role, Size};
