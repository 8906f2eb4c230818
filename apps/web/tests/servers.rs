//! Both servers beside a hundred clients, and their ends.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use async_net::TcpListener;
use filch_actors::dynamic::Dynamic;
use filch_actors::prelude::*;
use filch_scheduler::Scheduler;
use filch_web::{echo, web};
use futures_lite::future::block_on;

const PATIENCE: Duration = Duration::from_secs(60);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Each client gets its first word back. Then all say another, the server is stopped at that
/// moment, and each gets that word back, too, and the end.
#[test]
fn an_echo_ends_when_all_have_their_answers() {
    let scheduler = Scheduler::<Dynamic>::builder().workers(2).build().unwrap();
    let (listener, address) = listener();
    let server = scheduler
        .spawn_with(|inbox| echo::accept(inbox, listener))
        .unwrap();
    let mut clients: Vec<_> = (0..100)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
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
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!(report.aborted, 0, "{report}");
    for mut client in clients {
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"last");
    }
    server.join().unwrap().unwrap();
}

/// A client that breaks its connection ends that connection alone.
#[test]
fn a_client_that_breaks_off_harms_nobody() {
    let scheduler = Scheduler::<Dynamic>::builder().workers(2).build().unwrap();
    let (listener, address) = listener();
    let server = scheduler
        .spawn_with(|inbox| echo::accept(inbox, listener))
        .unwrap();
    let broken = TcpStream::connect(address).unwrap();
    broken.shutdown(Shutdown::Both).unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"word").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut back = Vec::new();
    client.read_to_end(&mut back).unwrap();
    assert_eq!(back, b"word");
    scheduler.shutdown(PATIENCE).unwrap();
    server.join().unwrap().unwrap();
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

/// A hundred visits at once get a hundred numbers; a connection that is kept open does not hold the
/// end up.
#[test]
fn each_visit_has_a_number_of_its_own() {
    let scheduler = Scheduler::<web::Visits>::builder()
        .workers(2)
        .build()
        .unwrap();
    let (listener, address) = listener();
    let counter = scheduler.spawn_with(web::counter).unwrap();
    let pages = web::router(scheduler.handle(), counter.pid());
    let server = scheduler
        .spawn_with(|inbox| web::serve(inbox, listener, pages))
        .unwrap();
    let clients: Vec<_> = (0..100)
        .map(|_| thread::spawn(move || get(address, "page")))
        .collect();
    let answers = clients.into_iter().map(|client| client.join().unwrap());
    let mut numbers: Vec<u32> = answers
        .map(|answer| {
            answer
                .trim_end()
                .rsplit_once(' ')
                .unwrap()
                .1
                .parse()
                .unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=100));
    assert!(get(address, "none/such").starts_with("HTTP/1.1 404"));
    let idle = TcpStream::connect(address).unwrap();
    let report = scheduler.shutdown(PATIENCE).unwrap();
    assert_eq!(report.aborted, 0, "{report}");
    drop(idle);
    server.join().unwrap().unwrap();
    counter.join().unwrap();
}
