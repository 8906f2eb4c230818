//! The symptoms by which a test or a model showed that something was wrong.

use std::fmt;
use std::os::unix::process::ExitStatusExt;

use crate::support::process::Ended;

/// The signal that the system sends to a process that has used up its processor time.
const OUT_OF_TIME: i32 = 24;

/// The strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Symptom {
    /// loom saw two accesses without an order between them.
    Race,
    /// Memory or an item was left behind.
    Leak,
    /// Every thread waits.
    Deadlock,
    /// A test, a model or an assertion of the code found a wrong value: an item lost or doubled, an
    /// order, an answer.
    Wrong,
    /// The process ended by a signal.
    Crash,
    /// loom saw a thread that goes round without end.
    Endless,
    /// It did not end in time.
    Hang,
    /// A model's outcome was not reached any more.
    Unreached,
    /// Too few executions: nothing of this was wrong.
    Count,
}

/// The way in which a mutant was shown.
#[derive(Clone)]
pub(super) struct Kill {
    pub(super) symptom: Symptom,
    pub(super) by: String,
}

impl Symptom {
    /// `None` if nothing was wrong.
    pub(super) fn of(ended: &Ended) -> Option<Self> {
        let status = match ended.status {
            Some(status) if status.success() => return None,
            Some(status) if status.signal() != Some(OUT_OF_TIME) => status,
            _ => return Some(Self::Hang),
        };
        let says = |(_, words): &&(_, &str)| ended.output.contains(words);
        Some(match SAID.iter().find(says) {
            Some((symptom, _)) => *symptom,
            None if status.code().is_none() => Self::Crash,
            None => Self::Wrong,
        })
    }
}

/// The words by which a symptom is known.
const SAID: &[(Symptom, &str)] = &[
    (Symptom::Race, "Causality violation"),
    (Symptom::Endless, "exceeded maximum number of branches"),
    (Symptom::Leak, "leaked"),
    (Symptom::Leak, "Leaked"),
    (Symptom::Deadlock, "deadlock;"),
    (Symptom::Deadlock, "deadlock!"),
    (Symptom::Count, "executions, expected at least"),
    (Symptom::Count, "one execution only"),
    (Symptom::Unreached, "outcomes that must not happen: []"),
    (Symptom::Unreached, "outcomes never reached: [("),
];

impl fmt::Display for Symptom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&format!("{self:?}").to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::Duration;

    use super::{OUT_OF_TIME, Symptom};
    use crate::support::process::Ended;

    #[test]
    fn a_process_without_time_left_hangs() {
        let symptom = |wait: Option<i32>, output: &str| {
            Symptom::of(&Ended {
                status: wait.map(ExitStatus::from_raw),
                output: output.to_owned(),
                elapsed: Duration::ZERO,
            })
        };
        assert_eq!(symptom(Some(0), ""), None);
        assert_eq!(symptom(None, ""), Some(Symptom::Hang));
        assert_eq!(symptom(Some(OUT_OF_TIME), "half"), Some(Symptom::Hang));
        assert_eq!(symptom(Some(6), ""), Some(Symptom::Crash));
        let endless = "Model exceeded maximum number of branches.";
        assert_eq!(symptom(Some(101 << 8), endless), Some(Symptom::Endless));
    }
}
