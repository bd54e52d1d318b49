//! Streams: no range is drawn twice, no two have one key, and both ends of a pair draw the same.

use super::{DrawNet, DrawRun};
use crate::draws::DrawnStream;
use crate::{KnownTo, PartyId};
use std::collections::HashMap;

/// A stream, with the number of its run and of its party.
type Placed<'r> = (usize, usize, &'r DrawnStream);

pub(super) fn judge(net: &DrawNet, runs: &[DrawRun]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut of_key: HashMap<[u8; 16], Vec<Placed<'_>>> = HashMap::new();
    for (number, run) in runs.iter().enumerate() {
        for (party, draws) in run.parties.iter().enumerate() {
            for stream in draws.pairs.iter().chain(&draws.streams) {
                faults.extend(overlaps(stream));
                if stream.of.known_to() != KnownTo::Anyone {
                    of_key.entry(stream.key).or_default().push((number, party, stream));
                }
            }
            faults.extend(draws.pairs.iter().filter_map(|stream| one_end(run, party, stream)));
        }
    }
    for streams in of_key.values() {
        faults.extend(same_key(net, streams));
    }
    faults
}

/// A range that is drawn after a later one.
fn overlaps(stream: &DrawnStream) -> Option<String> {
    let twice = stream.drawn.windows(2).any(|two| two[1].start < two[0].end);
    twice.then(|| format!("{}: a range is drawn twice (from {})", stream.purpose, stream.caller))
}

/// A stream of a pair of which the peer drew something else.
fn one_end(run: &DrawRun, party: usize, stream: &DrawnStream) -> Option<String> {
    let me = PartyId::from_index(party)?;
    let same = |other: &&DrawnStream| {
        (other.peer, other.key, other.strand, other.generation)
            == (me, stream.key, stream.strand, stream.generation)
    };
    let other = run.parties.get(stream.peer.index())?.pairs.iter().find(same);
    let alike = other.is_some_and(|other| other.bytes() == stream.bytes());
    (!alike).then(|| format!("{}: two parties draw it differently ({})", stream.purpose, run.shape))
}

/// Streams that have one key: of two runs, of two purposes, or at too many parties.
fn same_key(net: &DrawNet, streams: &[Placed<'_>]) -> Option<String> {
    let (first_run, first_party, first) = streams.first()?;
    let name = first.purpose;
    if let Some((.., other)) = streams.iter().find(|(.., stream)| stream.purpose != name) {
        return Some(format!("{name}: a stream has the key of one for {}", other.purpose));
    }
    if streams.iter().any(|(run, ..)| run != first_run) {
        return Some(format!("{name}: streams of two runs have one key"));
    }
    let at = |party: usize| streams.iter().filter(|(_, of, _)| *of == party).count();
    let mut parties: Vec<usize> = streams.iter().map(|(_, party, _)| *party).collect();
    parties.dedup();
    if parties.iter().any(|party| at(*party) > net.times(name)) {
        return Some(format!("{name}: too many streams of a party have one key (from {})", first.caller));
    }
    parties.retain(|party| party != first_party);
    let most = match first.of.known_to() {
        KnownTo::One => 0,
        KnownTo::Pair => 1,
        KnownTo::All | KnownTo::Anyone => return None,
    };
    (parties.len() > most).then(|| format!("{name}: streams of too many parties have one key"))
}
