//! What a scheduler notes of its processes if it is asked to, for people: [`journal`] is the map,
//! `entry` what it has of one process.

mod entry;
pub(crate) mod journal;
