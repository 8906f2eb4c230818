//! Where unsafe code may stand: nowhere but in the files that are listed here.
//!
//! Tests and models are not listed: each model owns cells whose exclusive use is its claim.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::support::code::{contains_word, without_comments, without_tests};
use crate::support::error::Result;
use crate::support::process::{PACKAGES, files_below, root};

/// The folder, its files, and what they need it for. A crate without a row forbids unsafe code;
/// one that needs it in few places denies it, and expects it where it is.
const LISTED: &[(&str, &[&str], &str)] = &[
    (
        "crates/deque/src",
        &[
            "claim.rs",
            "deque.rs",
            "nested.rs",
            "request.rs",
            "ring.rs",
            "room.rs",
            "worker.rs",
        ],
        "slots that owner and thieves take turns at",
    ),
    (
        "crates/event-queue/src",
        &[
            "block.rs",
            "channel/receiver.rs",
            "channel/shared.rs",
            "channel/sleeper.rs",
            "consumer.rs",
            "producers.rs",
            "queue.rs",
            "scan.rs",
        ],
        "slots and blocks between producers and the consumer; the waker of a receiver",
    ),
    (
        "crates/injector/src",
        &[
            "block.rs",
            "claim.rs",
            "injector.rs",
            "push.rs",
            "reserved.rs",
        ],
        "slots and blocks between producers and consumers",
    ),
    (
        "crates/slab/src",
        &[
            "array.rs",
            "once_array.rs",
            "pages.rs",
            "slab.rs",
            "slot.rs",
        ],
        "pages that are published once and live until the slab is dropped",
    ),
    (
        "crates/sync/src",
        &[
            "asymmetric/compare.rs",
            "asymmetric/system.rs",
            "watched.rs",
        ],
        "one instruction, one system call; a sanitizer's own functions",
    ),
    (
        "crates/promise/src",
        &["promise.rs", "rival.rs"],
        "a value and a waker that two ends take turns at; a value of two owners, and its memory",
    ),
    (
        "crates/build-scheduler/src",
        &["combiner.rs"],
        "a state that one thread at a time works at, and the queue of what is to be done",
    ),
    (
        "crates/data-cell/src",
        &[
            "cell.rs",
            "lock.rs",
            "lock_set.rs",
            "lockable.rs",
            "locked.rs",
        ],
        "a value under its lock; locks in cells that a set keeps",
    ),
    (
        "crates/data-cell/examples",
        &["workers.rs"],
        "a task touches its data while its worker holds the locks",
    ),
    (
        "crates/processors/src",
        &[
            "pool/processors.rs",
            "protocol/state/coordinator.rs",
            "protocol/state/grant.rs",
            "protocol/state/permit.rs",
            "protocol/state/synced.rs",
            "queues/source.rs",
            "thread/current.rs",
            "thread/main_loop.rs",
        ],
        "a processor's number becomes the permit again; a thread's way to its own machine; pieces",
    ),
    (
        "crates/scheduler/src",
        &[
            "handle/handle.rs",
            "handle/policy.rs",
            "handle/process_handle.rs",
            "handle/submit.rs",
            "process/waker.rs",
            "table/body.rs",
            "table/inline_box.rs",
            "table/inline_box/tests.rs",
            "table/life.rs",
            "table/life/tests.rs",
            "table/mailbox.rs",
            "table/pinned.rs",
            "table/slot.rs",
            "table/table.rs",
            "table/teardown.rs",
            "turn/budget.rs",
            "turn/driver.rs",
            "turn/end.rs",
            "turn/let_go.rs",
        ],
        "the process in its slot, its exit, and what keeps them; values that must not move",
    ),
    (
        "crates/actors/src",
        &[
            "call/caller.rs",
            "call/process_call.rs",
            "future/process.rs",
        ],
        "an answer is its caller's until it is given; a future is pinned where its process is",
    ),
    (
        "crates/engine/src",
        &[
            "context.rs",
            "data/cells.rs",
            "envelope.rs",
            "function.rs",
            "param.rs",
            "received.rs",
            "worker/cell.rs",
            "worker/life.rs",
            "worker/spec.rs",
        ],
        "data by the parameters of a function, while it is locked; tasks without types",
    ),
    (
        "crates/fork-join/src",
        &[
            "boxed.rs",
            "content.rs",
            "current.rs",
            "forked.rs",
            "installed.rs",
            "job.rs",
        ],
        "jobs on their owners' stacks; a thread's way to its own worker",
    ),
    (
        "compat/rayon-core/src",
        &["borrowed.rs", "scope.rs", "scope_fifo.rs"],
        "scopes whose types do not name how long they live",
    ),
    (
        "benches/src",
        &["groups/event_queue/floors.rs", "memory.rs"],
        "a floor without the checks that a queue needs; a counting allocator",
    ),
];

/// What is unsafe and not listed, listed and not unsafe, and what the compiler is not told.
pub(super) fn check() -> Result<Vec<Finding>> {
    let listed: BTreeSet<_> = LISTED
        .iter()
        .flat_map(|(folder, files, _)| files.iter().map(|file| Path::new(folder).join(file)))
        .collect();
    let mut findings = Vec::new();
    let mut report = |file: &Path, message: &str| {
        findings.push(Finding {
            file: file.to_owned(),
            line: 1,
            message: message.to_owned(),
        });
    };
    let mut found = BTreeSet::new();
    for file in files_below(root(), PACKAGES, "rs")? {
        if is_test(&file) {
            continue;
        }
        let text = fs::read_to_string(root().join(&file))?;
        if is_unsafe(&text) {
            if !listed.contains(&file) {
                report(
                    &file,
                    "has unsafe code, and is not listed in lint/unsafety.rs",
                );
            }
            found.insert(file);
        }
    }
    for file in listed.difference(&found) {
        report(
            file,
            "is listed in lint/unsafety.rs, and has no unsafe code",
        );
    }
    for library in libraries()? {
        let folder = library.parent().unwrap_or(&library);
        let has_some = listed.iter().any(|file| file.starts_with(folder));
        let text = fs::read_to_string(root().join(&library))?;
        if !has_some && !text.contains("#![forbid(unsafe_code)]") {
            report(&library, "has no unsafe code, and does not forbid it");
        }
    }
    Ok(findings)
}

/// The root files of the crates and of the program.
fn libraries() -> Result<Vec<PathBuf>> {
    let files = files_below(root(), &["apps", "crates", "compat"], "rs")?;
    let is_root = |file: &PathBuf| {
        let parts: Vec<_> = file.iter().skip(2).collect();
        parts == ["src", "lib.rs"] || parts == ["src", "main.rs"]
    };
    Ok(files.into_iter().filter(is_root).collect())
}

fn is_test(file: &Path) -> bool {
    let folders = ["tests", "loom-tests"];
    file.iter()
        .any(|part| folders.iter().any(|folder| part == *folder))
}

fn is_unsafe(text: &str) -> bool {
    let code = without_tests(&without_comments(text));
    let code = code
        .replace("unsafe_code", "")
        .replace("unsafe_op_in_unsafe_fn", "");
    contains_word(&code, &["unsafe"])
}

#[cfg(test)]
mod tests {
    use super::is_unsafe;

    #[test]
    fn only_code_is_unsafe() {
        assert!(is_unsafe("fn f() { unsafe { g() } }"));
        assert!(is_unsafe("unsafe impl Send for A {}"));
        assert!(!is_unsafe(
            "#![forbid(unsafe_code)]\n// unsafe\nconst A: &str = \"unsafe\";"
        ));
        assert!(!is_unsafe(
            "#[cfg(test)]\nmod tests { fn f() { unsafe { g() } } }"
        ));
    }
}
