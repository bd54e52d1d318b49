//! The frames of the pipes between the processes of a command: a length and as many bytes.

use crate::failure::{Failure, Kind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::io::{self, Read, Write};

/// The most bytes of a frame on a pipe between the processes.
const LONGEST: usize = 1 << 30;

pub(super) fn write_frame(out: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let len = u32::try_from(body.len()).ok().filter(|len| *len as usize <= LONGEST);
    let len = len.ok_or_else(|| io::Error::other("a frame is too long"))?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(body)?;
    out.flush()
}

pub(super) fn read_frame(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    input.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > LONGEST {
        return Err(io::Error::other("a frame is too long"));
    }
    let mut body = Vec::new();
    input.take(len as u64).read_to_end(&mut body)?;
    if body.len() < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(body) }
}

pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    postcard::to_stdvec(value).map_err(no_listener)
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let strange = |_| {
        Failure::new(
            Kind::Abort,
            "a process of this command sent a malformed message: use one version of the program",
        )
    };
    postcard::from_bytes(bytes).map_err(strange)
}

pub(super) fn no_listener(e: impl Display) -> Failure {
    Failure::unavailable(format!(
        "no process controls this party ({e}): other commands start `divisi party`; only `divisi server` can run by itself"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_short_ones_do_not() {
        let mut pipe = Vec::new();
        write_frame(&mut pipe, b"one").unwrap();
        write_frame(&mut pipe, b"").unwrap();
        let mut input = &pipe[..];
        assert_eq!(read_frame(&mut input).unwrap(), b"one");
        assert_eq!(read_frame(&mut input).unwrap(), b"");
        assert!(read_frame(&mut input).is_err());
        assert!(read_frame(&mut &pipe[..5]).is_err());
        assert!(read_frame(&mut &[0xff; 8][..]).is_err());
    }

    /// Frames one after another, and the reports in them: what is read is the same after it was written
    /// again.
    #[test]
    fn random_frames_of_pipes() {
        type Report = Result<(String, u64), Failure>;
        let mut pipe = Vec::new();
        for report in [Report::Ok(("done".into(), 300)), Report::Err(Failure::usage("no"))] {
            write_frame(&mut pipe, &encode(&report).unwrap()).unwrap();
        }
        write_frame(&mut pipe, b"").unwrap();
        let seeds = [pipe, vec![0xff; 8]];
        divisi_fuzz::run("frames-of-pipes", env!("CARGO_MANIFEST_DIR"), &seeds, |bytes| {
            let (mut input, mut again, mut taken) = (bytes, Vec::new(), false);
            while let Ok(body) = read_frame(&mut input) {
                write_frame(&mut again, &body).map_err(|e| e.to_string())?;
                let Ok(report) = decode::<Report>(&body) else { continue };
                taken = true;
                let same = encode(&report).and_then(|bytes| decode::<Report>(&bytes));
                if same.map_err(|failure| failure.error)? != report {
                    return Err("another report".into());
                }
            }
            if bytes.starts_with(&again) { Ok(taken) } else { Err("other frames".into()) }
        });
    }
}
