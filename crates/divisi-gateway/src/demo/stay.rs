//! `divisi-gateway demo --stay`: the servers and the gateway of the demonstration, for own tries. Each line
//! of standard input stops or starts one of them, and the end of the input ends them all.

use super::servers::{DemoSetting, Machines};
use crate::json::{Json, object};
use divisi_net::PartyId;
use std::io::{BufRead, Write};

/// Start them, print a line of JSON with address, token and folder, and obey standard input.
///
/// # Errors
/// One sentence: what did not start.
pub fn stay(setting: &DemoSetting, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), String> {
    let mut machines = Machines::start(setting)?;
    let told = object([
        ("address", Json::text(&*machines.address.to_string())),
        ("token", Json::text(&*machines.token)),
        ("folder", Json::text(&*machines.folder().display().to_string())),
    ]);
    say(out, &String::from_utf8_lossy(&told.write()))?;
    let mut line = String::new();
    loop {
        line.clear();
        match input.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) => return Err(format!("standard input cannot be read ({e})")),
        }
        match obey(&mut machines, line.trim()) {
            Ok(()) => say(out, "ok")?,
            Err(why) => say(out, &why)?,
        }
    }
}

fn say(out: &mut dyn Write, line: &str) -> Result<(), String> {
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|e| format!("standard output cannot be written ({e})"))
}

fn obey(machines: &mut Machines, line: &str) -> Result<(), String> {
    let party = |number: &str| {
        let party = number.parse().ok().and_then(PartyId::new).filter(|party| party.index() < 3);
        party.ok_or_else(|| format!("there is no server {number}: give 1, 2 or 3"))
    };
    match line.split_once(' ') {
        Some(("stop", "gateway")) => machines.kill_gateway(),
        Some(("stop", number)) => machines.kill_server(party(number)?),
        Some(("start", "gateway")) => {
            machines.start_gateway()?;
            machines.wait_for(200)?;
        }
        Some(("start", number)) => {
            machines.start_server(party(number)?)?;
            machines.wait_for(200)?;
        }
        _ => return Err(format!("{line:?} is no order: give `stop` or `start`, and `gateway`, 1, 2 or 3")),
    }
    Ok(())
}
