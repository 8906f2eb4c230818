//! Words, and the count of each.
//!
//! A word is a maximal run of alphanumeric characters ([`char::is_alphanumeric`]) and underscores,
//! in lower case.

use std::collections::HashMap;

/// Returns whether the character is part of a word.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the words of a text, as written.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word_char(c))
        .filter(|word| !word.is_empty())
}

/// The count of each word.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    counts: HashMap<String, u64>,
}

impl Tally {
    /// Adds the words of a text.
    pub(crate) fn count(&mut self, text: &str) {
        for word in words(text) {
            // Most words are in lower case and known already: they cost no allocation.
            if word
                .bytes()
                .all(|b| b.is_ascii() && !b.is_ascii_uppercase())
            {
                self.add(word, 1);
            } else {
                self.add_owned(word.to_lowercase(), 1);
            }
        }
    }

    /// Adds another tally.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.counts.len() < other.counts.len() {
            let smaller = std::mem::replace(self, other);
            return self.merge(smaller);
        }
        for (word, count) in other.counts {
            self.add_owned(word, count);
        }
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the number of different words.
    pub(crate) fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Returns the `n` most frequent words, the most frequent first; equally frequent ones in the
    /// order of their characters.
    pub(crate) fn top(&self, n: usize) -> Vec<(&str, u64)> {
        let mut words: Vec<_> = self
            .counts
            .iter()
            .map(|(word, &count)| (word.as_str(), count))
            .collect();
        words.sort_unstable_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        words.truncate(n);
        words
    }

    fn add(&mut self, word: &str, count: u64) {
        match self.counts.get_mut(word) {
            Some(known) => *known += count,
            None => {
                self.counts.insert(word.to_owned(), count);
            }
        }
    }

    fn add_owned(&mut self, word: String, count: u64) {
        *self.counts.entry(word).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::{Tally, words};

    #[test]
    fn words_are_runs_of_letters_digits_and_underscores() {
        let text = "fn steal_half(&self) -> 2³² Ümläute, 中文。don't";
        let found: Vec<&str> = words(text).collect();
        assert_eq!(
            found,
            [
                "fn",
                "steal_half",
                "self",
                "2³²",
                "Ümläute",
                "中文",
                "don",
                "t"
            ]
        );
    }

    #[test]
    fn case_does_not_count() {
        let mut tally = Tally::default();
        tally.count("Deque DEQUE deque ÄRA ära");
        assert_eq!(tally.top(9), [("deque", 3), ("ära", 2)]);
    }

    #[test]
    fn the_order_of_ties_is_that_of_the_words() {
        let mut tally = Tally::default();
        tally.count("b a c c");
        assert_eq!(tally.top(2), [("c", 2), ("a", 1)]);
        assert_eq!(tally.top(0), []);
    }

    #[test]
    fn merging_adds_up_either_way_round() {
        let (mut small, mut large) = (Tally::default(), Tally::default());
        small.count("a b");
        large.count("b c d");
        small.merge(large);
        assert_eq!((small.words(), small.distinct()), (5, 4));
        assert_eq!(small.top(1), [("b", 2)]);
    }
}
