//! The path manager of the library: announces what the script has configured, and joins addresses
//! that a peer announces, as the kernel's does.

use crate::configured::{self, Announced, Limits};
use host::{Address, Host, Id};
use std::collections::BTreeSet;
use units::Time;
use wire::packet::Endpoint;

/// State of the path manager.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    announced: Vec<Announced>,
    limits: Limits,
    /// Connections whose peers know the addresses.
    told: BTreeSet<Id>,
    /// Port of the next join.
    port: u16,
}

/// The first port that a host of ours chooses itself.
pub(crate) const FIRST_PORT: u16 = 40_000;

impl Paths {
    /// With what the script has configured until now.
    pub(crate) fn configured() -> Self {
        let (announced, limits) = (configured::announced(), configured::limits());
        Paths { announced, limits, told: BTreeSet::new(), port: FIRST_PORT + 10_000 }
    }

    /// Looks at an established connection.
    pub(crate) fn look(&mut self, now: Time, host: &mut Host, id: Id) {
        let first = host.subflows(id).first().map(|(_, local, remote, _)| (*local, *remote));
        let Some((local, remote)) = first.filter(|_| host.is_multipath(id)) else { return };
        if self.told.insert(id) {
            for (name, address) in &self.announced {
                host.announce(now, id, *name, *address, None);
            }
        }
        while let Some(told) = host.poll_address(id) {
            let Address::Announced { id: name, address, port } = told else { continue };
            let used = host.subflows(id).len().saturating_sub(1);
            if used >= self.limits.subflows.min(self.limits.accepted) {
                continue;
            }
            self.port += 1;
            let ends = (
                Endpoint { port: self.port, ..local },
                Endpoint { address, port: port.unwrap_or(remote.port) },
            );
            // Refused where the connection takes no further subflow: then there is none.
            let _ = host.join(now, id, ends, [0, name], false);
        }
    }
}
