//! Finding the orderings of a function, and weakening them.

use std::fmt;

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Item};

use super::super::edit::chosen;
use super::super::function::Function;
use super::super::subject::{self, Found, Subject};
use crate::support::code::note_above;

/// A survivor is explained by a note that has these words.
const EXPLANATION: &str = "loom cannot";

/// One ordering, one step weaker.
#[derive(Debug)]
pub(super) struct Mutant {
    pub(super) name: Name,
    /// Counted from 1.
    line: usize,
    /// The sentence of the note above it that says what loom cannot show.
    pub(super) reason: Option<String>,
    /// The name of the word.
    pub(super) word: String,
}

/// The name of a mutant in the table of verdicts: it does not depend on what stands above it in the
/// file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) file: String,
    pub(super) function: String,
    /// `load Acquire → Relaxed`
    pub(super) change: String,
}

/// Lists the mutants of a function, with their names; `text` is that of its file.
pub(super) fn of(function: &Function, text: &str) -> Vec<Mutant> {
    let lines: Vec<_> = text.lines().collect();
    let named = |mutant: subject::Mutant| Mutant {
        word: word(&lines[..mutant.lines.start], &mutant.what),
        name: Name {
            file: function.file.display().to_string(),
            function: function.signature.ident.to_string(),
            change: mutant.what,
        },
        line: mutant.lines.start,
        reason: reason(&lines, mutant.lines.start - 1),
    };
    let found = Subject::new(function, 0, operators).mutants;
    found.into_iter().map(named).collect()
}

/// The name before `.load(` in the last of the lines that has it.
fn word(lines: &[&str], change: &str) -> String {
    let method = change.split([' ', ',']).next().unwrap_or_default();
    let text = lines.concat();
    let (before, _) = text.rsplit_once(&format!(".{method}(")).unwrap_or_default();
    let is_other = |c: char| !c.is_alphanumeric() && c != '_';
    let word = before.trim_end().rsplit(is_other).next();
    word.unwrap_or_default().to_owned()
}

/// The sentence of the note above a line that explains a survivor.
fn reason(lines: &[&str], line: usize) -> Option<String> {
    let comments = note_above(lines, line)?.iter();
    let comments = comments.filter_map(|line| line.split_once("//"));
    let words: Vec<_> = comments.map(|(_, comment)| comment.trim()).collect();
    let note = words.join(" ");
    let mut sentences = note.split(". ");
    let sentence = sentences.find(|sentence| sentence.contains(EXPLANATION))?;
    Some(sentence.trim_end_matches('.').to_owned())
}

/// Finds the orderings of a function, and weakens each by one step.
pub(super) fn operators(function: &Function, found: &mut Found<'_>) {
    Finder(found).visit_block(&function.block);
}

struct Finder<'f, 'l>(&'f mut Found<'l>);

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    // A function in it is one of its own.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_call(&mut self, of: &'ast ExprCall) {
        let name = of.func.to_token_stream().into_iter().last();
        self.arguments(
            &name.map_or(String::new(), |name| name.to_string()),
            of,
            &of.args,
        );
    }

    fn visit_expr_method_call(&mut self, of: &'ast ExprMethodCall) {
        self.visit_expr(&of.receiver);
        self.arguments(&of.method.to_string(), of, &of.args);
    }

    fn visit_expr_path(&mut self, of: &'ast ExprPath) {
        self.weaken("value", of, of);
    }
}

impl Finder<'_, '_> {
    fn arguments(
        &mut self,
        name: &str,
        call: &impl Spanned,
        arguments: &Punctuated<Expr, syn::Token![,]>,
    ) {
        for (index, argument) in arguments.iter().enumerate() {
            if let Expr::Path(path) = argument {
                self.weaken(&role(name, index), path, call);
            } else {
                visit::visit_expr(self, argument);
            }
        }
    }

    /// Adds the mutants of a path, if it is an ordering, which is an argument of that operation.
    fn weaken(&mut self, operation: &str, path: &ExprPath, call: &impl Spanned) {
        let text = path.to_token_stream().to_string().replace(' ', "");
        let Some((before, from)) = text.split_once("Ordering::") else {
            return;
        };
        for to in weaker(operation, from) {
            let what = format!("{operation} {from} → {}", to.unwrap_or(NO_FENCE));
            let Some(number) = self.0.add(what, path) else {
                continue;
            };
            let is = chosen(number);
            match to {
                Some(to) => {
                    let to = format!("if {is} {{ {before}Ordering::{to} }} else {{ ");
                    self.0.wrap(path, to, " }");
                }
                None => self.0.wrap(call, format!("if !{is} {{ "), " }"),
            }
        }
    }
}

/// The end of the change that takes a fence out.
const NO_FENCE: &str = "no fence";

/// Two orderings of one call are told apart.
fn role(call: &str, argument: usize) -> String {
    let which = match (call, argument) {
        ("compare_exchange" | "compare_exchange_weak", 2) => ", success",
        ("compare_exchange" | "compare_exchange_weak", 3) => ", failure",
        ("fetch_update", 0) => ", set",
        ("fetch_update", 1) => ", fetch",
        _ => "",
    };
    format!("{call}{which}")
}

/// Lists what an ordering there can be weakened to, by one step; `None` takes a fence out.
fn weaker(operation: &str, from: &str) -> &'static [Option<&'static str>] {
    let only_loads = operation == "load" || operation.ends_with(", failure");
    match (operation, from) {
        ("fence", "SeqCst") => &[Some("AcqRel"), None],
        ("fence", "AcqRel") => &[Some("Acquire"), Some("Release"), None],
        ("fence", "Acquire" | "Release") => &[None],
        (_, "SeqCst") if only_loads => &[Some("Acquire")],
        ("store", "SeqCst") => &[Some("Release")],
        (_, "SeqCst") => &[Some("AcqRel")],
        (_, "AcqRel") => &[Some("Acquire"), Some("Release")],
        (_, "Acquire" | "Release") => &[Some("Relaxed")],
        _ => &[],
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Name {
            file,
            function,
            change,
        } = &self.name;
        write!(formatter, "{file}:{} {function}: {change}", self.line)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::super::super::{edit, function, subject};
    use super::{Mutant, operators, weaker};

    /// The mutants of a file.
    pub(in super::super) fn of(file: &str, text: &str) -> Vec<Mutant> {
        let functions = function::of(Path::new(file), text).unwrap();
        let of = |function| super::of(function, text);
        functions.iter().flat_map(of).collect()
    }

    const TEXT: &str = "\
fn f() {
    // ORDERING: Acquire, Release: both halves. By argument: loom cannot
    // show a stale read here.
    x.swap(g(1, [2, 3]), Ordering::AcqRel); // not Ordering::Acquire
    // ORDERING: Release: publishes y.
    fence(atomic::Ordering::SeqCst);
    y.load(Ordering::Relaxed);
}
impl Queue {
    fn second<T>(&self) {
        let claimed = self.word.compare_exchange_weak(
            old.pack(),
            new(1, 2),
            Ordering::Release,
            Ordering::Acquire,
        );
        self.take(Edge::Start, Ordering::Acquire, |_| {
            Ordering::Release
        });
    }
}
#[cfg(test)]
mod tests { fn f() { y.load(Ordering::Acquire); } }
";

    #[test]
    fn each_ordering_is_weakened_by_one_step() {
        let mutants = of("crates/deque/src/top.rs", TEXT);
        let names: Vec<_> = mutants.iter().map(ToString::to_string).collect();
        let expected = [
            "crates/deque/src/top.rs:4 f: swap AcqRel → Acquire",
            "crates/deque/src/top.rs:4 f: swap AcqRel → Release",
            "crates/deque/src/top.rs:6 f: fence SeqCst → AcqRel",
            "crates/deque/src/top.rs:6 f: fence SeqCst → no fence",
            "crates/deque/src/top.rs:14 second: compare_exchange_weak, success Release → Relaxed",
            "crates/deque/src/top.rs:15 second: compare_exchange_weak, failure Acquire → Relaxed",
            "crates/deque/src/top.rs:17 second: take Acquire → Relaxed",
            "crates/deque/src/top.rs:18 second: value Release → Relaxed",
        ];
        assert_eq!(names, expected);
        let reason = "By argument: loom cannot show a stale read here";
        assert_eq!(mutants[0].reason.as_deref(), Some(reason));
        assert_eq!(mutants[2].reason, None);
    }

    #[test]
    fn mutants_of_one_ordering_lie_within_each_other() {
        let text = "fn f() { x.swap(1, Ordering::AcqRel); fence(Ordering::SeqCst); }";
        let function = &function::of(Path::new("a.rs"), text).unwrap()[0];
        let left_out = BTreeSet::from([1]);
        let mut edits = subject::find(operators, function, 5, &left_out).edits;
        let is = |number| format!("::filch_sync::mutant::is({number})");
        let expected = format!(
            "fn f() {{ x.swap(1, if {} {{ Ordering::Acquire }} else {{ Ordering::AcqRel }}); \
             if !{} {{ fence(if {} {{ Ordering::AcqRel }} else {{ Ordering::SeqCst }}) }}; }}",
            is(5),
            is(8),
            is(7)
        );
        assert_eq!(edit::apply(text, &mut edits), expected);
    }

    #[test]
    fn steps_are_legal_for_the_operation() {
        assert_eq!(weaker("load", "SeqCst"), [Some("Acquire")]);
        assert_eq!(weaker("store", "SeqCst"), [Some("Release")]);
        assert_eq!(weaker("swap", "AcqRel"), [Some("Acquire"), Some("Release")]);
        assert_eq!(weaker("swap, failure", "Acquire"), [Some("Relaxed")]);
        assert_eq!(weaker("fence", "SeqCst"), [Some("AcqRel"), None]);
        assert!(weaker("load", "Relaxed").is_empty());
    }
}
