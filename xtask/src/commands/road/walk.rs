//! One road: callgrind tells the line of each instruction, and lackey the order in which they are
//! executed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Result;
use crate::support::process::{root, sources, target_directory};

/// The number of times that an operation is done.
const TIMES: &str = "512";

/// A file counts that has as many instructions in an operation.
const FEWEST: f64 = 0.5;

/// The address at which valgrind puts the first byte of a program.
const FIRST_BYTE: u64 = 0x10_8000;

/// The folder of the jobs, whose comments say where a road begins and ends.
const JOBS: &str = "benches/operations/src";

pub(super) struct Walked {
    pub(super) name: &'static str,
    /// Files below `crates`, with their instructions per operation, in the order in which they are
    /// first executed.
    pub(super) files: Vec<(String, f64)>,
}

/// The file and the line of each instruction, by its address in the program.
type Lines<'t> = HashMap<u64, (&'t str, usize)>;

/// Runs a job of `program` under both tools, and follows it.
pub(super) fn walk(program: &Path, name: &'static str, job: &str) -> Result<Walked> {
    let [begin, end] = ["begins", "ends"].map(|what| marked(&format!("road of {name} {what}.")));
    let begin = begin?.ok_or_else(|| format!("no comment says where the road of {name} begins"))?;
    let end = end?;
    let under = |tool, options: &[&str], to| under(tool, options, to, program, job);
    let options = [
        "--dump-instr=yes",
        "--compress-strings=no",
        "--compress-pos=no",
    ];
    let lines = under("callgrind", &options, "--callgrind-out-file")?;
    let lines = lines_of(&lines, &program.to_string_lossy());
    let trace = under("lackey", &["--trace-mem=yes"], "--log-file")?;
    let is_at = |address: &u64, (file, line): &(String, usize)| {
        let (of, at) = lines[address];
        at == *line && of.ends_with(file)
    };
    let ours = root().join("crates/").to_string_lossy().into_owned();
    let steps = trace.lines().filter_map(executed);
    let steps: Vec<u64> = steps.filter(|step| lines.contains_key(step)).collect();
    // The line may be come back to: its first instruction is the one to count by.
    let first = steps.iter().find(|step| is_at(step, &begin));
    let begins = (0..steps.len()).filter(|&at| Some(&steps[at]) == first);
    let begins: Vec<_> = begins.collect();
    // The first half is for what is made once.
    let half = begins.len() / 2;
    let (Some(&from), Some(&to)) = (begins.get(half), begins.last()) else {
        return Err(format!("the road of {name} is not taken").into());
    };
    let times = (begins.len() - 1 - half) as f64;
    let mut files: Vec<(String, f64)> = Vec::new();
    let mut is_on = true;
    for step in &steps[from..to] {
        is_on = Some(step) == first || is_on && !end.as_ref().is_some_and(|end| is_at(step, end));
        if let Some(file) = lines[step].0.strip_prefix(&*ours).filter(|_| is_on) {
            match files.iter_mut().find(|(known, _)| known == file) {
                Some((_, count)) => *count += 1.0,
                None => files.push((file.to_owned(), 1.0)),
            }
        }
    }
    files.iter_mut().for_each(|(_, count)| *count /= times);
    files.retain(|(_, count)| *count >= FEWEST);
    Ok(Walked { name, files })
}

/// Returns the report of a tool on a job.
fn under(tool: &str, options: &[&str], to: &str, program: &Path, job: &str) -> Result<String> {
    let output = target_directory("road").join(tool);
    fs::create_dir_all(target_directory("road"))?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", &format!("--tool={tool}")]);
    valgrind
        .args(options)
        .arg(format!("{to}={}", output.display()));
    valgrind.arg(program).args(["--run", job, "--times", TIMES]);
    valgrind.stdout(Stdio::null());
    if !valgrind.status()?.success() {
        return Err(format!("{valgrind:?} has failed").into());
    }
    Ok(fs::read_to_string(output)?)
}

/// Reads what callgrind has written; only the lines of that program count.
fn lines_of<'t>(output: &'t str, program: &str) -> Lines<'t> {
    let mut lines = Lines::new();
    let (mut is_program, mut is_call, mut file) = (false, false, "");
    for line in output.lines() {
        let mut words = line.split(' ');
        let address = words.next().and_then(|word| word.strip_prefix("0x"));
        match (address, line.split_once('=')) {
            (_, Some(("ob", object))) => is_program = object == program,
            (_, Some(("fl" | "fi" | "fe", name))) => file = name,
            // What the called function takes stands in the next line.
            (_, Some(("calls", _))) => is_call = true,
            (Some(_), _) if std::mem::take(&mut is_call) => {}
            (Some(address), _) if is_program => {
                let address = u64::from_str_radix(address, 16);
                let number = words.next().and_then(|word| word.parse().ok());
                lines.extend(address.ok().zip(number.map(|number| (file, number))));
            }
            _ => {}
        }
    }
    lines
}

/// Reads a line of lackey's: `I  0400905b,2` is an instruction, the rest are accesses to memory.
fn executed(line: &str) -> Option<u64> {
    let (address, _) = line.strip_prefix("I  ")?.split_once(',')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    address.checked_sub(FIRST_BYTE)
}

/// The file and the line about which a comment says that: its own line, or the next.
fn marked(words: &str) -> Result<Option<(String, usize)>> {
    for file in sources(JOBS)? {
        let text = fs::read_to_string(root().join(&file))?;
        let mut lines = text.lines().enumerate();
        if let Some((index, line)) = lines.find(|(_, line)| line.contains(words)) {
            let is_alone = line.trim().starts_with("//");
            let file = file.to_string_lossy().into_owned();
            return Ok(Some((file, index + 1 + usize::from(is_alone))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{executed, lines_of};

    #[test]
    fn both_tools_mean_the_same_instruction() {
        let output = "ob=/p\nfl=/a.rs\nfn=f\n0x10 7 1\ncalls=1 0x9 1\n0x14 7 90\nfi=/b.rs\n\
                      0x18 9 1\nob=/other\n0x10 8 1\n";
        let lines = lines_of(output, "/p");
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[&executed("I  00108010,4").unwrap()], ("/a.rs", 7));
        assert_eq!(lines[&0x18], ("/b.rs", 9));
        assert_eq!(executed(" L 00108010,4"), None);
    }
}
