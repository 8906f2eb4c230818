//! A thousand systems of 100 ns, each with data of a type of its own: in a list, in a schedule of
//! bevy's, and as functions of workers.
//!
//! A package of its own, because that is three thousand functions and more: whoever edits another
//! comparison does not compile them.
#![forbid(unsafe_code)]

pub mod bevy;
pub mod filch;
pub mod plain;
mod systems;

pub use systems::{Frame, SYSTEMS, Settings};
