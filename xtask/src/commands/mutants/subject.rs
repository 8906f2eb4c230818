//! A function that is judged.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::spanned::Spanned;

use super::edit::{Change, Edit};
use super::function::Function;

/// One change of a function.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    /// Its number among all mutants of a build.
    pub(super) number: u32,
    /// The change, in the words of the tally: `false: self.advance(head, 1)`.
    pub(super) what: String,
    /// Lines of the original that it touches, counted from 1.
    pub(super) lines: Range<usize>,
}

/// The mutants that are found in a function, and the edits that hold them.
pub(super) struct Found<'l> {
    first: u32,
    /// Those of these places in the function are not made, and keep their numbers.
    left_out: &'l BTreeSet<usize>,
    pub(super) mutants: Vec<Mutant>,
    pub(super) edits: Vec<Edit>,
}

impl Found<'_> {
    /// The number of a new mutant of this code, unless it is left out.
    pub(super) fn add(&mut self, what: String, of: &impl Spanned) -> Option<u32> {
        let place = self.mutants.len();
        let number = self.first + place as u32;
        let span = of.span();
        let lines = span.start().line..span.end().line + 1;
        self.mutants.push(Mutant {
            number,
            what,
            lines,
        });
        (!self.left_out.contains(&place)).then_some(number)
    }

    pub(super) fn edit(&mut self, of: &impl Spanned, change: Change) {
        let bytes = of.span().byte_range();
        self.edits.push(Edit { bytes, change });
    }

    pub(super) fn wrap(
        &mut self,
        of: &impl Spanned,
        before: impl Into<String>,
        after: impl Into<String>,
    ) {
        self.edit(of, Change::Wrap(before.into(), after.into()));
    }
}

/// Finds the mutants of a function.
pub(super) type Operators = fn(&Function, &mut Found<'_>);

/// Returns the mutants of a function, numbered from `first` on, and their edits.
pub(super) fn find<'l>(
    operators: Operators,
    function: &Function,
    first: u32,
    left_out: &'l BTreeSet<usize>,
) -> Found<'l> {
    let mut found = Found {
        first,
        left_out,
        mutants: Vec::new(),
        edits: Vec::new(),
    };
    operators(function, &mut found);
    found
}

/// A function, its mutants, and which of them have no effect in the copy, by their place in it.
pub(super) struct Subject<'f> {
    pub(super) function: &'f Function,
    operators: Operators,
    pub(super) mutants: Vec<Mutant>,
    pub(super) left_out: BTreeSet<usize>,
}

impl<'f> Subject<'f> {
    pub(super) fn new(function: &'f Function, first: u32, operators: Operators) -> Self {
        Self {
            function,
            operators,
            mutants: find(operators, function, first, &BTreeSet::new()).mutants,
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the edits that hold those of its mutants that are not left out.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let first = self.mutants.first().map_or(0, |mutant| mutant.number);
        find(self.operators, self.function, first, &self.left_out).edits
    }

    /// Returns the lines where it stands, counted from 1.
    pub(super) fn lines(&self) -> Range<usize> {
        let signature = self.function.signature.span().start().line;
        signature..self.function.block.span().end().line + 1
    }
}
