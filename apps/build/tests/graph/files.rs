//! Files that are no graphs: each is refused with its line, its job and its reason.

use std::path::Path;

use filch_build::graph::{Graph, GraphError};
use proptest::prelude::*;

use crate::project::{Log, Project};

fn parse(text: &str) -> Result<Graph, GraphError> {
    Graph::parse(Path::new("graph.toml"), text)
}

#[test]
fn each_mistake_is_named_with_its_place() {
    for (text, expected) in [
        ("x", "1: "),
        ("[[job]]\nsh = 'x'", "1: missing field `id`"),
        ("[[job]]\nid = ''\nsh = 'x'", "2: job \"\": the id is empty"),
    ] {
        is_refused(text, expected);
    }
    for (rest, line, expected) in [
        ("", 2, "there is no command"),
        ("sh = ' '", 2, "there is no command"),
        ("command = []", 2, "there is no command"),
        ("command = ['']", 2, "there is no command"),
        ("sh = 'x'\ncommand = ['x']", 2, "there are both"),
        ("sh = \"\\u0000\"", 2, "the argument"),
        ("sh = 'x'\nenv = { 'a=' = '' }", 2, "\"a=\" cannot"),
        ("sh = 'x'\ntimeout = -1", 2, "`timeout`"),
        ("sh = 'x'\ntimeout = nan", 2, "`timeout`"),
        ("sh = 'x'\ndeps = [\n'b']", 5, "there is no job \"b\""),
        ("sh = 'x'\ninputs = ['../x']", 4, "the input \"../x\""),
        (
            "sh = 'x'\ninputs = ['/x']",
            4,
            "the input \"/x\" is an absolute path",
        ),
        ("sh = 'x'\ninputs = ['a***']", 4, "the input \"a***\": "),
        (
            "sh = 'x'\noutputs = ['a/../../b']",
            4,
            "the output \"a/../../b\"",
        ),
        (
            "sh = 'x'\noutputs = ['.filch/a']",
            4,
            "the output \".filch/a\" is in the cache",
        ),
    ] {
        let text = format!("[[job]]\nid = 'a'\n{rest}");
        is_refused(&text, &format!("{line}: job \"a\": {expected}"));
    }
    is_refused(
        "[[job]]\nid = 'a'\nsh = 'x'\nfoo = 1",
        "4: unknown field `foo`",
    );
    let one = |rest: &str| format!("[[job]]\nid = 'a'\nsh = 'x'\n{rest}\n");
    for (rest, other, expected) in [
        (
            "",
            "id = 'a'\nsh = 'y'",
            "6: job \"a\": there is another job",
        ),
        (
            "outputs = ['o']",
            "id = 'b'\nsh = 'x'\noutputs = ['o']",
            "8: job \"b\": the output \"o\" is one of the job \"a\", too",
        ),
        (
            "outputs = ['o/p']",
            "id = 'b'\nsh = 'x'\noutputs = ['o']",
            "4: job \"a\": the output \"o/p\" and \"o\" of the job \"b\" overlap",
        ),
        (
            "outputs = ['o']",
            "id = 'b'\nsh = 'x'\ninputs = ['o/x']",
            "8: job \"b\": the input \"o/x\" is made by the job \"a\"",
        ),
    ] {
        is_refused(&format!("{}[[job]]\n{other}", one(rest)), expected);
    }
}

#[track_caller]
fn is_refused(text: &str, expected: &str) {
    let error = parse(text).expect_err(text).to_string();
    let expected = format!("graph.toml:{expected}");
    assert!(error.starts_with(&expected), "{text}\n{error}\n{expected}");
}

#[test]
fn a_circle_is_named() {
    let job = |id: &str, dep: &str| format!("[[job]]\nid = '{id}'\nsh = 'x'\ndeps = ['{dep}']\n");
    let text = job("z", "a") + &job("a", "b") + &job("b", "c") + &job("c", "a");
    let error = parse(&text).unwrap_err();
    assert_eq!((error.line, error.job.as_deref()), (6, Some("a")));
    assert!(
        error.problem.ends_with("in a circle: a -> b -> c -> a"),
        "{error}"
    );
    let own = parse(&job("a", "a")).unwrap_err();
    assert!(own.to_string().ends_with("a -> a"), "{own}");
}

#[tokio::test]
async fn an_input_that_is_not_there_is_named_before_anything_runs() {
    let project = Project::new(&[]);
    for input in ["gone", "*.gone"] {
        let graph = format!("[[job]]\nid = 'a'\nsh = 'x'\ninputs = [\n'{input}']");
        let error = project.build(&graph).run(&mut Log::default()).await;
        let error = error.unwrap_err();
        let text = format!("graph.toml:5: job \"a\": no file matches the input {input:?}");
        assert_eq!(error.to_string(), text);
    }
    let error = Graph::read(&project.path().join("no.toml")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no.toml: cannot be read"), "{error}");
}

#[test]
fn a_long_chain_is_no_problem() {
    let mut text = "[[job]]\nid = '0'\nsh = 'x'\n".to_owned();
    for job in 1..20_000 {
        text += &format!("[[job]]\nid = '{job}'\nsh = 'x'\ndeps = ['{}']\n", job - 1);
    }
    assert_eq!(parse(&text).unwrap().jobs().len(), 20_000);
}

fn line() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-c./*]{0,4}".prop_map(|text| format!("{text:?}")),
        Just("1".into())
    ];
    let list =
        prop::collection::vec(text.clone(), 0..3).prop_map(|all| format!("[{}]", all.join(",")));
    let key = prop::sample::select(vec![
        "id", "sh", "command", "inputs", "deps", "outputs", "timeout", "env", "x",
    ]);
    prop_oneof![
        3 => Just("[[job]]".to_owned()),
        6 => (key, prop_oneof![text, list]).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => any::<String>(),
    ]
}

proptest! {
    /// No content of a file makes the parser panic.
    #[test]
    fn any_text_is_a_graph_or_refused(lines in prop::collection::vec(line(), 0..20)) {
        match parse(&lines.join("\n")) {
            Ok(graph) => prop_assert!(graph.jobs().iter().all(|job| !job.id().is_empty())),
            Err(error) => prop_assert!(error.line <= lines.join("\n").lines().count().max(1)),
        }
    }
}
