//! The accounts: what was made and is gone again, what happened how often, and what was found wrong.

pub(crate) mod count;
pub(crate) mod findings;
pub(crate) mod happening;
pub(crate) mod letter;
pub(crate) mod life;
pub(crate) mod token;
pub(crate) mod watches;
