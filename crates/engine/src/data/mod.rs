//! The data of workers: where it lies, who owns it, who uses it.

pub(crate) mod by_type_id;
pub(crate) mod cells;
pub(crate) mod owners;
pub(crate) mod table;
