//! The coordinating process of a benchmark of garbling: starts the parties, makes inputs, opens barriers, checks every output.

use super::super::message::{Costs, Took};
use super::super::{CONNECT, CONNECT_EACH, OnStart, Phase, median};
use super::{Batch, Options, Order, Orders, ROLE, Report, clocks, plan, waves};
use crate::calibrate::Calibration;
use crate::circuit::{self, Held};
use crate::cleanup::Cleanup;
use crate::failure::Failure;
use crate::local::{Processes, Room, seat};
use divisi_garble::Plan;
use divisi_net::{Machine, PartyId, World};
use divisi_symmetric::gates::Adder;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How much longer this process waits than the parties, who know more about what they wait for.
const MARGIN: Duration = Duration::from_millis(300);

/// Measure.
///
/// # Errors
/// If an option makes no sense, a party fails, or an output is wrong.
pub fn run(
    options: &Options,
    program: &Path,
    calibration: Calibration,
    cleanup: &Cleanup,
    on_start: OnStart<'_>,
) -> Result<Report, Failure> {
    options.check()?;
    let circuit = circuit::hold(&options.circuit, options.adder, options.garbling.streamed)?;
    let ands = circuit.and_count().saturating_mul(usize::try_from(options.count).unwrap_or(usize::MAX));
    let options = &Options { garbling: options.garbling.settled(ands), ..options.clone() };
    let plan = plan(&circuit, &options.garbling, options.count)?;
    let waves = waves(&plan, &options.garbling, usize::try_from(options.count).unwrap_or(usize::MAX)).len();
    let n = options.garbling.parties;
    let room = Room::new(cleanup)?;
    let mut processes = Processes::start(program, ROLE, n, cleanup)?;
    for party in PartyId::all(n) {
        if let Some(number) = processes.process_id(party) {
            on_start(party, number);
        }
    }
    let mut parties = Parties { options, circuit: &circuit, plan: &plan, waves, processes: &mut processes };
    let connect_seconds = parties.connect(&room)?;
    let (mut times, mut last) = (Vec::with_capacity(options.reps), Vec::new());
    for number in 1..=options.warmup.saturating_add(options.reps) {
        let number_of_session = u32::try_from(number)
            .map_err(|_| Failure::usage("--warmup and --reps are too many: give less"))?;
        let (took, costs) = parties.repetition(number_of_session)?;
        if number > options.warmup {
            times.push(took);
            last = costs;
        }
    }
    processes.close(options.timeout)?;
    room.close()?;
    Ok(report(options, plan.and_count(), waves, connect_seconds, &times, last, calibration))
}

struct Parties<'p> {
    options: &'p Options,
    circuit: &'p Held,
    plan: &'p Plan<'p>,
    waves: usize,
    processes: &'p mut Processes,
}

/// What a party says after a repetition.
type Said = (Costs, Vec<Batch>);

impl Parties<'_> {
    fn within(&self) -> Duration {
        self.options.timeout + MARGIN
    }

    fn connect(&mut self, room: &Room) -> Result<f64, Failure> {
        let n = self.options.garbling.parties;
        let within =
            self.within().max(CONNECT + CONNECT_EACH * u32::try_from(n).unwrap_or(u32::MAX)) + MARGIN;
        let seats = seat::seats(self.processes, room, "bench/listen", within)?;
        for (party, seat) in PartyId::all(n).zip(seats) {
            let orders = Orders {
                seat,
                circuit: self.options.circuit.clone(),
                low_depth: self.options.adder == Adder::LowDepth,
                digest: self.circuit.digest(),
                garbling: (&self.options.garbling).into(),
                count: self.options.count,
                rtt_ms: self.options.rtt_ms,
                rate_mbit: self.options.rate_mbit,
                timeout_ms: self.options.timeout.as_millis() as u64,
            };
            self.processes.order(party, &orders)?;
        }
        let seconds: Vec<f64> = self.processes.reports("bench/connect", within)?;
        Ok(seconds.into_iter().fold(0.0, f64::max))
    }

    /// One session: what each phase took the slowest party, and what all of it cost each.
    fn repetition(&mut self, number: u32) -> Result<(Vec<Took>, Vec<Said>), Failure> {
        let count = self.options.count as usize;
        let mut inputs = vec![0; self.plan.input_bits().div_ceil(8) * count];
        Machine.entropy(&mut inputs);
        for party in PartyId::all(self.options.garbling.parties) {
            self.processes.order(party, &Order::Begin(number))?;
            let wires: Vec<usize> = self.plan.wires_of(party).collect();
            self.processes.bytes(party, &bits(&inputs, count, &wires))?;
        }
        let clocks = clocks(self.options.garbling.streamed);
        let mut took = vec![Took::default(); clocks.len()];
        for wave in 0..self.waves {
            // there is one set-up
            for (took, (phase, _)) in took.iter_mut().zip(&clocks).skip(usize::from(wave > 0)) {
                let step = format!("bench/{phase}");
                self.processes.reports::<()>(&step, self.within())?;
                self.processes.order_all(&Order::Go)?;
                let all = self.processes.reports::<Took>(&step, self.within())?;
                took.add(all.into_iter().fold(Took::default(), Took::max));
            }
        }
        self.processes.order_all(&Order::Outputs)?;
        let learned = self.processes.frames("bench/outputs", self.within())?;
        let expected = self.circuit.columns(count, &inputs)?;
        for (party, learned) in PartyId::all(learned.len()).zip(learned) {
            let results: Vec<usize> = self.plan.results_of(party).collect();
            if learned != bits(&expected, count, &results) {
                let error = format!("an output of {party} is wrong: the results are worth nothing");
                return Err(Failure::mismatch(error).with_peer(party).at("bench/outputs"));
            }
        }
        Ok((took, self.processes.reports("bench/counts", self.within())?))
    }
}

/// Some bits of each lane of columns, lane by lane, one to a byte.
fn bits(columns: &[u8], lanes: usize, places: &[usize]) -> Vec<u8> {
    let bit = |lane: usize, place: usize| {
        columns.get(place / 8 * lanes + lane).map_or(0, |byte| byte >> (place % 8) & 1)
    };
    (0..lanes).flat_map(|lane| places.iter().map(move |place| bit(lane, *place))).collect()
}

/// Put the repetitions together: medians of times, maxima over the parties of all else.
fn report(
    options: &Options,
    and_gates: usize,
    waves: usize,
    connect_seconds: f64,
    times: &[Vec<Took>],
    last: Vec<Said>,
    calibration: Calibration,
) -> Report {
    let (costs, mut batches): (Vec<Costs>, Vec<Vec<Batch>>) = last.into_iter().unzip();
    let of = |cost: &Costs, names: &[&str]| {
        let all = names.iter().map(|name| cost.phases.get(*name).copied().unwrap_or_default());
        all.fold((0, 0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1, sum.2 + of.2))
    };
    let clocks = clocks(options.garbling.streamed);
    let phase = |(place, (name, of_meter)): (usize, &(&'static str, &[&str]))| {
        let middle = |figure: fn(&Took) -> f64| {
            median(times.iter().filter_map(|took| took.get(place)).map(figure).collect())
        };
        let phase = Phase {
            seconds: middle(|took| took.seconds),
            cpu_seconds: middle(|took| took.cpu_seconds),
            bits: costs.iter().map(|cost| of(cost, of_meter).0).max().unwrap_or(0),
            bytes: costs.iter().map(|cost| of(cost, of_meter).1).max().unwrap_or(0),
            rounds: costs.iter().map(|cost| of(cost, of_meter).2).max().unwrap_or(0),
        };
        (*name, phase)
    };
    let phases = clocks.iter().enumerate().map(phase).collect();
    let bytes = |cost: &Costs| clocks.iter().map(|(_, of_meter)| of(cost, of_meter).1).collect();
    let mut checks = BTreeMap::new();
    for (id, n) in costs.iter().flat_map(|cost| &cost.checks) {
        let most = checks.entry(id.clone()).or_insert(0);
        *most = (*most).max(*n);
    }
    Report {
        options: options.clone(),
        and_gates,
        connect_seconds,
        waves,
        phases,
        bytes_by_party: costs.iter().map(bytes).collect(),
        batches: if batches.is_empty() { Vec::new() } else { batches.swap_remove(0) },
        peak_rss_bytes: costs.iter().filter_map(|cost| cost.peak_rss_bytes).max(),
        verification_error_bits: costs
            .iter()
            .filter_map(|cost| cost.verification_error_bits)
            .reduce(f64::min),
        computational_bits: costs.iter().filter_map(|cost| cost.computational_bits).reduce(f64::min),
        checks,
        kernel: costs.first().map(|cost| cost.kernel.clone()).unwrap_or_default(),
        calibration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_their_lane() {
        // two lanes of ten bits: 0x201 and 0x1fe
        let columns = [0x01, 0xfe, 0x02, 0x01];
        assert_eq!(bits(&columns, 2, &[0, 1, 8, 9]), [1, 0, 0, 1, 0, 1, 1, 0]);
        assert!(bits(&columns, 2, &[]).is_empty());
    }
}
