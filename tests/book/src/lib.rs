//! What the book is made of besides its pages: the links of the crates' READMEs and essays, and the
//! examples of the project's README, as documentation tests.

pub mod rustdoc_links;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
