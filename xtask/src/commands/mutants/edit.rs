//! Text in which all mutants of a file lie dormant: each is chosen at run time by its number.
//!
//! Edits nest, as the syntax does. No line is added or removed, so that what the compiler says of
//! the text can be looked up in the original.

use std::ops::Range;

/// A change of a piece of the original.
#[derive(Debug)]
pub(super) enum Change {
    /// Something stands before it and after it.
    Wrap(String, String),
    /// Something stands in its place.
    Replace(String),
    /// Neighbouring statements, of which two change places.
    Swap(Swap),
}

#[derive(Debug)]
pub(super) struct Swap {
    pub(super) statements: Vec<Statement>,
    /// The number of the mutant in which the statement of this index and the next one are swapped.
    pub(super) swaps: Vec<(usize, u32)>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) bytes: Range<usize>,
    /// The parts of `let NAME = …;`: the text up to the value is `keyword`, that of the name and
    /// its type `declared`, of the name alone `name`.
    pub(super) binding: Option<Binding>,
}

#[derive(Debug)]
pub(super) struct Binding {
    /// `let mut name: Type;`
    pub(super) declaration: String,
    pub(super) name: String,
    /// The place where the value begins.
    pub(super) value: usize,
}

#[derive(Debug)]
pub(super) struct Edit {
    pub(super) bytes: Range<usize>,
    pub(super) change: Change,
}

/// The mark where statements are in their old order, behind the orders that were made.
const AS_IT_WAS: &str = "/* as it was */";

/// The text that asks for a mutant: this, its number, and a closing parenthesis.
const ASKED: &str = "::filch_sync::mutant::is(";

pub(super) fn chosen(number: u32) -> String {
    format!("{ASKED}{number})")
}

/// The swap in whose order of statements the character at `column` of `line` is, counted from 1.
pub(super) fn swap_at(line: &str, column: usize, is_swap: impl Fn(u32) -> bool) -> Option<u32> {
    let before: String = line.chars().take(column).collect();
    let made = before.split(AS_IT_WAS).last().unwrap_or_default();
    let asked = made.split(ASKED).skip(1);
    let numbers = asked.filter_map(|text| text.split_once(')')?.0.parse().ok());
    numbers.filter(|number| is_swap(*number)).last()
}

/// `text` with all of `edits`, which are nested or apart.
pub(super) fn apply(text: &str, edits: &mut [Edit]) -> String {
    // An outer one before those within it; of two at one place, a swap is the outer one.
    edits.sort_by_key(|edit| {
        let is_inner = !matches!(edit.change, Change::Swap(_));
        (edit.bytes.start, usize::MAX - edit.bytes.end, is_inner)
    });
    render(text, 0..text.len(), edits)
}

fn render(text: &str, bytes: Range<usize>, edits: &[Edit]) -> String {
    let mut rendered = String::new();
    let mut position = bytes.start;
    let mut rest = edits;
    while let Some((edit, behind)) = rest.split_first() {
        if edit.bytes.start < position || edit.bytes.end > bytes.end {
            rest = behind;
            continue;
        }
        let inside = behind.partition_point(|inner| inner.bytes.start < edit.bytes.end);
        let (inside, after) = behind.split_at(inside);
        rendered += &text[position..edit.bytes.start];
        match &edit.change {
            Change::Wrap(before, after) => {
                rendered += before;
                rendered += &render(text, edit.bytes.clone(), inside);
                rendered += after;
            }
            Change::Replace(with) => rendered += with,
            Change::Swap(swap) => rendered += &swapped(text, &edit.bytes, swap, inside),
        }
        position = edit.bytes.end;
        rest = after;
    }
    rendered + &text[position..bytes.end]
}

fn swapped(text: &str, bytes: &Range<usize>, swap: &Swap, inside: &[Edit]) -> String {
    let bindings = swap.statements.iter().flat_map(|own| &own.binding);
    let mut rendered: String = bindings.map(|binding| &*binding.declaration).collect();
    // A statement is apart from its neighbours' edits: `render` takes those within its bytes.
    let statement = |index: usize| {
        let Statement { bytes, binding } = &swap.statements[index];
        match binding {
            Some(binding) => {
                let value = render(text, binding.value..bytes.end, inside);
                format!("{} = {value}", binding.name)
            }
            None => render(text, bytes.clone(), inside),
        }
    };
    for &(first, number) in &swap.swaps {
        rendered += &format!("if {} {{ ", chosen(number));
        let mut order: Vec<_> = (0..swap.statements.len()).collect();
        order.swap(first, first + 1);
        for index in order {
            rendered += &on_one_line(&statement(index));
            rendered.push(' ');
        }
        rendered += "} else ";
    }
    rendered += &format!("{{ {AS_IT_WAS} ");
    let mut position = bytes.start;
    for (index, own) in swap.statements.iter().enumerate() {
        rendered += &text[position..own.bytes.start];
        if let Some(binding) = &own.binding {
            // The lines of the declaration stay.
            let before = &text[own.bytes.start..binding.value];
            rendered.extend(before.chars().filter(|character| *character == '\n'));
        }
        rendered += &statement(index);
        position = own.bytes.end;
    }
    rendered + " }"
}

/// Returns the code without comments: no string of a primitive has two slashes.
fn on_one_line(code: &str) -> String {
    let lines = code.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Binding, Change, Edit, Statement, Swap, apply, swap_at};

    fn wrap(bytes: std::ops::Range<usize>, name: &str) -> Edit {
        let change = Change::Wrap(format!("{name}("), ")".to_owned());
        Edit { bytes, change }
    }

    #[test]
    fn edits_nest() {
        let mut edits = [
            wrap(4..5, "c"),
            wrap(0..5, "a"),
            wrap(0..1, "b"),
            Edit {
                bytes: 2..3,
                change: Change::Replace("-".to_owned()),
            },
        ];
        assert_eq!(apply("x + y;", &mut edits), "a(b(x) - c(y));");
    }

    #[test]
    fn statements_are_swapped_with_what_is_in_them() {
        let text = "{\n    a(1); // A.\n    let b = c;\n}\n";
        let statement = |bytes, binding| Statement { bytes, binding };
        let swap = Swap {
            statements: vec![
                statement(6..11, None),
                statement(
                    22..32,
                    Some(Binding {
                        declaration: "let b;".to_owned(),
                        name: "b".to_owned(),
                        value: 30,
                    }),
                ),
            ],
            swaps: vec![(0, 7)],
        };
        let mut edits = [
            Edit {
                bytes: 6..32,
                change: Change::Swap(swap),
            },
            wrap(8..9, "w"),
        ];
        let expected = "{\n    let b;if ::filch_sync::mutant::is(7) { b = c; a(w(1)); } else \
                        { /* as it was */ a(w(1)); // A.\n    b = c; }\n}\n";
        let swapped = apply(text, &mut edits);
        assert_eq!(swapped, expected);

        let line = swapped.lines().nth(1).unwrap();
        let swap_at = |what| swap_at(line, line.find(what).unwrap() + 1, |number| number == 7);
        assert_eq!(swap_at("let b"), None);
        assert_eq!(swap_at("b = c"), Some(7));
        assert_eq!(swap_at("a(w(1)); // A"), None);
    }
}
