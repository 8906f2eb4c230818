//! An execution as a table: a row for each step, a column for each thread.
//!
//! A model that fails prints the table of its execution: in Markdown, or after `cargo xtask loom
//! --json` as JSON. Those of the known bugs are written into docs/counter-examples by `--tables`.
//! Row 0 has the values as the first thread starts; words that one thread has for itself are left
//! out. A word is called by the field or variable that it was made for. Of a value above 32 bits
//! both halves are shown. Turns of a loop that are alike are one.
//!
//! The rows are in an order in which each load reads the newest store. If there is none, only weak
//! memory explains the execution: they are in loom's order, and stale reads are marked. Of stores
//! of the same value, the newest counts as the one that was read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use filch_sync::recorded::Step;

use crate::replay::{Effect, Memory, Replay};
use crate::source::{Sources, short};

/// An execution that was explained.
pub(crate) struct Table {
    verdict: String,
    /// Number, a cell for each thread, function, place. Headings come first.
    lines: Vec<Vec<String>>,
}

/// A step and its thread.
type Move<'a> = (&'a Step, usize);

impl Table {
    /// Explains the steps of an execution that ended with this message.
    pub(crate) fn new(all: &[Step], message: &str) -> Self {
        let all = moves(all);
        let (mut memory, moves) = race(&all);
        let effects = effects(&moves);
        let (mut verdict, order) = verdict(&moves, &effects, &memory);
        if message.contains("Causality violation") {
            verdict += "\nA race ends it: nothing orders the last access behind an earlier one.";
        }
        let mut sources = Sources::default();
        let names = names(&all, &mut sources);
        let value = |(word, value): (_, &u64)| format!("`{} = {}`", names[word], shown(*value));
        let initially: Vec<_> = memory.iter().map(value).collect();
        let threads = moves.iter().map(|(_, thread)| *thread).max().unwrap_or(0) + 1;
        let mut lines = vec![vec![String::new(); threads + 3]; 2];
        for thread in 0..threads {
            lines[0][thread + 1] = format!("thread {thread}");
        }
        let (function, place) = (threads + 1, threads + 2);
        for (column, heading) in [(0, "#"), (1, "main"), (function, "in"), (place, "at")] {
            lines[0][column] = heading.to_owned();
        }
        lines[1][..2].clone_from_slice(&["0".to_owned(), initially.join(", ")]);
        let mut writers = BTreeMap::new();
        for index in order {
            let (step, thread) = moves[index];
            let is_newest = effects[index].apply(&mut memory);
            if ["spawn", "begin", "end", "join"].contains(&step.operation) {
                continue;
            }
            let number = lines.len() - 1;
            let mut text = format!("`{}`", text(step, &names));
            let [read, written] = step.values;
            if read.is_some() && !is_newest {
                let row = |value| writers.get(&(step.word, value)).unwrap_or(&0);
                let (of, newest) = (row(read), row(None));
                text += &format!(", **stale**: of row {of}, row {newest} is newer");
            }
            if written.is_some() {
                writers.extend([written, None].map(|value| ((step.word, value), number)));
            }
            let mut line = vec![String::new(); threads + 1];
            line[0] = number.to_string();
            line[thread + 1] = text;
            line.push(format!("`{}`", sources.function(step.place)));
            line.push(short(step.place));
            lines.push(line);
        }
        fold(&mut lines);
        Self { verdict, lines }
    }

    /// Returns it in Markdown. On a page there are no places, which would change all the time, and
    /// no spaces, which would be half of it.
    pub(crate) fn markdown(&self, is_page: bool) -> String {
        let mut lines = self.lines.clone();
        let columns = lines[0].len() - usize::from(is_page);
        lines.insert(1, vec!["---".to_owned(); columns]);
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
        let width = |column: usize| width(column).filter(|_| !is_page).unwrap_or_default();
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = format!("{}\n\n", self.verdict);
        for line in &lines {
            for (cell, &width) in line.iter().zip(&widths) {
                text += &format!("| {cell:width$} ");
            }
            text += "|\n";
        }
        text
    }

    /// Returns it as JSON, which Rust writes strings and arrays in.
    pub(crate) fn json(&self) -> String {
        let Self { verdict, lines } = self;
        format!("{{\"verdict\":{verdict:?},\"lines\":{lines:?}}}")
    }
}

/// Finds the thread of each step: that whose stack it was on, the last one that got it.
fn moves(steps: &[Step]) -> Vec<Move<'_>> {
    let (mut stacks, mut moves) = (Vec::new(), Vec::new());
    for step in steps {
        if step.operation == "begin" {
            // Its callers may have a little more of it. Below each stack is a page of nobody's.
            stacks.push(step.stack + 4_096);
        }
        let around = (0..stacks.len()).filter(|thread| stacks[*thread] >= step.stack);
        let thread = around.min_by_key(|thread| (stacks[*thread], Reverse(*thread)));
        moves.push((step, thread.unwrap_or(0)));
    }
    moves
}

/// The words that several threads use, and the last one: their values as the first thread starts,
/// and the moves from there on.
fn race<'a>(all: &[Move<'a>]) -> (Memory, Vec<Move<'a>>) {
    let first = all.iter().position(|(step, _)| step.operation == "spawn");
    let (alone, later) = all.split_at(first.unwrap_or_default());
    let (made, mut moves): (Vec<_>, Vec<_>) =
        later.iter().partition(|(step, _)| step.operation == "new");
    let user = |(step, thread): &Move<'_>| (step.word, *thread);
    let users: BTreeSet<_> = moves.iter().map(user).collect();
    let last = all.last().map_or(0, |(step, _)| step.word);
    let is_shared = |word| users.range((word, 0)..(word + 1, 0)).count() > 1;
    moves.retain(|(step, _)| [0, last].contains(&step.word) || is_shared(step.word));
    let value = |(step, _): &Move<'_>| Some((step.word, step.values[1]?));
    let mut memory: Memory = alone.iter().chain(&made).filter_map(value).collect();
    memory.retain(|word, _| moves.iter().any(|(step, _)| step.word == *word));
    (memory, moves)
}

/// Says which memory explains the moves, and in which order.
fn verdict(moves: &[Move<'_>], effects: &[Effect], memory: &Memory) -> (String, Vec<usize>) {
    let mut replay = Replay::default();
    for (index, (_, thread)) in moves.iter().enumerate().rev() {
        let left = replay.left.entry(*thread).or_default();
        left.push((index, effects[index]));
    }
    // A model may have gone round without end.
    let is_short = moves.len() < 2_000;
    let verdict = match is_short.then(|| replay.is_possible(0, memory)).flatten() {
        Some(true) => {
            let verdict = "An interleaving: each load reads the newest store.";
            return (verdict.to_owned(), replay.order);
        }
        Some(false) => "Weak memory: no interleaving explains it.",
        None => "Perhaps weak memory: an interleaving was not found in time.",
    };
    (verdict.to_owned(), (0..moves.len()).collect())
}

/// The effects of steps. A word without a value, such as a cell or a lock, has versions: what is
/// done with it, but for reading, stays in the order that there was.
fn effects(moves: &[Move<'_>]) -> Vec<Effect> {
    let mut versions = Memory::new();
    let effect = |(step, _): &Move<'_>| {
        let mut values = step.values;
        if step.order.is_none() {
            let version = versions.entry(step.word).or_default();
            values[0] = Some(*version);
            *version += u64::from(step.operation != "read");
            values[1] = Some(*version);
        }
        let word = step.word;
        Effect { word, values }
    };
    moves.iter().map(effect).collect()
}

/// Makes one of turns that follow each other and are alike, with the numbers of the last one, too.
fn fold(lines: &mut Vec<Vec<String>>) {
    let mut first = 1;
    while first < lines.len() {
        let is_like = |row: usize, other: usize| {
            let other = lines.get(other).map(|line| &line[1..]);
            other == Some(&lines[row][1..])
        };
        let more = |length: usize| {
            let is_turn = |turn| (first..first + length).all(|row| is_like(row, row + turn));
            (1..).take_while(|turn| is_turn(turn * length)).count()
        };
        let lengths = (1..=8).filter(|length| first + length <= lines.len()).rev();
        let longest = lengths.max_by_key(|length| length * more(*length));
        let length = longest.unwrap_or(1);
        let more = more(length);
        for row in first..first + length * more.min(1) {
            let last = lines[row + length * more][0].clone();
            let dots = if more > 1 { " …" } else { "," };
            lines[row][0] += &format!("{dots} {last}");
        }
        lines.drain(first + length..first + length * (more + 1));
        first += length;
    }
}

/// Names for words: those of fields and variables, with an index if there are several.
fn names(all: &[Move<'_>], sources: &mut Sources) -> BTreeMap<usize, String> {
    let (mut made, mut of_name) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, Vec<_>>::new());
    for (step, _) in all.iter().filter(|(step, _)| step.operation == "new") {
        let nth = made.entry(step.place).or_default();
        let name = sources.word(step.place, *nth);
        of_name.entry(name).or_default().push(step.word);
        *nth += 1;
    }
    let mut names = BTreeMap::new();
    for (name, words) in of_name {
        for (index, word) in words.iter().enumerate() {
            let many = format!("{name}[{index}]");
            names.insert(*word, if words.len() > 1 { many } else { name.clone() });
        }
    }
    names
}

fn text(step: &Step, names: &BTreeMap<usize, String>) -> String {
    let name = names.get(&step.word).map(|name| format!("{name}."));
    let call = name.unwrap_or_default() + step.operation;
    let Some(order) = step.order else {
        return call;
    };
    match step.values.map(|value| value.map(shown)) {
        [Some(read), Some(written)] => format!("{call}({order:?}): {read} → {written}"),
        [None, Some(written)] => format!("{call}({written}, {order:?})"),
        [Some(read), None] if step.operation == "load" => format!("{call}({order:?}) = {read}"),
        [Some(read), None] => format!("{call}({order:?}) fails: {read}"),
        [None, None] => format!("{call}({order:?})"),
    }
}

fn shown(value: u64) -> String {
    match (value >> 32, value as u32) {
        (0, 0..=9_999) => value.to_string(),
        (0 | 0xffff_ffff, u32::MAX) => "MAX".to_owned(),
        (0, low) => format!("{low:#x}"),
        (high, low) => format!("{}:{}", shown(high), shown(low.into())),
    }
}
