//! Segments in the format in which they travel through the links: 48 plain bytes, moved by value.

use network::Packet;
use transport::tcp::UsualAck;
use units::{Span, Time};
use wire::{
    Ack, Combination, Data, Datagram, Echo, Flags, QuicAnswer, QuicDatagram, Sacks, Segment,
    TfrcData, TfrcReport, sack_option_bytes,
};

/// A segment in the network, with its position on its route. Its fields are whole words, because a
/// packet is copied right after it was written, and a processor forwards a store to a load only if
/// one store has all the bytes of the load. Parts that do not fit are in a [`SideStore`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedSegment {
    /// The subject of the segment: first byte, next byte, number of a packet, or numbers of
    /// segments.
    number: u64,
    dsn: u64,
    stamp: Time,
    /// Low half: payload bytes; for an ACK, bytes of receive window beyond `dsn`. High half: the
    /// place of further parts in the [`SideStore`], a second length, or a one-way delay in ns.
    amounts: u64,
    /// Low half: its position on its route, an index into the world's hops. High half: its path.
    cursor_and_path: u64,
    /// Low half: bytes with headers. Above: 16 bits of flags, one bit for lower effort, and the
    /// [`Kind`] in the upper 8 bits.
    bytes_and_kind: u64,
}

/// Two words of a packet.
pub(crate) type Pair = (u64, u64);

/// The type of the packed segment. The highest bit marks answers, which go to the sender of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Data = 0,
    TfrcData = 1,
    Datagram = 2,
    Combination = 3,
    /// A datagram of QUIC, in the [`SideStore`].
    Quic = 4,
    Ack = 0x80,
    Echo = 0x81,
    /// An answer stored whole in the [`SideStore`].
    Stored = 0x82,
    /// A datagram of QUIC towards the sender of data, in the [`SideStore`].
    QuicAnswer = 0x83,
    /// An ACK with a one-way delay instead of parts in the [`SideStore`].
    TimedAck = 0x84,
    /// A report of TFRC, in the [`SideStore`].
    Report = 0x85,
}

/// In `bytes_and_kind`: position of the flags.
const FLAGS_SHIFT: u32 = 32;
/// In `bytes_and_kind`: position of the bit for lower effort.
const LOWER_EFFORT_SHIFT: u32 = 48;
/// In `bytes_and_kind`: position of the kind.
const KIND_SHIFT: u32 = 56;

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
        high(self.cursor_and_path)
    }

    fn ecn_capable(&self) -> bool {
        self.flags().has(Flags::CAPABLE)
    }

    fn mark(&mut self) {
        self.bytes_and_kind |= u64::from(Flags::MARKED.0) << FLAGS_SHIFT;
    }

    fn lower_effort(&self) -> bool {
        self.bytes_and_kind >> LOWER_EFFORT_SHIFT & 1 == 1
    }
}

/// The envelope of a packet around its segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Envelope {
    /// Bytes of headers.
    pub(crate) header: u32,
    /// Number of its path in the world.
    pub(crate) path: u32,
    /// Index of the start of its route among the hops.
    pub(crate) cursor: u32,
    /// Whether it is of lower effort.
    pub(crate) lower_effort: bool,
}

impl Envelope {
    #[inline(always)] // runs for every segment
    fn cursor_and_path(self) -> u64 {
        word(self.cursor, self.path)
    }

    /// For a segment with this many bytes after the headers.
    #[inline(always)] // runs for every segment
    fn bytes_and_kind(self, bytes: u32, flags: Flags, kind: Kind) -> u64 {
        let bytes = u64::from(self.header + bytes);
        let lower_effort = u64::from(self.lower_effort) << LOWER_EFFORT_SHIFT;
        bytes | u64::from(flags.0) << FLAGS_SHIFT | lower_effort | (kind as u64) << KIND_SHIFT
    }
}

impl PackedSegment {
    /// Packs a data segment of TCP: the common case of [`PackedSegment::pack`].
    #[inline(always)] // runs for every segment
    pub(crate) fn data(data: &Data, envelope: Envelope) -> Self {
        PackedSegment {
            number: data.seq,
            dsn: data.dsn,
            stamp: data.stamp,
            amounts: word(data.len, 0),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(data.len, data.flags, Kind::Data),
        }
    }

    /// Packs a datagram of UDP.
    pub(crate) fn datagram(datagram: Datagram, envelope: Envelope) -> Self {
        let Datagram { offset, len, stamp } = datagram;
        PackedSegment {
            number: offset,
            dsn: 0,
            stamp,
            amounts: word(len, 0),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(len, Flags::NONE, Kind::Datagram),
        }
    }

    /// Packs a packet of TFRC.
    pub(crate) fn tfrc_data(data: &TfrcData, envelope: Envelope) -> Self {
        let TfrcData { number, dsn, len, rtt_us, stamp } = *data;
        PackedSegment {
            number,
            dsn,
            stamp,
            amounts: word(len, rtt_us),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(len, Flags::NONE, Kind::TfrcData),
        }
    }

    /// The packet of TFRC, if it is one.
    pub(crate) fn as_tfrc_data(&self) -> Option<TfrcData> {
        let PackedSegment { number, dsn, stamp, amounts, .. } = *self;
        let (len, rtt_us) = (low(amounts), high(amounts));
        self.is(Kind::TfrcData).then_some(TfrcData { number, dsn, len, rtt_us, stamp })
    }

    /// Packs a report of TFRC of these `bytes` that is at `place` in the store.
    pub(crate) fn stored_report(place: u32, bytes: u32, envelope: Envelope) -> Self {
        PackedSegment {
            amounts: word(0, place),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(bytes, Flags::NONE, Kind::Report),
            ..PackedSegment::default()
        }
    }

    /// The report of TFRC, if it is one.
    pub(crate) fn report<'a>(&self, store: &'a SideStore) -> Option<&'a TfrcReport> {
        self.is(Kind::Report).then(|| store.reports.get(high(self.amounts)))
    }

    /// Packs an ACK of TCP: the common case of [`PackedSegment::pack`].
    #[inline(always)] // runs for every segment
    pub(crate) fn ack(ack: &Ack, envelope: Envelope, store: &mut SideStore) -> Self {
        let window = u32::try_from(ack.window_edge - ack.data_ack).unwrap_or(u32::MAX);
        let options = sack_option_bytes(ack.sacks.blocks().len());
        PackedSegment {
            number: ack.ack,
            dsn: ack.data_ack,
            stamp: ack.echo,
            amounts: word(window, store.put(&ack.sacks, ack.transit)),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(options, ack.flags, Kind::Ack),
        }
    }

    /// Packs an ACK without parts in a [`SideStore`].
    #[inline(always)] // runs for every segment
    pub(crate) fn usual_ack(ack: &UsualAck, envelope: Envelope) -> Self {
        let UsualAck { ack, data_ack, window_edge, echo } = *ack;
        PackedSegment {
            number: ack,
            dsn: data_ack,
            stamp: echo,
            amounts: u64::from(u32::try_from(window_edge - data_ack).unwrap_or(u32::MAX)),
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(0, Flags::NONE, Kind::Ack),
        }
    }

    /// Packs an ACK without SACK blocks and flags that may report a one-way delay.
    #[inline(always)] // runs for many segments
    pub(crate) fn timed_ack(
        ack: &UsualAck,
        transit: Span,
        envelope: Envelope,
        store: &mut SideStore,
    ) -> Self {
        let packet = PackedSegment::usual_ack(ack, envelope);
        let (kind, second) = match u32::try_from(transit.0) {
            Ok(0) => return packet,
            Ok(ns) => (Kind::TimedAck, ns),
            Err(_) => (Kind::Ack, store.put(&Sacks::default(), transit)),
        };
        PackedSegment {
            amounts: word(low(packet.amounts), second),
            bytes_and_kind: envelope.bytes_and_kind(0, Flags::NONE, kind),
            ..packet
        }
    }

    /// The ACK in the packet, if it has no parts in a [`SideStore`] and no flag.
    #[inline(always)] // runs for every ACK
    pub(crate) fn as_usual_ack(&self) -> Option<UsualAck> {
        let lower_effort = 1 << (LOWER_EFFORT_SHIFT - FLAGS_SHIFT);
        let usual = (Kind::Ack as u32) << (KIND_SHIFT - FLAGS_SHIFT);
        let alone = high(self.amounts) == 0 && high(self.bytes_and_kind) & !lower_effort == usual;
        alone.then_some(UsualAck {
            ack: self.number,
            data_ack: self.dsn,
            window_edge: self.dsn + u64::from(low(self.amounts)),
            echo: self.stamp,
        })
    }

    /// Packs any segment.
    pub(crate) fn pack(segment: Segment, envelope: Envelope, store: &mut SideStore) -> Self {
        let bytes = segment.bytes();
        let new = |kind, [number, dsn, amounts]: [u64; 3], stamp| PackedSegment {
            number,
            dsn,
            stamp,
            amounts,
            cursor_and_path: envelope.cursor_and_path(),
            bytes_and_kind: envelope.bytes_and_kind(bytes, Flags::NONE, kind),
        };
        match segment {
            Segment::Data(data) => PackedSegment::data(&data, envelope),
            Segment::Ack(ack) => PackedSegment::ack(&ack, envelope, store),
            Segment::TfrcData(data) => PackedSegment::tfrc_data(&data, envelope),
            Segment::Datagram(datagram) => PackedSegment::datagram(datagram, envelope),
            Segment::Echo(Echo(Datagram { offset, len, stamp })) => {
                new(Kind::Echo, [offset, 0, word(len, 0)], stamp)
            }
            Segment::Combination(Combination { first, count, key, dsn, lengths, len, stamp }) => {
                let number = word(key << 8 | u32::from(count), first);
                new(Kind::Combination, [number, dsn, word(len, lengths)], stamp)
            }
            Segment::TfrcReport(report) => {
                PackedSegment::stored_report(store.reports.put(report), bytes, envelope)
            }
            Segment::CodedAck(_) => {
                let place = store.segments.put(Some(segment));
                new(Kind::Stored, [0, 0, word(0, place)], Time::ZERO)
            }
            Segment::QuicDatagram(QuicDatagram { flags, .. }) => {
                let place = store.segments.put(Some(segment));
                let bytes_and_kind = envelope.bytes_and_kind(bytes, flags, Kind::Quic);
                let amounts = word(bytes, place);
                PackedSegment { bytes_and_kind, ..new(Kind::Quic, [0, 0, amounts], Time::ZERO) }
            }
            Segment::QuicAnswer(QuicAnswer(QuicDatagram { flags, .. })) => {
                let place = store.segments.put(Some(segment));
                let bytes_and_kind = envelope.bytes_and_kind(bytes, flags, Kind::QuicAnswer);
                let amounts = word(bytes, place);
                let packed = new(Kind::QuicAnswer, [0, 0, amounts], Time::ZERO);
                PackedSegment { bytes_and_kind, ..packed }
            }
        }
    }

    /// All its words.
    #[inline(always)] // runs for every segment
    pub(crate) fn words(&self) -> (Pair, Pair, Pair) {
        let PackedSegment { number, dsn, stamp, amounts, cursor_and_path, bytes_and_kind } = *self;
        ((number, dsn), (stamp.0, amounts), (cursor_and_path, bytes_and_kind))
    }

    /// The packet with these [`PackedSegment::words`].
    #[inline(always)] // runs for every segment
    pub(crate) fn of_words((number, dsn): Pair, (stamp, amounts): Pair, last: Pair) -> Self {
        let (cursor_and_path, bytes_and_kind) = last;
        let stamp = Time(stamp);
        PackedSegment { number, dsn, stamp, amounts, cursor_and_path, bytes_and_kind }
    }

    /// Number of its path in the world.
    pub(crate) fn path(&self) -> u32 {
        high(self.cursor_and_path)
    }

    /// Its position on its route: an index into the world's hops.
    pub(crate) fn cursor(&self) -> u32 {
        low(self.cursor_and_path)
    }

    /// Moves it to another position among the hops.
    pub(crate) fn put_at(&mut self, cursor: u32) {
        self.cursor_and_path = word(cursor, self.path());
    }

    /// A copy at another position among the hops.
    #[inline(always)] // runs for many segments
    pub(crate) fn moved(&self, cursor: u32) -> Self {
        PackedSegment { cursor_and_path: word(cursor, self.path()), ..*self }
    }

    /// Moves it one hop further.
    pub(crate) fn advance(&mut self) {
        self.cursor_and_path += 1;
    }

    /// Whether it goes to the sender of data.
    pub(crate) fn is_answer(&self) -> bool {
        (self.bytes_and_kind as i64) < 0 // the highest bit of the kind
    }

    /// Bytes without headers of a segment for the receiver.
    pub(crate) fn payload(&self) -> u32 {
        low(self.amounts)
    }

    /// The data segment of TCP in the packet, which must be of that kind.
    #[inline(always)] // runs for every segment
    pub(crate) fn as_data(&self) -> Data {
        debug_assert_eq!(self.kind(), Kind::Data);
        let (seq, dsn, len) = (self.number, self.dsn, low(self.amounts));
        Data { seq, dsn, len, stamp: self.stamp, flags: self.flags() }
    }

    /// The ACK of TCP in the packet, which must be one; its SACK blocks leave the store.
    #[inline(always)] // runs for every ACK
    pub(crate) fn into_ack(self, store: &mut SideStore) -> Ack {
        debug_assert!(matches!(self.kind(), Kind::Ack | Kind::TimedAck));
        let second = high(self.amounts);
        self.ack_with(match self.is(Kind::TimedAck) {
            true => Rest::of_time(second),
            false => store.take(second),
        })
    }

    #[inline(always)] // runs for every ACK
    fn ack_with(&self, Rest { sacks, transit }: Rest) -> Ack {
        Ack {
            ack: self.number,
            data_ack: self.dsn,
            window_edge: self.dsn + u64::from(low(self.amounts)),
            echo: self.stamp,
            transit,
            sacks,
            flags: self.flags(),
        }
    }

    /// Unpacks the segment; its parts leave the store.
    pub(crate) fn unpack(self, store: &mut SideStore) -> Segment {
        if matches!(self.kind(), Kind::Quic | Kind::QuicAnswer) {
            let stored = store.segments.take(high(self.amounts)).expect("it was stored");
            return self.with_flags(stored); // without a copy of its bytes
        }
        let segment = self.segment(store);
        self.discard(store);
        segment
    }

    /// Unpacks the segment; its parts stay in the store.
    pub(crate) fn segment(&self, store: &SideStore) -> Segment {
        let PackedSegment { number, dsn, stamp, amounts, .. } = *self;
        let (len, second) = (low(amounts), high(amounts));
        let datagram = Datagram { offset: number, len, stamp };
        match self.kind() {
            Kind::Data => Segment::Data(self.as_data()),
            Kind::Ack => Segment::Ack(self.ack_with(store.get(second))),
            Kind::TimedAck => Segment::Ack(self.ack_with(Rest::of_time(second))),
            Kind::TfrcData => TfrcData { number, dsn, len, rtt_us: second, stamp }.into(),
            Kind::Report => store.reports.get(second).clone().into(),
            Kind::Datagram => datagram.into(),
            Kind::Echo => Echo(datagram).into(),
            Kind::Combination => {
                let (first, count, key) = (high(number), number as u8, low(number) >> 8);
                Combination { first, count, key, dsn, lengths: second, len, stamp }.into()
            }
            Kind::Stored => store.segments.get(second).clone().expect("it was stored"),
            Kind::Quic | Kind::QuicAnswer => {
                self.with_flags(store.segments.get(second).clone().expect("it was stored"))
            }
        }
    }

    /// A stored datagram with the flags of the packet, which a queue may have marked.
    fn with_flags(&self, mut stored: Segment) -> Segment {
        if let Segment::QuicDatagram(datagram) | Segment::QuicAnswer(QuicAnswer(datagram)) =
            &mut stored
        {
            datagram.flags = self.flags();
        }
        stored
    }

    /// A copy of the packet made by the network, with its own parts in the store.
    pub(crate) fn copied(self, store: &mut SideStore) -> Self {
        let place = match self.kind() {
            Kind::Ack => {
                let Rest { sacks, transit } = store.get(high(self.amounts));
                store.put(&sacks, transit)
            }
            Kind::Stored | Kind::Quic | Kind::QuicAnswer => {
                let segment = store.segments.get(high(self.amounts)).clone();
                store.segments.put(segment)
            }
            Kind::Report => {
                let report = store.reports.get(high(self.amounts)).clone();
                store.reports.put(report)
            }
            _ => return self,
        };
        PackedSegment { amounts: word(low(self.amounts), place), ..self }
    }

    /// Drops the packet and releases its parts in the store.
    pub(crate) fn discard(self, store: &mut SideStore) {
        match self.kind() {
            Kind::Ack => drop(store.take(high(self.amounts))),
            Kind::Stored | Kind::Quic | Kind::QuicAnswer => {
                drop(store.segments.take(high(self.amounts)))
            }
            Kind::Report => store.reports.release(high(self.amounts)),
            _ => {}
        }
    }

    fn kind(&self) -> Kind {
        const KINDS: [Kind; 11] = [
            Kind::Data,
            Kind::TfrcData,
            Kind::Datagram,
            Kind::Combination,
            Kind::Ack,
            Kind::Echo,
            Kind::Stored,
            Kind::Quic,
            Kind::QuicAnswer,
            Kind::TimedAck,
            Kind::Report,
        ];
        let kind = KINDS.into_iter().find(|kind| self.is(*kind));
        kind.expect("only kinds are packed")
    }

    #[inline(always)] // runs for many ACKs
    fn is(&self, kind: Kind) -> bool {
        self.bytes_and_kind >> KIND_SHIFT == kind as u64
    }

    fn flags(&self) -> Flags {
        Flags((self.bytes_and_kind >> FLAGS_SHIFT) as u16)
    }
}

/// The parts that most ACKs do not have.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    sacks: Sacks,
    transit: Span,
}

impl Rest {
    /// A one-way delay alone, in ns.
    fn of_time(ns: u32) -> Self {
        Rest { transit: Span(ns.into()), ..Rest::default() }
    }
}

/// Parts that do not fit into packets. Most packets have no parts here.
#[derive(Debug, Default)]
pub(crate) struct SideStore {
    /// SACK blocks and transits of ACKs.
    acks: Slab<Rest>,
    /// Whole segments.
    segments: Slab<Option<Segment>>,
    /// Reports of TFRC. The memory of one that has arrived is used again.
    reports: Slab<TfrcReport>,
}

impl SideStore {
    /// Stores the variable part of an ACK and returns its place; zero for an empty part.
    fn put(&mut self, sacks: &Sacks, transit: Span) -> u32 {
        if sacks.is_empty() && transit == Span::ZERO {
            return 0;
        }
        self.acks.put(Rest { sacks: *sacks, transit })
    }

    /// A place for a report, which has what an earlier one had.
    pub(crate) fn new_report(&mut self) -> (u32, &mut TfrcReport) {
        let place = self.reports.place();
        (place, &mut self.reports.entries[place as usize - 1])
    }

    fn get(&self, place: u32) -> Rest {
        if place == 0 { Rest::default() } else { *self.acks.get(place) }
    }

    fn take(&mut self, place: u32) -> Rest {
        if place == 0 { Rest::default() } else { self.acks.take(place) }
    }
}

/// A list of values whose places are reused; no place is zero.
#[derive(Debug, Default)]
struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> Slab<T> {
    fn put(&mut self, thing: T) -> u32 {
        let place = self.place();
        self.entries[place as usize - 1] = thing;
        place
    }

    /// A free place, with what is left there.
    fn place(&mut self) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(T::default());
            self.entries.len() as u32 - 1
        });
        index + 1
    }

    /// Frees a place, and leaves there what it has.
    fn release(&mut self, place: u32) {
        self.free.push(place - 1);
    }

    fn get(&self, place: u32) -> &T {
        &self.entries[place as usize - 1]
    }

    fn take(&mut self, place: u32) -> T {
        self.free.push(place - 1);
        std::mem::take(&mut self.entries[place as usize - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CodedAck, Range};

    const ENVELOPE: Envelope = Envelope { header: 52, path: 7, cursor: 9, lower_effort: false };

    /// One segment of every kind, each with different values.
    fn segments() -> [Segment; 10] {
        let sacks = Sacks::new([Range { start: 6000, end: 7000 }]);
        let (stamp, transit) = (Time(17), Span(5));
        let (data_ack, window_edge) = (9000, 9000 + 65_000);
        let datagram = Datagram { offset: 8000, len: 900, stamp };
        let flags = Flags::ECHO;
        [
            Data { seq: 5000, dsn: 9000, len: 1000, stamp, flags: Flags::CAPABLE }.into(),
            Ack { ack: 5000, data_ack, window_edge, echo: stamp, transit, sacks, flags }.into(),
            TfrcData { number: 50, dsn: 9000, len: 1000, rtt_us: 20_000, stamp }.into(),
            TfrcReport { next: 51, received: 12.5, intervals: vec![3, 40], ..Default::default() }
                .into(),
            datagram.into(),
            Echo(datagram).into(),
            Combination {
                first: 4_000_000_000,
                count: 255,
                key: 0xff_fffe,
                dsn: 77,
                lengths: 88,
                len: 1012,
                stamp,
            }
            .into(),
            CodedAck {
                first_unseen: 5,
                received: 6,
                covered: 8,
                data_ack,
                window_edge,
                echo: stamp,
                transit,
            }
            .into(),
            QuicDatagram { bytes: vec![7; 1200], flags: Flags::CAPABLE }.into(),
            QuicAnswer(QuicDatagram { bytes: vec![9; 40], flags: Flags::NONE }).into(),
        ]
    }

    #[test]
    fn every_segment_comes_out_as_it_went_in_and_the_store_is_empty_again() {
        for segment in segments() {
            let mut store = SideStore::default();
            let packed = PackedSegment::pack(segment.clone(), ENVELOPE, &mut store);
            assert_eq!((packed.path(), packed.cursor()), (7, 9));
            assert_eq!(packed.bytes(), 52 + segment.bytes());
            let copy = packed.copied(&mut store);
            assert_eq!(packed.segment(&store), segment);
            packed.discard(&mut store);
            assert_eq!(copy.unpack(&mut store), segment);
            assert_eq!(store.acks.free.len(), store.acks.entries.len());
            assert_eq!(store.segments.free.len(), store.segments.entries.len());
            assert_eq!(store.reports.free.len(), store.reports.entries.len());
        }
    }

    #[test]
    fn lower_effort_is_read_back_and_changes_nothing_else() {
        let lower = Envelope { lower_effort: true, ..ENVELOPE };
        for segment in segments() {
            let store = &mut SideStore::default();
            let packed = PackedSegment::pack(segment.clone(), ENVELOPE, store);
            let marked = PackedSegment::pack(segment.clone(), lower, store);
            assert_eq!((packed.lower_effort(), marked.lower_effort()), (false, true));
            assert_eq!((marked.bytes(), marked.segment(store)), (packed.bytes(), segment));
        }
    }

    #[test]
    fn an_ack_is_usual_if_it_has_neither_sack_blocks_nor_transit_nor_flags() {
        let usual = UsualAck { ack: 5000, data_ack: 9000, window_edge: 74_000, echo: Time(17) };
        let store = &mut SideStore::default();
        for lower_effort in [false, true] {
            let envelope = Envelope { lower_effort, ..ENVELOPE };
            let packed = PackedSegment::usual_ack(&usual, envelope);
            assert_eq!(packed.segment(store), Ack::from(usual).into());
            let whole = PackedSegment::ack(&usual.into(), envelope, store);
            assert_eq!([packed, whole].map(|it| it.as_usual_ack()), [Some(usual); 2]);
            let Segment::Ack(ack) = packed.segment(store) else { unreachable!("it is an ACK") };
            let sacks = Sacks::new([Range { start: 6000, end: 7000 }]);
            let others = [
                Ack { sacks, ..ack },
                Ack { transit: Span(5), ..ack },
                Ack { flags: Flags::ECHO, ..ack },
            ];
            for other in others {
                assert_eq!(PackedSegment::ack(&other, envelope, store).as_usual_ack(), None);
            }
            let mut marked = packed;
            marked.mark();
            assert_eq!(marked.as_usual_ack(), None);
        }
        let mut all = segments().map(|it| PackedSegment::pack(it, ENVELOPE, store)).into_iter();
        assert!(all.all(|packed| packed.as_usual_ack().is_none()));
    }

    #[test]
    fn an_ack_with_a_transit_comes_out_as_it_went_in_and_needs_the_store_only_for_seconds() {
        let usual = UsualAck { ack: 5000, data_ack: 9000, window_edge: 74_000, echo: Time(17) };
        for (ns, stored) in [(0, 0), (1, 0), (4_000_000_000, 0), (5_000_000_000, 1)] {
            let mut store = SideStore::default();
            let ack = Ack { transit: Span(ns), ..usual.into() };
            let packed = PackedSegment::timed_ack(&usual, Span(ns), ENVELOPE, &mut store);
            assert_eq!((packed.is_answer(), store.acks.entries.len()), (true, stored));
            assert_eq!(packed.bytes(), PackedSegment::usual_ack(&usual, ENVELOPE).bytes());
            let copy = packed.copied(&mut store);
            assert_eq!(packed.segment(&store), ack.into());
            assert_eq!(packed.into_ack(&mut store), ack);
            assert_eq!(copy.unpack(&mut store), ack.into());
            assert_eq!(store.acks.free.len(), store.acks.entries.len());
        }
    }

    #[test]
    fn answers_go_to_the_sender() {
        let store = &mut SideStore::default();
        let answers = segments().map(|it| PackedSegment::pack(it, ENVELOPE, store).is_answer());
        assert_eq!(answers, [false, true, false, true, false, true, false, true, false, true]);
    }

    #[test]
    fn a_packed_segment_and_its_two_times_are_as_large_as_a_cache_line() {
        assert_eq!(size_of::<PackedSegment>() + 2 * size_of::<Time>(), 64);
    }
}
