//! A listener that is made anew when it fails, and its connections.

// ANCHOR: server
use std::error::Error;
use std::time::Duration;

use async_net::{TcpListener, TcpStream};
use filch_actors::Inbox;
use filch_actors::timers::Timers;
use filch_scheduler::{Protocol, Scheduler};
use filch_supervisor::{Backoff, Child, Restart, Strategy, Supervisor, SupervisorHandle};

use crate::unless_asked;

/// Two supervisors, so that they are stopped one after the other.
#[derive(Debug)]
pub struct Server<P: Protocol> {
    listener: SupervisorHandle<P>,
    connections: SupervisorHandle<P>,
}

impl<P: Protocol> Server<P> {
    /// Starts to accept; each connection is an async function, made by `serve`.
    ///
    /// # Errors
    /// If a supervisor does not start.
    pub fn start<C, F>(
        scheduler: &Scheduler<P>,
        timers: &Timers,
        socket: TcpListener,
        serve: C,
    ) -> Result<Self, Box<dyn Error>>
    where
        C: Fn(Inbox<P>, TcpStream) -> F + Clone + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Supervisor::new(Strategy::Dynamic)
            .start(scheduler, timers)?
            .wait()?;
        let place = connections.clone();
        let accepting = Child::async_fn("listener", move |inbox| {
            accept(inbox, socket.clone(), place.clone(), serve.clone())
        });
        // A cause such as "too many open files" lasts: with pauses up to a second there are fewer
        // than a hundred failures in a minute, so it never gives up.
        let pauses = Backoff::exponential(Duration::from_millis(10), Duration::from_secs(1));
        let listener = Supervisor::new(Strategy::OneForOne)
            .intensity(100, Duration::from_secs(60))
            .backoff(pauses)
            .child(accepting)
            .start(scheduler, timers)?
            .wait()?;
        Ok(Self {
            listener,
            connections,
        })
    }

    /// Accepts no more, asks each connection to end, and waits until all have.
    ///
    /// # Errors
    /// If a supervisor has given up.
    pub fn stop(self) -> Result<(), Box<dyn Error>> {
        self.listener.stop().wait()?;
        Ok(self.connections.stop().wait()?)
    }
}

async fn accept<P: Protocol, C, F>(
    mut inbox: Inbox<P>,
    socket: TcpListener,
    connections: SupervisorHandle<P>,
    serve: C,
) where
    C: Fn(Inbox<P>, TcpStream) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    while let Some(accepted) = unless_asked(&mut inbox, socket.accept()).await {
        match accepted {
            Ok((peer, _)) => {
                let serve = serve.clone();
                let child = Child::unnamed_async_fn(move |inbox| serve(inbox, peer.clone()));
                // It is on its way; the answer would say when it has started.
                drop(connections.start_child(child.restart(Restart::Temporary)));
            }
            // A return would be a normal end; so it fails, and is made anew.
            Err(error) => return inbox.fail(error),
        }
    }
}
// ANCHOR_END: server
