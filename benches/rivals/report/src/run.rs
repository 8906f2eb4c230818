//! A run: the machine, how much was measured, and every figure of every round.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, median};

/// The results that one program measured on one machine in one go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The place, the program and the time.
    pub machine: Machine,
    /// The amount of measuring.
    pub effort: Effort,
    /// The results in the order in which they were measured.
    pub results: Vec<Scenario>,
}

/// The machine, compiler and commit, without which figures mean nothing. A field that cannot be
/// determined is `unknown`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The name that the processor gives itself.
    pub cpu: String,
    /// Cores that the program may use.
    pub cores: usize,
    /// The system and its version.
    pub kernel: String,
    /// The compiler that built the program.
    pub rustc: String,
    /// Followed by `-dirty` if the tree differed from it.
    pub commit: String,
    /// The time when the run began, UTC.
    pub date: String,
    /// The load average of the minute before.
    pub load: String,
}

impl Machine {
    /// The text of a field that cannot be determined.
    pub const UNKNOWN: &str = "unknown";

    /// Returns whether their figures may stand in one table.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |of: fn(&Self) -> &str| of(self) == of(other);
        self.cores == other.cores
            && same(|machine| &machine.cpu)
            && same(|machine| &machine.kernel)
            && same(|machine| &machine.rustc)
            && same(|machine| &machine.commit)
    }
}

/// The amount of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Rounds that count.
    pub rounds: usize,
    /// The seed of the order in which the contenders took their turns.
    pub seed: u64,
}

impl Effort {
    /// The least number of rounds for a comparison.
    pub const ENOUGH_ROUNDS: usize = 15;

    /// Tells the number of rounds, and if it is too small.
    pub(crate) fn in_words(self) -> String {
        match self.rounds {
            Self::ENOUGH_ROUNDS.. => self.rounds.to_string(),
            few => format!("{few}, **good for no comparison**"),
        }
    }
}

/// The same work, done by several contenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The group that it belongs to.
    pub group: String,
    /// The scenario's name.
    pub scenario: String,
    /// The unit of its figures.
    pub unit: String,
    /// The rule by which one of two figures wins.
    pub better: Better,
    /// The contenders in the order in which they are listed in the code.
    pub contenders: Vec<Series>,
}

/// The rule by which one of two figures wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Times, bytes, shares of a core.
    Lower,
    /// A share of what is due.
    Higher,
}

impl Better {
    /// The best of these figures, if there is one.
    pub fn best(self, figures: impl Iterator<Item = f64>) -> Option<f64> {
        match self {
            Self::Lower => figures.min_by(f64::total_cmp),
            Self::Higher => figures.max_by(f64::total_cmp),
        }
    }

    /// Returns the factor by which the figure is worse than `other`: below 1 it wins.
    pub fn ratio(self, figure: f64, other: f64) -> f64 {
        match self {
            Self::Lower => figure / other,
            Self::Higher => other / figure,
        }
    }
}

/// One contender's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The contender.
    pub name: String,
    /// The contender's relation to us.
    pub role: Role,
    /// One for each round, in the order of the rounds: equal places were measured together.
    pub figures: Vec<f64>,
    /// The latencies of the operations of all rounds, if they were timed one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
}

/// The relation of a contender to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// One of ours.
    Ours,
    /// Another's.
    Rival,
    /// The least that such work needs.
    Floor,
}

impl Series {
    /// The median of its rounds.
    pub fn median(&self) -> f64 {
        median(&self.figures)
    }

    /// The same with its interval.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.figures)
    }
}

/// Quantiles, in the scenario's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Half of the operations took no longer.
    pub p50: f64,
    /// 99 of 100 did not.
    pub p99: f64,
    /// 999 of 1000 did not.
    pub p999: f64,
    /// None did.
    pub max: f64,
}

impl Scenario {
    /// The contenders of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Series> {
        let contenders = self.contenders.iter();
        contenders.filter(move |series| series.role == role)
    }

    /// The contender of that role with the best median, if there is one.
    pub fn best(&self, role: Role) -> Option<&Series> {
        let best = self.better.best(self.of(role).map(Series::median))?;
        self.of(role).find(|series| series.median() == best)
    }
}

impl Run {
    /// Reads a file that [`write`](Self::write) has written.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file);
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Writes it as JSON, a line for each scenario.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = self.to_json().map_err(|error| failed(&error))?;
        fs::write(file, text).map_err(|error| failed(&error))
    }

    fn to_json(&self) -> serde_json::Result<String> {
        let machine = serde_json::to_string(&self.machine)?;
        let effort = serde_json::to_string(&self.effort)?;
        let mut text =
            format!("{{\n\"machine\": {machine},\n\"effort\": {effort},\n\"results\": [");
        for (number, scenario) in self.results.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n{}", serde_json::to_string(scenario)?);
        }
        text.push_str("\n]\n}\n");
        Ok(text)
    }

    /// The names of its groups, in order, each once.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for scenario in &self.results {
            if groups.last() != Some(&scenario.group.as_str()) {
                groups.push(&scenario.group);
            }
        }
        groups
    }

    /// The scenarios of a group.
    pub fn scenarios<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a Scenario> {
        let results = self.results.iter();
        results.filter(move |scenario| scenario.group == group)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Better, Effort, Latencies, Machine, Role, Run, Scenario, Series};

    pub(crate) fn machine() -> Machine {
        Machine {
            cpu: "A Processor".into(),
            cores: 2,
            kernel: "Linux 6".into(),
            rustc: "rustc 1.95.0".into(),
            commit: "0123abcd".into(),
            date: "2026-11-26T01:02:03Z".into(),
            load: "0.10".into(),
        }
    }

    pub(crate) fn series(name: &str, role: Role, figures: &[f64]) -> Series {
        Series {
            name: name.into(),
            role,
            figures: figures.to_vec(),
            latencies: None,
        }
    }

    /// Eight rounds around that figure, in a trend that all share.
    pub(crate) fn around(figure: f64) -> Vec<f64> {
        let trend = [0.96, 0.98, 1.0, 1.0, 1.0, 1.0, 1.02, 1.04];
        // As files have them.
        let thousandths = |figure: f64| (figure * 1000.0).round() / 1000.0;
        trend.map(|part| thousandths(part * figure)).to_vec()
    }

    pub(crate) fn scenario(group: &str, name: &str, contenders: Vec<Series>) -> Scenario {
        Scenario {
            group: group.into(),
            scenario: name.into(),
            unit: "ns per push".into(),
            better: Better::Lower,
            contenders,
        }
    }

    /// A win, a loss, and one that neither wins nor loses.
    pub(crate) fn run() -> Run {
        let of = |name, ours: f64, rival: f64| {
            let contenders = vec![
                series("filch-deque", Role::Ours, &around(ours)),
                series("other", Role::Rival, &around(rival * 3.0)),
                series("best", Role::Rival, &around(rival)),
                series("nothing", Role::Floor, &around(1.0)),
            ];
            scenario("deque", name, contenders)
        };
        let mut even = of("even", 5.0, 5.0);
        even.contenders[0].figures.reverse();
        Run {
            machine: machine(),
            effort: Effort {
                rounds: 15,
                seed: 1,
            },
            results: vec![of("won", 4.0, 8.0), of("lost", 9.0, 6.0), even],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut run = run();
        run.results[1].contenders[0].latencies = Some(Latencies {
            p50: 1.0,
            p99: 2.0,
            p999: 3.0,
            max: 4.5,
        });
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.json");
        run.write(&file).expect("it is written");
        assert_eq!(Run::read(&file), Ok(run));
    }

    #[test]
    fn the_best_is_the_best_of_its_role() {
        let mut run = run();
        let scenario = &mut run.results[0];
        assert_eq!(
            scenario.best(Role::Rival).map(|series| &*series.name),
            Some("best")
        );
        scenario.better = Better::Higher;
        assert_eq!(
            scenario.best(Role::Rival).map(|series| &*series.name),
            Some("other")
        );
    }
}
