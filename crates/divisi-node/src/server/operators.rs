//! The orders of operators, each given at its own server: an order waits until the operators of all three
//! have given the same.
//! This module only decides: it has no thread, socket or clock, and times are arguments. Orders live in this
//! process alone: after a restart of the server its operator has to give them again.
//!
//! Adversary: one malicious server, with its operator. What it says of its own operator is as good as that
//! operator's word. What it says of another's operator has no effect, for each server acts on what its own
//! operator asked. It can propose orders that nobody gave, of which a server logs a few an hour.

use crate::error::parties;
use crate::operator::{Order, OrderState};
use divisi_core::PartyId;
use std::time::{Duration, Instant};

/// The most orders that wait at a time, or whose end is remembered.
const MOST: usize = 64;
/// The most orders of each other operator that are remembered, and logged, within the time of an order, so
/// that orders that one server invents leave room for the other's.
const PROPOSED: usize = 8;
/// How often a change of what the others have of an order is logged, at most.
const NEWS: usize = 8;

/// A server's state of an order, as it is sent to the others.
pub(super) const NONE: u8 = 0;
pub(super) const SAME: u8 = 1;
pub(super) const OTHER: u8 = 2;

/// How far an order has come.
enum Progress {
    Waits,
    /// The outcome, which is remembered.
    Done,
    Failed(String),
}

struct Pending {
    order: Order,
    /// The number of this asking among all of this process: the same order, given again, has another one.
    number: u64,
    /// The id of the key when the order was given: the order does not apply to another key of the same name.
    id: Option<[u8; 16]>,
    asked: Instant,
    /// Whether this server proposed it to the others in this session.
    called: bool,
    /// What each of the three had of the order, and how often that was logged.
    others: Option<[u8; 3]>,
    logged: usize,
    progress: Progress,
}

/// All orders that a server knows of.
pub(super) struct Orders {
    me: PartyId,
    /// How long an order waits.
    lasts: Duration,
    pending: Vec<Pending>,
    /// How often the operator has asked.
    askings: u64,
    /// Orders that other servers proposed: a digest, who proposed it first, and when.
    proposed: Vec<([u8; 32], PartyId, Instant)>,
    log: Vec<String>,
}

impl Orders {
    pub fn new(me: PartyId, lasts: Duration) -> Orders {
        Orders { me, lasts, pending: Vec::new(), askings: 0, proposed: Vec::new(), log: Vec::new() }
    }

    /// The operator of this server gives an order. It replaces an earlier order for this key, unless it is
    /// the same; what was done stays done.
    ///
    /// # Errors
    /// If too many orders wait.
    pub fn ask(&mut self, order: &Order, id: Option<[u8; 16]>, now: Instant) -> Result<(), String> {
        self.tick(now);
        let before = self.pending.iter().position(|p| p.order.key == order.key);
        if let Some(at) = before {
            let before = self.pending.remove(at);
            let same = before.order == *order && before.id == id;
            match before.progress {
                Progress::Done if same => {
                    self.pending.push(before);
                    return Ok(());
                }
                Progress::Waits if before.order != *order => {
                    self.log.push(format!("operator: {}: taken back", before.order));
                }
                _ => {}
            }
        }
        if self.pending.len() >= MOST {
            // an outcome is remembered only as long as there is room
            match self.pending.iter().position(|p| !matches!(p.progress, Progress::Waits)) {
                Some(at) => drop(self.pending.remove(at)),
                None => {
                    return Err(format!(
                        "{MOST} orders are waiting already: try again when some of them have ended"
                    ));
                }
            }
        }
        self.log.push(format!("operator: {order}: asked here"));
        self.askings += 1;
        let (order, progress) = (order.clone(), Progress::Waits);
        self.pending.push(Pending {
            order,
            number: self.askings,
            id,
            asked: now,
            called: false,
            others: None,
            logged: 0,
            progress,
        });
        Ok(())
    }

    /// The state of an order, and whether it was compared with the other servers in this session.
    pub fn state(&self, order: &Order) -> Option<(OrderState, bool)> {
        let pending = self.pending.iter().find(|p| p.order == *order)?;
        Some(match &pending.progress {
            Progress::Done => (OrderState::Done, true),
            Progress::Failed(why) => (OrderState::Failed(why.clone()), true),
            Progress::Waits => {
                let has = pending.others.unwrap_or([NONE; 3]);
                let with = |wanted: &dyn Fn(u8) -> bool| {
                    let others = PartyId::all(3).filter(|p| *p != self.me);
                    others.filter(|p| wanted(has[p.index()])).map(PartyId::number).collect()
                };
                let (waiting, differs) = (with(&|has| has != SAME), with(&|has| has == OTHER));
                (OrderState::Asked { waiting, differs }, pending.others.is_some())
            }
        })
    }

    /// An order of this server's operator that it has not proposed to the others in this session.
    pub fn next_call(&mut self, now: Instant) -> Option<Order> {
        self.tick(now);
        let waits = |p: &&mut Pending| !p.called && matches!(p.progress, Progress::Waits);
        let pending = self.pending.iter_mut().find(waits)?;
        pending.called = true;
        Some(pending.order.clone())
    }

    /// Whether there is an order for [`Orders::next_call`].
    pub fn has_call(&self) -> bool {
        self.pending.iter().any(|p| !p.called && matches!(p.progress, Progress::Waits))
    }

    /// A session has begun: propose all waiting orders again.
    pub fn rejoined(&mut self) {
        self.pending.iter_mut().for_each(|pending| (pending.called, pending.others) = (false, None));
    }

    /// What this server has of an order; `id` is that of the key that now has the name.
    pub fn stands(&mut self, order: &Order, id: Option<[u8; 16]>, now: Instant) -> u8 {
        self.tick(now);
        let waits = |p: &Pending| p.order.key == order.key && matches!(p.progress, Progress::Waits);
        let Some(at) = self.pending.iter().position(waits) else { return NONE };
        let another = |pending: &Pending| pending.id.zip(id).is_some_and(|(then, now)| then != now);
        match self.pending.get(at) {
            Some(pending) if another(pending) => {
                let line =
                    format!("operator: {}: ended, because another key has this name now", pending.order);
                self.log.push(line);
                self.pending.remove(at);
                NONE
            }
            Some(pending) if pending.order == *order => SAME,
            _ => OTHER,
        }
    }

    /// The number of this server's asking for an order.
    pub fn asking(&self, order: &Order) -> Option<u64> {
        self.pending.iter().find(|p| p.order == *order).map(|p| p.number)
    }

    /// Record that `leader` proposed an order, and in `has` what each of the three servers has of it.
    pub fn compared(&mut self, leader: PartyId, order: &Order, has: [u8; 3], now: Instant) {
        let named = |wanted: u8| parties(PartyId::all(3).filter(|p| has[p.index()] == wanted));
        let own = self.pending.iter_mut().find(|p| p.order.key == order.key);
        let own = own.filter(|p| matches!(p.progress, Progress::Waits));
        match own {
            Some(own) if own.order == *order => {
                let news = own.others != Some(has) && own.logged < NEWS;
                own.others = Some(has);
                own.logged += usize::from(news);
                let lacking = parties(PartyId::all(3).filter(|p| has[p.index()] != SAME));
                if !lacking.is_empty() && news {
                    self.log.push(format!("operator: {order}: waits for the operator of {lacking}"));
                }
                if has.contains(&OTHER) && news {
                    let line =
                        format!("operator: {order}: the operator of {} gave another order", named(OTHER));
                    self.log.push(line);
                }
            }
            _ if leader == self.me => {}
            Some(own) => {
                let own = own.order.clone();
                let both = [own.digest(), order.digest()].concat();
                if self.is_news(*blake3::hash(&both).as_bytes(), leader, now) {
                    self.log.push(format!(
                        "operator: {own} was asked here, and {order} at {leader}: nothing is done before they are \
                         the same"
                    ));
                }
            }
            None => {
                if self.is_news(order.digest(), leader, now) {
                    self.log.push(format!("operator: {order}: asked at {}, and not here", named(SAME)));
                }
            }
        }
    }

    /// Whether another operator gave this order; then a key whose share is lost here can be destroyed, too.
    pub fn was_proposed(&self, order: &Order) -> bool {
        let digest = order.digest();
        self.proposed.iter().any(|(known, ..)| *known == digest)
    }

    fn is_news(&mut self, digest: [u8; 32], leader: PartyId, now: Instant) -> bool {
        let of_leader = self.proposed.iter().filter(|(_, who, _)| *who == leader).count();
        if of_leader >= PROPOSED || self.proposed.iter().any(|(known, ..)| *known == digest) {
            return false;
        }
        self.proposed.push((digest, leader, now));
        true
    }

    /// All three operators gave the order: record that it was done, or why not. `asking` is the number of
    /// this server's asking with which that began: if its operator has given the order again since, a failure
    /// is not one of the new asking, which is proposed again; what was done is done for both.
    pub fn ended(&mut self, order: &Order, asking: Option<u64>, end: Result<(), String>) {
        let Some(pending) = self.pending.iter_mut().find(|p| p.order == *order) else { return };
        self.log.push(match &end {
            Ok(()) => format!("operator: {order}: done, all three asked for it"),
            Err(why) => format!("operator: {order}: not done: {why}"),
        });
        match end {
            Ok(()) => pending.progress = Progress::Done,
            Err(why) if asking == Some(pending.number) => pending.progress = Progress::Failed(why),
            Err(_) => {}
        }
        let digest = order.digest();
        self.proposed.retain(|(known, ..)| *known != digest);
    }

    /// Remove the orders that have waited too long.
    pub fn tick(&mut self, now: Instant) {
        let lasts = self.lasts;
        let over = |since: Instant| now.saturating_duration_since(since) >= lasts;
        self.proposed.retain(|(.., since)| !over(*since));
        let log = &mut self.log;
        self.pending.retain(|pending| {
            let gone = over(pending.asked);
            if gone && matches!(pending.progress, Progress::Waits) {
                let minutes = lasts.as_secs().div_ceil(60);
                let line = format!("the operators of all three did not give it within {minutes} minutes: give the command again at all three servers");
                log.push(format!("operator: {}: expired, {line}", pending.order));
            }
            !gone
        });
    }

    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

#[cfg(test)]
mod tests;
