//! What is noted of processes, if that is asked for: `journal` is the map, `entry` what it has of one
//! process.

mod entry;
#[expect(clippy::module_inception, reason = "spike")]
pub(crate) mod journal;
