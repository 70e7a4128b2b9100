//! What ad-hoc networks of one kind and with the same nodes share: the channels of one medium.
//! Where nodes reach each other, and the routes of the oracle, are then computed once for all.

use super::reachability::{Table, components, shortest_routes};
use crate::Packet;
use crate::dot11::{Channel, Geometry};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values at the positions of the network that moved last.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) geometry: Arc<Geometry>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Moves until the positions of these values.
    moves: u64,
    /// See [`components`].
    components: Option<Arc<[usize]>>,
    /// Routing tables, by the stations at which a link ends.
    tables: BTreeMap<Vec<usize>, Arc<Table>>,
}

impl Shared {
    pub(super) fn new(geometry: &Arc<Geometry>) -> Self {
        Shared { geometry: geometry.clone(), known: Mutex::default() }
    }

    /// Calls `ask` with the values at the positions of `channel`: those that are kept, or if
    /// another network is ahead, none.
    fn ask<P: Packet, V>(&self, channel: &Channel<P>, ask: impl FnOnce(&mut Known) -> V) -> V {
        let Some(moves) = channel.moves() else {
            return ask(&mut Known::default());
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.moves != moves {
            *known = Known { moves, ..Known::default() };
        }
        ask(&mut known)
    }

    /// For each node, the first of the nodes to which it has a route.
    pub(super) fn components<P: Packet>(&self, channel: &Channel<P>) -> Arc<[usize]> {
        self.ask(channel, |known| {
            let computed = || components(channel).into();
            let all = known.components.get_or_insert_with(computed).clone();
            debug_assert_eq!(all, computed(), "computed anew");
            all
        })
    }

    /// The routing table towards `ends`.
    pub(super) fn table<P: Packet>(&self, channel: &Channel<P>, ends: &[usize]) -> Arc<Table> {
        self.ask(channel, |known| match known.tables.get(ends) {
            Some(table) => {
                debug_assert_eq!(**table, shortest_routes(channel, ends), "computed anew");
                table.clone()
            }
            None => {
                let table = Arc::new(shortest_routes(channel, ends));
                known.tables.insert(ends.to_vec(), table.clone());
                table
            }
        })
    }
}

/// The tables of a network at its present positions.
pub(super) trait Tables {
    /// The routing table towards `ends`.
    fn table(&self, ends: &[usize]) -> Arc<Table>;
}

/// A channel with what it shares.
pub(super) struct View<'a, P> {
    pub(super) channel: &'a Channel<P>,
    pub(super) shared: &'a Shared,
}

impl<P: Packet> Tables for View<'_, P> {
    fn table(&self, ends: &[usize]) -> Arc<Table> {
        self.shared.table(self.channel, ends)
    }
}
