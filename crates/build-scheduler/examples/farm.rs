//! A small farm: three workers build a layered program, and one of them is lost halfway.
//!
//! `cargo run -p filch-build-scheduler --example farm`

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use filch_build_scheduler::{Config, Job, Scheduler, WorkerId};
use filch_timers::Timers;

type Farm = Scheduler<String, u32, u32>;

/// Runs jobs until the worker is removed or the scheduler stops. Returns their number.
fn serve(farm: &Farm, worker: WorkerId, dies_at: &AtomicU32) -> u32 {
    let mut built = 0;
    while let Ok(job) = farm.pick_job(worker).wait() {
        if dies_at.fetch_sub(1, Ordering::Relaxed) == 1 {
            // The machine is gone, and misses a heartbeat: another one gets its job.
            let given_back = farm.remove_worker(worker).wait();
            println!(
                "lost a worker, which ran {:?}",
                given_back.unwrap_or_default()
            );
            break;
        }
        // A report is refused if the worker was removed meanwhile.
        if farm
            .on_job_complete(worker, job.id.clone(), job.content)
            .wait()
            .is_ok()
        {
            built += 1;
        }
    }
    built
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const LAYERS: u32 = 20;
    const WIDTH: u32 = 10;

    let config = Config::new(Duration::from_millis(1), Duration::from_millis(2));
    let farm: Farm = Scheduler::new(config, &Timers::new()?);
    let dies_at = AtomicU32::new(LAYERS * WIDTH / 2);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for _ in 0..3 {
            let worker = farm.register_worker().wait()?;
            let (farm, dies_at) = (&farm, &dies_at);
            workers.push(scope.spawn(move || serve(farm, worker, dies_at)));
        }
        for layer in 0..LAYERS {
            let jobs = (0..WIDTH).map(|job| {
                let name = |layer: u32, job: u32| format!("{layer}.{job}");
                let inputs = [job, (job + 1) % WIDTH].map(|job| name(layer.wrapping_sub(1), job));
                let inputs = inputs.into_iter().filter(|_| layer > 0);
                farm.schedule_job(Job::with_dependencies(name(layer, job), inputs, job))
            });
            for (pending, job) in jobs.collect::<Vec<_>>().into_iter().zip(0..) {
                assert_eq!(*pending.wait()?, job);
            }
        }
        farm.stop().wait()?;
        let built = workers.into_iter().map(|worker| worker.join().unwrap_or(0));
        println!("each worker built: {:?}", built.collect::<Vec<_>>());
        Ok(())
    })
}
