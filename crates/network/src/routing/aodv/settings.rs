//! The constants of RFC 3561 §10, and derived ones.

use units::Span;

/// Parameters of an AODV router; the defaults are those of RFC 3561 §10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AodvSettings {
    /// How long a route stays valid after it was used (`ACTIVE_ROUTE_TIMEOUT`). With HELLOs longer
    /// than `allowed_hello_loss` · `hello_interval`.
    pub active_route_timeout: Span,
    /// How long an invalid route is remembered, in multiples of the longer of
    /// `active_route_timeout` and `hello_interval` (`K` of `DELETE_PERIOD`, §6.11).
    pub delete_factor: u32,
    /// Whether a node that is a part of an active route broadcasts HELLOs (§6.9).
    pub hello: bool,
    /// Time between HELLOs (`HELLO_INTERVAL`), more than 0.
    pub hello_interval: Span,
    /// HELLO intervals of silence after which a link is lost (`ALLOWED_HELLO_LOSS`).
    pub allowed_hello_loss: u32,
    /// Most hops between two nodes (`NET_DIAMETER`): TTL of a RREQ to the whole network.
    pub net_diameter: u8,
    /// Conservative estimate of the time that a packet takes over a hop (`NODE_TRAVERSAL_TIME`).
    pub node_traversal_time: Span,
    /// How often a RREQ to the whole network is repeated (`RREQ_RETRIES`).
    pub rreq_retries: u32,
    /// Most RREQs that a node originates in a second, at least 1 (`RREQ_RATELIMIT`).
    pub rreq_ratelimit: u32,
    /// Most RERRs that a node sends in a second, at least 1 (`RERR_RATELIMIT`).
    pub rerr_ratelimit: u32,
    /// Hops by which the timeout of a ring is longer, for congestion (`TIMEOUT_BUFFER`).
    pub timeout_buffer: u8,
    /// TTL of the first RREQ (`TTL_START`).
    pub ttl_start: u8,
    /// By how much the TTL grows from ring to ring (`TTL_INCREMENT`).
    pub ttl_increment: u8,
    /// Largest TTL of a ring (`TTL_THRESHOLD`); the next RREQ goes to the whole network.
    pub ttl_threshold: u8,
    /// Whether RREQs ask for a gratuitous RREP to the destination (flag G, §6.6.3).
    pub gratuitous_rrep: bool,
    /// Whether only the destination may answer RREQs (flag D).
    pub destination_only: bool,
}

impl Default for AodvSettings {
    fn default() -> Self {
        AodvSettings {
            active_route_timeout: Span::millis(3000),
            delete_factor: 5,
            hello: true,
            hello_interval: Span::millis(1000),
            allowed_hello_loss: 2,
            net_diameter: 35,
            node_traversal_time: Span::millis(40),
            rreq_retries: 2,
            rreq_ratelimit: 10,
            rerr_ratelimit: 10,
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            gratuitous_rrep: false,
            destination_only: false,
        }
    }
}

impl AodvSettings {
    /// `NET_TRAVERSAL_TIME`: first wait for the RREP to a RREQ to the whole network.
    pub(super) fn net_traversal_time(&self) -> Span {
        Span(2 * self.node_traversal_time.0 * u64::from(self.net_diameter))
    }

    /// `RING_TRAVERSAL_TIME` (§6.4): how long a RREQ of this TTL waits for its RREP.
    pub(super) fn ring_traversal_time(&self, ttl: u8) -> Span {
        let hops = u64::from(ttl) + u64::from(self.timeout_buffer);
        Span(2 * self.node_traversal_time.0 * hops)
    }

    /// `PATH_DISCOVERY_TIME`: how long duplicates of a RREQ are recognised.
    pub(super) fn path_discovery_time(&self) -> Span {
        Span(2 * self.net_traversal_time().0)
    }

    /// `MY_ROUTE_TIMEOUT`: lifetime that a destination gives its RREP.
    pub(super) fn my_route_timeout(&self) -> Span {
        Span(2 * self.active_route_timeout.0)
    }

    /// `DELETE_PERIOD` (§6.11).
    pub(super) fn delete_period(&self) -> Span {
        let longer = self.active_route_timeout.max(self.hello_interval);
        Span(u64::from(self.delete_factor) * longer.0)
    }

    /// `BLACKLIST_TIMEOUT` (§6.8).
    pub(super) fn blacklist_timeout(&self) -> Span {
        Span(u64::from(self.rreq_retries) * self.net_traversal_time().0)
    }

    /// How long a neighbour that sent HELLOs may be silent (§6.9); the lifetime in a HELLO.
    pub(super) fn hello_lifetime(&self) -> Span {
        Span(u64::from(self.allowed_hello_loss) * self.hello_interval.0)
    }

    /// §6.4: the TTL of the first RREQ; `hops` is the last known hop count, 0 if it is unknown.
    pub(super) fn first_ttl(&self, hops: u8) -> u8 {
        match hops {
            0 => self.within_threshold(self.ttl_start),
            _ => self.within_threshold(hops.saturating_add(self.ttl_increment)),
        }
    }

    /// §6.4: the TTL of the RREQ after one of this TTL.
    pub(super) fn next_ttl(&self, ttl: u8) -> u8 {
        // The TTL must grow, or discovery would not end.
        self.within_threshold(ttl.saturating_add(self.ttl_increment.max(1)))
    }

    fn within_threshold(&self, ttl: u8) -> u8 {
        if ttl <= self.ttl_threshold { ttl.min(self.net_diameter) } else { self.net_diameter }
    }
}
