//! Generates the messages and the services of the protocol between coordinator and worker.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["farm.proto"], ["proto"])?;
    tonic_prost_build::compile_fds(files)?;
    Ok(())
}
