//! Calls: a message and its answer, as one act.

#[expect(unsafe_code, reason = "has the right to the place of an answer")]
pub(crate) mod caller;
pub(crate) mod errors;
#[expect(unsafe_code, reason = "an answer is its caller's until it is given")]
pub(crate) mod process_call;
