//! One router that gets messages by hand.

use super::*;
use std::collections::BTreeSet;
use units::NANOS;

/// Neighbours that HELLOs make symmetric and that have router 1 as relay.
fn relay(neighbours: &[Node], now: Time) -> Olsr {
    let mut router = Olsr::new(1, OlsrSettings::default());
    for node in neighbours {
        let groups = vec![((LinkType::Symmetric, NeighbourType::Mpr), vec![1])];
        tell(&mut router, now, *node, *node, 1, MessageBody::Hello(Hello::new(3, groups)));
    }
    router
}

/// Delivers a message of a neighbour to the router; returns its packets.
fn tell(
    router: &mut Olsr,
    now: Time,
    from: Node,
    originator: Node,
    ttl: u8,
    body: MessageBody,
) -> Vec<OlsrMessage> {
    let validity = Span::millis(6_000);
    let message = OlsrMessage { originator, number: 77, validity, ttl, hops: 255 - ttl, body };
    let message = Message::Olsr(Packet { number: 0, messages: vec![message] });
    let mut out = Vec::new();
    router.on_message(now, from, &message, &mut out);
    sent(out)
}

/// The messages in at most one packet.
fn sent(out: Vec<Action>) -> Vec<OlsrMessage> {
    assert!(out.len() <= 1);
    let packets = out.into_iter().map(|action| match action {
        Action::Broadcast(Message::Olsr(packet)) => packet.messages,
        other => panic!("{other:?}"),
    });
    packets.flatten().collect()
}

/// Packets that it sends by its timer until a time, with their times.
fn runs(router: &mut Olsr, end: Time) -> Vec<(Time, OlsrMessage)> {
    let mut all = Vec::new();
    while router.next_timer() <= end {
        let now = router.next_timer();
        let mut out = Vec::new();
        router.on_timer(now, &mut out);
        assert!(router.next_timer() > now);
        all.extend(sent(out).into_iter().map(|message| (now, message)));
    }
    all
}

fn tcs(sent: impl IntoIterator<Item = OlsrMessage>) -> Vec<Tc> {
    let tc = |message: OlsrMessage| match message.body {
        MessageBody::Tc(tc) => Some(tc),
        MessageBody::Hello(_) => None,
    };
    sent.into_iter().filter_map(tc).collect()
}

fn tc(ansn: u16, advertised: &[Node]) -> MessageBody {
    MessageBody::Tc(Tc { ansn, advertised: advertised.to_vec() })
}

#[test]
fn the_loss_of_a_selector_causes_a_tc_at_once_and_that_of_another_neighbour_none() {
    let now = ms(100);
    let mut router = relay(&[2, 3], now);
    let groups = vec![((LinkType::Symmetric, NeighbourType::Symmetric), vec![1])];
    tell(&mut router, now, 4, 4, 1, MessageBody::Hello(Hello::new(3, groups)));
    let before = tcs(runs(&mut router, ms(5_500)).into_iter().map(|(_, message)| message));
    assert_eq!(before, [Tc { ansn: 1, advertised: vec![2, 3] }]);
    let mut out = Vec::new();
    router.on_link_break(ms(5_600), 4, &mut out);
    assert_eq!(sent(out), []);
    let mut out = Vec::new();
    router.on_link_break(ms(5_700), 2, &mut out);
    assert_eq!(tcs(sent(out)), [Tc { ansn: 2, advertised: vec![3] }]);
    assert_eq!(router.route_to(ms(5_700), 2), None);
    assert_eq!(router.route_to(ms(5_700), 3), Some(3));
}

#[test]
fn a_former_mpr_sends_empty_tcs_for_the_hold_time_and_then_none() {
    let mut router = relay(&[2], ms(3_000));
    let sent = runs(&mut router, ms(60_000));
    let sent: Vec<(Time, Tc)> = sent
        .into_iter()
        .flat_map(|(at, message)| tcs([message]).into_iter().map(move |tc| (at, tc)))
        .collect();
    let (full, empty): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(_, tc)| !tc.advertised.is_empty());
    let last = full.last().unwrap().0;
    // The first empty TC is sent at once, when the link is lost.
    assert_eq!(empty[0].0, ms(9_000));
    assert!(empty.iter().all(|(at, tc)| *at < last + Span::millis(15_000) && tc.ansn == 2));
    assert_eq!(empty.len(), 3);
}

#[test]
fn a_tc_is_forwarded_once_for_a_selector_and_believed_only_of_a_symmetric_neighbour() {
    let now = ms(100);
    let mut router = relay(&[2, 3], now);
    assert_eq!(tell(&mut router, now, 9, 5, 9, tc(1, &[6])), []);
    assert!(router.duplicates.is_empty());
    let first = tell(&mut router, now, 2, 5, 9, tc(1, &[6]));
    assert_eq!((first.len(), first[0].originator, first[0].number), (1, 5, 77));
    assert_eq!((first[0].ttl, first[0].hops), (8, 247));
    assert_eq!(tell(&mut router, now, 3, 5, 9, tc(1, &[6])), []);
    // Not forwarded: its TTL is used up, it is this node's own, or this node is not an MPR.
    assert_eq!(tell(&mut router, now, 2, 7, 1, tc(1, &[6])), []);
    assert_eq!(tell(&mut router, now, 2, 1, 9, tc(1, &[6])), []);
    let groups = vec![((LinkType::Asymmetric, NeighbourType::Not), vec![1])];
    tell(&mut router, now, 4, 4, 1, MessageBody::Hello(Hello::new(3, groups)));
    assert_eq!(tell(&mut router, now, 4, 8, 9, tc(1, &[6])), []);
    // After the hold time it is new.
    let mut router = relay(&[2], ms(30_100));
    router.duplicates.insert((5, 77), ms(30_100));
    assert_eq!(tell(&mut router, ms(30_100), 2, 5, 9, tc(1, &[6])).len(), 1);
}

#[test]
fn messages_due_at_once_share_a_packet() {
    // Node 0 starts with its HELLO and, if it has selectors, its TC.
    let mut router = Olsr::new(0, OlsrSettings::default());
    let groups = vec![((LinkType::Symmetric, NeighbourType::Mpr), vec![0])];
    tell(&mut router, Time::ZERO, 2, 2, 1, MessageBody::Hello(Hello::new(3, groups)));
    let mut out = Vec::new();
    router.on_timer(Time::ZERO, &mut out);
    let sent = sent(out);
    assert!(
        matches!(sent[0].body, MessageBody::Hello(_)) && matches!(sent[1].body, MessageBody::Tc(_))
    );
    assert_eq!((sent[0].number, sent[1].number), (0, 1));
    assert_eq!((sent[0].ttl, sent[1].ttl), (1, 255));
}

#[test]
fn a_hello_says_of_each_link_what_it_is() {
    let now = ms(100);
    let mut router = relay(&[2], now);
    let heard = |groups| MessageBody::Hello(Hello::new(3, groups));
    tell(&mut router, now, 3, 3, 1, heard(vec![]));
    let symmetric = (LinkType::Symmetric, NeighbourType::Symmetric);
    tell(&mut router, now, 4, 4, 1, heard(vec![(symmetric, vec![1, 9])]));
    tell(&mut router, now, 5, 5, 1, heard(vec![(symmetric, vec![1])]));
    router.on_link_break(now, 5, &mut Vec::new());
    let groups =
        runs(&mut router, ms(2_000)).into_iter().find_map(|(_, message)| match message.body {
            MessageBody::Hello(hello) => Some(hello.groups),
            MessageBody::Tc(_) => None,
        });
    let expected = vec![
        ((LinkType::Asymmetric, NeighbourType::Not), vec![3]),
        (symmetric, vec![2]),
        ((LinkType::Symmetric, NeighbourType::Mpr), vec![4]),
        ((LinkType::Lost, NeighbourType::Not), vec![5]),
    ];
    assert_eq!(groups, Some(expected));
}

#[test]
fn over_a_neighbour_that_is_never_willing_no_way_leads_further() {
    let now = ms(100);
    let symmetric = (LinkType::Symmetric, NeighbourType::Symmetric);
    let known = |willingness: [u8; 2]| {
        let mut router = Olsr::new(1, OlsrSettings::default());
        for (node, willingness) in [2, 3].into_iter().zip(willingness) {
            let groups = vec![(symmetric, vec![1, 9])];
            tell(
                &mut router,
                now,
                node,
                node,
                1,
                MessageBody::Hello(Hello::new(willingness, groups)),
            );
        }
        router.route_to(now, 9)
    };
    assert_eq!(known([WILL_NEVER, 1]), Some(3));
    assert_eq!(known([3, 6]), Some(3));
    assert_eq!(known([3, 3]), Some(2));
    assert_eq!(known([WILL_NEVER, WILL_NEVER]), None);
}

#[test]
fn the_settings_are_the_defaults_of_the_rfc() {
    let seconds = |span: Span| span.0 / NANOS;
    let settings = OlsrSettings::default();
    assert_eq!(seconds(settings.hello_interval), 2);
    assert_eq!(seconds(settings.tc_interval), 5);
    assert_eq!(seconds(settings.neighbour_hold), 3 * 2);
    assert_eq!(seconds(settings.topology_hold), 3 * 5);
    assert_eq!(seconds(settings.duplicate_hold), 30);
    assert_eq!(settings.willingness, 3);
}

#[test]
fn first_hellos_come_at_times_that_differ() {
    let routers = (0..=Node::MAX).map(|node| Olsr::new(node, OlsrSettings::default()));
    let times: BTreeSet<Time> = routers.map(|router| router.next_timer()).collect();
    assert_eq!(times.len(), 65_536);
    assert!(times.iter().all(|at| *at < ms(2_000)));
    // Of ten nodes no two begin within 50 ms of each other.
    let first = |node| Olsr::new(node, OlsrSettings::default()).next_hello;
    for (a, b) in clique(10) {
        assert!(first(a).max(first(b)).since(first(a).min(first(b))) > Span::millis(50));
    }
}
