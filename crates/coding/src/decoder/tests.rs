use super::*;
use alloc::{collections::BTreeMap, vec};
use proptest::prelude::*;

/// Bytes of a symbol.
const LEN: usize = 12;
/// Segments of a generated path.
const SEGMENTS: u32 = 24;

/// The bytes of a segment.
fn segment(number: u32) -> [u8; LEN] {
    core::array::from_fn(|i| (number * 7 + 13).wrapping_mul(i as u32 * 40_503 + 2_654_435) as u8)
}

fn coded(what: Combination) -> [u8; LEN] {
    let segments: Vec<_> = (what.base..).take(what.count.into()).map(segment).collect();
    what.combine(segments.iter())
}

/// A product without the tables of the crate.
fn product(mut a: u8, b: u8) -> u8 {
    (0..8).fold(0, |sum, bit| {
        let term = if b >> bit & 1 == 1 { a } else { 0 };
        a = (a << 1) ^ if a >= 0x80 { 0x1D } else { 0 };
        sum ^ term
    })
}

/// A full matrix over all segments, reduced again after every packet: finds the segments that the
/// packets determine.
#[derive(Default)]
struct Oracle {
    rows: Vec<[u8; SEGMENTS as usize]>,
}

impl Oracle {
    /// Seen segments, and determined segments.
    fn on_packet(&mut self, what: Combination) -> (Vec<u32>, Vec<u32>) {
        let mut row = [0; SEGMENTS as usize];
        for (at, c) in (what.base as usize..).zip(what.coefficients()) {
            row[at] = c;
        }
        self.rows.push(row);
        let (mut seen, mut determined) = (vec![], vec![]);
        for column in 0..SEGMENTS as usize {
            let top = seen.len();
            let Some(found) = (top..self.rows.len()).find(|r| self.rows[*r][column] != 0) else {
                continue;
            };
            self.rows.swap(top, found);
            let leading = self.rows[top][column];
            let inverse = (1..=255).find(|b| product(leading, *b) == 1).unwrap();
            let pivot = self.rows[top].map(|c| product(c, inverse));
            for row in &mut self.rows {
                let factor = row[column];
                (0..pivot.len()).for_each(|i| row[i] ^= product(factor, pivot[i]));
            }
            self.rows[top] = pivot;
            seen.push(column as u32);
        }
        self.rows.truncate(seen.len());
        for (number, row) in seen.iter().zip(&self.rows) {
            if row.iter().filter(|c| **c != 0).count() == 1 {
                determined.push(*number);
            }
        }
        (seen, determined)
    }
}

/// A decoder, and its deliveries.
struct Path {
    decoder: Decoder<[u8; LEN]>,
    delivered: BTreeMap<u32, [u8; LEN]>,
}

impl Path {
    fn new(limit: usize) -> Self {
        Self { decoder: Decoder::new(limit), delivered: BTreeMap::new() }
    }

    /// Decoded segments must be as sent, in order, and new.
    fn on_packet(&mut self, what: Combination) -> bool {
        let mut before = None;
        self.decoder.on_packet(what, coded(what), |number, symbol| {
            assert_eq!(symbol, segment(number));
            assert!(before.replace(number).is_none_or(|before| before < number));
            assert!(self.delivered.insert(number, symbol).is_none(), "{number} twice");
        })
    }

    fn acknowledged(&self) -> (u32, u32, u32) {
        (self.decoder.first_unseen(), self.decoder.rank(), self.decoder.highest())
    }
}

fn packet(base: u32, count: u8, key: u32) -> Combination {
    Combination { base, count, key }
}

/// Combinations of any segments in any order, some of them twice.
fn packets() -> impl Strategy<Value = Vec<Combination>> {
    let one = (0..SEGMENTS, 1u8..8, 0u32..40)
        .prop_map(|(base, count, key)| packet(base, count.min((SEGMENTS - base) as u8), key));
    prop::collection::vec(one, 0..60)
}

#[test]
fn without_loss_every_packet_decodes_its_newest_segment() {
    let mut path = Path::new(64);
    for newest in 0..600u32 {
        let base = newest.saturating_sub(5);
        assert!(path.on_packet(packet(base, (newest - base + 1) as u8, newest)));
        assert!(path.delivered.contains_key(&newest));
        assert_eq!(path.acknowledged(), (newest + 1, newest + 1, newest + 1));
    }
    assert_eq!((path.decoder.pending(), path.decoder.held()), (0, MAX_WINDOW));
}

#[test]
fn a_lost_packet_is_acknowledged_past_and_repaired_by_a_later_one() {
    let mut path = Path::new(64);
    path.on_packet(packet(0, 1, 1));
    // The combination of segments 0 and 1 is lost.
    assert!(path.on_packet(packet(0, 3, 3)));
    assert_eq!(path.acknowledged(), (2, 2, 3));
    assert!(path.on_packet(packet(0, 4, 4)));
    assert_eq!((path.acknowledged(), path.decoder.pending()), ((3, 3, 4), 2));
    assert_eq!(path.delivered.len(), 1);
    // The redundant combination.
    assert!(path.on_packet(packet(0, 4, 5)));
    assert_eq!((path.acknowledged(), path.decoder.pending()), ((4, 4, 4), 0));
    assert_eq!(path.delivered.len(), 4);
    assert!(!path.on_packet(packet(0, 4, 6)));
}

#[test]
fn an_old_packet_that_was_overtaken_is_not_innovative() {
    let mut path = Path::new(64);
    for newest in 0..900 {
        path.on_packet(packet(newest, 1, newest));
        if newest >= 300 {
            assert!(!path.on_packet(packet(newest - 254, 255, 7)));
            assert!(!path.on_packet(packet(newest - 300, 255, 7)));
        }
    }
    assert_eq!((path.acknowledged(), path.delivered.len()), ((900, 900, 900), 900));
}

#[test]
fn the_longest_window_finds_all_that_it_names() {
    let mut path = Path::new(64);
    for newest in 0..700u32 {
        let base = newest.saturating_sub(MAX_WINDOW as u32 - 1);
        assert!(path.on_packet(packet(base, (newest - base + 1) as u8, newest)));
    }
    assert_eq!((path.delivered.len(), path.decoder.pending()), (700, 0));
}

#[test]
fn a_gap_of_segments_that_nobody_named_is_unseen() {
    let mut path = Path::new(64);
    path.on_packet(packet(10, 1, 1));
    assert_eq!(path.acknowledged(), (0, 1, 11));
    assert_eq!(path.delivered.len(), 1);
    assert!((0..10).all(|number| path.on_packet(packet(number, 1, 2))));
    assert_eq!(path.acknowledged(), (11, 11, 11));
}

#[test]
fn what_is_beyond_the_limit_is_refused_until_the_first_segment_is_decoded() {
    let mut path = Path::new(8);
    assert!(!path.on_packet(packet(5, 4, 1)));
    assert_eq!((path.acknowledged(), path.decoder.held()), ((0, 0, 0), 0));
    assert!((0..7).all(|base| path.on_packet(packet(base, 2, 1))));
    assert_eq!((path.acknowledged(), path.decoder.pending()), ((7, 7, 8), 7));
    assert!(!path.on_packet(packet(7, 2, 1)));
    assert!(path.on_packet(packet(0, 8, 9)));
    assert_eq!((path.acknowledged(), path.delivered.len()), ((8, 8, 8), 8));
    assert!(path.on_packet(packet(7, 2, 1)));
}

#[test]
fn what_begins_nowhere_or_would_wrap_is_refused() {
    let mut path = Path::new(usize::MAX);
    path.decoder.start_at(u32::MAX - 3);
    assert_eq!(path.acknowledged(), (u32::MAX - 3, u32::MAX - 3, u32::MAX - 3));
    assert!(!path.decoder.on_packet(packet(u32::MAX - 1, 2, 1), [0; LEN], |_, _| ()));
    assert!(!path.decoder.on_packet(packet(u32::MAX, 1, 1), [0; LEN], |_, _| ()));
    assert!(!path.decoder.on_packet(packet(u32::MAX - 3, 0, 1), [0; LEN], |_, _| ()));
    for number in u32::MAX - 3..u32::MAX {
        assert!(path.decoder.on_packet(packet(number, 1, 1), [0; LEN], |_, _| ()));
    }
    assert_eq!(path.acknowledged(), (u32::MAX, u32::MAX, u32::MAX));
    path.decoder.start_at(u32::MAX);
    path.decoder.start_at(0);
    assert_eq!(path.acknowledged(), (u32::MAX, u32::MAX, u32::MAX));
}

#[test]
fn a_path_may_begin_anywhere() {
    let mut path = Path::new(64);
    path.decoder.start_at(1_000_000);
    assert!(!path.on_packet(packet(999_999, 2, 1)));
    assert!(path.on_packet(packet(1_000_000, 2, 1)));
    assert!(path.on_packet(packet(1_000_000, 2, 2)));
    assert_eq!(path.acknowledged(), (1_000_002, 1_000_002, 1_000_002));
    assert_eq!(path.delivered.len(), 2);
}

#[test]
fn a_path_that_begins_again_keeps_what_is_above() {
    let mut path = Path::new(64);
    path.on_packet(packet(0, 3, 1)); // sees 0
    path.on_packet(packet(5, 2, 1)); // sees 5
    path.decoder.start_at(3);
    assert_eq!((path.acknowledged(), path.decoder.pending()), ((3, 4, 7), 1));
    assert!(!path.on_packet(packet(2, 3, 1))); // the symbol of 2 is gone
    assert!(path.on_packet(packet(3, 2, 1)) && path.on_packet(packet(3, 2, 2)));
    assert_eq!(path.acknowledged(), (6, 6, 7));
    assert!(path.on_packet(packet(6, 1, 1)));
    assert_eq!(path.delivered.keys().copied().collect::<Vec<_>>(), [3, 4, 5, 6]);
    path.decoder.start_at(2); // the path starts later
    assert_eq!(path.acknowledged(), (7, 7, 7));
    path.decoder.start_at(7); // nothing is missing: decoded segments may still occur in packets
    assert!(path.on_packet(packet(5, 3, 1)));
    assert_eq!(path.acknowledged(), (8, 8, 8));
}

#[test]
fn after_a_wide_gap_rows_are_short_again() {
    let mut decoder = Decoder::new(1000);
    let mut decoded = vec![];
    let mut receive = |decoder: &mut Decoder<_>, number| {
        let what = packet(number, 1, 7);
        decoder.on_packet(what, coded(what), |n, s| decoded.push((n, s)))
    };
    assert!(receive(&mut decoder, 600));
    assert_eq!(decoder.columns.count, 601);
    assert!((0..600).all(|number| receive(&mut decoder, number)));
    assert_eq!((decoder.columns.count, decoder.columns.spare.len()), (0, 0));
    assert!(receive(&mut decoder, 601));
    assert!(decoded.iter().all(|(n, s)| *s == segment(*n)));
}

#[test]
fn with_a_window_of_four_and_r_1_25_a_segment_is_in_five_combinations() {
    let (mut redundancy, mut times) = (crate::Redundancy::new(1.25), [0; 100]);
    for newest in 0..100usize {
        let base = newest.saturating_sub(3);
        let sent = redundancy.on_segment();
        (base..=newest).for_each(|number| times[number] += sent);
    }
    assert!(times[..96].iter().all(|n| *n == 5), "{times:?}");
}

proptest! {
    #[test]
    fn exactly_what_the_packets_determine_is_delivered(packets in packets()) {
        let (mut path, mut oracle) = (Path::new(SEGMENTS as usize), Oracle::default());
        for what in packets {
            let before = path.decoder.rank();
            let innovative = path.on_packet(what);
            let (seen, determined) = oracle.on_packet(what);
            prop_assert_eq!(path.decoder.rank(), before + u32::from(innovative));
            prop_assert_eq!(path.decoder.rank() as usize, seen.len());
            let first_unseen = (0..).find(|number| !seen.contains(number)).unwrap();
            prop_assert_eq!(path.decoder.first_unseen(), first_unseen);
            prop_assert!(path.delivered.keys().eq(determined.iter()));
            prop_assert_eq!(path.decoder.pending(), seen.len() - determined.len());
        }
    }

    #[test]
    fn a_sliding_window_gets_through_whatever_the_network_does(
        fates in prop::collection::vec((0u8..8, 0usize..6), 1..200), window in 1u32..9, r in 1000u32..1600,
    ) {
        let (mut path, mut redundancy) = (Path::new(64), crate::Redundancy::new(f64::from(r) / 1000.0));
        let (mut key, mut acknowledged, mut late) = (0, 0, VecDeque::new());
        for (newest, (fate, delay)) in (0u32..).zip(&fates) {
            for _ in 0..redundancy.on_segment() {
                let base = acknowledged.max((newest + 1).saturating_sub(window));
                key += 1;
                let sent = packet(base, (newest + 1 - base) as u8, key);
                match fate {
                    0 | 1 => {} // lost
                    2 => late.insert((*delay).min(late.len()), sent),
                    3 => late.extend([sent, sent]),
                    _ => late.push_back(sent),
                }
            }
            while late.len() > *delay {
                path.on_packet(late.pop_front().unwrap());
            }
            if *fate != 4 { // otherwise the acknowledgement is lost
                acknowledged = path.decoder.first_unseen();
            }
        }
        for number in path.decoder.first_unseen()..fates.len() as u32 {
            path.on_packet(packet(number, 1, 1)); // the timeout's
        }
        prop_assert_eq!(path.delivered.len(), fates.len());
        prop_assert_eq!(path.decoder.pending(), 0);
    }

    #[test]
    fn the_form_of_the_symbol_changes_nothing(packets in packets()) {
        let mut fixed = Decoder::<[u8; LEN]>::new(16);
        let mut bytes = Decoder::<Vec<u8>>::new(16);
        for what in packets {
            let (mut one, mut other) = (vec![], vec![]);
            let innovative = fixed.on_packet(what, coded(what), |n, s| one.push((n, s.to_vec())));
            let same = bytes.on_packet(what, coded(what).to_vec(), |n, s| other.push((n, s)));
            prop_assert_eq!(innovative, same);
            prop_assert_eq!(one, other);
            prop_assert_eq!(fixed.first_unseen(), bytes.first_unseen());
            prop_assert_eq!((fixed.rank(), fixed.highest()), (bytes.rank(), bytes.highest()));
            prop_assert_eq!((fixed.pending(), fixed.held()), (bytes.pending(), bytes.held()));
        }
    }

    #[test]
    fn what_is_decoded_is_what_was_sent_also_on_a_path_that_begins_again(
        steps in prop::collection::vec((0u32..12, 1u8..9, any::<u32>(), 0u8..8), 0..200),
    ) {
        let mut decoder = Decoder::new(64);
        for (ahead, count, key, how) in steps {
            if how == 0 {
                decoder.start_at(decoder.first_unseen() + ahead);
            }
            let what = packet((decoder.first_unseen() + ahead).saturating_sub(4), count, key);
            let mut decoded = vec![];
            decoder.on_packet(what, coded(what), |n, s| decoded.push((n, s)));
            prop_assert!(decoded.iter().all(|(n, s)| *s == segment(*n)));
        }
    }

    #[test]
    fn nothing_that_arrives_panics_or_fills_the_memory(
        garbage in prop::collection::vec((any::<u32>(), 0u32..400, any::<u8>(), any::<u32>(), 0u8..9), 0..200),
        start in prop_oneof![Just(0u32), Just(u32::MAX - 300), any::<u32>()],
        limit in 0usize..70,
    ) {
        let mut decoder = Decoder::<[u8; 1]>::new(limit);
        let mut delivered = BTreeMap::new();
        decoder.start_at(start);
        for (anywhere, near, count, key, how) in garbage {
            let near = decoder.first_unseen().saturating_add(near).saturating_sub(200);
            match how {
                0 => decoder.start_at(near),
                1 if anywhere < 1 << 24 => decoder.start_at(anywhere),
                _ => {}
            }
            let base = if how < 3 { anywhere } else { near };
            let (rank, count) = (decoder.rank(), if how > 5 { count % 8 } else { count });
            let innovative = decoder.on_packet(packet(base, count, key), [key as u8], |n, s| {
                assert!(delivered.insert(n, s).is_none());
            });
            prop_assert_eq!(decoder.rank(), rank + u32::from(innovative));
            prop_assert!(decoder.held() <= limit.max(1) + MAX_WINDOW);
            prop_assert!(decoder.first_unseen() <= decoder.rank());
            prop_assert!(decoder.rank() <= decoder.highest());
        }
    }
}
