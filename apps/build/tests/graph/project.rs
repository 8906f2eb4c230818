//! A project for a test, and the events of its builds.

use std::fs;
use std::path::Path;
use std::time::Duration;

use filch_build::graph::{Build, Graph, Job, Outcome, Summary, Watch};
use filch_build::storage::Storage;
use filch_build::worker::{Limits, Runner};
use tempfile::TempDir;

/// A project whose cache is in memory.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
    pub(crate) storage: Storage,
    pub(crate) at_a_time: usize,
    pub(crate) fail_fast: bool,
}

/// The events of a build, a line for each.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
}

impl Watch for Log {
    fn started(&mut self, _job: &Job) {}

    fn ended(&mut self, job: &Job, outcome: &Outcome, stderr: &[u8]) {
        let outcome = match outcome {
            Outcome::Built => "built".to_owned(),
            Outcome::Cached => "cached".to_owned(),
            Outcome::Failed(error) => format!("failed: {error}"),
            Outcome::Skipped => "skipped".to_owned(),
        };
        self.lines.push(format!("{} {outcome}", job.id()));
        self.stderr.push_str(&String::from_utf8_lossy(stderr));
    }
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: TempDir::new().unwrap(),
            storage: Storage::in_memory(),
            at_a_time: 1,
            fail_fast: false,
        };
        files
            .iter()
            .for_each(|(path, text)| project.write(path, text));
        project
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn build(&self, graph: &str) -> Build {
        let graph = Graph::parse(Path::new("graph.toml"), graph).unwrap();
        let folders = self.path().join(".filch/actions");
        let runner = Runner::new("here", folders, Limits::default(), None);
        let build = Build::new(graph, self.path(), runner, self.storage.clone());
        let mut build = build.unwrap();
        build.at_a_time = self.at_a_time.try_into().unwrap();
        build.fail_fast = self.fail_fast;
        build
    }

    /// Builds, and checks that only the cache is left beside the outputs.
    pub(crate) async fn run(&self, graph: &str) -> (Summary, Log) {
        let mut log = Log::default();
        let summary = self.build(graph).run(&mut log).await.unwrap();
        let count = |folder: &str| {
            let entries = fs::read_dir(self.path().join(folder));
            entries.into_iter().flatten().count()
        };
        assert_eq!(count(".filch/new"), 0);
        // The removal of the actions' folders goes on when they have ended.
        let gone = async {
            while count(".filch/actions") > 0 {
                tokio::task::yield_now().await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(60), gone).await;
        gone.expect("the folder of an action is still there");
        (summary, log)
    }
}
