//! The commands: a file for each, and a folder where one has parts.

pub(crate) mod arm;
pub(crate) mod bench;
pub(crate) mod book;
pub(crate) mod ci;
pub(crate) mod docs;
pub(crate) mod lint;
pub(crate) mod litmus;
pub(crate) mod loom;
pub(crate) mod mutants;
pub(crate) mod ordered;
pub(crate) mod package;
pub(crate) mod rayon;
pub(crate) mod refused;
pub(crate) mod road;
pub(crate) mod sanitize;
pub(crate) mod shuttle;
pub(crate) mod test;
pub(crate) mod weigh;
