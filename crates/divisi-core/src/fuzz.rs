//! Random inputs for the messages that begin a session.

use crate::session::agree::{ECHO, HELLO};
use crate::{Abort, PublicParameters, Session};
use divisi_net::{PartyId, memory};
use std::sync::Arc;

/// The length of a party's first message, and that of the digest of its parameters, with which the message
/// begins.
const FIRST: usize = 96;
const DIGEST: usize = 32;

/// A peer that sends arbitrary bytes cannot begin a session, because it does not know the other nonce, on
/// which the id depends. Its parameters are compared before anything else.
#[test]
fn random_beginnings() {
    let parameters = PublicParameters::new("fuzz").with("some", &[1, 2, 3]);
    let hello = [&parameters.digest()[..], &[3; FIRST - DIGEST]].concat();
    let seeds = [[&hello[..], &[4; 64]].concat(), hello, vec![0; FIRST]];
    let [honest, corrupt] = [1, 2].map(|number| PartyId::new(number).unwrap());
    divisi_fuzz::run("beginnings", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
        let mut meshes = memory::mesh(2).into_iter().map(Arc::new);
        let (ours, theirs) = (meshes.next().unwrap(), meshes.next().unwrap());
        let (hello, echo) = bytes.split_at(bytes.len().min(FIRST));
        let channel = theirs.open(1, 0).map_err(|fault| fault.to_string())?;
        let mut echo = echo.to_vec();
        echo.resize(echo.len().max(64), 0);
        for (step, body) in [(HELLO, hello), (ECHO, &echo[..])] {
            channel.send(honest, step, 1, body).map_err(|fault| fault.to_string())?;
        }
        let same = bytes.starts_with(&parameters.digest()) && bytes.len() >= FIRST;
        match Session::start(&ours, 1, &parameters) {
            Ok(_) => Err("a session begins".into()),
            Err(Abort::Disagreement { peer, .. }) if peer == corrupt && !same => Ok(false),
            Err(Abort::CheckFailed { .. } | Abort::Network(_)) if same => Ok(true),
            Err(Abort::Network(_)) if hello.len() < FIRST => Ok(false),
            Err(abort) => Err(format!("{abort:?}")),
        }
    });
}
