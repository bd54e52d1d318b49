//! Tags of many messages: they are opened, compared with received ones, or both.

use super::OnSpdz;
use crate::{Host, Spdz};
use divisi_core::{Abort, Lanes, Misuse, Settles, Step, step};

const TAGS: Step = step!("tags");

/// What is done with a tag: whether its first bytes are opened, and the received tag with which it is
/// compared.
pub(crate) struct WantedTag<'t> {
    pub bytes: usize,
    pub makes: bool,
    pub received: Option<&'t [u8]>,
}

/// What is learned of each lane's tag: the tag that is made, then a byte that is 1 if the received one is
/// right \[A23\].
///
/// # Errors
/// The abort that ends the session.
pub(crate) fn made_or_compared<F: Host, C: OnSpdz<F>>(
    e: &mut Spdz<F>,
    wanted: &[WantedTag<'_>],
    tags: &[C::Byte],
) -> Result<Vec<Vec<u8>>, Abort> {
    let misfit = || Abort::Misuse { step: TAGS, what: Misuse::CountsDiffer };
    let mut opened = Vec::new();
    let mut differences = Vec::new();
    for (lane, wanted) in wanted.iter().enumerate() {
        let own: Option<Vec<C::Byte>> =
            tags.iter().take(wanted.bytes).map(|byte| byte.gather(&[lane])).collect();
        let own = own.ok_or_else(misfit)?;
        if wanted.makes {
            opened.extend(own.iter().cloned());
        }
        if let Some(received) = wanted.received {
            let known: Vec<Vec<u8>> = received.iter().map(|byte| vec![*byte]).collect();
            let mut difference = own;
            let known = C::public_block(e, &known);
            C::add_block(e, &mut difference, &known)?;
            differences.push(difference);
        }
    }
    let same = if differences.is_empty() { Vec::new() } else { C::vanish(e, differences)? };
    let columns = if opened.is_empty() {
        Vec::new()
    } else {
        let verified = e.settled(opened)?;
        C::open(e, verified)?
    };
    let (mut made, mut same) = (columns.concat().into_iter(), same.into_iter());
    let row = |wanted: &WantedTag<'_>| {
        let mut row = Vec::new();
        if wanted.makes {
            row.extend(made.by_ref().take(wanted.bytes));
        }
        if wanted.received.is_some() {
            row.extend(same.next().map(u8::from));
        }
        row
    };
    Ok(wanted.iter().map(row).collect())
}

#[cfg(test)]
#[cfg(feature = "testing")]
mod tests {
    use super::*;
    use crate::dealer::Dealer;
    use crate::{AuthByte, SpdzProtocol};
    use divisi_core::testing::run;
    use divisi_core::{Bytes, PublicParameters};
    use divisi_field::Gf48;
    use divisi_symmetric::aes::RoundKeys;

    /// A received tag that begins like the right one, but is shorter or longer, is no tag: one of a single
    /// byte would be forged by trying 256.
    #[test]
    fn a_tag_has_all_its_bytes() {
        for bytes in [0, 1, 3, 5] {
            let ends = run(2, &PublicParameters::new("short tags"), |session| {
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::RivainProuff)?;
                let tags: Vec<AuthByte<Gf48>> = (0..5).map(|_| e.public(&[7])).collect();
                let received = vec![7; bytes];
                let wanted = [WantedTag { bytes: 4, makes: false, received: Some(&received) }];
                made_or_compared::<Gf48, RoundKeys<AuthByte<Gf48>>>(&mut e, &wanted, &tags)
            });
            assert!(ends.iter().all(|end| matches!(end, Err(Abort::Misuse { .. }))), "{bytes}: {ends:?}");
        }
    }

    /// Of a tag that is compared nothing is opened but the verdict, also beside one that is made.
    #[test]
    fn compared_tags_stay_closed() {
        let opened = |makes: bool| {
            let ends = run(2, &PublicParameters::new("compared tags"), |session| {
                let (party, dealer) = Dealer::<Gf48>::deal(session, 6)?;
                let mut e = Spdz::new(party, Box::new(dealer), SpdzProtocol::RivainProuff)?;
                let tags: Vec<AuthByte<Gf48>> = (0..5).map(|i| e.public(&[i; 3])).collect();
                let compared = |received| WantedTag { bytes: 5, makes: false, received: Some(received) };
                let other = WantedTag { bytes: 4, makes, received: None };
                let wanted = [compared(&[0, 1, 2, 3, 4]), other, compared(&[0, 1, 2, 3, 5])];
                let rows = made_or_compared::<Gf48, RoundKeys<AuthByte<Gf48>>>(&mut e, &wanted, &tags)?;
                assert_eq!(rows, [vec![1], (0..if makes { 4 } else { 0 }).collect(), vec![0]]);
                Ok(e.session().meter().read().openings)
            });
            ends.into_iter().map(Result::unwrap).collect::<Vec<_>>()
        };
        let with_tag: Vec<u64> = opened(false).iter().map(|opened| opened + 4).collect();
        assert_eq!(opened(true), with_tag);
    }
}
