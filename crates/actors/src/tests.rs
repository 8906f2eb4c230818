//! The protocol of unit tests.

use filch_scheduler::Protocol;

pub(crate) enum Any {}

impl Protocol for Any {
    type Input = ();
    type Message = u64;
    type Command = ();
    type Reply = ();
    type Output = ();
    type Error = String;
}
