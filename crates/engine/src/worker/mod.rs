//! Workers: their lists, their bound data, and their lives.

pub(crate) mod bound;
pub(crate) mod cell;
pub(crate) mod home;
pub(crate) mod inbox;
pub(crate) mod life;
pub(crate) mod public;
pub(crate) mod spec;
