//! The speed of a server.

use std::time::Instant;

use crate::Result;
use crate::servers::Process;

/// The speed of a server at one task.
pub(crate) struct Rate {
    /// The number done in a second.
    rate: f64,
    /// The server's processor time for each, in microseconds.
    cpu: f64,
}

impl Rate {
    pub(crate) async fn of(
        server: &Process,
        count: f64,
        work: impl Future<Output = Result<()>>,
    ) -> Result<Self> {
        let (begin, cpu) = (Instant::now(), server.cpu_time()?);
        work.await?;
        let taken = begin.elapsed();
        let cpu = server.cpu_time()? - cpu;
        Ok(Self {
            rate: count / taken.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / count,
        })
    }
}

pub(crate) fn report(what: &str, unit: &str, rates: Vec<Rate>) {
    let cpu = spread(rates.iter().map(|rate| rate.cpu).collect());
    let rates = spread(rates.iter().map(|rate| rate.rate).collect());
    println!("{what}: {rates} {unit}/s; {cpu} us of the server for each");
}

/// Writes the ratio of rates that were measured in the same round.
pub(crate) fn ratio(ours: &[Rate], rival: &[Rate]) -> String {
    let rounds = ours.iter().zip(rival);
    spread(rounds.map(|(ours, rival)| ours.rate / rival.rate).collect())
}

/// Writes the median, the least and the greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let [least, .., greatest] = values[..] else {
        return format!("{values:.2?}");
    };
    let digits = if greatest < 10.0 { 2 } else { 0 };
    let median = values[values.len() / 2];
    format!("{median:.digits$} [{least:.digits$} to {greatest:.digits$}]")
}
