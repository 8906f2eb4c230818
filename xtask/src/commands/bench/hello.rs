//! The price of a scheduler before it does anything: the time of a build from nothing, and the size
//! of what comes out. Each program says hello on another thread.

use std::fs;
use std::time::Instant;

use crate::support::Result;
use crate::support::process::{cargo, fresh_folder, root, target_directory};
use crate::support::table::Table;

/// The number of builds of each.
const ROUNDS: usize = 3;

/// A name, what it depends on, and the program. `ROOT` is the workspace's.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "std",
        "",
        "std::thread::spawn(|| println!(\"hello\")).join().unwrap();",
    ),
    (
        "filch-actors",
        "filch-scheduler = { path = \"ROOT/crates/scheduler\" }
         filch-actors = { path = \"ROOT/crates/actors\" }",
        "use filch_actors::prelude::*;
         enum Any {}
         impl filch_scheduler::Protocol for Any {
             type Input = ();
             type Message = ();
             type Command = ();
             type Reply = ();
             type Output = ();
             type Error = String;
         }
         let scheduler = filch_scheduler::Scheduler::<Any>::builder().build().unwrap();
         scheduler.spawn(async { println!(\"hello\") }).unwrap().join().unwrap();",
    ),
    (
        "tokio",
        "tokio = { version = \"1\", features = [\"rt-multi-thread\"] }",
        "let runtime = tokio::runtime::Runtime::new().unwrap();
         runtime.block_on(runtime.spawn(async { println!(\"hello\") })).unwrap();",
    ),
    (
        "filch-fork-join",
        "filch-fork-join = { path = \"ROOT/crates/fork-join\" }",
        "let pool = filch_fork_join::Pool::new(2).unwrap();
         pool.install(|worker| worker.join(|_| println!(\"hello\"), |_| ()));",
    ),
    (
        "rayon",
        "rayon = \"1\"",
        "rayon::join(|| println!(\"hello\"), || ());",
    ),
];

/// Builds and measures all, each a workspace of its own, with the versions that the comparisons
/// have, and prints the table.
pub(super) fn run() -> Result<()> {
    let mut table = Table::new(&["hello by", ">build, s", ">stripped, KiB"]);
    let root = root();
    for (name, dependency, program) in PROGRAMS {
        let package = target_directory("hello").join(name);
        let target = package.join("target");
        fs::create_dir_all(package.join("src"))?;
        let dependency = dependency.replace("ROOT", &root.to_string_lossy());
        let manifest = format!(
            "[package]\nname = \"hello\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{dependency}\n\n[profile.release]\nstrip = true\n"
        );
        fs::write(package.join("Cargo.toml"), manifest)?;
        let program = format!("fn main() {{\n{program}\n}}\n");
        fs::write(package.join("src/main.rs"), program)?;
        let lock = root.join("benches/rivals/Cargo.lock");
        fs::copy(lock, package.join("Cargo.lock"))?;
        // Nothing is downloaded while the clock runs.
        cargo().arg("fetch").current_dir(&package).status()?;
        let mut seconds = [0.0; ROUNDS];
        for elapsed in &mut seconds {
            fresh_folder(&target)?;
            let started = Instant::now();
            let mut build = cargo();
            build.args(["build", "--release", "--quiet"]);
            build.current_dir(&package).env("CARGO_TARGET_DIR", &target);
            if !build.status()?.success() {
                return Err(format!("{} does not build", package.display()).into());
            }
            *elapsed = started.elapsed().as_secs_f64();
        }
        seconds.sort_by(f64::total_cmp);
        let bytes = fs::metadata(target.join("release/hello"))?.len();
        table.row([
            (*name).to_owned(),
            format!("{:.1}", seconds[ROUNDS / 2]),
            format!("{:.0}", bytes as f64 / 1024.0),
        ]);
    }
    print!("{table}");
    Ok(())
}
