//! Connecting nodes, and the reasons why it fails.

use filch_nats::async_nats::{ConnectErrorKind, ConnectOptions, ServerAddr};
use filch_nats::{ConnectError, Nats, NodeLost, StartError};
use filch_scheduler::Node;

use super::common::{News, Note, Notes, TestNode, next, scheduler, two};
use super::server::Server;

#[test]
fn a_node_that_is_not_there_is_not_connected() {
    let Some(server) = Server::start() else {
        return;
    };
    let here = TestNode::new(1, &server);
    let (node, why) = (Node(2), NodeLost::NoResponders);
    let refused = ConnectError::Lost { node, why };
    assert_eq!(here.connect(node), Err(refused));
    assert_eq!(here.connect(Node(1)), Err(ConnectError::Itself));
    let why = NodeLost::NotConnected;
    let refused = ConnectError::Lost { node, why };
    assert_eq!(here.whereis(node, "printer"), Err(refused));
    // Nodes with another prefix are separate.
    let _elsewhere = TestNode::with(2, &server, |builder| builder.prefix("elsewhere.else"));
    assert!(here.connect(node).is_err());
}

/// Both call at once. A failure: two links, each of which loses the other.
#[test]
fn nodes_that_call_each_other_at_once_are_connected_once() {
    let Some(server) = Server::start() else {
        return;
    };
    for _ in 0..20 {
        let (here, there) = (TestNode::new(1, &server), TestNode::new(2, &server));
        for answer in [
            here.begin_to_connect(Node(2)),
            there.begin_to_connect(Node(1)),
        ] {
            next(&answer).unwrap();
        }
        let ((one, at_one), (other, _)) = (here.forward(), there.forward());
        here.scheduler.send(other, Note::Echo(3, one)).unwrap();
        assert_eq!(next(&at_one), Note::Number(3));
        assert_eq!(here.nats.stats().nodes_lost, 0);
        assert_eq!(there.nats.stats().nodes_lost, 0);
        assert_eq!(here.connect(Node(2)), Ok(there.nats.life()));
    }
}

/// One has lost the other, which has not noticed.
#[test]
fn a_node_that_was_lost_is_connected_anew() {
    let Some(server) = Server::start() else {
        return;
    };
    let (here, there) = two(&server);
    here.nats.leave();
    there.wait_for(News::Lost(Node(1), NodeLost::Left));
    let here = TestNode::new(1, &server);
    assert_eq!(there.connect(Node(1)), Ok(here.nats.life()));
    let (pid, notes) = here.forward();
    there.scheduler.send(pid, Note::Number(1)).unwrap();
    assert_eq!(next(&notes), Note::Number(1));
}

#[test]
fn nothing_starts_without_a_server_or_with_wrong_words() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let scheduler = scheduler(1);
    let begin = || Nats::builder(Notes);
    for prefix in ["two words", "a..b"] {
        let refused = begin().prefix(prefix).start(&scheduler, server.address());
        assert!(matches!(refused, Err(StartError::Prefix(_))));
    }
    let refused = begin().start(&scheduler, "not an address");
    assert!(matches!(refused, Err(StartError::Servers(_))));
    server.stop();
    let refused = begin().start(&scheduler, server.address());
    assert!(matches!(refused, Err(StartError::Connect(_))));
    server.start_again();
    drop(scheduler);
    let gone = super::common::scheduler(1);
    let handle = gone.handle();
    drop(gone);
    let refused = begin().start(&handle, server.address());
    assert!(matches!(refused, Err(StartError::Scheduler(_))));
}

#[test]
fn credentials_and_tls_are_those_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let user = ["--user", "filch", "--pass", "secret", "--tls"];
    let certified = ["--tlscert", certificate.to_str().unwrap()];
    let keyed = ["--tlskey", key.to_str().unwrap()];
    let arguments = [&user[..], &certified, &keyed].concat();
    let Some(server) = Server::start_with(&arguments) else {
        return;
    };
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let address: ServerAddr = format!("tls://localhost:{port}").parse().unwrap();
    let start = |password: &str| {
        let options = ConnectOptions::with_user_and_password("filch".into(), password.into())
            .add_root_certificates(certificate.clone());
        let scheduler = scheduler(1);
        let nats = Nats::builder(Notes).options(options);
        nats.start(&scheduler, address.clone())
    };
    assert!(start("secret").is_ok());
    let Err(StartError::Connect(error)) = start("guess") else {
        panic!("a wrong password");
    };
    assert_eq!(error.kind(), ConnectErrorKind::AuthorizationViolation);
}
