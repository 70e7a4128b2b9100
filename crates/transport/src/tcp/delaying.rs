//! Delayed ACKs of a receiver, and its part of the fast path for usual segments (`tcp/usual.rs`).

use super::linux_ack::Decision;
use super::receiver::{Acks, Receiver, linux};
use super::usual::UsualAck;
use crate::options::DelayedAck;
use units::{Span, Time};
use wire::{Ack, Data, Flags};

/// What a receiver with delayed ACKs did with a segment that may be usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedData {
    /// Nothing: the segment is not usual.
    No,
    /// It is received. This is its ACK, and the one-way delay that it reports, if any.
    Acked(UsualAck, Span),
    /// It is received. Its ACK is due at this time, unless another one leaves before.
    Due(Time),
}

impl Receiver {
    /// [`Receiver::on_usual_data`] with delayed ACKs, or ACKs that report one-way delays: processes
    /// data in order without a hole.
    #[inline(always)] // it has one caller
    pub fn on_delayed_data(&mut self, now: Time, path: usize, data: &Data) -> DelayedData {
        // Looked up once: after each store through `self` they would be read again.
        let Receiver { settings, paths, data: connection, adaptive, acks } = self;
        let (options, only) = (&settings.options, paths.len() == 1);
        let side = &mut paths[path];
        let in_order = data.seq == side.next && side.out_of_order.is_empty();
        let plain = data.len > 0 && (data.flags, side.echoed) == (Flags::NONE, Flags::NONE);
        if *acks != Acks::Delayed || !in_order || !plain {
            return DelayedData::No;
        }
        let next = side.next + u64::from(data.len);
        (side.next, side.expected) = (next, next);
        connection.follow(data, next, only);
        // The next ACK echoes the first of the delayed segments.
        let alone = side.due == Time::NEVER;
        if alone {
            side.echo = data.stamp;
        }
        let mut transit = Span::ZERO;
        if settings.transit {
            if alone {
                side.report_transit(now.since(data.stamp));
            }
            transit = side.transit();
        }
        let mut linux = linux(adaptive, path);
        let decision = match (options.delayed_ack, &mut linux) {
            (DelayedAck::AsLinux, Some(linux)) => linux.on_data(now, next, data.len, options),
            (DelayedAck::After(Span::ZERO), _) | (DelayedAck::AsLinux, None) => Decision::Now,
            (DelayedAck::After(time), _) => Decision::Within(time),
        };
        if let Decision::Within(time) = decision
            && alone
        {
            side.due = now + time;
            return DelayedData::Due(side.due);
        }
        if let Some(linux) = linux {
            linux.on_ack_sent(next);
        }
        side.due = Time::NEVER;
        let echo = side.echo;
        DelayedData::Acked(self.usual_ack(next, echo), transit)
    }

    /// The ACK of `data` with delayed ACKs, or `None` if it waits. RFC 5681 §4.2: it is sent at
    /// once when data is out of order or a hole is filled.
    #[inline(never)] // keeps the code of undelayed ACKs short
    pub(super) fn ack_or_wait(
        &mut self,
        now: Time,
        path: usize,
        data: &Data,
        (in_order, filled_hole): (bool, bool),
    ) -> Option<Ack> {
        let wait = match self.settings.options.delayed_ack {
            DelayedAck::After(time) => in_order.then_some(time),
            DelayedAck::AsLinux => match self.ask_linux(now, path, data, in_order) {
                Decision::Within(time) => Some(time),
                Decision::Now => None,
            },
        };
        match wait {
            Some(time) if !filled_hole => self.delay(now, path, time),
            _ => Some(self.ack(path)),
        }
    }

    /// Linux' decision about the ACK of `data`, which has been received.
    fn ask_linux(&mut self, now: Time, path: usize, data: &Data, in_order: bool) -> Decision {
        let (options, next) = (&self.settings.options, self.paths[path].next);
        let Some(linux) = linux(&mut self.adaptive, path) else {
            return Decision::Now;
        };
        if in_order {
            return linux.on_data(now, next, data.len, options);
        }
        if data.seq + u64::from(data.len) <= next {
            linux.on_duplicate(options);
        }
        Decision::Now
    }

    /// The ACK waits for a second segment, or for `time`.
    fn delay(&mut self, now: Time, path: usize, time: Span) -> Option<Ack> {
        let side = &mut self.paths[path];
        if side.due != Time::NEVER {
            return Some(self.ack(path));
        }
        side.due = now + time;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::ReceivingEndpoint;
    use crate::options::Options;
    use crate::tcp::ReceiverSettings;
    use proptest::prelude::*;
    use units::Bytes;

    const MSS: u32 = 1000;

    /// A step of a test: a segment, or the receiver's next deadline.
    #[derive(Clone, Debug)]
    enum Step {
        /// On this path, this many segments behind the expected one, after this time.
        Arrival {
            path: usize,
            ahead: u64,
            len: u32,
            gap: Span,
            mark: bool,
        },
        Deadline,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let ahead = prop_oneof![8 => Just(0_u64), 1 => 0_u64..4];
        let len = prop_oneof![8 => Just(MSS), 1 => 1..MSS];
        let mark = prop_oneof![20 => Just(false), 1 => Just(true)];
        let arrival =
            (0_usize..3, ahead, len, 0_u64..200, mark).prop_map(|(path, ahead, len, ms, mark)| {
                Step::Arrival { path, ahead, len, gap: Span::millis(ms), mark }
            });
        prop::collection::vec(prop_oneof![5 => arrival, 1 => Just(Step::Deadline)], 1..300)
    }

    /// A receiver, and whether data may take the short way.
    struct Host {
        receiver: Receiver,
        short: bool,
    }

    impl Host {
        /// The ACK of `data`, or when it is due.
        fn on_data(&mut self, now: Time, path: usize, data: &Data) -> (Option<Ack>, Time) {
            let done = match self.short {
                true => self.receiver.on_delayed_data(now, path, data),
                false => DelayedData::No,
            };
            match done {
                DelayedData::No => {
                    let ack = self.receiver.on_data(now, path, data);
                    (ack, self.receiver.paths[path].due)
                }
                DelayedData::Acked(ack, transit) => {
                    let ack = Ack { transit, ..ack.into() };
                    (Some(ack), self.receiver.paths[path].due)
                }
                DelayedData::Due(at) => (None, at),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The fast path sends the same ACKs at the same times, and leaves the same state.
        #[test]
        fn delayed_acks_may_take_the_short_way(
            steps in steps(),
            paths in 1_usize..4,
            delayed_ack in prop::sample::select(vec![
                DelayedAck::AsLinux,
                DelayedAck::After(Span::millis(40)),
                DelayedAck::After(Span::ZERO),
            ]),
            sack: bool,
            transit: bool,
        ) {
            let payload = Bytes(MSS.into());
            let options = Options { delayed_ack, sack, payload, ..Options::default() };
            let [mut whole, mut short] = [false, true].map(|short| {
                let settings = ReceiverSettings { options: options.clone(), transit };
                Host { receiver: Receiver::new(settings, paths), short }
            });
            let (mut now, mut dsn) = (Time(1), 0);
            for step in steps {
                match step {
                    Step::Arrival { path, ahead, len, gap, mark } => {
                        let path = path % paths;
                        now = now + gap;
                        let seq = whole.receiver.next_on(path) + ahead * u64::from(MSS);
                        let flags = if mark { Flags::MARKED } else { Flags::NONE };
                        let data = Data { seq, dsn, len, stamp: now, flags };
                        dsn += u64::from(len);
                        prop_assert_eq!(
                            whole.on_data(now, path, &data),
                            short.on_data(now, path, &data)
                        );
                    }
                    Step::Deadline => {
                        let due = whole.receiver.next_deadline();
                        prop_assert_eq!(due, short.receiver.next_deadline());
                        if due < Time::NEVER {
                            now = now.max(due);
                            let [one, other] = [&mut whole, &mut short]
                                .map(|host| host.receiver.on_deadline(now));
                            prop_assert_eq!(one, other);
                        }
                    }
                }
                prop_assert_eq!(
                    format!("{:?}", whole.receiver),
                    format!("{:?}", short.receiver)
                );
            }
        }
    }

    #[test]
    fn usual_data_takes_the_short_way_and_data_behind_a_hole_does_not() {
        let options = Options { delayed_ack: DelayedAck::AsLinux, ..Options::default() };
        let mut receiver = Receiver::new(ReceiverSettings { options, transit: false }, 1);
        let len = Options::default().segment();
        let segment = |index: u64| {
            let seq = index * u64::from(len);
            Data { seq, dsn: seq, len, stamp: Time(1), ..Data::default() }
        };
        let quick = receiver.on_delayed_data(Time(1), 0, &segment(0));
        assert!(
            matches!(quick, DelayedData::Acked(UsualAck { ack, .. }, _) if ack == u64::from(len))
        );
        assert_eq!(receiver.on_delayed_data(Time(1), 0, &segment(2)), DelayedData::No);
        assert!(receiver.on_data(Time(1), 0, &segment(2)).is_some());
        assert_eq!(receiver.on_delayed_data(Time(1), 0, &segment(1)), DelayedData::No, "fills it");
        let undelayed =
            Options { delayed_ack: DelayedAck::After(Span::ZERO), ..Options::default() };
        let settings = ReceiverSettings { options: undelayed, transit: false };
        let mut receiver = Receiver::new(settings, 1);
        assert_eq!(receiver.on_delayed_data(Time(1), 0, &segment(0)), DelayedData::No);
    }
}
