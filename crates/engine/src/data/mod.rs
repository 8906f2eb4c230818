//! The data of workers: its place, its owner, its users.

pub(crate) mod cells;
pub(crate) mod owners;
pub(crate) mod table;
