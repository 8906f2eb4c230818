//! Doing many jobs at the same time.

use std::sync::{Mutex, mpsc};
use std::thread;

use super::Result;

/// Does `work` for each of `jobs` on as many threads as there are cores; the results are in the
/// order of the jobs. An error ends it.
pub(crate) fn map<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let mut results = Vec::new();
    each(jobs, work, |index, result| {
        results.push((index, result));
        Ok(())
    })?;
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The same; each result is `told`, here, as it comes, with the index of its job.
pub(crate) fn each<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R> + Sync,
    mut told: impl FnMut(usize, R) -> Result<()>,
) -> Result<()> {
    let cores = thread::available_parallelism()?.get();
    let queue = Mutex::new(jobs.iter().enumerate());
    let (send, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..cores {
            let (queue, work, send) = (&queue, &work, send.clone());
            scope.spawn(move || {
                let next = || queue.lock().expect("no holder panics").next();
                while let Some((index, job)) = next() {
                    // Nobody listens after an error.
                    if send.send((index, work(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        // Dropped at an error.
        let mut results = results.into_iter();
        results.try_for_each(|(index, result)| told(index, result?))
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let squares = map(&[3, 1, 2], |job| Ok(job * job)).unwrap();
        assert_eq!(squares, [9, 1, 4]);
    }

    #[test]
    fn an_error_ends_it() {
        let jobs: Vec<_> = (0..1000).collect();
        let failed = map(&jobs, |job| match job {
            2 => Err("two".into()),
            _ => Ok(()),
        });
        assert_eq!(failed.unwrap_err().to_string(), "two");
    }
}
