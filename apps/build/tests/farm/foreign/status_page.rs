//! The status page, in a browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::bazel::{Bazel, Build};
use super::farm::Farm;
use crate::installed;
use crate::leaver::pipe;

/// A script that an action may have in its command.
const SCRIPT: &str = "<script>document.title='broken'</script>";

/// The time limit of a browser, in seconds.
const LIMIT: &str = "60";

/// Loads the page, as the browser understands it.
fn look(chromium: &Path, farm: &Farm) -> String {
    let profile = tempfile::tempdir().unwrap();
    let page = format!("http://{}/status", farm.address);
    // A browser that hangs is ended, with the processes that it has started.
    let mut browser = Command::new("timeout");
    browser.args(["-k", "5", LIMIT]).arg(chromium);
    browser.args(["--headless", "--no-sandbox", "--disable-gpu"]);
    browser.arg("--disable-dev-shm-usage");
    browser.arg(format!("--user-data-dir={}", profile.path().display()));
    // So that a person can look at it.
    if let Some(place) = std::env::var_os("FILCH_SCREENSHOT") {
        let mut picture = Command::new(browser.get_program());
        picture
            .args(browser.get_args())
            .arg("--window-size=500,1100");
        picture.arg(format!("--screenshot={}", Path::new(&place).display()));
        picture.arg(&page).output().unwrap();
    }
    browser.args(["--dump-dom", &page]);
    let output = browser.output().expect("the browser starts");
    let why = match output.status.code() {
        Some(124) => format!("was not done in {LIMIT} s"),
        _ => output.status.to_string(),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser: {why}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the text of the element with that id.
#[track_caller]
fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).expect(page);
    rest.split_once('<').expect(page).0
}

#[test]
fn a_browser_shows_what_runs() {
    let Some(chromium) = installed::of_the_system("chromium") else {
        return;
    };
    let Some(bazel) = Bazel::find() else { return };
    let farm = Farm::start(&[]);
    let workspace = bazel.workspace();
    let options = ["--sandbox-path", workspace.to_str().unwrap()];
    let _worker = farm.worker_with("the-worker", &options);
    farm.wait_for("workers", None, 1);
    // The action ends when the test opens the gate.
    let gate = pipe(&workspace, "gate");
    let command = format!(": \"{SCRIPT}\"; cat {gate} > $@");
    let rule = format!("genrule(name = \"make\", outs = [\"out\"], cmd = {command:?})\n");
    bazel.write(&rule);
    let build = bazel.start_on(&farm.address, "//:make");
    farm.wait_for("worker_running_actions", None, 1);

    let page = look(&chromium, &farm);
    assert_eq!(element(&page, "workers"), "1");
    assert_eq!(element(&page, "running"), "1 of 2");
    assert!(page.contains("the-worker"), "{page}");
    assert!(page.contains("1 pending"), "{page}");
    assert!(page.contains("<title>filch build farm</title>"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    let escaped = SCRIPT.replace('<', "&lt;").replace('>', "&gt;");
    assert!(page.contains(&escaped), "{page}");

    fs::write(&gate, "done").unwrap();
    Build::of(build.wait_with_output()).assert_all("remote", 1);
    let page = look(&chromium, &farm);
    assert_eq!(element(&page, "running"), "0 of 2");
    assert_eq!(element(&page, "succeeded"), "1");
    assert!(page.contains("bazel 2.1.0"), "{page}");
    assert!(page.contains("0 cached, 1 ran, 0 failed"), "{page}");
}
