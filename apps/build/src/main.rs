//! The program `filch-build`.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use filch_build::graph::{RunArguments, Summary};
use filch_build::server::{Config, Server};
use filch_build::worker::keep_from_actions;
use filch_build::worker::remote::{RunningWorker, WorkerConfig};
use tokio::signal::unix::{SignalKind, signal};

/// A build farm for Bazel and its like
#[derive(Debug, Parser)]
#[command(name = "filch-build", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a coordinator: the cache that clients and workers share, and the queue of actions
    Serve(Box<Config>),
    /// Build a graph of jobs here, without a farm
    Run(RunArguments),
    /// Run actions for a coordinator
    Worker(Box<WorkerConfig>),
}

#[tokio::main]
async fn main() -> ExitCode {
    keep_from_actions();
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_max_level(tracing::Level::INFO)
        .init();
    let ended = match cli.command {
        Command::Serve(config) => serve(*config).await,
        Command::Run(arguments) => return run(&arguments).await,
        Command::Worker(config) => worker(*config).await,
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("filch-build: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(config: Config) -> Result<(), Box<dyn Error>> {
    let asked = asked_to_end()?;
    let running = Server::start(config).await?;
    println!("filch-build listens on {}", running.address());
    asked.await;
    running.shutdown().await;
    Ok(())
}

async fn run(arguments: &RunArguments) -> ExitCode {
    match run_until_asked(arguments).await {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::from(u8::from(summary.failed > 0))
        }
        Err(error) => {
            eprintln!("filch-build: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run_until_asked(arguments: &RunArguments) -> Result<Summary, Box<dyn Error>> {
    let asked = asked_to_end()?;
    tokio::select! {
        summary = arguments.run() => summary,
        // Running commands are killed, their folders removed.
        () = asked => Err("interrupted".into()),
    }
}

/// Resolves when this process is asked to end, on its terminal or by another process.
fn asked_to_end() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Works until the coordinator refuses it, or it is asked to leave: then it finishes what it runs.
async fn worker(config: WorkerConfig) -> Result<(), Box<dyn Error>> {
    let asked = asked_to_end()?;
    let mut running = RunningWorker::start(config).await?;
    if let Some(address) = running.address() {
        println!("filch-build serves its blobs on {address}");
    }
    tokio::select! {
        ended = running.ended() => return Ok(ended?),
        () = asked => {}
    }
    running.leave();
    Ok(running.ended().await?)
}
