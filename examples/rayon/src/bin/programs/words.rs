//! Counts each word of a text: maps that are folded and reduced.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::program::{Effort, Prepared, Program, mixed};

pub(crate) const WORDS: Program = Program {
    name: "words",
    prepare,
};

/// Different words of the text.
const VOCABULARY: u64 = 10_000;

type Counts = HashMap<String, u64>;

fn prepare(effort: Effort) -> Prepared {
    let text: Arc<str> = text(effort.pick(3_000_000, 20_000)).into();
    Prepared::new(
        move || Arc::clone(&text),
        |text| text.split_ascii_whitespace().fold(Counts::new(), counted),
        |text| {
            let words = text.par_split_ascii_whitespace();
            words.fold(Counts::new, counted).reduce(Counts::new, merged)
        },
    )
}

fn counted(mut counts: Counts, word: &str) -> Counts {
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            counts.insert(word.to_owned(), 1);
        }
    }
    counts
}

fn merged(left: Counts, right: Counts) -> Counts {
    let (mut more, less) = match left.len() < right.len() {
        true => (right, left),
        false => (left, right),
    };
    for (word, count) in less {
        *more.entry(word).or_default() += count;
    }
    more
}

/// Makes a text of `words` words, of which a few are frequent and most are rare.
fn text(words: u64) -> String {
    let mut text = String::new();
    for number in 0..words {
        let random = mixed(number);
        let rank = (random >> 32) % ((random as u32 as u64) % VOCABULARY + 1);
        for digit in format!("{:x}", mixed(rank) >> (rank % 5 * 8 + 16)).bytes() {
            text.push(char::from(digit));
        }
        text.push(if number % 12 == 0 { '\n' } else { ' ' });
    }
    text
}
