//! What users see: a process, what it gets and gives, and the handles to it and to the scheduler.

pub(crate) mod cancel;
pub(crate) mod command;
pub(crate) mod context;
pub(crate) mod end_call;
pub(crate) mod event;
pub(crate) mod extensions;
pub(crate) mod from_fn;
pub(crate) mod handed_back;
pub(crate) mod handle;
pub(crate) mod joins;
pub(crate) mod left_timers;
pub(crate) mod life_cycle;
pub(crate) mod observer;
pub(crate) mod outstanding;
#[expect(unsafe_code, reason = "counts the owners, and frees what they leave")]
pub(crate) mod owned;
#[expect(unsafe_code, reason = "shares a pin, and gives it back")]
pub(crate) mod pinned;
pub(crate) mod place;
#[expect(unsafe_code, reason = "has a policy under a pin")]
pub(crate) mod policy;
pub(crate) mod process;
pub(crate) mod process_error;
#[expect(unsafe_code, reason = "has the handle's right to the exit")]
pub(crate) mod process_handle;
pub(crate) mod receiver;
pub(crate) mod running_call;
pub(crate) mod stats;
pub(crate) mod step_output;
pub(crate) mod submission;
pub(crate) mod ties;
#[expect(unsafe_code, reason = "counts the clones of a waker by pins")]
pub(crate) mod waker;
