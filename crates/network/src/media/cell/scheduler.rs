//! The schedulers: allocation of the resource blocks of a TTI in one direction.

use super::TTI;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// How a cell allocates its resource blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[schemars(rename = "CellScheduler")]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    // r / T, where T is the exponential average of what the user was given in each TTI, those
    // included in which it wanted nothing. Source: Jalali, Padovani and Pankaj, VTC 2000;
    // Viswanath, Tse and Laroia, IEEE Transactions on Information Theory 2002.
    /// To the user with the highest ratio of current to average rate.
    #[default]
    ProportionalFair,
    // A turn is worth the blocks of one TTI, whenever they come; a user that needs less passes it
    // on.
    /// To each user in turn.
    RoundRobin,
    // It may starve all others.
    /// To the user with the highest current rate.
    MaxRate,
}

/// Least average of a proportional-fair scheduler in the metric, in bits per TTI: lower averages
/// count as this one.
const LEAST_AVERAGE: f64 = 1.0;

/// A user that wants blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) user: usize,
    /// Blocks that it can use; at most all.
    pub(super) blocks: u32,
    /// Bits that each block carries for it; more than zero.
    pub(super) bits: f64,
    /// Bits that all blocks would carry for it, in whole bytes as they are credited (r).
    pub(super) rate: f64,
    /// Its rank; set by the scheduler.
    pub(super) metric: f64,
}

/// The allocation of one user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grant {
    pub(super) user: usize,
    pub(super) blocks: u32,
    pub(super) bits: f64,
}

/// The scheduler's history of a user.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// Mean bits per TTI that it was given, in all TTIs before `at`.
    average: f64,
    at: u64,
    /// The TTI in which it was last served, plus one.
    served: u64,
}

/// The scheduler of one direction.
#[derive(Clone, Debug)]
pub(super) struct Allocator {
    scheduler: Scheduler,
    /// Blocks of a TTI.
    blocks: u32,
    /// 1 / t_c, with t_c in TTIs.
    weight: f64,
    /// The last number of TTIs by which an average decayed, with the factor: mostly one.
    decay: (u64, f64),
    users: Vec<History>,
    /// The user whose turn it is; a user without demand passes the turn to the next one.
    turn: usize,
    /// Blocks left of that turn.
    left: u32,
}

impl Allocator {
    /// A scheduler of `blocks` for `users`, whose averages forget 1 − 1/e within `averaging`, at
    /// least one TTI.
    pub(super) fn new(scheduler: Scheduler, averaging: Span, blocks: u32, users: usize) -> Self {
        let weight = TTI.0 as f64 / averaging.0.max(TTI.0) as f64;
        let users = vec![History::default(); users];
        let decay = (0, 1.0);
        Allocator { scheduler, blocks, weight, decay, users, turn: 0, left: blocks }
    }

    pub(super) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Gives the blocks of a TTI to the users in `wants`, which are in the order of their numbers.
    pub(super) fn allocate(&mut self, tti: u64, wants: &mut Vec<Want>, grants: &mut Vec<Grant>) {
        match self.scheduler {
            Scheduler::RoundRobin => return self.take_turns(wants, grants),
            Scheduler::MaxRate => wants.iter_mut().for_each(|want| want.metric = want.rate),
            Scheduler::ProportionalFair => {
                for want in wants.iter_mut() {
                    want.metric = want.rate / self.average(tti, want.user).max(LEAST_AVERAGE);
                }
            }
        }
        let mut free = self.blocks;
        while free > 0
            && let Some(best) = self.best(wants)
        {
            let Want { user, blocks, bits, .. } = wants.swap_remove(best);
            let blocks = blocks.min(free);
            free -= blocks;
            self.users[user].served = tti + 1;
            grants.push(Grant { user, blocks, bits });
        }
    }

    /// The user with the highest metric. Among equals, the user that was served longest ago; among
    /// these, the one with the lowest number.
    fn best(&self, wants: &[Want]) -> Option<usize> {
        let better = |a: &Want, b: &Want| {
            let served = |want: &Want| self.users[want.user].served;
            let ranks = a.metric.total_cmp(&b.metric);
            ranks.then(served(b).cmp(&served(a))).then(b.user.cmp(&a.user))
        };
        let ranked = wants.iter().enumerate().max_by(|a, b| better(a.1, b.1));
        ranked.map(|(place, _)| place)
    }

    /// Average bits per TTI of a user before `tti`. The user was given nothing in the TTIs since
    /// the last call: the average decays by these first.
    fn average(&mut self, tti: u64, user: usize) -> f64 {
        let History { average, at, .. } = &mut self.users[user];
        let passed = tti.saturating_sub(*at);
        if passed > 0 {
            if self.decay.0 != passed {
                self.decay = (passed, libm::pow(1.0 - self.weight, passed as f64));
            }
            debug_assert_eq!(self.decay.1, libm::pow(1.0 - self.weight, passed as f64));
            *average *= self.decay.1;
            *at = tti;
        }
        *average
    }

    /// Credits a user with this many bits in a TTI: T ← (1 − 1/t_c) T + r / t_c.
    pub(super) fn credit(&mut self, tti: u64, user: usize, bits: f64) {
        if self.scheduler == Scheduler::ProportionalFair {
            let average = self.average(tti, user);
            let History { average: next, at, .. } = &mut self.users[user];
            (*next, *at) = ((1.0 - self.weight) * average + self.weight * bits, tti + 1);
        }
    }

    /// Round robin. The first user may have a second visit after all others, so there is one visit
    /// more than users.
    fn take_turns(&mut self, wants: &mut [Want], grants: &mut Vec<Grant>) {
        let turn = self.turn;
        let mut at = wants.iter().position(|want| want.user >= turn).unwrap_or(0);
        let mut free = self.blocks;
        for _ in 0..=wants.len() {
            let Some(want) = wants.get_mut(at).filter(|_| free > 0) else {
                return;
            };
            if want.user != self.turn {
                (self.turn, self.left) = (want.user, self.blocks);
            }
            let blocks = want.blocks.min(self.left).min(free);
            want.blocks -= blocks;
            free -= blocks;
            self.left -= blocks;
            let Want { user, bits, .. } = *want;
            match grants.iter_mut().find(|grant| grant.user == user) {
                Some(grant) => grant.blocks += blocks,
                None => grants.push(Grant { user, blocks, bits }),
            }
            if want.blocks == 0 || self.left == 0 {
                (self.turn, self.left) = (user + 1, self.blocks);
                at = (at + 1) % wants.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of each of three users in each of `ttis`, of 10 blocks; `wants` has their demand in
    /// blocks and the bits of a block.
    fn given(scheduler: Scheduler, ttis: u64, wants: [(u32, f64); 3]) -> Vec<[u32; 3]> {
        let mut allocator = Allocator::new(scheduler, Span::millis(4), 10, 3);
        let mut given = Vec::new();
        for tti in 0..ttis {
            let want = |(user, (blocks, bits)): (usize, &(u32, f64))| {
                let (blocks, bits, rate, metric) = (*blocks, *bits, 10.0 * *bits, 0.0);
                (blocks > 0).then_some(Want { user, blocks, bits, rate, metric })
            };
            let mut wanted = wants.iter().enumerate().filter_map(want).collect();
            let (mut grants, mut blocks) = (Vec::new(), [0; 3]);
            allocator.allocate(tti, &mut wanted, &mut grants);
            for Grant { user, blocks: granted, bits } in grants {
                blocks[user] = granted;
                allocator.credit(tti, user, f64::from(granted) * bits);
            }
            given.push(blocks);
        }
        given
    }

    #[test]
    fn a_turn_is_worth_a_tti_and_is_passed_on_by_who_needs_less() {
        let all = given(Scheduler::RoundRobin, 4, [(10, 1.0), (10, 9.0), (10, 1.0)]);
        assert_eq!(all, [[10, 0, 0], [0, 10, 0], [0, 0, 10], [10, 0, 0]]);
        let less = given(Scheduler::RoundRobin, 5, [(3, 1.0), (10, 1.0), (10, 1.0)]);
        // The second user has 7 of its turn at once and 3 later, the third follows, and so on.
        assert_eq!(less, [[3, 7, 0], [0, 3, 7], [3, 4, 3], [0, 6, 4], [3, 1, 6]]);
        let alone = given(Scheduler::RoundRobin, 2, [(0, 1.0), (10, 1.0), (0, 1.0)]);
        assert_eq!(alone, [[0, 10, 0], [0, 10, 0]]);
        assert_eq!(given(Scheduler::RoundRobin, 1, [(0, 1.0); 3]), [[0; 3]]);
    }

    #[test]
    fn the_best_rate_comes_first_and_equal_ones_in_turn() {
        let best = given(Scheduler::MaxRate, 2, [(10, 1.0), (4, 3.0), (10, 2.0)]);
        assert_eq!(best, [[0, 4, 6], [0, 4, 6]]);
        let equal = given(Scheduler::MaxRate, 3, [(10, 2.0), (10, 1.0), (10, 2.0)]);
        assert_eq!(equal, [[10, 0, 0], [0, 0, 10], [10, 0, 0]]);
    }

    #[test]
    fn the_proportional_fair_rank_is_the_rate_beside_the_average() {
        // r = 100 and 200, t_c = 4 TTIs, all averages 1 at least: the second user is first by 200 /
        // 1 to 100 / 1, and has T = 50; then the first by 100 / 1 to 200 / 50, and has T = 25; then
        // r / T is 4 to 200 / 37.5.
        let fair = given(Scheduler::ProportionalFair, 4, [(10, 10.0), (10, 20.0), (0, 1.0)]);
        assert_eq!(fair[..3], [[0, 10, 0], [10, 0, 0], [0, 10, 0]]);
        // Then T = 18.75 and 78.125: 5.33 to 2.56.
        assert_eq!(fair[3], [10, 0, 0]);
    }

    #[test]
    fn an_average_decays_in_ttis_without_service_as_if_it_had_been_updated_in_each() {
        let new = || Allocator::new(Scheduler::ProportionalFair, Span::millis(4), 10, 1);
        let (mut often, mut once) = (new(), new());
        for allocator in [&mut often, &mut once] {
            allocator.credit(0, 0, 1000.0);
        }
        (1..=9).for_each(|tti| often.credit(tti, 0, 0.0));
        let (often, once) = (often.average(10, 0), once.average(10, 0));
        assert!((once - 250.0 * libm::pow(0.75, 9.0)).abs() < 1e-9, "{once}");
        assert!((often / once - 1.0).abs() < 1e-12, "{often} {once}");
    }
}
