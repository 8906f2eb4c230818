//! A function that is judged.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::spanned::Spanned;

use super::function::Function;
use super::operator::{self, Mutant};

/// A function, its mutants, and which of them have no effect in the copy, by their place in it.
pub(super) struct Subject {
    pub(super) function: Function,
    pub(super) first: u32,
    pub(super) mutants: Vec<Mutant>,
    pub(super) left_out: BTreeSet<usize>,
}

impl Subject {
    pub(super) fn new(function: Function, first: u32) -> Self {
        let (mutants, _) = operator::mutants(&function, first, &BTreeSet::new());
        Self {
            function,
            first,
            mutants,
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the lines where it stands, counted from 1.
    pub(super) fn lines(&self) -> Range<usize> {
        let signature = self.function.signature.span().start().line;
        signature..self.function.block.span().end().line + 1
    }
}
