//! Checks STATES.md against the code, over every reachable word.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::state::{AWAITS, CANCEL, COMPLETE, COMPLETION, MESSAGE, TURN, VACATED};
use crate::{Disposal, LetGo, ProcessState, Reason, Snapshot, State, Wake};

extern crate alloc;

const STATES: &str = include_str!("../../STATES.md");

const METHODS: [&str; 13] = [
    "submit",
    "start",
    "seize",
    "yield_now",
    "block",
    "idle",
    "complete",
    "retract",
    "vacate",
    "dispose",
    "wake(Message)",
    "wake(Completion)",
    "wake(Cancel)",
];

/// Returns the rows of the table that has this header, without the header.
fn table(header: &str) -> Vec<Vec<&'static str>> {
    let rows: Vec<_> = STATES
        .lines()
        .skip_while(|line| *line != header)
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "STATES.md has no table {header}");
    rows
}

/// Takes one edge from `word`. Returns the next word, and the answer: `None` if there is no such
/// edge.
fn take(word: Snapshot, method: &str) -> (Snapshot, Option<String>) {
    let process = ProcessState::at(word);
    let done = |(): ()| "ok".to_string();
    let let_go = |answer: LetGo| format!("{answer:?}");
    let woken = |wake: Wake| Ok(format!("{wake:?}"));
    let answer = match method {
        "submit" => process.submit().map(done),
        "start" => process.start().map(done),
        "seize" => process.seize().map(done),
        "yield_now" => process.yield_now().map(let_go),
        "block" => process.block().map(let_go),
        "idle" => process.idle().map(let_go),
        "complete" => process.complete().map(|ending| format!("{ending:?}")),
        "retract" => woken(process.retract()),
        "vacate" => process.vacate().map(|is_ours| is_ours.to_string()),
        "dispose" => process.dispose().map(|disposal| match disposal {
            Disposal::Drain { vacated: false } => "Drain".to_string(),
            Disposal::Drain { vacated: true } => "Drain, vacated".to_string(),
            Disposal::Done => "Done".to_string(),
        }),
        "wake(Message)" => woken(process.wake(Reason::Message)),
        "wake(Completion)" => woken(process.wake(Reason::Completion)),
        "wake(Cancel)" => woken(process.wake(Reason::Cancel)),
        other => panic!("no method {other}"),
    };
    if let Err(illegal) = answer {
        assert_eq!(illegal.from, word.state());
        assert_eq!(process.snapshot(), word, "a refused edge changed the word");
    }
    (process.snapshot(), answer.ok())
}

/// Returns every word to which some sequence of edges leads.
fn reachable() -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open = vec![
        ProcessState::new_ready().snapshot(),
        ProcessState::new_complete().snapshot(),
    ];
    while let Some(word) = open.pop() {
        if found.insert(word.bits()) {
            open.extend(METHODS.map(|method| take(word, method).0));
        }
    }
    found
}

/// Returns whether the column "pending" of the table of edges describes `word`.
fn meets(word: Snapshot, pending: &str) -> bool {
    let message = word.is_pending(Reason::Message);
    let urgent = word.is_pending(Reason::Completion) || word.is_pending(Reason::Cancel);
    match pending {
        "any" => true,
        "in hands" => word.is_in_hands(),
        "at rest" => !word.is_in_hands(),
        "a turn alone" => word.is_in_hands() && !message && !urgent,
        "something, vacated" => (message || urgent) && word.is_vacated(),
        "something, not vacated" => (message || urgent) && !word.is_vacated(),
        "nothing" => !message && !urgent,
        "something" => message || urgent,
        "completion or cancel" => urgent,
        "no completion, no cancel" => !urgent,
        other => panic!("STATES.md says {other:?}, which this test does not understand"),
    }
}

/// Returns whether the column "method" names it: `wake` stands for all reasons.
fn is_named(row: &str, method: &str) -> bool {
    row == method || method.split('(').next() == Some(row)
}

#[test]
fn a8_the_edges_are_those_of_the_table() {
    let rows = table("| from | pending | method | to | answer |");
    let mut used = BTreeSet::new();
    let words = reachable();
    for method in METHODS {
        let of_method = |row: &[&str]| is_named(row[2].trim_matches('`'), method);
        let rows = rows.iter().enumerate();
        let named: Vec<_> = rows.filter(|(_, row)| of_method(row)).collect();
        for word in words.iter().copied().map(Snapshot::from_bits) {
            let from = format!("{:?}", word.state());
            let matching: Vec<_> = named
                .iter()
                .filter(|(_, row)| row[0] == from && meets(word, row[1]))
                .collect();
            assert!(matching.len() <= 1, "two rows for {method} from {word:?}");
            let expected = matching.first().map(|(index, row)| {
                used.insert(*index);
                (row[3].to_string(), row[4].to_string())
            });
            let (after, answer) = take(word, method);
            let actual = answer.map(|answer| (format!("{:?}", after.state()), answer));
            assert_eq!(actual, expected, "{method} from {word:?}");
        }
    }
    assert_eq!(used.len(), rows.len(), "a row that no word reaches");
}

#[test]
fn the_words_are_those_of_the_table() {
    let mut actual = BTreeMap::new();
    for word in reachable().into_iter().map(Snapshot::from_bits) {
        let key = (format!("{:?}", word.state()), awaited(word));
        *actual.entry(key).or_insert(0) += 1;
    }
    let listed = table("| state | awaits | pending | words |")
        .into_iter()
        .map(|row| {
            (
                (row[0].to_string(), row[1].to_string()),
                row[3].parse().unwrap(),
            )
        })
        .collect::<BTreeMap<_, _>>();
    assert_eq!(actual, listed);
    assert_eq!(actual.values().sum::<i32>(), 64);
}

fn awaited(word: Snapshot) -> String {
    let names = [
        (MESSAGE, "message"),
        (COMPLETION, "completion"),
        (CANCEL, "cancel"),
        (TURN, "turn"),
    ];
    let names: Vec<_> = names
        .into_iter()
        .filter(|(flag, _)| word.bits() & (flag << AWAITS) != 0)
        .map(|(_, name)| name)
        .collect();
    if names.is_empty() {
        "nothing".to_string()
    } else {
        names.join(", ")
    }
}

#[test]
fn the_bits_are_those_of_the_table() {
    let bits = [
        ("pending message", MESSAGE),
        ("pending completion", COMPLETION),
        ("pending cancel", CANCEL),
        ("pending turn", TURN),
        ("awaits message", MESSAGE << AWAITS),
        ("awaits completion", COMPLETION << AWAITS),
        ("awaits cancel", CANCEL << AWAITS),
        ("awaits turn", TURN << AWAITS),
        ("complete", COMPLETE),
        ("vacated", VACATED),
    ];
    let listed: Vec<_> = table("| bit | mask | set | never set |")
        .into_iter()
        .map(|row| {
            let mask = row[1].strip_prefix("0x").unwrap();
            (row[0], u32::from_str_radix(mask, 16).unwrap())
        })
        .collect();
    assert_eq!(listed, bits);
}

/// The column "never set" of the table of bits, as code.
#[test]
fn no_reachable_word_breaks_the_rules_of_its_bits() {
    for bits in reachable() {
        let word = Snapshot::from_bits(bits);
        let awaits = bits >> AWAITS & (MESSAGE | COMPLETION | CANCEL | TURN);
        let waits_or_ready = !matches!(word.state(), State::Running | State::Complete);
        assert_eq!(awaits != 0, waits_or_ready, "{word:?}");
        assert_eq!(word.is_owed_a_turn(), awaits & TURN != 0, "{word:?}");
        assert!(awaits & TURN == 0 || awaits == TURN, "{word:?}");
        assert_eq!(
            awaits & COMPLETION != 0,
            awaits & CANCEL != 0,
            "an unawaited cancel: {word:?}"
        );
        assert!(
            awaits & MESSAGE == 0 || awaits & COMPLETION != 0,
            "{word:?}"
        );
        assert!(bits & COMPLETE == 0 || awaits == 0, "{word:?}");
        assert!(bits & VACATED == 0 || bits & COMPLETE != 0, "{word:?}");
    }
}

#[test]
fn a_snapshot_prints_what_it_means() {
    let process = ProcessState::new_ready();
    process.start().unwrap();
    let _ = process.wake(Reason::Message);
    assert_eq!(process.block(), Ok(LetGo::Waits));
    assert_eq!(
        format!("{process:?}"),
        "ProcessState(Snapshot { state: Blocked, pending: {\"message\"}, \
         awaits: {\"completion\", \"cancel\"} })"
    );
    assert_eq!(
        process.start().unwrap_err().to_string(),
        "the edge Start does not leave the state Blocked"
    );
}
