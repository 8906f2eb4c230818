//! Files that are no graphs: each is refused with its line, its job and its reason.

use std::path::Path;

use filch_build::graph::{Graph, GraphError, Problem};
use proptest::prelude::*;

use crate::project::{Log, Project};

fn parse(text: &str) -> Result<Graph, GraphError> {
    Graph::parse(Path::new("graph.toml"), text)
}

#[test]
fn each_mistake_is_named_with_its_place() {
    for (text, expected) in [
        ("x", "graph.toml:1: "),
        (
            "\n[[job]]\nid = 'a'\nsh = 'x'\nfoo = 1",
            "graph.toml:5: unknown field `foo`",
        ),
        ("[[job]]\nsh = 'x'", "graph.toml:1: missing field `id`"),
        (
            "[[job]]\nid = ''\nsh = 'x'",
            "graph.toml:2: job \"\": the id is empty",
        ),
        (
            "[[job]]\nid = 'a'",
            "graph.toml:2: job \"a\": there is no command",
        ),
        (
            "[[job]]\nid = 'a'\nsh = ' '",
            "graph.toml:2: job \"a\": there is no command",
        ),
        (
            "[[job]]\nid = 'a'\ncommand = []",
            "graph.toml:2: job \"a\": there is no command",
        ),
        (
            "[[job]]\nid = 'a'\ncommand = ['']",
            "graph.toml:2: job \"a\": there is no command",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ncommand = ['x']",
            "graph.toml:2: job \"a\": there are both",
        ),
        (
            "[[job]]\nid = 'a'\nsh = \"\\u0000\"",
            "graph.toml:2: job \"a\": the argument",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\nenv = { 'a=' = '' }",
            "graph.toml:2: job \"a\": \"a=\" cannot",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ntimeout = -1",
            "graph.toml:2: job \"a\": `timeout`",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ntimeout = nan",
            "graph.toml:2: job \"a\": `timeout`",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\n[[job]]\nid = 'a'\nsh = 'y'",
            "graph.toml:5: job \"a\": there is another job",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ndeps = [\n'b']",
            "graph.toml:5: job \"a\": there is no job \"b\"",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ninputs = ['../x']",
            "graph.toml:4: job \"a\": the input \"../x\"",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ninputs = ['/etc/passwd']",
            "graph.toml:4: job \"a\": the input \"/etc/passwd\" is an absolute path",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\ninputs = ['a***']",
            "graph.toml:4: job \"a\": the input \"a***\": ",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\noutputs = ['a/../../b']",
            "graph.toml:4: job \"a\": the output \"a/../../b\"",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\noutputs = ['.filch/storage']",
            "graph.toml:4: job \"a\": the output \".filch/storage\" is in the cache",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\noutputs = ['o']\n\
             [[job]]\nid = 'b'\nsh = 'x'\noutputs = ['o']",
            "graph.toml:8: job \"b\": the output \"o\" is one of the job \"a\", too",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\noutputs = ['o/p']\n\
             [[job]]\nid = 'b'\nsh = 'x'\noutputs = ['o']",
            "graph.toml:4: job \"a\": the output \"o/p\" and \"o\" of the job \"b\" overlap",
        ),
        (
            "[[job]]\nid = 'a'\nsh = 'x'\noutputs = ['o']\n\
             [[job]]\nid = 'b'\nsh = 'x'\ninputs = ['o/x']",
            "graph.toml:8: job \"b\": the input \"o/x\" is made by the job \"a\"",
        ),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{text}\n{error}\n{expected}");
    }
}

#[test]
fn a_circle_is_named() {
    let job = |id: &str, dep: &str| format!("[[job]]\nid = '{id}'\nsh = 'x'\ndeps = ['{dep}']\n");
    let text = job("z", "a") + &job("a", "b") + &job("b", "c") + &job("c", "a");
    let error = parse(&text).unwrap_err();
    let cycle = ["a", "b", "c", "a"].map(str::to_owned).to_vec();
    assert_eq!(error.problem, Problem::Cycle(cycle));
    assert_eq!((error.line, error.job.as_deref()), (6, Some("a")));
    assert!(
        error.to_string().ends_with("in a circle: a -> b -> c -> a"),
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
        let error = project
            .build(&graph)
            .run(&mut Log::default())
            .await
            .unwrap_err();
        let text = format!("graph.toml:5: job \"a\": no file matches the input {input:?}");
        assert_eq!(error.to_string(), text);
    }
    let error = Graph::read(&project.path().join("no.toml")).unwrap_err();
    assert!(
        error.to_string().contains("no.toml: cannot be read"),
        "{error}"
    );
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
