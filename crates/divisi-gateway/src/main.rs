//! The program `divisi-gateway`: it reads arguments and calls the library.
#![forbid(unsafe_code)]

use clap::{Args, Parser, Subcommand};
use divisi_gateway::{bench, check, demo, run};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Keys held by three Divisi servers, behind the HTTP API of Transit.
#[derive(Parser)]
#[command(name = "divisi-gateway", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve until SIGTERM; SIGHUP reads tokens and certificates again.
    Serve {
        /// The configuration of the gateway.
        #[arg(long)]
        config: PathBuf,
    },
    /// Say what is wrong with a configuration, and with which server.
    Check {
        /// The configuration of the gateway.
        #[arg(long)]
        config: PathBuf,
    },
    /// Run three servers and a gateway on this machine, and show each step as a curl line.
    Demo(Stay),
    /// Measure requests of clients to three servers and a gateway on this machine.
    Bench {
        /// How many clients ask at a time.
        #[arg(long, default_value_t = 1)]
        clients: usize,
        /// How long, in seconds.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// How many items a request has; one is no batch.
        #[arg(long, default_value_t = 1)]
        batch: usize,
        /// One JSON object in place of lines.
        #[arg(long)]
        json: bool,
    },
    /// One of the three servers of `demo` and `bench`.
    #[command(hide = true)]
    DemoServer {
        /// Its folder.
        folder: PathBuf,
        /// Its number.
        party: u8,
    },
}

/// Options of `demo --stay`.
#[derive(Args)]
struct Stay {
    /// Leave them running for own tries: a line `stop N`, `start N`, `stop gateway` or `start gateway` of
    /// standard input stops or starts one, and its end (Ctrl-D) ends them all.
    #[arg(long)]
    stay: bool,
    /// Where the gateway listens; a free port if nothing is given.
    #[arg(long, requires = "stay", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The token that may do everything; drawn if nothing is given.
    #[arg(long, requires = "stay")]
    token: Option<String>,
    /// A mount of the gateway, several if it is given several times.
    #[arg(long, requires = "stay", default_value = "transit", value_name = "NAME")]
    mount: Vec<String>,
    /// A socket of KMS v2, for a key named `kms`.
    #[arg(long, requires = "stay", value_name = "PATH")]
    kms: Option<PathBuf>,
}

/// An error of usage or configuration.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut out = std::io::stdout();
    let done = match Arguments::parse().command {
        Command::Serve { config } => run::run(&config).map(|()| true),
        Command::Check { config } => check::check(&config, &mut out),
        Command::Demo(Stay { stay: true, listen, token, mount, kms }) => {
            let setting = demo::DemoSetting { listen, token, mounts: mount, kms };
            demo::stay(&setting, &mut std::io::stdin().lock(), &mut out).map(|()| true)
        }
        Command::Demo(_) => return finish(demo::demo(&mut out).map(|()| true), 1),
        Command::Bench { clients, seconds, batch, json } => {
            let asked = bench::Load { clients, seconds, batch, json };
            return finish(bench::bench(&asked, &mut out).map(|()| true), 1);
        }
        Command::DemoServer { folder, party } => demo::server(&folder, party).map(|()| true),
    };
    finish(done, USAGE)
}

fn finish(done: Result<bool, String>, code: u8) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("divisi-gateway: {why}");
            ExitCode::from(code)
        }
    }
}
