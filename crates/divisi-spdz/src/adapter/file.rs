//! A file encrypted and decrypted by the parties: CBC, by the code of divisi-symmetric, under a key that all
//! parties drew together.

use super::begin::{OUTPUTS, engine};
use super::cipher::OnSpdz;
use super::how::{How, Named, Task};
use super::needs::{self, Needs};
use super::{Authenticated, by_field};
use crate::{AuthBit, AuthByte, Host, Spdz};
use divisi_core::{Abort, Bytes, Direction, PartyId, PublicParameters, Session, Settles, Step, step};
use divisi_engine::job::Cipher;
use divisi_engine::{EngineSettings, FileCipher, FileResults, PreparedFile, Unsupported};
use divisi_symmetric::aes::RoundKeys;
use divisi_symmetric::des::TripleKey;
use divisi_symmetric::mode::cbc;
use std::time::Instant;
use zeroize::Zeroizing;

const SHAPE: Step = step!("file");

/// A file to be encrypted and decrypted.
struct Through {
    how: How,
    named: Named,
    cipher: Cipher,
}

impl FileCipher for Authenticated {
    fn prepare_file(
        &self,
        settings: &EngineSettings,
        cipher: Cipher,
    ) -> Result<Box<dyn PreparedFile>, Unsupported> {
        divisi_engine::check(self, settings)?;
        let how = How::new(settings)?;
        let named = how.protocol(cipher)?;
        if named.tiny {
            return Err(Unsupported::new(format!(
                "the demonstration runs the cipher block by block, for which {} is not suited: name another protocol",
                named.name
            )));
        }
        Ok(Box::new(Through { how, named, cipher }))
    }
}

impl PreparedFile for Through {
    fn parties(&self) -> usize {
        self.how.parties
    }

    fn protocol(&self) -> &'static str {
        self.named.name
    }

    fn parameters(&self, bytes: usize) -> PublicParameters {
        let parameters = PublicParameters::new("spdz file")
            .with("cipher", self.cipher.name().as_bytes())
            .with("named", self.named.name.as_bytes())
            .with("bytes", &(bytes as u64).to_le_bytes());
        self.how.describe(parameters)
    }

    fn run(&self, session: Session, text: Option<&[u8]>, bytes: usize) -> Result<FileResults, Abort> {
        by_field!(self.how.field, F => match self.named.task == Task::Aes {
            true => self.with::<F, RoundKeys<AuthByte<F>>>(session, text, bytes),
            false => self.with::<F, TripleKey<AuthBit<F>>>(session, text, bytes),
        })
    }
}

impl Through {
    /// 1. Every party gives a key and an IV, and the sums are the file's: nobody knows the key, and the IV,
    ///    which is opened, is a coin. 2. The text is encrypted, and the ciphertext is opened to all. 3. The
    ///    ciphertext is decrypted, and the text is opened to the first party alone. 4. The key is opened to
    ///    the first party, too.
    fn with<F: Host, C: OnSpdz<F>>(
        &self,
        session: Session,
        text: Option<&[u8]>,
        bytes: usize,
    ) -> Result<FileResults, Abort> {
        let start = Instant::now();
        let (named, key_bytes, block) = (self.named, self.cipher.key_bytes(), self.cipher.block_bytes());
        let misfit = || Abort::Misuse {
            step: SHAPE,
            what: "a text that is not whole blocks, or not at the first party",
        };
        let blocks = bytes / block;
        let mut needs = Needs::default().cipher(named, key_bytes, 1, 2 * blocks);
        for owner in PartyId::all(session.parties()) {
            needs = needs.known(Some(owner), key_bytes + block);
        }
        // the first party gives the text, and learns it and the key
        let needs = needs.known(needs::party(0), 2 * bytes + key_bytes).plan();
        let mut engine = engine::<F>(session, &self.how, named.protocol, &needs)?;
        let e = &mut engine;
        let first = super::party_of(e.session(), 0)?;
        let me = e.session().me();
        if !bytes.is_multiple_of(block) || text.map(<[u8]>::len) != (me == first).then_some(bytes) {
            return Err(misfit());
        }
        // 1.
        let drawn_bits = PartyId::all(e.session().parties()).map(|owner| {
            let text = if owner == first { bytes } else { 0 };
            (owner, 8 * (key_bytes + block + text))
        });
        e.preprocess_known(&drawn_bits.collect::<Vec<_>>())?;
        let key = drawn::<F, C>(e, key_bytes)?;
        let iv = drawn::<F, C>(e, block)?;
        let cipher = C::schedule(e, &key)?;
        let (key, cipher) = e.settled((key, cipher))?.into_inner();
        let iv = e.settled(iv)?;
        let iv = C::open(e, iv)?;
        let setup = start.elapsed().as_secs_f64();
        // 2.
        let start = Instant::now();
        let columns = text.map(|text| text.iter().map(|byte| vec![*byte]).collect::<Vec<_>>());
        let input = C::input(e, first, columns.as_deref(), &vec![1; bytes])?;
        C::ahead(e, named, key_bytes, blocks)?;
        C::load(e, named, Direction::Encrypt)?;
        let out = cbc::encrypt(e, &cipher, &iv, &input)?;
        let out = e.settled(out)?;
        let (iv, ciphertext) = (iv.concat(), C::open(e, out)?.concat());
        let encrypt = start.elapsed().as_secs_f64();
        // 3.
        let start = Instant::now();
        let column =
            |of: &[u8]| (0..block).map(|i| of.iter().skip(i).step_by(block).copied().collect()).collect();
        let (previous, all): (Vec<Vec<u8>>, Vec<Vec<u8>>) =
            (column(&cbc::previous(&iv, &ciphertext)), column(&ciphertext));
        C::ahead(e, named, key_bytes, blocks)?;
        C::load(e, named, Direction::Decrypt)?;
        let plain = cbc::decrypt(e, &cipher, &previous, &all)?;
        e.session().phase(OUTPUTS);
        let opened = told::<F, C>(e, first, plain)?.map(|columns| {
            let row = |lane: usize| columns.iter().skip(lane).step_by(blocks.max(1)).copied();
            Zeroizing::new((0..blocks).flat_map(row).collect::<Vec<u8>>())
        });
        let decrypt = start.elapsed().as_secs_f64();
        // 4.
        let key = told::<F, C>(e, first, key)?;
        e.rest()?;
        Ok(FileResults { sealed: [iv, ciphertext].concat(), opened, key, seconds: [setup, encrypt, decrypt] })
    }
}

/// The sum of bytes that every party gives: if those of one party are random, nobody knows or chooses it.
fn drawn<F: Host, C: OnSpdz<F>>(e: &mut Spdz<F>, bytes: usize) -> Result<Vec<C::Byte>, Abort> {
    let (me, lanes) = (e.session().me(), vec![1; bytes]);
    let mut own = Zeroizing::new(vec![0; bytes]);
    e.session().entropy(&mut own);
    let columns = Zeroizing::new(own.iter().map(|byte| vec![*byte]).collect::<Vec<_>>());
    let mut sum: Option<Vec<C::Byte>> = None;
    for owner in PartyId::all(e.session().parties()) {
        let given = C::input(e, owner, (owner == me).then_some(columns.as_slice()), &lanes)?;
        match &mut sum {
            None => sum = Some(given),
            Some(sum) => C::add_block(e, sum, &given)?,
        }
    }
    sum.ok_or(Abort::Misuse { step: SHAPE, what: "no parties" })
}

/// Open bytes to one party alone, which gets all lanes of the first byte, then those of the next.
fn told<F: Host, C: OnSpdz<F>>(
    e: &mut Spdz<F>,
    to: PartyId,
    bytes: Vec<C::Byte>,
) -> Result<Option<Zeroizing<Vec<u8>>>, Abort> {
    let bytes = C::as_bytes(e, bytes)?;
    let all = e.join_bytes(&bytes.iter().collect::<Vec<_>>())?;
    let verified = e.settled(all)?;
    e.output_to(to, verified)
}
