//! Names and groups.

pub(crate) mod groups;
pub(crate) mod names;
