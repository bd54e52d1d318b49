//! A message encrypted and decrypted by the parties: CBC, under a key that all of them drew together.
//!
//! 1. Every party gives a key and an IV, and the sums are the message's: nobody knows the key, and the IV,
//!    which is opened, is a coin.
//! 2. The message is encrypted, and the ciphertext is opened to all.
//! 3. The ciphertext is decrypted, and the message is opened to the first party alone.
//! 4. The key is opened to the first party, too.

use super::OnSpdz;
use crate::protocol::NamedProtocol;
use crate::purposes;
use crate::stock::{Needs, StockPlan};
use crate::{Host, Spdz};
use divisi_core::{Abort, Bytes, Direction, Misuse, PartyId, Settles, Step, step};
use divisi_symmetric::mode::cbc;
use std::time::Instant;
use zeroize::Zeroizing;

const SHAPE: Step = step!("file");

/// The phase after all phases that are measured, in which outputs are opened.
pub(crate) const OUTPUTS: &str = "outputs";

/// The lengths of such a message, its key and its blocks, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    pub message: usize,
    pub key: usize,
    pub block: usize,
}

impl Lengths {
    /// What the computation takes from a stock.
    pub fn needs(self, named: NamedProtocol, parties: usize) -> StockPlan {
        let Lengths { message, key, block } = self;
        let needs = Needs::default().cipher(named, key, 1, 2 * (message / block));
        let needs = PartyId::all(parties).fold(needs, |needs, owner| needs.known(owner, key + block));
        // the first party gives the message, and learns it and the key
        needs.known(PartyId::P1, 2 * message + key).plan()
    }
}

/// The results at a party.
pub(crate) struct SealedMessage {
    /// The IV, and the ciphertext.
    pub sealed: Vec<u8>,
    /// The message and the key, at the first party.
    pub opened: Option<Zeroizing<Vec<u8>>>,
    pub key: Option<Zeroizing<Vec<u8>>>,
    /// The seconds of the set-up, of encryption and of decryption.
    pub seconds: [f64; 3],
}

/// The four steps. The set-up counts from `start`.
///
/// # Errors
/// The abort that ends the session; [`Abort::Misuse`] for a message that is not whole blocks, or not at the
/// first party.
pub(crate) fn through<F: Host, C: OnSpdz<F>>(
    e: &mut Spdz<F>,
    named: NamedProtocol,
    lengths: Lengths,
    message: Option<&[u8]>,
    start: Instant,
) -> Result<SealedMessage, Abort> {
    let Lengths { message: bytes, key: key_bytes, block } = lengths;
    let (blocks, first, me) = (bytes / block, PartyId::P1, e.session().me());
    if !bytes.is_multiple_of(block) {
        return Err(Abort::Misuse { step: SHAPE, what: Misuse::BlockLength });
    }
    if message.map(<[u8]>::len) != (me == first).then_some(bytes) {
        return Err(Abort::Misuse { step: SHAPE, what: Misuse::NotTheOwner });
    }
    // 1.
    let drawn_bits = PartyId::all(e.session().parties()).map(|owner| {
        let message = if owner == first { bytes } else { 0 };
        (owner, 8 * (key_bytes + block + message))
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
    let columns = message.map(|message| message.iter().map(|byte| vec![*byte]).collect::<Vec<_>>());
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
    Ok(SealedMessage { sealed: [iv, ciphertext].concat(), opened, key, seconds: [setup, encrypt, decrypt] })
}

/// The sum of bytes that every party gives: if those of one party are random, nobody knows or chooses it.
fn drawn<F: Host, C: OnSpdz<F>>(e: &mut Spdz<F>, bytes: usize) -> Result<Vec<C::Byte>, Abort> {
    let (me, lanes) = (e.session().me(), vec![1; bytes]);
    let mut own = Zeroizing::new(vec![0; bytes]);
    e.session().entropy(purposes::JOINT, &mut own);
    let columns = Zeroizing::new(own.iter().map(|byte| vec![*byte]).collect::<Vec<_>>());
    let mut sum: Option<Vec<C::Byte>> = None;
    for owner in PartyId::all(e.session().parties()) {
        let given = C::input(e, owner, (owner == me).then_some(columns.as_slice()), &lanes)?;
        match &mut sum {
            None => sum = Some(given),
            Some(sum) => C::add_block(e, sum, &given)?,
        }
    }
    sum.ok_or(Abort::Misuse { step: SHAPE, what: Misuse::PartyCount })
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

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::{AuthBit, AuthByte};
    use divisi_core::testing::run;
    use divisi_core::{Plain, PlainByte, PublicParameters};
    use divisi_field::Gf48;
    use divisi_symmetric::aes::{self, RoundKeys};
    use divisi_symmetric::des::TripleKey;

    /// The ciphertext, the message and the key of two messages, which three parties encrypt and decrypt.
    fn sealed<C: OnSpdz<Gf48>>(name: &str, lengths: Lengths, message: &[u8]) -> Vec<[Vec<u8>; 3]> {
        let named = NamedProtocol::of(name).unwrap();
        let ends = run(3, &PublicParameters::new("sealed messages"), |session| {
            let mine = session.me() == PartyId::P1;
            let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
            let mut e = Spdz::new(party, Box::new(dealer), named.protocol)?;
            let mut all = Vec::new();
            for _ in 0..2 {
                let start = Instant::now();
                all.push(through::<Gf48, C>(&mut e, named, lengths, mine.then_some(message), start)?);
            }
            // IV and ciphertext of each call go to both others, message and key are told under masks
            let steps = e.session().meter().read().steps;
            assert_eq!(steps["divisi_spdz::engine/output"], 2 * 2 * 2, "{name}");
            Ok(all)
        });
        let mut ends: Vec<Vec<SealedMessage>> = ends.into_iter().map(Result::unwrap).collect();
        let first = ends.remove(0);
        for (first, other) in ends.iter().flat_map(|other| first.iter().zip(other)) {
            assert!(first.sealed == other.sealed && other.opened.is_none() && other.key.is_none());
        }
        let told = |of: SealedMessage| [of.sealed, of.opened.unwrap().to_vec(), of.key.unwrap().to_vec()];
        first.into_iter().map(told).collect()
    }

    /// The first party alone gives a message, of whole blocks, as long as all parties say.
    #[test]
    fn messages_of_others_are_refused() {
        let lengths = |message| Lengths { message, key: 16, block: 16 };
        let owner = Some(Misuse::NotTheOwner);
        let cases = [
            (32, [Some(32), None], None),
            (32, [Some(16), None], owner),
            (32, [None, None], owner),
            (32, [None, Some(32)], owner),
            (32, [Some(32), Some(32)], owner),
            (24, [Some(24), None], Some(Misuse::BlockLength)),
        ];
        for (bytes, given, why) in cases {
            let named = NamedProtocol::of("aes-lt").unwrap();
            let ends = run(2, &PublicParameters::new("sealed messages"), |session| {
                let message = given[session.me().index()].map(|bytes: usize| vec![7; bytes]);
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), named.protocol)?;
                let message = message.as_deref();
                through::<_, RoundKeys<AuthByte<_>>>(&mut e, named, lengths(bytes), message, Instant::now())
            });
            let refused = ends.iter().find_map(|end| match end {
                Err(Abort::Misuse { what, .. }) => Some(*what),
                _ => None,
            });
            let right = refused == why && ends.iter().all(Result::is_ok) == why.is_none();
            assert!(right, "{bytes} {given:?}");
        }
    }

    /// All parties have the IV and the ciphertext, and the first party alone has the message and the key.
    /// Each message has a key and an IV of its own.
    #[test]
    fn a_message_is_sealed_for_the_first_party() {
        let message: Vec<u8> = (0..48).map(|i| 5 * i + 1).collect();
        for (name, key, block) in [("aes-lt", 32, 16), ("aes-bd", 16, 16), ("3des-lt", 24, 8)] {
            let lengths = Lengths { message: message.len(), key, block };
            let all = match name {
                "3des-lt" => sealed::<TripleKey<AuthBit<Gf48>>>(name, lengths, &message),
                _ => sealed::<RoundKeys<AuthByte<Gf48>>>(name, lengths, &message),
            };
            let mut drawn = Vec::new();
            for [sealed, opened, key] in &all {
                assert_eq!((opened, key.len()), (&message, lengths.key), "{name}");
                let (iv, ciphertext) = sealed.split_at(block);
                assert_eq!(ciphertext.len(), message.len(), "{name}");
                drawn.extend([&key[..8], &iv[..8]]);
                // each byte is drawn
                for of in [key, iv] {
                    assert!(of.iter().any(|byte| *byte != of[0]), "{name}");
                }
                if block == 16 {
                    assert_eq!(ciphertext, by_aes(key, iv, &message), "{name}");
                }
            }
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), 4, "{name}");
        }
    }

    fn by_aes(key: &[u8], iv: &[u8], message: &[u8]) -> Vec<u8> {
        let bytes = |bytes: &[u8]| bytes.iter().map(|x| PlainByte::new(vec![*x])).collect::<Vec<_>>();
        let key = aes::expand(&mut Plain, &bytes(key)).unwrap();
        let iv: Vec<Vec<u8>> = iv.iter().map(|x| vec![*x]).collect();
        let out = cbc::encrypt(&mut Plain, &key, &iv, &bytes(message)).unwrap();
        out.iter().map(|x| x.values()[0]).collect()
    }
}
