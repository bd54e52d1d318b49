//! The verdict on an offer, after the three servers have compared what they have of it: the same at all
//! honest servers, because what each lacks is part of what they compare.

use divisi_core::PartyId;
use divisi_rep3::Agreement;

/// Whether this server has all messages of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mine {
    All,
    NotYet,
    Refused,
}

/// What is done with an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Do it.
    Do,
    /// It goes back to wait: a party has not received all of it yet.
    Back(PartyId),
    /// It waits, and this server had not taken anything for it.
    Wait,
    /// Refuse it.
    Refuse,
}

/// The fate of a step, from the verdicts on its data and on the key that it uses.
pub(crate) fn fate(mine: Mine, data: Agreement, key: Agreement) -> Fate {
    let refusal = |verdict| !matches!(verdict, Agreement::Agreed | Agreement::NotYet(_));
    if refusal(data) || refusal(key) {
        return Fate::Refuse;
    }
    let lacks = match (data, key) {
        (Agreement::NotYet(party), _) | (_, Agreement::NotYet(party)) => Some(party),
        _ => None,
    };
    match (mine, lacks) {
        (Mine::All, None) => Fate::Do,
        (Mine::All, Some(party)) => Fate::Back(party),
        (Mine::NotYet, _) => Fate::Wait,
        (Mine::Refused, _) => Fate::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_refusal_is_enough_and_what_one_lacks_all_wait_for() {
        let party = PartyId::P2;
        let (agreed, not_yet) = (Agreement::Agreed, Agreement::NotYet(party));
        assert_eq!(fate(Mine::All, agreed, agreed), Fate::Do);
        assert_eq!(fate(Mine::All, not_yet, agreed), Fate::Back(party));
        assert_eq!(fate(Mine::All, agreed, not_yet), Fate::Back(party));
        assert_eq!(fate(Mine::NotYet, not_yet, not_yet), Fate::Wait);
        for refusal in [Agreement::PublicDiffers, Agreement::SecretDiffers, Agreement::Missing(party)] {
            for other in [agreed, not_yet, refusal] {
                for mine in [Mine::All, Mine::NotYet, Mine::Refused] {
                    assert_eq!(fate(mine, refusal, other), Fate::Refuse);
                    assert_eq!(fate(mine, other, refusal), Fate::Refuse);
                }
            }
        }
    }
}
