//! Encryption of rows: GYKW, appendix A.2, private-key BGV with one level. c = a s + p e + m.
//!
//! Contributions encrypt shares of a message under key shares, all with the same polynomial a. Their sum is
//! an encryption of the sum of the messages under the sum of the keys. Rows are kept and sent as values at
//! the roots of X^N + 1, because a product by a is then cheap, and a is uniform also as values; secrets,
//! errors and messages are small as coefficients.

use crate::label::Label;
use crate::parameters::{BITS, DIMENSION, MODULUS, PLAIN, ROW_BYTES};
use crate::purposes;
use divisi_bgv::Sampler;
use divisi_core::{Prg, Session, SessionId};
use divisi_field::kernel::vectorize;
use divisi_field::ntt::Ntt;
use divisi_field::zp::Modulus;
use zeroize::Zeroize;

const N: usize = DIMENSION;

/// The encryption scheme of a session, common to all parties.
pub struct Scheme {
    ntt: Ntt,
    plain: Modulus,
    /// Identifies the session: the polynomial a is derived from it and from a label \[G8\].
    context: [u8; 32],
}

impl Scheme {
    /// The scheme of a session. `None` if q has no transform; a test excludes that.
    #[must_use]
    pub fn new(session: &Session) -> Option<Scheme> {
        Scheme::of(session.id())
    }

    fn of(session: SessionId) -> Option<Scheme> {
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 linear garbling polynomial v1");
        let context = *hasher.update(session.as_bytes()).finalize().as_bytes();
        Some(Scheme { ntt: Ntt::new(MODULUS, N)?, plain: Modulus::new(PLAIN)?, context })
    }

    /// The modulus q.
    pub(crate) fn modulus(&self) -> Modulus {
        self.ntt.modulus()
    }

    /// The modulus p.
    pub(crate) fn plain(&self) -> Modulus {
        self.plain
    }

    /// The uniform polynomial a of a label: an XOF of session and label \[G8\]. BLAKE3 derives a key from
    /// both, and AES in counter mode makes the words; AES is used as an ideal cipher, as in the public matrix
    /// of FrodoKEM. Words that are not below q are rejected; everything here is public.
    fn public(&self, number: u64, out: &mut [u64; N]) {
        let key = blake3::Hasher::new_keyed(&self.context).update(&number.to_le_bytes()).finalize();
        let mut stream = Prg::of(purposes::POLYNOMIAL, key.as_bytes().first_chunk().unwrap_or(&[0; 16]));
        let mut words = [0; N / 2];
        let low = |word: u64| word & ((1 << BITS) - 1);
        stream.words(&mut words);
        let pairs = out.as_chunks_mut::<2>().0.iter_mut().zip(&words);
        vectorize(
            #[inline(always)]
            || pairs.for_each(|(pair, word)| *pair = [low(*word), low(word >> 32)]),
        );
        // one of about 16,000 words is not below q
        if are_reduced(out) {
            return;
        }
        let mut kept = 0;
        for at in 0..N {
            out[kept] = out[at];
            kept += usize::from(out[at] < MODULUS);
        }
        let mut half = 0;
        while kept < N {
            if half == 0 {
                stream.words(&mut words[..1]);
            }
            out[kept] = low(words[0] >> half);
            kept += usize::from(out[kept] < MODULUS);
            half ^= 32;
        }
    }

    /// A polynomial with small coefficients (at most q in absolute value), as values.
    ///
    /// # Panics
    /// If there are not N coefficients and N values. So do `encrypt` and `decrypt`.
    pub fn values(&self, coefficients: impl ExactSizeIterator<Item = i64>, out: &mut [u64]) {
        assert!(coefficients.len() == N && out.len() == N, "polynomials of other lengths");
        let all = out.iter_mut().zip(coefficients);
        vectorize(
            #[inline(always)]
            || all.for_each(|(out, c)| *out = (c + (MODULUS as i64 & (c >> 63))) as u64),
        );
        self.ntt.forward(out);
    }

    /// Enc: our contribution to a row, for a message share between -p/2 and p/2 and a secret given by values.
    /// In constant time.
    pub fn encrypt(
        &self,
        label: Label,
        secret: &[u64],
        message: &[i64],
        sampler: &mut Sampler,
        out: &mut [u64],
    ) {
        assert!(secret.len() == N && message.len() == N, "polynomials of other lengths");
        let errors = sampler.errors(N);
        self.values(errors.iter().zip(message).map(|(e, m)| PLAIN as i64 * e + m), out);
        let mut a = [0; N];
        self.public(label.number(), &mut a);
        self.modulus().add_product(out, &a, secret);
    }

    /// Dec: the message modulo p, centred, of a row, with a secret given by values.
    pub fn decrypt(&self, label: &Label, row: &[u64], secret: &[u64], out: &mut [i64]) {
        assert!(row.len() == N && out.len() == N, "polynomials of other lengths");
        let (q, mut rest) = (self.modulus(), [0; N]);
        self.phase(label, row, secret, &mut rest);
        vectorize(
            #[inline(always)]
            || out.iter_mut().zip(&rest).for_each(|(out, x)| *out = residue(q.centred(*x))),
        );
        rest.zeroize();
    }

    /// row - a s = p e + m, as coefficients.
    pub(crate) fn phase(&self, label: &Label, row: &[u64], secret: &[u64], out: &mut [u64; N]) {
        let q = self.modulus();
        self.public(label.number(), out);
        q.mul_assign(out, secret);
        vectorize(
            #[inline(always)]
            || out.iter_mut().zip(row).for_each(|(a, row)| *a = q.sub(*row, *a)),
        );
        self.ntt.inverse(out);
    }

    /// The difference of two rows as centred coefficients, which an attacker can compute.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn difference(&self, x: &[u64], y: &[u64]) -> Vec<i64> {
        let mut out = x.to_vec();
        self.modulus().sub_assign(&mut out, y);
        self.ntt.inverse(&mut out);
        out.iter().map(|c| self.modulus().centred(*c)).collect()
    }
}

/// A centred residue modulo q as a centred residue modulo p; in constant time. Because 2^16 = -1 modulo p,
/// the higher digit is subtracted from the lower one. The difference is between -2^10 and p + 2^10.
#[inline(always)]
fn residue(x: i64) -> i64 {
    const P: i64 = PLAIN as i64;
    let rest = (x & (P - 2)) - (x >> 16);
    rest - (P & ((P / 2 - rest) >> 63))
}

/// Whether all values are below q.
fn are_reduced(values: &[u64]) -> bool {
    let most = vectorize(
        #[inline(always)]
        || values.iter().fold(0, |most, x| most.max(*x)),
    );
    most < MODULUS
}

/// Appends a row, with exactly 26 bits for each value.
pub fn pack(row: &[u64], out: &mut Vec<u8>) {
    let (fours, from) = (row.as_chunks::<4>().0, out.len());
    out.resize(from + 13 * fours.len(), 0);
    for ([a, b, c, d], thirteen) in fours.iter().zip(out[from..].as_chunks_mut::<13>().0) {
        let (low, high) = (a | b << BITS | c << (2 * BITS), c >> (64 - 2 * BITS) | d << (3 * BITS - 64));
        thirteen[..8].copy_from_slice(&low.to_le_bytes());
        thirteen[8..].copy_from_slice(&high.to_le_bytes()[..5]);
    }
}

/// Reads what [`pack`] wrote. Returns whether it has the right length and all values are below q.
#[must_use]
pub fn unpack(body: &[u8], row: &mut [u64]) -> bool {
    for (bytes, four) in body.as_chunks::<13>().0.iter().zip(row.as_chunks_mut::<4>().0) {
        // value i begins with bit 26 i, which is bit 2 i of byte 3 i, and ends within four bytes
        let at = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[3 * i + byte])) >> (2 * i);
        *four = [at(0), at(1), at(2), at(3)].map(|word| u64::from(word & ((1 << BITS) - 1)));
    }
    body.len() == ROW_BYTES && row.len() == N && are_reduced(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi_core::draws::KnownDraws;
    use divisi_core::{PublicParameters, local};

    fn any_scheme() -> Scheme {
        Scheme { ntt: Ntt::new(MODULUS, N).unwrap(), plain: Modulus::new(PLAIN).unwrap(), context: [7; 32] }
    }

    /// Two sessions have no polynomial in common: all of a session's id goes into what they are made of.
    #[test]
    fn polynomials_belong_to_a_session() {
        let ids = [(); 2].map(|()| {
            local::run(2, &PublicParameters::new("scheme"), |session| Ok(session.id())).unwrap()[0]
        });
        for id in ids {
            let name = "divisi 2026 linear garbling polynomial v1";
            assert_eq!(Scheme::of(id).unwrap().context, blake3::derive_key(name, id.as_bytes()));
        }
    }

    /// Words of the stream that are not below q are skipped, and the others keep their order.
    #[test]
    fn public_polynomials_are_the_reduced_words_of_a_stream() {
        let mut scheme = any_scheme();
        let (mut rejected, mut all) = (0, [0; N]);
        for number in (0..200_u64).chain((8..64).map(|bit| 7 | 1 << bit)) {
            let mut bytes = [0; 4 * N + 64];
            scheme.context = [number as u8 % 3; 32];
            let key = *blake3::keyed_hash(&scheme.context, &number.to_le_bytes()).as_bytes();
            Prg::new(key[..16].try_into().unwrap()).fill(&mut bytes);
            let words = bytes.as_chunks::<4>().0.iter();
            let words: Vec<u64> =
                words.map(|word| u64::from(u32::from_le_bytes(*word)) & ((1 << 26) - 1)).collect();
            rejected += words[..N].iter().filter(|word| **word >= MODULUS).count();
            let expected: Vec<u64> = words.into_iter().filter(|word| *word < MODULUS).take(N).collect();
            scheme.public(number, &mut all);
            assert_eq!(all.as_slice(), expected, "{number}");
        }
        assert!(rejected > 2);
    }

    /// Of every row each quarter has errors, and no two rows have the same ones.
    #[test]
    fn rows_have_errors_from_end_to_end() {
        let scheme = any_scheme();
        let ends = local::run(2, &PublicParameters::new("errors"), |session| {
            let mut sampler = Sampler::new(&session);
            Ok([(); 2].map(|()| {
                let mut row = vec![0; N];
                scheme.encrypt(Label::of(0, 0), &[0; N], &[0; N], &mut sampler, &mut row);
                scheme.ntt.inverse(&mut row);
                row.into_iter().map(|x| scheme.modulus().centred(x)).collect::<Vec<i64>>()
            }))
        });
        let [first, second] = &ends.unwrap()[0];
        for all in [first, second] {
            assert!(all.iter().all(|e| e % PLAIN as i64 == 0));
            for quarter in all.chunks(N / 4) {
                // one of eight is zero
                assert!(quarter.iter().filter(|e| **e != 0).count() > N / 8);
            }
        }
        assert!(first != second);
    }

    /// The errors of each row are what is drawn for it, however many rows there are.
    #[test]
    fn errors_of_rows_are_what_is_drawn() {
        const ROWS: usize = 1100;
        let known = KnownDraws { seed: 1, session: 1, changed: None, part: None, doubt: false };
        let parameters = PublicParameters::new("errors").drawing(known);
        let scheme = any_scheme();
        let of_rows = local::run(2, &parameters, |session| {
            let mut sampler = Sampler::new(&session);
            let row = |number: usize| {
                let mut row = vec![0; N];
                let label = Label::of(number as u64 / 4, number as u64 % 4);
                scheme.encrypt(label, &[0; N], &[0; N], &mut sampler, &mut row);
                scheme.ntt.inverse(&mut row);
                row.into_iter().map(|x| scheme.modulus().centred(x) / PLAIN as i64).collect::<Vec<i64>>()
            };
            Ok((0..ROWS).map(row).collect::<Vec<_>>())
        });
        let drawn = local::run(2, &parameters, |session| {
            let mut sampler = Sampler::new(&session);
            let errors = |_| sampler.errors(N).to_vec();
            Ok((0..ROWS).map(errors).collect::<Vec<_>>())
        });
        assert!(of_rows.unwrap() == drawn.unwrap());
    }

    /// The polynomial of one label is the same at both parties, and different in another session.
    #[test]
    fn public_polynomials_belong_to_one_session() {
        let polynomial = || {
            let ends = local::run(2, &PublicParameters::new("polynomials"), |session| {
                let mut a = [0; N];
                Scheme::new(&session).unwrap().public(5, &mut a);
                Ok(a)
            });
            let ends = ends.unwrap();
            assert_eq!(ends[0], ends[1]);
            ends[0]
        };
        let (first, second) = (polynomial(), polynomial());
        assert!(first.iter().zip(&second).filter(|(x, y)| x == y).count() < 8);
    }

    #[test]
    fn residues_modulo_p_are_centred() {
        let (q, p) = (Modulus::new(MODULUS).unwrap(), Modulus::new(PLAIN).unwrap());
        let half = PLAIN / 2;
        let edges = (0..1023).flat_map(|i| [0, 1, half - 1, half, half + 1].map(|x| x + i * PLAIN));
        let all = (0..MODULUS).step_by(997).chain(edges).filter(|x| *x <= MODULUS / 2);
        for x in all.flat_map(|x| [x, (MODULUS - x) % MODULUS]).map(|x| q.centred(x)) {
            assert_eq!(residue(x), p.centred(p.of_signed(x)), "{x}");
        }
    }

    #[test]
    fn rows_come_back_and_nothing_else_is_one() {
        let row: Vec<u64> = (0..N as u64).map(|i| (i * i * 0x9e37_79b9) % MODULUS).collect();
        let mut body = Vec::new();
        pack(&row, &mut body);
        assert_eq!(body.len(), ROW_BYTES);
        let mut again = vec![0; N];
        assert!(unpack(&body, &mut again) && again == row);
        assert!(!unpack(&body[1..], &mut again));
        assert!(!unpack(&body[..13], &mut again[..4]), "four values are no row");
        assert!(!unpack(&body, &mut again[..N - 4]) && !unpack(&body, &mut [0; N + 4]));
        for at in [0, 1, 2, 3, N - 1] {
            let mut wrong = row.clone();
            wrong[at] = MODULUS;
            let mut body = Vec::new();
            pack(&wrong, &mut body);
            assert!(!unpack(&body, &mut again), "{at}");
        }
        body.push(0);
        assert!(!unpack(&body, &mut again));
    }
}
