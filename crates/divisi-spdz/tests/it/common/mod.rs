//! Stocks in temporary directories, which tests make, use and inspect, and disks that fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

use divisi_core::testing::{Harness, party};
use divisi_core::{Abort, Bytes, Direction, PublicParameters, Session, Settles};
use divisi_field::Gf48;
use divisi_ot::SetupConfig;
use divisi_ot::testing::unsound_over_field;
use divisi_spdz::lab::make_stock;
use divisi_spdz::stock::{FromStock, Lots, StockPlan};
use divisi_spdz::{Spdz, SpdzProtocol};
use divisi_store::stock::{Entropy, Reserve, SealKey, StockError, StockInfo, StockState, look};
use divisi_store::{Disk, MachineDisk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use zeroize::Zeroizing;

pub const INPUT: &str = "divisi_spdz::input/input";
pub const LOOKUP: &str = "divisi_spdz::engine::lookup/lookup.2";
pub const SIGMA: &str = "divisi_spdz::check/check.4.open";

/// The number of S-boxes for which a stock is enough.
pub const SBOXES: u64 = 6;
pub const TABLES: usize = 0;

pub fn entropy() -> Entropy {
    use divisi_net::{Machine, World};
    Box::new(|out| Machine.entropy(out))
}

pub fn key() -> SealKey {
    SealKey::new(Zeroizing::new([9; 32]))
}

/// The directories of the parties' stocks.
pub struct StockDirs {
    pub root: tempfile::TempDir,
    pub n: usize,
    /// The number of tables of each stock.
    pub tables: u64,
    /// What there is beside what an S-box takes.
    pub more: Vec<(Lots, u64)>,
    /// How the engine over a stock looks up.
    pub protocol: SpdzProtocol,
}

pub fn parameters() -> PublicParameters {
    PublicParameters::new("stock tests")
}

impl StockDirs {
    /// Directories without stocks.
    pub fn empty(n: usize) -> Self {
        let (root, protocol) = (tempfile::tempdir().unwrap(), SpdzProtocol::Lookup);
        StockDirs { root, n, tables: SBOXES, more: Vec::new(), protocol }
    }

    pub fn new(n: usize) -> Self {
        StockDirs::with(n, SBOXES)
    }

    /// Directories with stocks of this many tables.
    pub fn with(n: usize, tables: u64) -> Self {
        let dirs = StockDirs { tables, ..StockDirs::empty(n) };
        for end in Harness::new(n, &parameters()).act(|session| dirs.make(session)) {
            end.unwrap();
        }
        dirs
    }

    pub fn make(&self, session: Session) -> Result<(), Abort> {
        self.make_on(session, |_| Box::new(MachineDisk), |_| ())
    }

    /// Makes a stock on the disk that `disk` gives; `secret_is` gets this party's share of alpha.
    pub fn make_on(
        &self,
        mut session: Session,
        disk: impl Fn(u8) -> Box<dyn Disk>,
        secret_is: impl FnOnce(&[u8]),
    ) -> Result<(), Abort> {
        let owner = party(1);
        let mut wanted = vec![
            (Lots::Units { log: 8 }, self.tables),
            (Lots::Known { owner }, 16 * SBOXES),
            (Lots::Bits, 50),
            (Lots::ByteTriples, 7),
        ];
        for (kind, count) in &self.more {
            match wanted.iter_mut().find(|(other, _)| other == kind) {
                Some((_, least)) => *least += count,
                None => wanted.push((*kind, *count)),
            }
        }
        let plan = StockPlan::new(&wanted);
        let (me, n) = (session.me().number(), session.parties() as u8);
        // small buckets are enough, because these tests do not depend on their security
        let config = SetupConfig { rho: 4, ..SetupConfig::default() };
        let create = |id, secret: Zeroizing<Vec<u8>>| {
            secret_is(&secret);
            let info = StockInfo {
                id,
                party: me,
                parties: n,
                peers: [0; 32],
                protocol: "aes-lt".into(),
                prep: "bucketed".into(),
                field_bits: 48,
                k: 4,
                rho: 4,
                blocks: 1,
                series: plan.series::<Gf48>(),
            };
            MachineDisk.make_dir(&self.dir(me)).map_err(|e| StockError::Io(self.dir(me), e))?;
            Reserve::create_on(disk(me), &self.dir(me), key(), entropy(), info, secret)
        };
        let setup = unsound_over_field(&mut session, config, 48)?;
        make_stock::<Gf48>(session, setup, &plan, create)
    }

    pub fn dir(&self, number: u8) -> PathBuf {
        self.root.path().join(format!("party-{number}"))
    }

    pub fn copy(&self, number: u8) -> PathBuf {
        self.root.path().join(format!("copy-{number}"))
    }

    /// Keep a copy of a party's directory.
    pub fn keep(&self, number: u8) {
        copy(&self.dir(number), &self.copy(number));
    }

    /// Replace a party's directory by the copy.
    pub fn put_back(&self, number: u8) {
        copy(&self.copy(number), &self.dir(number));
    }

    pub fn state(&self, number: u8) -> Result<StockState, StockError> {
        look(&self.dir(number), &key()).map(|(_, state)| state)
    }

    /// The names of the files of lots that a party still has.
    pub fn lots(&self, number: u8) -> Vec<String> {
        let files = std::fs::read_dir(self.dir(number)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".lot")).collect()
    }

    pub fn taken(&self) -> Vec<u64> {
        (1..=self.n as u8).map(|number| self.state(number).unwrap().counts[TABLES].taken).collect()
    }

    pub fn begin(&self, session: Session) -> Result<Spdz<Gf48>, Abort> {
        let number = session.me().number();
        let reserve = Reserve::open(&self.dir(number), key(), entropy(), number);
        self.begin_with(session, reserve)
    }

    /// The engine of a party, over its stock if that was opened.
    pub fn begin_with(
        &self,
        session: Session,
        reserve: Result<Reserve, StockError>,
    ) -> Result<Spdz<Gf48>, Abort> {
        let protocol = self.protocol;
        let reserve = reserve.map_err(|e| session.fail(Abort::Unfit { step: STEP, why: e.to_string() }))?;
        let (party, source) = FromStock::<Gf48>::start(session, reserve)?;
        Spdz::new(party, Box::new(source), protocol)
    }

    /// The S-box of a byte of party 1, opened to all.
    pub fn sbox(&self, session: Session, x: u8) -> Result<u8, Abort> {
        let mine = session.me() == party(1);
        let mut engine = self.begin(session)?;
        let mut byte = engine.input(party(1), mine.then_some(&[x]), 1)?;
        engine.sbox(Direction::Encrypt, &mut [&mut byte])?;
        let verified = engine.settled(byte)?;
        Ok(engine.output(verified)?[0].0)
    }

    pub fn all(&self, x: u8) -> Vec<Result<u8, Abort>> {
        Harness::new(self.n, &parameters()).act(|session| self.sbox(session, x))
    }
}

pub const STEP: divisi_core::Step = divisi_core::step!("test");

pub fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir(to).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// A party's part of a stock.
pub fn opened(dirs: &StockDirs, number: u8) -> Reserve {
    Reserve::open(&dirs.dir(number), key(), entropy(), number).unwrap()
}

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The process is killed: nothing reaches the disk any more.
    Dead,
    /// The disk is full: files are not written.
    Full,
    /// The disk is full: files are half written.
    Half,
}

/// A disk with folder for this many writes.
pub struct Ends {
    left: AtomicUsize,
    how: Trouble,
}

impl Ends {
    pub fn after(writes: usize, how: Trouble) -> Box<dyn Disk> {
        Box::new(Ends { left: AtomicUsize::new(writes), how })
    }

    fn alive(&self) -> io::Result<()> {
        let dead = self.how == Trouble::Dead && self.left.load(Ordering::Acquire) == 0;
        if dead { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

impl Disk for Ends {
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        match self.how {
            // a full disk has folder for an empty file
            _ if folder.is_ok() || (self.how != Trouble::Dead && bytes.is_empty()) => {
                MachineDisk.write(path, bytes)
            }
            Trouble::Half => {
                let _ = MachineDisk.write(path, &bytes[..bytes.len() / 2]);
                Err(io::ErrorKind::StorageFull.into())
            }
            Trouble::Full => Err(io::ErrorKind::StorageFull.into()),
            Trouble::Dead => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.alive()?;
        MachineDisk.sync(path)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.alive()?;
        MachineDisk.link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.alive()?;
        MachineDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.alive()?;
        MachineDisk.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.alive()?;
        MachineDisk.sync_dir(dir)
    }
}
