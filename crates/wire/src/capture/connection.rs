//! Groups the subflows of a capture into connections, by the tokens in joins (RFC 8684 §3.2).

use super::dissect::Seen;
use super::subflow::{Subflow, unwrap};
use crate::mptcp::{Hash, Keys, Mptcp, initial_data_sequence, token};
use crate::tcp::TcpOption;
use std::collections::{BTreeMap, BTreeSet};

/// A connection: a TCP connection, or one over several subflows.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// Numbers of its subflows, the first one first.
    pub subflows: Vec<usize>,
    /// Token of its initiator, if the keys were captured.
    pub token: Option<u32>,
    /// Payload acknowledged on the connection, each byte once, in both directions: by data acks if
    /// it has several paths.
    pub acked_bytes: u64,
    /// Joins with valid proofs and joins with invalid proofs; only joins that were captured whole.
    pub proofs: (u64, u64),
    /// Announced addresses, each once.
    pub announced: u64,
    /// Withdrawn addresses, each once.
    pub withdrawn: u64,
}

/// Data acks of one side on one subflow: the first one, and the range of the others below and above
/// it.
#[derive(Clone, Copy, Debug)]
struct Acks {
    first: u64,
    low: i64,
    high: i64,
    /// Whether the upper half of the first one is known.
    whole: bool,
}

/// The opening of a subflow, by which it is grouped.
#[derive(Clone, Debug, Default)]
struct Opening {
    keys: [Option<u64>; 2],
    version: u8,
    /// Token in its join.
    names: Option<u32>,
    nonces: [Option<u32>; 2],
    codes: (Option<u64>, Option<[u8; 20]>),
    /// Newest data sequence number of each side that was captured with all 64 bits.
    sequence: [Option<u64>; 2],
    /// Data acks of the initiator, and of the responder.
    data_acks: [Option<Acks>; 2],
    announced: BTreeSet<u8>,
    withdrawn: BTreeSet<u8>,
}

/// Openings of all subflows so far.
#[derive(Default)]
pub(super) struct Connections {
    openings: Vec<Opening>,
    /// Data acks at the begin and at the end of the counted part.
    begun: Option<DataAcks>,
    ended: Option<DataAcks>,
}

/// Data acks of the initiator and the responder of each subflow.
type DataAcks = Vec<[Option<Acks>; 2]>;

impl Connections {
    pub(super) fn add(&mut self, number: usize, seen: &Seen, subflow: &Subflow) {
        self.openings.resize(self.openings.len().max(number + 1), Opening::default());
        let opening = &mut self.openings[number];
        let me = usize::from(seen.from != subflow.initiator);
        for option in seen.options.iter().flatten() {
            if let TcpOption::Mptcp(option) = option {
                opening.add(option, me);
            }
        }
    }

    /// Called before each segment: whether the counted part has begun, and whether it has ended.
    pub(super) fn mark(&mut self, begun: bool, ended: bool) {
        if begun && self.begun.is_none() {
            self.begun = Some(self.data_acks());
        }
        if ended && self.ended.is_none() {
            self.ended = Some(self.data_acks());
        }
    }

    fn data_acks(&self) -> DataAcks {
        self.openings.iter().map(|opening| opening.data_acks).collect()
    }

    /// Groups subflows; a join may come before the subflow that it joins.
    pub(super) fn finish(self, subflows: &[Subflow]) -> Vec<Connection> {
        let last = self.data_acks();
        let part = [self.begun.as_ref().unwrap_or(&last), self.ended.as_ref().unwrap_or(&last)];
        let mut owners = BTreeMap::new();
        for (number, opening) in self.openings.iter().enumerate() {
            owners.extend(opening.tokens().map(|token| (token, number)));
        }
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut connections: Vec<Connection> = Vec::new();
        for (number, opening) in self.openings.iter().enumerate() {
            let owner = opening.names.and_then(|token| owners.get(&token).copied());
            let owner = owner.unwrap_or(number);
            let at = *places.entry(owner).or_insert_with(|| {
                connections.push(Connection { subflows: vec![owner], ..Connection::default() });
                connections.len() - 1
            });
            if number != owner {
                connections[at].subflows.push(number);
            }
        }
        for connection in &mut connections {
            connection.judge(&self.openings, subflows, part);
        }
        connections
    }
}

impl Connection {
    /// Counts acknowledged data, and checks the proofs of its joins.
    fn judge(
        &mut self,
        openings: &[Opening],
        subflows: &[Subflow],
        [begun, ended]: [&DataAcks; 2],
    ) {
        let first = &openings[self.subflows[0]];
        let mine = || self.subflows.iter().map(|&number| &openings[number]);
        let hash = Hash::of_version(first.version);
        self.token = first.keys[0].map(|key| token(hash, key));
        let distinct = |ids: fn(&Opening) -> &BTreeSet<u8>| {
            mine().flat_map(|opening| ids(opening).iter()).collect::<BTreeSet<_>>().len() as u64
        };
        let announced = distinct(|opening| &opening.announced);
        let withdrawn = distinct(|opening| &opening.withdrawn);
        let proofs = first.keys().map(|keys| {
            let judged = mine().filter_map(move |opening| opening.proof(&keys));
            judged.fold((0, 0), |(right, wrong), proof| match proof {
                true => (right + 1, wrong),
                false => (right, wrong + 1),
            })
        });
        let tcp = |number: &usize| {
            subflows[*number].forth.acked_bytes.saturating_add(subflows[*number].back.acked_bytes)
        };
        let upto = |acks: &DataAcks, who| acknowledged(&self.subflows, openings, acks, who);
        let data: Vec<u64> = (0..2)
            .filter_map(|who| {
                let before = upto(begun, who).unwrap_or(0);
                acknowledges(&self.subflows, openings, who)
                    .then(|| upto(ended, who).unwrap_or(0).saturating_sub(before))
            })
            .collect();
        self.acked_bytes = match data.is_empty() {
            // no data acks: plain TCP
            true => self.subflows.iter().map(tcp).fold(0, u64::saturating_add),
            false => data.into_iter().fold(0, u64::saturating_add),
        };
        (self.announced, self.withdrawn) = (announced, withdrawn);
        self.proofs = proofs.unwrap_or_default();
    }
}

/// Whether `who` has sent data acks.
fn acknowledges(subflows: &[usize], openings: &[Opening], who: usize) -> bool {
    subflows.iter().any(|&number| openings[number].data_acks[who].is_some())
}

/// Payload covered by the data acks of `who` in `data_acks`; zero without data acks.
fn acknowledged(
    subflows: &[usize],
    openings: &[Opening],
    data_acks: &DataAcks,
    who: usize,
) -> Option<u64> {
    let first = &openings[subflows[0]];
    let of = |number: &usize| data_acks.get(*number).and_then(|acks| acks[who]);
    let acks: Vec<Acks> = subflows.iter().filter_map(of).collect();
    // The key of the other side gives the beginning of its data, even before the first data ack.
    let begun = first.keys[1 - who]
        .map(|key| initial_data_sequence(Hash::of_version(first.version), key).wrapping_add(1));
    let known = acks.iter().find(|acks| acks.whole).or(acks.first())?;
    let known_first = match begun {
        Some(begun) if !known.whole => unwrap(begun, known.first as u32),
        _ => known.first,
    };
    let newest = known_first.wrapping_add_signed(known.high);
    let from = begun.unwrap_or(known_first);
    let place = |acks: &Acks, by: i64| {
        let first = if acks.whole { acks.first } else { unwrap(newest, acks.first as u32) };
        (first.wrapping_sub(from) as i64).saturating_add(by)
    };
    let high = acks.iter().map(|acks| place(acks, acks.high)).max()?;
    let low = acks.iter().map(|acks| place(acks, acks.low)).min()?;
    let low = if begun.is_some() { low.min(0) } else { low };
    Some(high.saturating_sub(low).max(0) as u64)
}

impl Opening {
    /// Adds an option; `me` is 0 for the initiator of the subflow, 1 for its responder.
    fn add(&mut self, option: &Mptcp, me: usize) {
        match *option {
            Mptcp::Capable { version, sender, receiver, .. } => {
                self.version = version;
                self.keys[me] = sender.or(self.keys[me]);
                self.keys[1 - me] = receiver.or(self.keys[1 - me]);
            }
            Mptcp::JoinRequest { token, nonce, .. } => {
                self.names = Some(token);
                self.nonces[0] = Some(nonce);
            }
            Mptcp::JoinGrant { code, nonce, .. } => {
                self.nonces[1] = Some(nonce);
                self.codes.0 = Some(code);
            }
            Mptcp::JoinProof { code } => self.codes.1 = Some(code),
            Mptcp::Data { ack, mapping, .. } => {
                if let Some(mapping) = mapping.filter(|mapping| mapping.wide) {
                    self.sequence[me] = Some(mapping.data_sequence);
                }
                if let Some((ack, wide)) = ack {
                    self.acknowledge(me, ack, wide);
                }
            }
            Mptcp::AddAddress { echo: false, id, .. } => _ = self.announced.insert(id),
            Mptcp::RemoveAddress { ref ids } => self.withdrawn.extend(ids),
            _ => {}
        }
    }

    /// Adds a data ack of `me`; its upper half is chosen to be closest to the other data acks.
    fn acknowledge(&mut self, me: usize, ack: u64, wide: bool) {
        let hash = Hash::of_version(self.version);
        let begun = || self.keys[1 - me].map(|key| initial_data_sequence(hash, key));
        let before = self.data_acks[me];
        let newest = before.map(|acks| acks.first.wrapping_add_signed(acks.high));
        let known = before.filter(|acks| acks.whole).and(newest);
        let near = self.sequence[1 - me].or(known).or_else(begun);
        let ack =
            if wide { ack } else { near.or(newest).map_or(ack, |near| unwrap(near, ack as u32)) };
        let whole = wide || near.is_some();
        let acks = self.data_acks[me].get_or_insert(Acks { first: ack, low: 0, high: 0, whole });
        if whole && !acks.whole {
            (acks.first, acks.whole) = (unwrap(ack, acks.first as u32), true);
        }
        let by = ack.wrapping_sub(acks.first) as i64;
        (acks.low, acks.high) = (acks.low.min(by), acks.high.max(by));
    }

    /// Tokens by which joins may name it.
    fn tokens(&self) -> impl Iterator<Item = u32> {
        let hash = Hash::of_version(self.version);
        self.keys.into_iter().flatten().map(move |key| token(hash, key))
    }

    fn keys(&self) -> Option<Keys> {
        let hash = Hash::of_version(self.version);
        Some(Keys { initiator: self.keys[0]?, responder: self.keys[1]?, hash })
    }

    /// Whether the proofs of this join are valid; `None` if it was not captured whole.
    fn proof(&self, keys: &Keys) -> Option<bool> {
        let (ours, theirs) = (self.nonces[0]?, self.nonces[1]?);
        let granted = self.codes.0? == keys.responder_code(ours, theirs);
        Some(granted && self.codes.1? == keys.initiator_code(ours, theirs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mptcp::Mapping;

    fn covered(subflows: &[usize], openings: &[Opening], who: usize) -> Option<u64> {
        let acks = openings.iter().map(|opening| opening.data_acks).collect();
        acknowledged(subflows, openings, &acks, who)
    }

    fn mapped(data_sequence: u64) -> Mptcp {
        let mapping = Mapping {
            data_sequence,
            wide: true,
            subflow_sequence: 1,
            length: 1000,
            checksum: None,
        };
        Mptcp::Data { ack: None, mapping: Some(mapping), fin: false }
    }

    fn acked(ack: u64) -> Mptcp {
        Mptcp::Data { ack: Some((ack & 0xffff_ffff, false)), mapping: None, fin: false }
    }

    #[test]
    fn data_acks_of_32_bits_count_beyond_four_gigabytes_and_on_a_subflow_that_joins_late() {
        let begun = 0xffff_fff0_0000_0000;
        let (mut first, mut second) = (Opening::default(), Opening::default());
        for at in (0..=5_000_000_000).step_by(100_000_000) {
            first.add(&mapped(begun + at), 0);
            first.add(&acked(begun + at), 1);
            if at >= 2_900_000_000 {
                second.add(&mapped(begun + at + 1000), 0);
                second.add(&acked(begun + at + 1000), 1);
            }
        }
        let openings = [first, second];
        assert_eq!(covered(&[0, 1], &openings, 1), Some(5_000_001_000));
        assert_eq!(covered(&[1], &openings, 1), Some(2_100_000_000));
        assert_eq!(covered(&[0, 1], &openings, 0), None);
    }

    #[test]
    fn a_data_ack_before_any_mapping_of_its_subflow_has_the_place_of_the_others() {
        let begun = 0xffff_fff0_ffff_0000;
        let (mut first, mut early, mut bare) =
            (Opening::default(), Opening::default(), Opening::default());
        first.add(&mapped(begun), 0);
        first.add(&acked(begun + 1000), 1);
        early.add(&acked(begun), 1);
        early.add(&mapped(begun + 90_000), 0);
        early.add(&acked(begun + 90_000), 1);
        bare.add(&acked(begun + 50_000), 1);
        bare.add(&acked(begun + 100_000), 1);
        let openings = [first, early, bare];
        for subflows in [[0, 1, 2], [0, 2, 1], [2, 1, 0]] {
            assert_eq!(covered(&subflows, &openings, 1), Some(100_000), "{subflows:?}");
        }
        assert_eq!(covered(&[2], &openings, 1), Some(50_000));
    }

    #[test]
    fn a_data_ack_of_32_bits_that_is_alone_has_its_upper_half_from_the_key() {
        let key = 0x1234_5678_9abc_def0;
        let mut first = Opening::default();
        first.keys[0] = Some(key);
        let begun = initial_data_sequence(Hash::of_version(first.version), key).wrapping_add(1);
        let mut join = Opening::default();
        join.add(&acked(begun), 1);
        assert_eq!(covered(&[0, 1], &[first.clone(), join.clone()], 1), Some(0));
        join.add(&acked(begun + 3000), 1);
        assert_eq!(covered(&[0, 1], &[first, join], 1), Some(3000));
    }
}
