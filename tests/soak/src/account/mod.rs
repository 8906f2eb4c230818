//! The accounts: values that were made and dropped, events and their counts, and findings.

mod happening;
mod letter;
mod life;
mod token;
mod watches;

pub(crate) use happening::{
    Happening, Place, begin_phase, begin_stage, complain, found, is_clean, note, place, progress,
    progress_so_far, totals,
};
pub(crate) use letter::{Letter, Pen, Word};
pub(crate) use life::{Expected, Intent, Life};
pub(crate) use token::{Count, Flag, Kind, Token, alive, dispose, lock};
pub(crate) use watches::Watches;
