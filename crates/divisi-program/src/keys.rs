//! How the keys of garbled circuits are looked up: in one of the forms, or in the one that is cheaper.

use crate::form::BitForm;
use crate::rings::ring;
use divisi_bgv::parameters::{Form, Parameters};
use divisi_core::PublicParameters;
use divisi_field::zp::P16;
use divisi_mpgc::LookupMethod;
use divisi_mpgc::cost::cheaper;
use divisi_mpgc::lookup::{MOST_TRANSFERS, operation, transfers_fit};
use divisi_mpgc::parameters::{MOST_GATES, fits};
use divisi_ot::SetupConfig;

/// How keys are looked up. Public, the same at all parties.
pub(crate) struct KeyLookups {
    pub method: LookupMethod,
    pub form: BitForm,
}

impl KeyLookups {
    /// The method for this number of gates in all, of which `ands` are ANDs: of the form that is given, or of
    /// the cheaper one.
    ///
    /// # Errors
    /// If there are too many parties or gates, or if there are no lattice parameters for them: a sentence
    /// that says what to correct.
    pub fn new(
        parties: usize,
        config: SetupConfig,
        [gates, ands]: [usize; 2],
        form: Option<BitForm>,
        insecure: bool,
    ) -> Result<Self, String> {
        let most = (2..256).take_while(|n| fits(*n)).last().unwrap_or(0);
        if !fits(parties) {
            return Err(format!(
                "circuits are garbled among at most {most} parties, not {parties}: give another --parties, or evaluate them by GMW"
            ));
        }
        if gates as u64 > MOST_GATES {
            return Err(format!(
                "a session garbles at most {MOST_GATES} gates: give fewer, or evaluate them by GMW"
            ));
        }
        let by_transfers = transfers_fit(parties, 4 * ands as u64);
        let form = form.unwrap_or_else(|| {
            let cheaper = cheaper(parties, [gates as u64, ands as u64], config).map(|lattice| lattice.form());
            let form = cheaper.or((!by_transfers).then_some(Form::LeanTree));
            form.map_or(BitForm::Cot, BitForm::Ciphertexts)
        });
        if form == BitForm::Cot && !by_transfers {
            let most = MOST_TRANSFERS / 4 / (parties as u64 - 1);
            return Err(format!(
                "by transfers a session garbles at most {most} ANDs among {parties} parties, not {ands}: give fewer, or --form lean-tree"
            ));
        }
        let method = match form.ciphertexts() {
            None => LookupMethod::Transfers,
            Some(form) => LookupMethod::Ciphertexts(ring(operation(form), form, parties, P16, insecure)?),
        };
        Ok(KeyLookups { method, form })
    }

    /// The lattice, if keys are looked up by ciphertexts.
    pub fn lattice(&self) -> Option<&Parameters> {
        match &self.method {
            LookupMethod::Ciphertexts(ring) => Some(ring.parameters()),
            LookupMethod::Transfers => None,
        }
    }

    /// Add the method to the parameters that the parties compare.
    pub fn describe(&self, parameters: PublicParameters) -> PublicParameters {
        let parameters = parameters.with("garbled", self.method.name().as_bytes());
        self.lattice().into_iter().fold(parameters, |all, lattice| lattice.describe(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many ANDs that pads of transfers would not be uniform are looked up by ciphertexts, or refused.
    #[test]
    fn transfers_are_for_so_many_gates() {
        let of = |parties: usize, ands: usize, form: Option<BitForm>| {
            KeyLookups::new(parties, SetupConfig::default(), [2 * ands, ands], form, true)
        };
        for (parties, most) in [(2, 1 << 21), (16, (1 << 21) / 15)] {
            assert!(of(parties, most, Some(BitForm::Cot)).is_ok());
            let error = of(parties, most + 1, Some(BitForm::Cot)).err().unwrap();
            assert!(error.contains(&format!("at most {most} ANDs among {parties} parties")), "{error}");
            assert!(of(parties, most + 1, None).unwrap().form != BitForm::Cot);
        }
    }

    #[test]
    fn what_cannot_be_garbled_is_refused() {
        let of = |parties: usize, size: [usize; 2]| {
            KeyLookups::new(parties, SetupConfig::default(), size, Some(BitForm::Cot), true).err()
        };
        assert!(of(2, [MOST_GATES as usize, 1]).is_none());
        let many = of(2, [MOST_GATES as usize + 1, 1]).unwrap();
        assert!(many.contains(&format!("at most {MOST_GATES} gates")), "{many}");
        let most = (2..256).take_while(|n| fits(*n)).last().unwrap();
        assert!(of(most, [1, 1]).is_none());
        let parties = of(most + 1, [1, 1]).unwrap();
        assert!(parties.contains(&format!("at most {most} parties, not {}", most + 1)), "{parties}");
    }

    /// The form that is chosen is that of the cheaper way for these numbers of gates and of ANDs.
    #[test]
    fn the_cheaper_form_is_chosen() {
        for parties in [2, 5, 16] {
            // among 16 parties eight ANDs are cheaper by ciphertexts, and none by transfers
            for size in [[1, 0], [64, 0], [64, 8], [64, 64], [1 << 16, 1 << 10]] {
                let made = KeyLookups::new(parties, SetupConfig::default(), size, None, true).unwrap();
                let cheaper = cheaper(parties, size.map(|count| count as u64), SetupConfig::default());
                let form = cheaper.map_or(BitForm::Cot, |lattice| BitForm::Ciphertexts(lattice.form()));
                assert_eq!(made.form, form, "{parties} {size:?}");
            }
        }
    }
}
