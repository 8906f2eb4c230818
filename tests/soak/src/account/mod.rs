//! The accounts: values that were made and dropped, events and their counts, and findings.

mod count;
mod findings;
mod happening;
mod letter;
mod life;
mod token;
mod watches;

pub(crate) use count::{Count, Flag, lock};
pub(crate) use findings::{
    Place, begin_phase, begin_stage, complain, found, is_clean, place, progress, progress_so_far,
};
pub(crate) use happening::{Happening, note, totals};
pub(crate) use letter::{Letter, Pen, Word};
pub(crate) use life::{Expected, Intent, Life};
pub(crate) use token::{Kind, Token, alive, dispose};
pub(crate) use watches::Watches;
