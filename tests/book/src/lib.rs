//! Parts of the book that are not pages: the links of included files, and the examples of the
//! project's README, as documentation tests.

pub mod links;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
