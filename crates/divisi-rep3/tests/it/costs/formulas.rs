//! What a run of AES must cost, by formula.

use crate::common::prelude::*;
use divisi_symmetric::aes::{self, KeySize};
use std::collections::{BTreeMap, BTreeSet};

/// How many variables the first fold of a verification has.
pub const FOLDS: u64 = 3;
pub const COIN: u64 = 128;

/// What an S-box costs.
pub struct Cost {
    pub protocol: Protocol,
    /// Online: bits; rounds of a layer, and of the end of a chain of layers.
    pub bits: u64,
    pub rounds: u32,
    pub end: u32,
    /// Ahead: bits and rounds.
    pub ahead: u64,
    pub ahead_rounds: u32,
    /// Relations verified for the layer and for what it consumes, and the products that Table 3 of the paper
    /// verifies.
    pub relations: u64,
    pub vector_relations: u64,
    pub table_3: u64,
}

/// `online` is bits, rounds and end; `ahead` bits and rounds; `verified` relations, vector_relations and
/// table_3.
pub const fn cost(
    protocol: Protocol,
    online: (u64, u32, u32),
    ahead: (u64, u32),
    verified: (u64, u64, u64),
) -> Cost {
    Cost {
        protocol,
        bits: online.0,
        rounds: online.1,
        end: online.2,
        ahead: ahead.0,
        ahead_rounds: ahead.1,
        relations: verified.0,
        vector_relations: verified.1,
        table_3: verified.2,
    }
}

pub const COSTS: [Cost; 5] = [
    cost(Protocol::Gf8Circuit, (32, 3, 0), (0, 0), (2, 0, 4)),
    cost(Protocol::Gf4Circuit, (20, 4, 0), (0, 0), (2, 0, 3)),
    cost(Protocol::Lut16, (16, 2, 0), (11, 2), (1, 1, 3)),
    cost(Protocol::Lut256, (8, 1, 0), (247, 3), (0, 1, 7)),
    cost(Protocol::Lut256Additive, (16, 1, 1), (22, 2), (1, 2, 6)),
];

/// What one protocol costs.
pub fn of(protocol: Protocol) -> &'static Cost {
    COSTS.iter().find(|cost| cost.protocol == protocol).unwrap()
}

impl Cost {
    /// Online, of `chains` chains of `layers` layers of `bytes` bytes in `lanes` lanes.
    pub fn online(&self, chains: u64, layers: u64, bytes: u64, lanes: u64) -> (u64, u32) {
        let rounds = chains as u32 * (self.rounds * layers as u32 + self.end);
        (self.bits * chains * layers * bytes * lanes, rounds)
    }

    pub fn has_chains(&self) -> bool {
        self.end > 0
    }
}

/// The lanes of the tiles of a layer of this many bytes: side by side in one tile, or each in tiles of 512
/// lanes.
pub fn layer(bytes: usize, lanes: usize) -> Vec<u64> {
    if bytes * lanes <= 512 {
        return vec![(bytes * lanes) as u64];
    }
    let tiles: Vec<u64> = (0..lanes.div_ceil(512)).map(|t| (lanes - 512 * t).min(512) as u64).collect();
    tiles.repeat(bytes)
}

/// A computation of AES.
#[derive(Clone, Copy)]
pub struct Run {
    pub protocol: Protocol,
    /// The protocol of the key schedule.
    pub schedule: Protocol,
    pub security: Security,
    pub size: KeySize,
    pub direction: Direction,
    pub lanes: usize,
}

impl Run {
    pub fn aes_128(protocol: Protocol, security: Security, direction: Direction, lanes: usize) -> Run {
        let schedule = protocol.for_key_schedule();
        Run { protocol, schedule, security, size: KeySize::Aes128, direction, lanes }
    }

    /// AES of this size on this many blocks under one key: the key schedule is counted as "setup", the cipher
    /// as "online".
    pub fn counts(self) -> Counts {
        let lab = Rep3Lab { protocol: self.protocol, security: self.security };
        let key = (0..self.size.bytes()).map(|i| vec![i as u8]);
        let inputs: Vec<Vec<u8>> = key.chain((0..16).map(|i| vec![0x11 * i as u8; self.lanes])).collect();
        let (opened, counts) = lab
            .metered(&inputs, |e, bytes| {
                let (key, state) = bytes.split_at(self.size.bytes());
                e.trio().session().phase("setup");
                let round_keys = e.with_protocol(self.schedule, |e| aes::expand(e, key))?;
                e.trio().session().phase("online");
                let mut state: [_; 16] = std::array::from_fn(|i| state[i].clone());
                match self.direction {
                    Direction::Encrypt => aes::encrypt(e, &round_keys, &mut state)?,
                    Direction::Decrypt => aes::decrypt(e, &round_keys, &mut state)?,
                }
                Ok(Outputs::bytes(state))
            })
            .unwrap();
        if (self.size, self.direction) == (KeySize::Aes128, Direction::Encrypt) {
            assert_eq!((opened.bytes[0][0], opened.bytes[15][self.lanes - 1]), (0x69, 0x5a)); // FIPS 197, C.1
        }
        counts
    }

    /// The layers of the key schedule: four bytes of one lane each.
    pub fn schedule_layers(self) -> Vec<Vec<u64>> {
        vec![layer(4, 1); self.size.sub_words()]
    }

    /// The layers of the cipher: sixteen bytes each.
    pub fn cipher_layers(self) -> Vec<Vec<u64>> {
        vec![layer(16, self.lanes); self.size.rounds()]
    }

    /// The verifications of a malicious run, in order: of the vectors of each part, then of the whole.
    pub fn verifications(self) -> Vec<Verification> {
        let parts = [(of(self.schedule), self.schedule_layers()), (of(self.protocol), self.cipher_layers())];
        let mut all = Vec::new();
        let mut last = Verification::default();
        for (cost, layers) in &parts {
            if cost.ahead > 0 {
                all.push(Verification::ahead(cost, layers));
            }
            last.checks.extend(match cost.protocol {
                Protocol::Lut16 => &[checks::A14][..],
                Protocol::Lut256 => &[],
                Protocol::Lut256Additive => &[checks::A20],
                _ => &[checks::A14, checks::A15],
            });
        }
        // records of one kind are grouped whatever part they are of
        let [(schedule, first), (cipher, second)] = parts;
        if schedule.protocol == cipher.protocol {
            last.add(cipher.relations, &[first, second].concat());
        } else {
            last.add(schedule.relations, &first);
            last.add(cipher.relations, &second);
        }
        all.push(last);
        all
    }
}

/// One call of F_verify.
#[derive(Default)]
pub struct Verification {
    /// The terms of the inner product that is left after the first fold.
    pub terms: u64,
    /// Whether anything is folded before that: not what has a relation with random weights, the vectors
    /// of 256.
    pub folded: bool,
    pub checks: BTreeSet<Check>,
}

impl Verification {
    /// Add this many relations over the records of these layers; each record is given by its number of lanes.
    pub fn add(&mut self, relations: u64, layers: &[Vec<u64>]) {
        let records: Vec<u64> = layers.concat();
        let groups = records.chunks(1 << FOLDS);
        self.terms += relations * groups.map(|group| group.iter().max().unwrap()).sum::<u64>();
        self.folded |= relations > 0;
    }

    /// The verification of vectors for these layers.
    pub fn ahead(cost: &Cost, layers: &[Vec<u64>]) -> Verification {
        let mut ahead = Verification::default();
        if cost.protocol == Protocol::Lut256 {
            ahead.terms = cost.vector_relations * layers.iter().flatten().sum::<u64>();
        } else {
            ahead.add(cost.vector_relations, layers);
        }
        ahead.checks.insert(checks::A17);
        if cost.has_chains() {
            ahead.checks.insert(checks::A18);
        }
        ahead
    }

    /// How many levels fold the terms to one.
    pub fn levels(&self) -> u64 {
        u64::from(self.terms.next_power_of_two().trailing_zeros())
    }

    /// The coins: one for the coefficients, one for the point of the first fold, one for each level, and one
    /// for CheckTriple.
    pub fn coins(&self) -> u64 {
        if self.terms == 0 { 0 } else { 1 + u64::from(self.folded) + self.levels() + 1 }
    }

    /// The payload: 3^k - 2^k points of the first fold, two a level, four of CheckTriple, and coins.
    pub fn bits(&self) -> u64 {
        if self.terms == 0 {
            return 0;
        }
        let grid = if self.folded { 3u64.pow(FOLDS as u32) - 2u64.pow(FOLDS as u32) } else { 0 };
        grid * 64 + self.levels() * 2 * 64 + 4 * 64 + self.coins() * COIN
    }

    pub fn error_bits(&self) -> Option<f64> {
        // coefficients of two factors; the first fold, or relations with random weights on both sides;
        // levels; CheckTriple
        let errors = 2 + if self.folded { 2 * FOLDS } else { 2 } + 2 * self.levels() + 2;
        (self.terms > 0).then(|| 64.0 - (errors as f64).log2())
    }

    /// How often each check is executed.
    pub fn census(&self, census: &mut BTreeMap<Check, u64>) {
        let mut add = |check, n| *census.entry(check).or_default() += n;
        // a barrier with two peers
        [(checks::A13, 1), (checks::A8, 1), (checks::A2, 2), (checks::M0_6, 2), (checks::M0_7, 1)]
            .into_iter()
            .for_each(|(check, n)| add(check, n));
        if self.terms == 0 {
            return;
        }
        // coins, levels, one triple with two openings
        let (coins, levels) = (self.coins(), self.levels());
        [
            (checks::A4, coins),
            (checks::M0_2, coins),
            (checks::A9, u64::from(self.folded) + levels),
            (checks::A10, u64::from(self.folded) + levels),
        ]
        .into_iter()
        .chain([checks::A5, checks::A6, checks::A7, checks::A21, checks::A11, checks::A12].map(|c| (c, 1)))
        .chain([(checks::A1, 2), (checks::M0_6, coins + 2)])
        .chain(self.checks.iter().map(|check| (*check, 1)))
        .for_each(|(check, n)| add(check, n));
    }
}

/// How often each check of a run must be executed (Q22).
pub fn census(run: Run) -> BTreeMap<Check, u64> {
    let mut census = BTreeMap::from([
        // the start: two peers each
        (checks::M0_1, 2),
        (checks::M0_3, 2),
        (checks::M0_4, 2),
        (checks::M0_5, 1),
        (checks::A3, 1),
        // the opening at the end
        (checks::A1, 1),
        (checks::M0_6, 1),
    ]);
    run.verifications().iter().for_each(|verification| verification.census(&mut census));
    let mut add = |check, n: u64| {
        if n > 0 {
            *census.entry(check).or_default() += n;
        }
    };
    // the layers: chains of one in the key schedule, one chain in the cipher
    let (subwords, rounds) = (run.size.sub_words() as u64, run.size.rounds() as u64);
    for (protocol, chains, layers) in [(run.schedule, subwords, 1), (run.protocol, 1, rounds)] {
        let all = chains * layers;
        let (additive, replicated, ends) = match protocol {
            Protocol::Lut16 => (all, 0, 0),
            Protocol::Lut256 => (0, all, 0),
            Protocol::Lut256Additive => (all - chains, chains, chains),
            _ => (0, 0, 0),
        };
        add(checks::A16, additive);
        add(checks::A18, additive + replicated); // the number of a vector
        add(checks::A19, ends);
        add(checks::A22, 2 * replicated); // two peers
        add(checks::M0_6, 2 * replicated);
    }
    if run.direction == Direction::Decrypt && run.protocol != Protocol::Lut256 {
        add(checks::A23, rounds); // an inverse layer a round; that of lut256 records nothing
    }
    census
}
