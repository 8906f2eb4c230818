//! Doing many jobs at the same time.

use std::sync::Mutex;
use std::thread;

use super::error::Result;

/// Does `work` for each of `jobs` on as many threads as there are cores; the results are in the
/// order of the jobs. An error ends it.
pub(crate) fn map<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let cores = vec![(); thread::available_parallelism()?.get()];
    each(&cores, jobs, |(), job| work(job))
}

/// Does `work` for each of `jobs`, one at a time in each of `places`; the results are in the order
/// of the jobs. An error ends it.
pub(crate) fn each<P: Sync, J: Sync, R: Send>(
    places: &[P],
    jobs: &[J],
    work: impl Fn(&P, &J) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let queue = Mutex::new(jobs.iter().enumerate());
    let next = || queue.lock().expect("no holder panics").next();
    let serve = |place: &P| {
        let mut results = Vec::new();
        while let Some((index, job)) = next() {
            let result = work(place, job).inspect_err(|_| while next().is_some() {})?;
            results.push((index, result));
        }
        Result::Ok(results)
    };
    let mut results = Vec::new();
    thread::scope(|scope| {
        let serve = &serve;
        let workers: Vec<_> = places
            .iter()
            .map(|place| scope.spawn(move || serve(place)))
            .collect();
        for worker in workers {
            results.extend(worker.join().expect("a worker does not panic")?);
        }
        Result::Ok(())
    })?;
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::{each, map};

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        let squares = map(&[3, 1, 2], |job| Ok(job * job)).unwrap();
        assert_eq!(squares, [9, 1, 4]);
    }

    #[test]
    fn an_error_ends_it() {
        let failed = each(&[()], &[1, 2, 3], |(), job| {
            assert!(*job < 3, "no job is begun after the error");
            if *job == 2 {
                Err("two".into())
            } else {
                Ok(*job)
            }
        });
        assert_eq!(failed.unwrap_err().to_string(), "two");
    }
}
