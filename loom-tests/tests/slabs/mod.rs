//! The parts that models of slabs share.

pub(crate) mod owned;
pub(crate) mod retired;
