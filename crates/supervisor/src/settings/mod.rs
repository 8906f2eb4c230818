//! The settings of a supervisor and its children: data, and conclusions from it.

pub(crate) mod backoff;
pub(crate) mod intensity;
pub(crate) mod restart;
pub(crate) mod shutdown;
pub(crate) mod strategy;
