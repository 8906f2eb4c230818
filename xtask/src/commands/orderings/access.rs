//! The place of an ordering: in which function, as which argument of what.

/// The most lines from the beginning of a call to its ordering.
const CALL_REACHES: usize = 12;

/// The code of a line, without its comment.
pub(super) fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The name of the function around a line: the nearest one above that is less indented.
pub(super) fn function<'t>(lines: &[&'t str], line: usize) -> &'t str {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let names = lines[..line].iter().rev().filter_map(|above| {
        let (before, rest) = code(above).split_once("fn ")?;
        let is_word = before.is_empty() || before.ends_with(' ');
        let name = rest.split(['(', '<']).next()?;
        (is_word && indent(above) < indent(lines[line])).then_some(name)
    });
    names.into_iter().next().unwrap_or("(none)")
}

/// Names what the ordering at this place is an argument of: `load`, `swap`, `fence`,
/// `compare_exchange, failure`, …
pub(super) fn operation(lines: &[&str], line: usize, column: usize) -> String {
    let (mut open, mut commas) = (0_u32, 0_u32);
    let first = line.saturating_sub(CALL_REACHES);
    for above in (first..=line).rev() {
        let text = code(lines[above]);
        let text = if above == line { &text[..column] } else { text };
        for (at, character) in text.char_indices().rev() {
            match character {
                ')' | ']' | '}' => open += 1,
                '(' if open == 0 => return role(identifier_before(text, at), commas),
                '[' | '{' | ';' if open == 0 => return "value".to_owned(),
                '(' | '[' | '{' => open -= 1,
                ',' if open == 0 => commas += 1,
                _ => {}
            }
        }
    }
    "value".to_owned()
}

fn identifier_before(text: &str, end: usize) -> &str {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text[..end].rsplit(|c| !is_part(c)).next().unwrap_or("")
}

/// Two orderings of one call are told apart.
fn role(call: &str, argument: u32) -> String {
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
pub(super) fn weaker(operation: &str, from: &str) -> &'static [Option<&'static str>] {
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

#[cfg(test)]
mod tests {
    use super::{function, operation, weaker};

    const TEXT: &str = "\
impl Queue {
    fn first<T>(&self) {
        self.word.swap(f(1, [2, 3]), Ordering::AcqRel); // not (a call
    }
    pub(crate) fn second(&self) {
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
}";

    #[test]
    fn an_ordering_is_found_in_its_function_and_call() {
        let lines: Vec<_> = TEXT.lines().collect();
        let mut found = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            for (column, _) in super::code(line).match_indices("Ordering::") {
                let operation = operation(&lines, number, column);
                found.push(format!("{} {operation}", function(&lines, number)));
            }
        }
        let expected = [
            "first swap",
            "second compare_exchange_weak, success",
            "second compare_exchange_weak, failure",
            "second take",
            "second value",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn steps_are_legal_for_the_operation() {
        assert_eq!(weaker("load", "SeqCst"), [Some("Acquire")]);
        assert_eq!(weaker("store", "SeqCst"), [Some("Release")]);
        assert_eq!(weaker("swap", "AcqRel"), [Some("Acquire"), Some("Release")]);
        assert_eq!(
            weaker("compare_exchange, failure", "Acquire"),
            [Some("Relaxed")]
        );
        assert_eq!(weaker("fence", "SeqCst"), [Some("AcqRel"), None]);
        assert!(weaker("load", "Relaxed").is_empty());
    }
}
