//! Queue disciplines. Most decide when a packet arrives; the others, when it leaves (see `departing.rs`).

use crate::{CodelSettings, FqCodelSettings, Pie, Red, Rng};
use units::Time;

/// What an arriving packet finds: packets that wait, the one in transmission not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the transmitter fell idle; later than now while it is busy.
    pub idle_since: Time,
}

/// Whether an arriving packet is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the queue.
    Accept,
    /// It is dropped because the queue is full.
    Full,
    /// It is dropped early, by the discipline's choice.
    Early,
    /// It joins the queue marked (CE), where it would have been dropped early.
    Mark,
}

/// A queue discipline.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Queue {
    /// Takes everything; no limit.
    #[default]
    Unlimited,
    /// Drops what does not fit (drop-tail); either limit may be infinite.
    DropTail {
        /// Packets that may wait.
        packets: u64,
        /// Bytes that may wait.
        bytes: u64,
    },
    /// Random early detection.
    Red(Box<Red>),
    /// Proportional integral controller enhanced.
    Pie(Box<Pie>),
    /// Controlled delay, which drops when a packet leaves.
    Codel {
        /// Its parameters.
        codel: CodelSettings,
        /// Packets that may wait.
        limit: u64,
    },
    /// A queue with CoDel for each flow.
    FqCodel(FqCodelSettings),
}

impl Queue {
    /// Judge a packet of `bytes` that arrives at `now`; `capable`: it can be marked.
    #[inline(always)] // on the way of every hop into a queue
    pub fn judge(
        &mut self,
        now: Time,
        bytes: u32,
        capable: bool,
        backlog: Backlog,
        rng: &mut impl Rng,
    ) -> Verdict {
        match self {
            Queue::Unlimited => Verdict::Accept,
            Queue::DropTail { packets, bytes: limit } => {
                let waits = backlog.idle_since > now;
                let full = backlog.packets >= *packets || backlog.bytes + u64::from(bytes) > *limit;
                if waits && full { Verdict::Full } else { Verdict::Accept }
            }
            Queue::Red(red) => red.judge(now, capable, backlog, rng),
            Queue::Pie(pie) => pie.judge(now, bytes, capable, backlog, rng),
            Queue::Codel { limit, .. } if backlog.packets >= *limit => Verdict::Full,
            Queue::Codel { .. } | Queue::FqCodel(_) => Verdict::Accept,
        }
    }
}
