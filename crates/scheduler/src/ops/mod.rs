//! What one does with a scheduler: the methods of `Handle`, each beside its errors.

pub(crate) mod at_end;
pub(crate) mod call;
pub(crate) mod cancel;
pub(crate) mod closing;
pub(crate) mod execute;
pub(crate) mod full;
pub(crate) mod info;
pub(crate) mod look;
pub(crate) mod monitor;
#[expect(unsafe_code, reason = "an answer is its caller's until it is given")]
pub(crate) mod process_call;
pub(crate) mod running;
pub(crate) mod send;
pub(crate) mod send_when_room;
pub(crate) mod shutdown;
pub(crate) mod signal;
#[expect(
    unsafe_code,
    reason = "fills the slot of the process that is being submitted"
)]
pub(crate) mod submit;
pub(crate) mod upgrade;
