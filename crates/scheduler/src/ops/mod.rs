//! What one does with a scheduler: the methods of `Handle`, each beside its errors.

pub(crate) mod at_end;
pub(crate) mod cancel;
pub(crate) mod closing;
pub(crate) mod full;
pub(crate) mod info;
pub(crate) mod look;
pub(crate) mod monitor;
pub(crate) mod running;
pub(crate) mod send;
pub(crate) mod shutdown;
pub(crate) mod signal;
#[expect(
    unsafe_code,
    reason = "fills the slot of the process that is being submitted"
)]
pub(crate) mod submit;
pub(crate) mod upgrade;
