//! The accounts: values that were made and dropped, events and their counts, and findings.

pub(crate) mod count;
pub(crate) mod findings;
pub(crate) mod happening;
pub(crate) mod letter;
pub(crate) mod life;
pub(crate) mod token;
pub(crate) mod watches;
