//! The job against a plain sequential count.

#[path = "../../tests/command_line/common.rs"]
pub(super) mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::Scratch;
use filch::scheduler::{Handle, from_fn};
use proptest::prelude::*;

use super::counter::merger;
use super::opened::{Entry, Source};
use super::protocol::WordCount;
use super::reader::Reader;
use super::{Report, Settings, builder, count, run, submit, walk};

/// The expected result. Its computation shares only the walk with the job.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    counts: BTreeMap<String, u64>,
    files: u64,
    bytes: u64,
    skipped: Vec<Source>,
}

/// Returns the file or folder, as if the user had named it.
fn named(path: &Path) -> [Source; 1] {
    [Source::Named(path.to_owned())]
}

fn count_sequentially(entries: &[Entry]) -> Expected {
    let mut expected = Expected::default();
    for entry in entries {
        let Source::Found(path) = &entry.source else {
            unreachable!("of folders alone");
        };
        let text = fs::read_to_string(path).unwrap_or("\0".to_owned());
        if text.contains('\0') {
            expected.skipped.push(entry.source.clone());
            continue;
        }
        expected.files += 1;
        expected.bytes += text.len() as u64;
        let mut word = String::new();
        for c in text.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
            } else if !word.is_empty() {
                let word = std::mem::take(&mut word).to_lowercase();
                *expected.counts.entry(word).or_default() += 1;
            }
        }
    }
    expected.skipped.sort();
    expected
}

fn outcome(report: &Report) -> Expected {
    Expected {
        counts: report
            .tally
            .top(usize::MAX)
            .into_iter()
            .map(|(word, count)| (word.to_owned(), count))
            .collect(),
        files: report.files,
        bytes: report.bytes,
        skipped: report
            .skipped
            .iter()
            .map(|skip| skip.source.clone())
            .collect(),
    }
}

#[track_caller]
fn assert_counts_right(root: &Path, settings: &Settings) {
    let root = named(root);
    let expected = count_sequentially(&walk::walk(&root).entries);
    let report = run(&root, settings).unwrap();
    assert_eq!(outcome(&report), expected, "{settings:?}");
    assert_eq!(report.stats.live, 0);
    assert_eq!(report.stats.total().failed, 0);
}

fn settings(workers: usize, block: usize, window: usize) -> Settings {
    Settings {
        workers: Some(workers),
        block,
        window,
    }
}

#[test]
fn this_package_is_counted_as_one_by_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for workers in [1, 2, 4] {
        assert_counts_right(root, &settings(workers, 256 * 1024, 8));
        assert_counts_right(root, &settings(workers, 1000, 3));
    }
}

#[test]
fn an_empty_folder_has_no_words() {
    assert_counts_right(Scratch::new("empty").path(), &settings(2, 16, 2));
}

#[test]
fn one_large_file_spreads_over_counters_and_equals_the_whole() {
    let scratch = Scratch::new("large");
    let text: String = (0..20_000).map(|i| format!("wörd{} ", i % 97)).collect();
    scratch.write("large", text.as_bytes());
    for workers in [1, 2, 4] {
        assert_counts_right(scratch.path(), &settings(workers, 777, 4));
    }
}

#[test]
fn one_word_longer_than_many_blocks_is_one_word() {
    let scratch = Scratch::new("long-word");
    scratch.write("word", "ä".repeat(5_000).as_bytes());
    assert_counts_right(scratch.path(), &settings(2, 64, 2));
}

#[test]
fn nothing_is_counted_of_a_file_whose_last_byte_is_wrong() {
    let scratch = Scratch::new("late-error");
    let mut bytes = b"word ".repeat(1_000);
    bytes.push(0xff);
    scratch.write("bad", &bytes);
    scratch.write("good", b"good");
    let report = run(&named(scratch.path()), &settings(2, 64, 2)).unwrap();
    assert_eq!(report.tally.top(9), [("good", 1)]);
    assert_eq!(report.skipped.len(), 1);
    assert_eq!(report.skipped[0].reason, "not UTF-8 text (at byte 5000)");
}

/// Generates file contents: text with characters of all lengths, mostly without a last newline, and
/// rubbish.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => Just(Vec::new()),
        6 => "[abAB_1äß€𝄞 ,\n]{0,80}".prop_map(String::into_bytes),
        2 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => "[a€ ]{1,40}".prop_map(|text| {
            let mut bytes = text.into_bytes();
            bytes.push(0xe2); // the beginning of a character that does not go on
            bytes
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn any_tree_is_counted_as_one_by_one(
        files in proptest::collection::vec((0_usize..4, contents()), 0..12),
        block in 1_usize..40,
        window in 1_usize..5,
    ) {
        let scratch = Scratch::new("tree");
        for (number, (folder, contents)) in files.iter().enumerate() {
            scratch.write(&format!("folder{folder}/file{number}"), contents);
        }
        for workers in [1, 2, 4] {
            assert_counts_right(scratch.path(), &settings(workers, block, window));
        }
    }
}

#[test]
fn files_that_vanish_after_the_walk_are_skipped_by_the_job_itself() {
    let scratch = Scratch::new("vanished");
    scratch.write("good", b"good");
    let files = ["good", "vanished"].map(|name| entry(&scratch.path().join(name)));
    let totals =
        with_scheduler(|scheduler, settings| count(scheduler, files.to_vec(), settings).unwrap());
    assert_eq!((totals.files, totals.tally.top(9)), (1, vec![("good", 1)]));
    assert_eq!(totals.skipped[0].source, files[1].source);
}

/// Makes the entry of a file in a folder.
fn entry(path: &Path) -> Entry {
    Entry {
        source: Source::Found(path.to_owned()),
        is_file: true,
    }
}

/// A counter or reader that fails must not leave the main thread waiting for the merger.
#[test]
fn a_process_that_fails_ends_the_job_with_an_error() {
    let scratch = Scratch::new("broken");
    scratch.write("good", b"good");
    with_scheduler(|scheduler, settings| {
        let merger = submit(scheduler, merger(2), None).unwrap();
        let told = Some(merger.pid());
        // Takes the place of a counter, and panics at its first chunk.
        let broken = from_fn::<WordCount, _>(|_, events, _| {
            assert_eq!(events.len(), 0, "a chunk");
            Ok(())
        });
        let broken = submit(scheduler, broken, told).unwrap();
        let files = vec![entry(&scratch.path().join("good"))];
        let reader = Reader::new(files, vec![broken.pid()], 0, merger.pid(), settings.window);
        drop(submit(scheduler, reader, told).unwrap());
        let error = merger.join().unwrap_err().to_string();
        let (_, of_whom) = error
            .split_once("ended before its work was done: ")
            .unwrap();
        assert!(of_whom.starts_with("panicked: "), "{error}");
        assert!(of_whom.contains("a chunk"), "{error}");
    });
}

/// Makes a scheduler like `run`, and calls `job` with it.
fn with_scheduler<R>(job: impl FnOnce(&Handle<WordCount>, &Settings) -> R) -> R {
    let settings = settings(2, 16, 2);
    let scheduler = builder(settings.block).workers(2).build().unwrap();
    let result = job(&scheduler, &settings);
    scheduler.shutdown(super::PATIENCE).unwrap();
    result
}
