//! What the models of slabs share.

pub(crate) mod owned;
pub(crate) mod retired;
