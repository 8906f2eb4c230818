//! Both servers beside a hundred clients, and their ends.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use async_net::TcpListener;
use filch_actors::Inbox;
use filch_actors::dynamic::Dynamic;
use filch_actors::prelude::*;
use filch_actors::timers::Timers;
use filch_scheduler::{Protocol, Scheduler};
use filch_web::{Server, echo::echo, web};
use futures_lite::future::block_on;

const PATIENCE: Duration = Duration::from_secs(60);

fn start<P: Protocol>() -> (Scheduler<P>, Timers) {
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    (scheduler, Timers::new().unwrap())
}

fn listen() -> (TcpListener, SocketAddr) {
    let socket = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Ends what is left, and checks that all of it listened.
fn end<P: Protocol>(scheduler: Scheduler<P>) {
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert!(report.aborted == 0 && report.is_clean(), "{report}");
}

/// Each client gets its first word back. Then all say another, the server is stopped at that
/// moment, and each gets that word back, too, and the end.
#[test]
fn an_echo_ends_when_all_have_their_answers() {
    let (scheduler, timers) = start::<Dynamic>();
    let (socket, address) = listen();
    let server = Server::start(&scheduler, &timers, socket, echo).unwrap();
    let connect = |_| TcpStream::connect(address).unwrap();
    let mut clients: Vec<_> = (0..100).map(connect).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let word = format!("{number:4}");
        client.write_all(word.as_bytes()).unwrap();
        let mut back = [0; 4];
        client.read_exact(&mut back).unwrap();
        assert_eq!(back, word.as_bytes());
    }
    for client in &mut clients {
        client.write_all(b"last").unwrap();
    }
    server.stop().unwrap();
    for mut client in clients {
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"last");
    }
    end(scheduler);
}

/// A connection is asked to end before it has read anything. What has arrived is repeated.
#[test]
fn what_has_arrived_is_repeated() {
    let scheduler = Scheduler::<Dynamic>::builder().workers(1).build().unwrap();
    let (socket, address) = listen();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"last").unwrap();
    let (peer, _) = block_on(socket.accept()).unwrap();
    assert_eq!(block_on(peer.peek(&mut [0; 4])).unwrap(), 4);
    let asked = Arc::new(Barrier::new(2));
    let waits = Arc::clone(&asked);
    let connection = scheduler.spawn_with(|inbox| async move {
        waits.wait();
        echo(inbox, peer).await;
    });
    let pid = connection.unwrap().pid();
    scheduler.cancel(pid, "that is all").unwrap();
    asked.wait();
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    assert_eq!(back, b"last");
    end(scheduler);
}

/// Clients that never stop sending, of which one never reads, hold nothing up: each connection ends
/// by itself, and not at the limit of its supervisor.
#[test]
fn a_client_that_always_sends_does_not_delay_the_end() {
    let (scheduler, timers) = start::<Dynamic>();
    let (socket, address) = listen();
    let (ended, ends) = mpsc::channel();
    let serve = move |inbox, socket| {
        let ended = ended.clone();
        async move {
            echo(inbox, socket).await;
            ended.send(()).unwrap();
        }
    };
    let server = Server::start(&scheduler, &timers, socket, serve).unwrap();
    let clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
    let [reader, other] = &clients;
    thread::scope(|scope| {
        for mut client in [reader, other] {
            scope.spawn(move || while client.write_all(&[0; 1 << 16]).is_ok() {});
        }
        let mut back = reader;
        back.read_exact(&mut vec![0; 1 << 20]).unwrap();
        scope.spawn(move || std::io::copy(&mut back, &mut std::io::sink()));
        let (tell, stopped) = mpsc::channel();
        thread::spawn(move || tell.send(server.stop().is_ok()));
        let stopped = stopped.recv_timeout(PATIENCE);
        for client in &clients {
            let _ = client.shutdown(Shutdown::Both);
        }
        assert_eq!(stopped, Ok(true));
    });
    assert_eq!(ends.try_iter().count(), 2);
    end(scheduler);
}

/// A connection that fails ends alone.
#[test]
fn a_connection_that_fails_harms_no_other() {
    async fn fails_at_once(inbox: Inbox<Dynamic>, mut socket: async_net::TcpStream) {
        let mut first = [0];
        let _ = futures_lite::AsyncReadExt::read(&mut socket, &mut first).await;
        assert_ne!(first, *b"!", "it is to fail");
        echo(inbox, socket).await;
    }
    let (scheduler, timers) = start::<Dynamic>();
    let (socket, address) = listen();
    let server = Server::start(&scheduler, &timers, socket, fails_at_once).unwrap();
    let connect = |says: &[u8]| {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(says).unwrap();
        client
    };
    let (mut fails, mut client) = (connect(b"!"), connect(b"-word"));
    assert_eq!(fails.read(&mut [0]).unwrap(), 0);
    client.shutdown(Shutdown::Write).unwrap();
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    assert_eq!(back, b"word");
    server.stop().unwrap();
    end(scheduler);
}

/// A hundred visits at once get a hundred numbers.
#[test]
fn each_visit_has_a_number_of_its_own() {
    let (scheduler, timers) = start::<web::Visits>();
    let (socket, address) = listen();
    let counter = scheduler.spawn_with(web::counter).unwrap();
    let pages = web::router(scheduler.handle(), counter.pid(), timers.clone());
    let serve = move |inbox, socket| web::serve(inbox, socket, pages.clone());
    let server = Server::start(&scheduler, &timers, socket, serve).unwrap();
    let visit = |_| thread::spawn(move || get(address, "page"));
    let clients: Vec<_> = (0..100).map(visit).collect();
    let mut numbers = Vec::<u64>::new();
    for client in clients {
        let answer = client.join().unwrap();
        let (_, number) = answer.trim_end().rsplit_once(' ').unwrap();
        numbers.push(number.parse().unwrap());
    }
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=100));
    assert!(get(address, "none/such").starts_with("HTTP/1.1 404"));
    // A connection that says nothing does not hold the end up.
    let _silent = TcpStream::connect(address).unwrap();
    server.stop().unwrap();
    end(scheduler);
    counter.join().unwrap();
}

/// Asks for a page over a connection of its own, and returns the answer.
fn get(address: SocketAddr, page: &str) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    let request = format!("GET /{page} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}
