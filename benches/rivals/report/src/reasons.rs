//! The reasons of our losses: `benches/reasons.toml`.

use serde::Deserialize;

use crate::ratio::{Ratio, Verdict};
use crate::run::Run;

/// All reasons that are known.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reasons {
    #[serde(default)]
    reason: Vec<Reason>,
}

/// The reason of a lost row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// The row's group.
    pub(crate) group: String,
    /// The row's scenario. A `*` is any text.
    pub(crate) scenario: String,
    /// The row's contender; without one, any of ours.
    pub(crate) contender: Option<String>,
    /// A sentence or two, in Markdown, with links from the repository's root.
    pub(crate) because: String,
}

impl Reason {
    fn is_about(&self, ratio: &Ratio<'_>) -> bool {
        let contender = self.contender.as_ref();
        self.group == ratio.scenario.group
            && fits(&self.scenario, &ratio.scenario.scenario)
            && contender.is_none_or(|contender| *contender == ratio.ours.name)
    }

    fn row(&self) -> String {
        let contender = self.contender.iter().map(|name| format!(", {name}"));
        let contender: String = contender.collect();
        format!("{}, {}{contender}", self.group, self.scenario)
    }
}

/// Returns whether the text matches the pattern, in which each `*` is any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.any(|at| fits(after, &rest[at..]))
        }),
    }
}

impl Reasons {
    /// Parses the text of the file.
    ///
    /// # Errors
    /// If the text is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns the reason why the row is lost, if it is known.
    pub(crate) fn of(&self, ratio: &Ratio<'_>) -> Option<&str> {
        let reason = self.reason.iter().find(|reason| reason.is_about(ratio));
        reason.map(|reason| reason.because.as_str())
    }

    /// Lists the errors of the reasons, as the run shows them: about a row that is won, or about
    /// none. Groups that were not measured say nothing.
    pub(crate) fn complaints(&self, run: &Run) -> Vec<String> {
        let measured = self.reason.iter();
        let measured = measured.filter(|reason| run.scenarios(&reason.group).next().is_some());
        let complaint = |reason: &Reason| {
            let ratios = run.ratios();
            let mut verdicts = ratios
                .filter(|ratio| reason.is_about(ratio))
                .map(|ratio| ratio.verdict())
                .peekable();
            if verdicts.peek().is_none() {
                Some(format!("no such row: {}", reason.row()))
            } else if verdicts.all(|verdict| matches!(verdict, Verdict::Won | Verdict::Level)) {
                Some(format!("no loss any longer: {}", reason.row()))
            } else {
                None
            }
        };
        measured.filter_map(complaint).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Reasons, fits};
    use crate::run::tests::run;

    pub(crate) fn reasons() -> Reasons {
        let text = r#"
            [[reason]]
            group = "deque"
            scenario = "lost"
            because = "It is [slow](docs/why.md)."

            [[reason]]
            group = "deque"
            scenario = "won"
            because = "It was slow."

            [[reason]]
            group = "deque"
            scenario = "even"
            contender = "filch-deque"
            because = "It is as slow."

            [[reason]]
            group = "deque"
            scenario = "lost"
            contender = "filch-deque biased"
            because = "It is gone."

            [[reason]]
            group = "parker"
            scenario = "token"
            because = "Nobody has measured it here."
        "#;
        Reasons::parse(text).expect("it is right")
    }

    #[test]
    fn a_row_has_its_own_reason() {
        let (run, reasons) = (run(), reasons());
        let of = |number: usize| {
            let ratio = run.results[number].ratios().next().expect("one of ours");
            reasons.of(&ratio).map(str::to_owned)
        };
        assert_eq!(of(1).as_deref(), Some("It is [slow](docs/why.md)."));
        assert_eq!(of(2).as_deref(), Some("It is as slow."));
    }

    #[test]
    fn a_reason_without_a_loss_is_reported() {
        assert_eq!(
            reasons().complaints(&run()),
            [
                "no loss any longer: deque, won",
                "no such row: deque, lost, filch-deque biased"
            ]
        );
    }

    #[test]
    fn a_star_is_any_text() {
        assert!(fits(
            "fib(*), moved, threads: *",
            "fib(35), moved, threads: 2"
        ));
        assert!(fits("→ *", "→ ") && fits("*", "") && fits("a*a", "aba") && fits("*→", "→→"));
        assert!(!fits("fib(*), threads: 1", "fib(35), threads: 12"));
        assert!(!fits("fib", "fib(35)") && !fits("a*a", "a"));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        assert!(Reasons::parse("[[reason]]\ngroop = 'deque'").is_err());
    }
}
