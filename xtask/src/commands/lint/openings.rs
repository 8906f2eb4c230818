//! The first word of a doc comment: a verb or a noun, never a question.

/// The words that open a riddle.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Who"];

/// Finds the lines, counted from 1, at which a doc comment opens so.
pub(super) fn check(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block = None;
    for (index, line) in text.lines().enumerate() {
        let (marker, sentence) = doc_comment(line).unzip();
        let opens = marker != block;
        block = marker;
        if let Some(word) = sentence.and_then(question).filter(|_| opens) {
            let message = format!("opens with `{word}`: begin with a verb or a noun");
            found.push((index + 1, message));
        }
    }
    found
}

/// The marker of a doc comment, `///` or `//!`, and the text behind it.
fn doc_comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    let marked = ["///", "//!"]
        .into_iter()
        .find_map(|marker| Some((marker, line.strip_prefix(marker)?)));
    // Four slashes are an ordinary comment.
    marked.filter(|(_, text)| !text.starts_with('/'))
}

/// The question word that `sentence` begins with.
fn question(sentence: &str) -> Option<&'static str> {
    let text = sentence.trim_start_matches([' ', '*', '_']);
    QUESTIONS.iter().copied().find(|word| {
        let behind = text.strip_prefix(word);
        behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    fn lines(text: &str) -> Vec<usize> {
        check(text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn questions_are_found_at_the_start_of_a_block() {
        let text = "//! What it is.\n\n/// Whether it is.\nfn a() {}\n    /// **How** it is.\n";
        assert_eq!(lines(text), [1, 3, 5]);
        let (line, message) = &check("/// Who's in it.\n")[0];
        assert_eq!(*line, 1);
        assert_eq!(message, "opens with `Who`: begin with a verb or a noun");
    }

    #[test]
    fn an_item_behind_its_module_s_comment_has_a_block_of_its_own() {
        assert_eq!(lines("//! A module.\n/// What it has.\n"), [2]);
        assert_eq!(lines("/// A field.\n#[cold]\n/// What it has.\n"), [3]);
    }

    #[test]
    fn wrapped_lines_and_later_paragraphs_are_not_openings() {
        let text = "/// Returns\n/// What it has.\n///\n/// How it ends:\n/// ```\n/// What\n";
        assert_eq!(lines(text), [0; 0]);
    }

    #[test]
    fn longer_words_and_other_comments_are_no_questions() {
        let text = "/// However it ends.\n\n/// Whose it is.\n\n// What it is.\n//// What it is.\n";
        assert_eq!(lines(text), [0; 0]);
    }
}
