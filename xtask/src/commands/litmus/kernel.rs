//! The notation of kernels, which `loom-tests/litmus/README.md` describes.

/// A few accesses of two or three threads, and the outcome that must not be.
#[derive(Default)]
pub(super) struct Kernel<'t> {
    /// The functions that it stands for: `deque/src/deque.rs`, `Deque::bump, Deque::claim`.
    pub(super) code: Vec<(&'t str, &'t str)>,
    /// The words that do not start as 0: `top = 16; bottom = 2`.
    pub(super) start: &'t str,
    pub(super) threads: Vec<Thread<'t>>,
    never: &'t str,
}

#[derive(Default)]
pub(super) struct Thread<'t> {
    name: &'t str,
    pub(super) steps: Vec<Step<'t>>,
    pub(super) places: Vec<&'t str>,
    pub(super) registers: Vec<&'t str>,
}

/// `if GUARD: REGISTER = PLACE.METHOD(ARGUMENTS)`; what is not there is empty.
pub(super) struct Step<'t> {
    pub(super) guard: &'t str,
    pub(super) register: &'t str,
    pub(super) place: &'t str,
    pub(super) method: &'t str,
    pub(super) arguments: &'t str,
}

/// Returns the kernel of that text as it is, and each of its weakenings: what was weakened, the
/// text then, and the verdict that is expected: the models that show the outcome, or `safe`.
pub(super) fn cases(text: &str) -> Vec<(String, String, String)> {
    let mut cases = vec![("as shipped".to_owned(), text.to_owned(), "safe".to_owned())];
    for line in text.lines() {
        let notes = line.split_once("//").map_or("", |(_, notes)| notes);
        for (to, expected) in notes.split(';').filter_map(|note| note.split_once(": ")) {
            let (to, mark) = to.trim().split_once(' ').unwrap_or((to.trim(), "\n"));
            let (mut what, mut weaker, mut thread) = (Vec::new(), String::new(), "");
            for other in text.lines() {
                if !other.starts_with(' ') {
                    thread = other;
                }
                // Those with one mark are weakened together.
                if std::ptr::eq(other, line) || other.ends_with(mark) {
                    let code = other.split("//").next().unwrap_or_default().trim();
                    what.push(format!("{thread}: {code} {to}"));
                    let ordering = code.find(char::is_uppercase).unwrap_or_default();
                    let (before, from) = code.split_at(ordering);
                    let after = &from[from.find([',', ')']).unwrap_or_default()..];
                    if to != "dropped" {
                        weaker += &format!("    {before}{to}{after}");
                    }
                } else {
                    weaker += other;
                }
                weaker.push('\n');
            }
            cases.push((what.join(" and "), weaker, expected.trim().to_owned()));
        }
    }
    cases
}

/// Lists what is weakened by itself: its word, the mutant's name in the table of `cargo xtask
/// orderings`, and the verdict.
pub(super) fn weakenings(text: &str) -> Vec<((&str, String), &str)> {
    let mut found = Vec::new();
    for (code, notes) in text.lines().filter_map(|line| line.split_once("//")) {
        let mut thread = Thread::default();
        let _ = thread.read(code.trim());
        for step in thread.steps {
            let from = step.arguments.find(char::is_uppercase).unwrap_or_default();
            let from = step.arguments[from..].split(',').next().unwrap_or_default();
            let access = step.method.replace("exchange", "exchange, success");
            for (to, models) in notes.split(';').filter_map(|note| note.split_once(": ")) {
                let to = to.trim().replace("dropped", "no fence");
                found.push(((step.place, format!("{access} {from} → {to}")), models));
            }
        }
    }
    found
}

impl<'t> Kernel<'t> {
    /// Reads a kernel. The error is a line that does not belong there.
    pub(super) fn parse(text: &'t str) -> Result<Self, &'t str> {
        let mut kernel = Self::default();
        for line in text.lines() {
            let code = line.split("//").next().unwrap_or_default().trim_end();
            let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
            match (word, code.strip_prefix("    "), kernel.threads.last_mut()) {
                (_, Some(step), Some(thread)) => thread.read(step).ok_or(line)?,
                ("" | "#", ..) => {}
                ("code", ..) => kernel.code.push(rest.split_once(": ").ok_or(line)?),
                ("start", ..) => kernel.start = rest,
                ("never", ..) => kernel.never = rest,
                (name, ..) => kernel.threads.push(Thread {
                    name,
                    ..Thread::default()
                }),
            }
        }
        Ok(kernel)
    }

    /// The outcome as herd7 has it; `name` says how a register is called there.
    pub(super) fn outcome(&self, name: impl Fn(&Thread<'_>, &str) -> String) -> String {
        let translate = |word: &str| {
            let (of, own) = word.split_once('.').unwrap_or_default();
            match self.threads.iter().position(|thread| thread.name == of) {
                Some(at) => format!("{at}:{} ", name(&self.threads[at], own.trim_end())),
                None => word.replace("&&", "/\\").replace("||", "\\/"),
            }
        };
        let words = self.never.split_inclusive([' ', '(']).map(translate);
        words.collect::<String>().replace(" == ", "=")
    }
}

impl<'t> Thread<'t> {
    fn read(&mut self, step: &'t str) -> Option<()> {
        let guarded = step
            .strip_prefix("if ")
            .and_then(|step| step.split_once(": "));
        let (guard, action) = guarded.unwrap_or(("", step));
        let (register, call) = action.split_once(" = ").unwrap_or(("", action));
        let (callee, arguments) = call.strip_suffix(')')?.split_once('(')?;
        let (place, method) = callee.split_once('.').unwrap_or(("", callee));
        for (names, name) in [(&mut self.places, place), (&mut self.registers, register)] {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        self.steps.push(Step {
            guard,
            register,
            place,
            method,
            arguments,
        });
        Some(())
    }
}
