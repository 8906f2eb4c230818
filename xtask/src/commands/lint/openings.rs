//! The first word of a doc comment: a verb or a noun, never a question.

/// The words that open a riddle.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Who"];

/// Finds the lines, counted from 1, at which a doc comment opens so.
pub(super) fn check(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mut markers = ["///", "//!"].into_iter();
        // Four slashes are an ordinary comment.
        let is_it = |marker: &&str| line.starts_with(marker) && !line.starts_with("////");
        let marker = markers.find(is_it).unwrap_or_default();
        if !marker.is_empty() && marker != block {
            let text = line[marker.len()..].trim_start_matches([' ', '*', '_']);
            let first = text.split(|letter: char| !letter.is_alphanumeric()).next();
            if let Some(word) = first.filter(|word| QUESTIONS.contains(word)) {
                let message = format!("opens with `{word}`: begin with a verb or a noun");
                found.push((index + 1, message));
            }
        }
        block = marker;
    }
    found
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
    fn wrapped_lines_longer_words_and_other_comments_are_no_openings() {
        let text = "/// Returns\n/// What it has.\n///\n/// How it ends:\n/// ```\n/// What\n\n\
                    /// However it ends.\n\n// What it is.\n//// What it is.\n";
        assert_eq!(lines(text), [0; 0]);
    }
}
