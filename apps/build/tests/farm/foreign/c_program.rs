//! A C program, and its build in 200 genrules of four layers: headers, objects, archives, partial
//! links; then the program.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

const HEADERS: usize = 40;
const PARTS: usize = 120;
const PARTS_OF_AN_ARCHIVE: usize = 4;
const ARCHIVES_OF_A_LINK: usize = 4;

/// The number of actions: the object of `main.c` and the program are the last two.
pub(crate) const ACTIONS: usize = HEADERS
    + PARTS
    + PARTS / PARTS_OF_AN_ARCHIVE
    + (PARTS / PARTS_OF_AN_ARCHIVE).div_ceil(ARCHIVES_OF_A_LINK)
    + 2;

/// The target for Bazel.
pub(crate) const TARGET: &str = "//:program";

/// The path of the program, in the workspace.
pub(crate) const PROGRAM: &str = "bazel-bin/program.exe";

/// Writes a workspace of Bazel.
pub(crate) fn write(workspace: &Path) -> io::Result<()> {
    let mut rules = String::new();
    for header in 0..HEADERS {
        fs::write(workspace.join(format!("{header}.txt")), setting(header))?;
        let command = "echo \"#define SETTING $$(cat $<)\" > $@";
        genrule(
            &mut rules,
            &format!("{header}.h"),
            &[&format!("{header}.txt")],
            command,
        );
    }
    for part in 0..PARTS {
        let header = part % HEADERS;
        let source = format!(
            "#include \"{header}.h\"\nint part_{part}(void) {{ return SETTING + {part}; }}\n"
        );
        fs::write(workspace.join(format!("{part}.c")), source)?;
        let sources = [&*format!("{part}.c"), &*format!("{header}.h")];
        let command = format!("/usr/bin/gcc -c -I$(@D) $(location {part}.c) -o $@");
        genrule(&mut rules, &format!("{part}.o"), &sources, &command);
    }
    let objects: Vec<_> = (0..PARTS).map(|part| format!("{part}.o")).collect();
    let mut archives = Vec::new();
    for (archive, objects) in objects.chunks(PARTS_OF_AN_ARCHIVE).enumerate() {
        archives.push(format!("{archive}.a"));
        let command = "/usr/bin/ar rcsD $@ $(SRCS)";
        genrule(&mut rules, &archives[archive], objects, command);
    }
    let mut links = Vec::new();
    for (link, archives) in archives.chunks(ARCHIVES_OF_A_LINK).enumerate() {
        links.push(format!("link_{link}.o"));
        let command = "/usr/bin/gcc -r -nostdlib -Wl,--whole-archive $(SRCS) -o $@";
        genrule(&mut rules, &links[link], archives, command);
    }
    fs::write(workspace.join("main.c"), main_source())?;
    genrule(
        &mut rules,
        "main.o",
        &["main.c"],
        "/usr/bin/gcc -c $< -o $@",
    );
    links.push("main.o".into());
    genrule(
        &mut rules,
        "program.exe",
        &links,
        "/usr/bin/gcc $(SRCS) -o $@",
    );
    rules += "alias(name = \"program\", actual = \":make_program.exe\")\n";
    fs::write(workspace.join("BUILD"), rules)?;
    fs::write(workspace.join("WORKSPACE"), "")
}

/// Returns the output that the program prints.
pub(crate) fn printed() -> String {
    let sum: usize = (0..PARTS)
        .map(|part| setting(part % HEADERS).parse::<usize>().unwrap() + part)
        .sum();
    format!("{sum}\n")
}

fn setting(header: usize) -> String {
    (1000 + header).to_string()
}

fn main_source() -> String {
    let mut source = "#include <stdio.h>\n".to_owned();
    let mut sum = "0".to_owned();
    for part in 0..PARTS {
        let _ = writeln!(source, "int part_{part}(void);");
        let _ = write!(sum, " + part_{part}()");
    }
    source + &format!("int main(void) {{ printf(\"%d\\n\", {sum}); return 0; }}\n")
}

fn genrule(rules: &mut String, output: &str, sources: &[impl AsRef<str>], command: &str) {
    let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
    // Rust writes strings, and lists of them, in the same way as Bazel.
    let _ = writeln!(
        rules,
        "genrule(name = {:?}, srcs = {sources:?}, outs = [{output:?}], cmd = {command:?})",
        format!("make_{output}"),
    );
}
