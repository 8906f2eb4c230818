//! The nightly's standard library, instrumented for ThreadSanitizer.
//!
//! It comes without: what its locks, channels and threads order would not be seen, and reported as
//! races. But its objects also hold their LLVM bitcode, for optimisation at link time, and the
//! toolchain's own linker runs any pass of LLVM over bitcode.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Result;
use super::process::{fresh_folder, of_toolchain};

/// All that programs call, and what runs tests.
const INSTRUMENTED: [&str; 4] = ["libcore-", "liballoc-", "libstd-", "libtest-"];

/// Acquire fences, which the sanitizer does not know. cargo does not see that it has changed: then
/// remove what is built.
const FENCE: &str = "xtask/fence.rs";

/// A program with a race.
const RACE: &str = "xtask/race.rs";

/// Makes that sysroot, and returns the compiler's arguments for a program of it. Fails if a race is
/// not reported there.
pub(crate) fn instrumented(sysroot: &Path) -> Result<Vec<String>> {
    let libraries = PathBuf::from(print("target-libdir")?);
    let to = sysroot.join(libraries.strip_prefix(print("sysroot")?)?);
    fresh_folder(sysroot)?;
    fs::create_dir_all(&to)?;
    for file in fs::read_dir(&libraries)? {
        let (file, name) = file.map(|file| (file.path(), file.file_name()))?;
        let to = to.join(&name);
        let name = name.to_string_lossy();
        if name.ends_with(".rlib") && INSTRUMENTED.iter().any(|library| name.starts_with(library)) {
            fs::copy(file, &to)?;
            instrument(&to, &libraries.join("../bin"), &sysroot.join("objects"))?;
        } else {
            symlink(file, to)?;
        }
    }
    let fence = sysroot.join("fence.o");
    let mut rustc = nightly("rustc")?;
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=obj"]);
    rustc.args(["-O", "-Ccodegen-units=1", "-Cpanic=abort", FENCE, "-o"]);
    run(rustc.arg(&fence))?;
    let arguments = vec![
        "-Zsanitizer=thread".into(),
        "-Cunsafe-allow-abi-mismatch=sanitizer".into(),
        format!("--sysroot={}", sysroot.display()),
        format!("-Clink-arg={}", fence.display()),
        "-Clink-arg=-Wl,--wrap=__tsan_atomic64_fetch_sub".into(),
        "-Clink-arg=-Wl,--wrap=__tsan_atomic_thread_fence".into(),
    ];
    let race = sysroot.join("race");
    let mut rustc = nightly("rustc")?;
    rustc.args(&arguments).args(["--edition=2024", RACE, "-o"]);
    run(rustc.arg(&race))?;
    let output = Command::new(&race).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    match error.contains("ThreadSanitizer: data race") {
        true => Ok(arguments),
        false => Err(format!("{RACE} races, and is not reported: {error}").into()),
    }
}

/// Replaces each object of the library by one from its bitcode, instrumented.
fn instrument(library: &Path, tools: &Path, folder: &Path) -> Result<()> {
    fresh_folder(folder)?;
    run(Command::new("ar").current_dir(folder).arg("x").arg(library))?;
    for object in fs::read_dir(folder)? {
        let object = object?.path();
        if object.extension().is_none_or(|extension| extension != "o") {
            continue;
        }
        let bitcode = folder.join("bitcode");
        let mut objcopy = nightly(tools.join("rust-objcopy"))?;
        objcopy.arg("--dump-section");
        objcopy.arg(format!(".llvmbc={}", bitcode.display()));
        run(objcopy.arg(&object).arg("/dev/null"))?;
        let mut linker = nightly(tools.join("rust-lld"))?;
        linker.args(["-flavor", "gnu", "--relocatable"]);
        linker.args(["-mllvm", "-force-attribute=sanitize_thread"]);
        linker.arg("--lto-newpm-passes=forceattrs,tsan-module,function(tsan)");
        run(linker.arg(&bitcode).arg("-o").arg(&object))?;
        run(Command::new("ar").arg("r").arg(library).arg(&object))?;
    }
    Ok(())
}

/// A program of the nightly toolchain.
fn nightly(program: impl AsRef<OsStr>) -> Result<Command> {
    Ok(of_toolchain("nightly", program).ok_or("there is no nightly toolchain")?)
}

/// Returns what the compiler prints of itself.
fn print(what: &str) -> Result<String> {
    let output = nightly("rustc")?.args(["--print", what]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

fn run(command: &mut Command) -> Result<()> {
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("{command:?} has failed").into()),
    }
}
