//! Segments as they travel through the links: 48 plain bytes, moved by value.

use network::Packet;
use std::collections::BTreeMap;
use units::{Span, Time};
use wire::{Ack, Data, Flags, Report, Sacks, sack_option_bytes};

/// A segment on its way. Its fields are whole words, because a packet is copied right after it was
/// written, and a processor forwards a store to a load only if one store has all the bytes that the
/// load wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedSegment {
    seq: u64,
    dsn: u64,
    stamp: Time,
    /// Low half: payload bytes of data, bytes of receive window beyond `dsn` of an ACK. High half of data: the
    /// sender's round trip in microseconds, if it says so. High half of an ACK: which entry of the
    /// [`SackStore`] holds its SACK blocks and transit, plus one; zero for none.
    amount_and_sacks: u64,
    /// Low half: where it is on its route, an index into the world's hops. High half: its path.
    cursor_and_path: u64,
    /// Low half: bytes with headers. High half: the flags, [`ACK`] for an ACK and [`REPORT`] for one of TFRC.
    bytes_and_kind: u64,
}

/// In `bytes_and_kind`: an ACK, not data.
const ACK: u64 = 1 << 63;
/// In `bytes_and_kind`: an ACK with a report.
const REPORT: u64 = 1 << 62;
/// In `bytes_and_kind`: where the flags stand.
const FLAGS_SHIFT: u32 = 32;

/// Two halves of a word.
fn word(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

impl Packet for PackedSegment {
    fn bytes(&self) -> u32 {
        low(self.bytes_and_kind)
    }

    fn path(&self) -> u32 {
        self.path()
    }

    fn ecn_capable(&self) -> bool {
        self.flags().has(Flags::CAPABLE)
    }

    fn mark(&mut self) {
        self.bytes_and_kind |= u64::from(Flags::MARKED.0) << FLAGS_SHIFT;
    }
}

impl PackedSegment {
    pub(crate) fn data(data: &Data, header: u32, path: u32, cursor: u32) -> Self {
        PackedSegment {
            seq: data.seq,
            dsn: data.dsn,
            stamp: data.stamp,
            amount_and_sacks: word(data.len, data.rtt_us),
            cursor_and_path: word(cursor, path),
            bytes_and_kind: word(data.len + header, u32::from(data.flags.0)),
        }
    }

    pub(crate) fn ack(
        ack: &Ack,
        header: u32,
        path: u32,
        cursor: u32,
        store: &mut SackStore,
    ) -> Self {
        let window = u32::try_from(ack.window_edge - ack.data_ack).unwrap_or(u32::MAX);
        let bytes = header + sack_option_bytes(ack.sacks.blocks().len());
        PackedSegment {
            seq: ack.ack,
            dsn: ack.data_ack,
            stamp: ack.echo,
            amount_and_sacks: word(window, store.put(&ack.sacks, ack.transit)),
            cursor_and_path: word(cursor, path),
            bytes_and_kind: word(bytes, u32::from(ack.flags.0)) | ACK,
        }
    }

    /// An acknowledgement of TFRC, with its report.
    pub(crate) fn report(
        ack: &Ack,
        report: Report,
        header: u32,
        path: u32,
        cursor: u32,
        store: &mut SackStore,
    ) -> Self {
        let mut packet = PackedSegment::ack(ack, header + report.bytes(), path, cursor, store);
        packet.amount_and_sacks = word(low(packet.amount_and_sacks), store.put_report(report));
        packet.bytes_and_kind |= REPORT;
        packet
    }

    /// The path it belongs to.
    pub(crate) fn path(&self) -> u32 {
        high(self.cursor_and_path)
    }

    /// Where it is on its route: an index into the world's hops.
    pub(crate) fn cursor(&self) -> u32 {
        low(self.cursor_and_path)
    }

    /// It goes on from another place among the hops.
    pub(crate) fn put_at(&mut self, cursor: u32) {
        self.cursor_and_path = word(cursor, self.path());
    }

    /// One hop further.
    pub(crate) fn advance(&mut self) {
        self.cursor_and_path += 1;
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.bytes_and_kind & ACK != 0
    }

    /// Whether it is an acknowledgement with a report.
    pub(crate) fn is_report(&self) -> bool {
        self.bytes_and_kind & REPORT != 0
    }

    pub(crate) fn as_data(&self) -> Data {
        let (len, rtt_us) = (low(self.amount_and_sacks), high(self.amount_and_sacks));
        Data { seq: self.seq, dsn: self.dsn, len, rtt_us, stamp: self.stamp, flags: self.flags() }
    }

    /// The ACK; its SACK blocks leave the store.
    pub(crate) fn into_ack(self, store: &mut SackStore) -> Ack {
        self.ack_with(store.take(high(self.amount_and_sacks)))
    }

    /// The ACK; its SACK blocks stay in the store.
    pub(crate) fn as_ack(&self, store: &SackStore) -> Ack {
        self.ack_with(store.get(high(self.amount_and_sacks)))
    }

    #[inline(always)] // on the way of every ACK
    fn ack_with(&self, Rest { sacks, transit }: Rest) -> Ack {
        Ack {
            ack: self.seq,
            data_ack: self.dsn,
            window_edge: self.dsn + u64::from(low(self.amount_and_sacks)),
            echo: self.stamp,
            transit,
            sacks,
            flags: self.flags(),
        }
    }

    /// The acknowledgement and its report, which leaves the store.
    pub(crate) fn into_report(self, store: &mut SackStore) -> (Ack, Report) {
        let report = store.reports.remove(&high(self.amount_and_sacks)).unwrap_or_default();
        (self.into_ack(store), report)
    }

    /// The same once more, as the network copies it.
    pub(crate) fn copied(mut self, store: &mut SackStore) -> Self {
        if self.is_report() {
            let report = store.reports.get(&high(self.amount_and_sacks)).cloned();
            let place = store.put_report(report.unwrap_or_default());
            self.amount_and_sacks = word(low(self.amount_and_sacks), place);
            return self;
        }
        if !self.is_ack() {
            return self;
        }
        let Rest { sacks, transit } = store.get(high(self.amount_and_sacks));
        self.amount_and_sacks = word(low(self.amount_and_sacks), store.put(&sacks, transit));
        self
    }

    fn flags(&self) -> Flags {
        Flags((self.bytes_and_kind >> FLAGS_SHIFT) as u16)
    }

    /// The packet will not arrive: what the store holds for it is released.
    pub(crate) fn discard(self, store: &mut SackStore) {
        if self.is_report() {
            store.reports.remove(&high(self.amount_and_sacks));
        }
        if self.is_ack() {
            store.take(high(self.amount_and_sacks));
        }
    }
}

/// What most ACKs have none of.
#[derive(Clone, Copy, Default)]
struct Rest {
    sacks: Sacks,
    transit: Span,
}

/// SACK blocks and transits of the ACKs on their way; most ACKs have none.
#[derive(Default)]
pub(crate) struct SackStore {
    entries: Vec<Rest>,
    free: Vec<u32>,
    /// Reports by the place that they have among the entries.
    reports: BTreeMap<u32, Report>,
}

impl SackStore {
    fn put(&mut self, sacks: &Sacks, transit: Span) -> u32 {
        if sacks.is_empty() && transit == Span::ZERO {
            return 0;
        }
        self.put_entry(Rest { sacks: *sacks, transit })
    }

    fn put_report(&mut self, report: Report) -> u32 {
        let place = self.put_entry(Rest::default());
        self.reports.insert(place, report);
        place
    }

    fn put_entry(&mut self, rest: Rest) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Default::default());
            self.entries.len() as u32 - 1
        });
        self.entries[index as usize] = rest;
        index + 1
    }

    fn get(&self, place: u32) -> Rest {
        place.checked_sub(1).map_or(Default::default(), |index| self.entries[index as usize])
    }

    fn take(&mut self, place: u32) -> Rest {
        let Some(index) = place.checked_sub(1) else {
            return Default::default();
        };
        self.free.push(index);
        self.entries[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Range;

    #[test]
    fn an_ack_comes_out_as_it_went_in_and_the_store_is_empty_again() {
        let mut store = SackStore::default();
        let ack = Ack {
            ack: 5000,
            data_ack: 9000,
            window_edge: 9000 + 65_000,
            echo: Time(17),
            transit: Span(5),
            sacks: Sacks::new([Range { start: 6000, end: 7000 }]),
            flags: Flags::ECHO,
        };
        let packet = PackedSegment::ack(&ack, 52, 0, 0, &mut store);
        assert_eq!(packet.copied(&mut store).into_ack(&mut store), ack);
        assert_eq!(packet.bytes(), 64);
        assert_eq!(packet.into_ack(&mut store), ack);
        assert_eq!(store.free.len(), store.entries.len());
    }

    #[test]
    fn a_report_travels_with_its_acknowledgement_and_leaves_nothing_behind() {
        let mut store = SackStore::default();
        let ack = Ack {
            ack: 50,
            data_ack: 9000,
            window_edge: 9000,
            echo: Time(17),
            transit: Span::ZERO,
            sacks: Sacks::default(),
            flags: Flags::RATED,
        };
        let intervals = vec![3, 40];
        let report = Report { received: 12.5, events: 1, intervals, ..Report::default() };
        let packet = PackedSegment::report(&ack, report.clone(), 52, 0, 0, &mut store);
        assert!(packet.is_report() && packet.is_ack());
        assert_eq!(packet.bytes(), 52 + 12 + 8);
        let copy = packet.copied(&mut store);
        packet.discard(&mut store);
        assert_eq!(copy.into_report(&mut store), (ack, report));
        assert!(store.reports.is_empty() && store.free.len() == store.entries.len());
    }

    #[test]
    fn a_packet_and_its_two_times_are_as_large_as_a_cache_line() {
        assert_eq!(size_of::<PackedSegment>() + 2 * size_of::<Time>(), 64);
    }
}
