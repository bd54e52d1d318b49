//! The rounds of the simulation: what the leader offers, what each server claims, and what all of them do.

use super::clients::known;
use super::{PATIENCE, SHAPE, World};
use crate::error::Failed;
use crate::request::{Item, ToClient, ToServer};
use crate::server::agreement::{Fate, Mine, fate};
use crate::server::scheduling::{After, Budget, Kind, Offer, Stand, due, kind};
use divisi_core::{PartyId, step};
use divisi_rep3::Agreement;
use std::collections::BTreeSet;
use std::time::Duration;

impl World {
    /// Count one round more for each client that could be served in this round and is not.
    fn watch(&mut self, offers: &[Offer]) {
        let (most, taken) = (usize::MAX, 0);
        let all = Budget { short: most, lanes: most, rounds: most, single: most, long: most, taken };
        let leader = self.round % 3;
        let stands =
            |offer: &&Offer| self.servers.iter().all(|schedule| schedule.stands(offer) == Some(true));
        let name = |offer: &Offer| self.servers[leader].client_of(offer).unwrap_or_default().to_owned();
        let could = self.servers[leader].plan(self.now, all, &known);
        let could: BTreeSet<String> = could.iter().filter(stands).map(name).collect();
        let served: BTreeSet<String> = offers.iter().map(name).collect();
        self.passed.retain(|client, _| could.contains(client) && !served.contains(client));
        for client in could.difference(&served) {
            let count = self.passed.entry(client.clone()).or_default();
            *count += 1;
            self.longest = self.longest.max(*count);
            assert!(*count <= PATIENCE, "{client} stands for {count} rounds");
        }
    }

    /// A round: what the leader offers, compared and done.
    pub(super) fn play(&mut self) {
        let leader = self.round % 3;
        let mut offers = self.servers[leader].plan(self.now, Budget::ROUND, &known);
        if self.watched {
            self.watch(&offers);
        }
        self.round += 1;
        for i in (0..3).filter(|i| *i != leader) {
            self.servers[i].led(PartyId::from_index(leader).unwrap(), &offers, &known);
        }
        if self.liar == Some(leader) {
            // passes over, offers what nobody asked for, or another step
            let keep = self.dice.below(3);
            offers.retain(|offer| keep == 0 || offer.connection[0] % 2 == 0);
            if self.dice.one_in(3) {
                offers.push(Offer { connection: [255; 32], number: 1, step: self.dice.below(2) });
            }
            if let Some(offer) = offers.first_mut().filter(|_| keep == 2) {
                offer.step += 1;
            }
        }
        for offer in offers {
            let mut stands: Vec<Stand> =
                self.servers.iter_mut().map(|schedule| schedule.take(&offer)).collect();
            let claims: Vec<Mine> = (0..3)
                .map(|i| match &stands[i] {
                    _ if self.liar == Some(i) && self.dice.one_in(4) => Mine::NotYet,
                    _ if self.liar == Some(i) && self.dice.one_in(30) => Mine::Refused,
                    Stand::Ready(_) => Mine::All,
                    Stand::NotYet => Mine::NotYet,
                    Stand::Missing => Mine::Refused,
                })
                .collect();
            let party = |mine| PartyId::all(3).find(|party| claims[party.index()] == mine);
            let verdict = match (party(Mine::Refused), party(Mine::NotYet)) {
                (Some(party), _) => Agreement::Missing(party),
                (_, Some(party)) => Agreement::NotYet(party),
                _ => Agreement::Agreed,
            };
            let fates: Vec<Fate> = (0..3)
                .map(|i| {
                    let mine = match &stands[i] {
                        Stand::Ready(_) => Mine::All,
                        Stand::NotYet => Mine::NotYet,
                        Stand::Missing => Mine::Refused,
                    };
                    fate(mine, verdict, verdict)
                })
                .collect();
            let honest: Vec<Fate> = (0..3).filter(|i| self.honest(*i)).map(|i| fates[i]).collect();
            let does = honest.iter().filter(|fate| **fate == Fate::Do).count();
            assert!(does == 0 || does == honest.len(), "{honest:?}");
            self.done += u64::from(does > 0);
            for (i, stand) in stands.drain(..).enumerate() {
                self.apply(i, &offer, stand, fates[i]);
            }
        }
    }

    fn apply(&mut self, i: usize, offer: &Offer, stand: Stand, fate: Fate) {
        let (schedule, now) = (&mut self.servers[i], self.now);
        match (fate, stand) {
            (Fate::Do, Stand::Ready(taken)) => {
                let first = u64::from(offer.step == 0);
                for _ in 0..first + taken.messages.len() as u64 {
                    schedule.answer(&offer.connection, offer.number, ToClient::Accepted);
                }
                let place = (i, offer.connection, offer.number);
                let so_far = self.taken.entry(place).or_default();
                *so_far = if offer.step == 0 { 0 } else { *so_far } + taken.messages.len() as u64;
                let begun_only = kind(&taken.item) == Kind::Long && offer.step == 0;
                // each piece of a hash takes two steps, the first of which takes its message
                let hashes = matches!(*taken.item, Item::Hash { .. });
                let in_hand = hashes && matches!(taken.messages.first(), Some(ToServer::Data { .. }));
                let more = match (&*taken.item, taken.messages.first()) {
                    (Item::EncryptStream { .. }, message) => {
                        !matches!(message, Some(ToServer::Finish { .. }))
                    }
                    _ => begun_only || in_hand || due(&taken.item, SHAPE, *so_far, None).is_some(),
                };
                let after = if more { After::More { in_hand } } else { After::Done };
                schedule.ran(offer, after, Duration::from_millis(120), now);
            }
            (Fate::Back(party), Stand::Ready(taken)) => schedule.put_back(offer, taken.messages, party, now),
            (Fate::Wait, _) => schedule.was_late(offer),
            _ => schedule.fail(&offer.connection, offer.number, Failed::refused(step!("refused"), "no"), now),
        }
    }
}
