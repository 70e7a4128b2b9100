//! Builds the links of a plan and the routes through them.

use crate::{Hop, SharedMedia, Stream, Streams, link_change, link_settings};
use network::{Change, Link, Packet, reserve_in_huge_pages};
use scenario::Plan;
use units::Time;

/// A user's copies of per-user links: index in the plan and number in the world. The paths of a
/// user share them.
pub type UserLinks = Vec<(usize, u32)>;

/// The links of a plan with their randomness, and the routes through them.
///
/// Shared links come first, in the order of the plan. Copies of per-user links follow in the order
/// in which routes first use them. This numbering orders simultaneous events.
pub struct TopologyBuilder<'a, P> {
    plan: &'a Plan,
    seed: u64,
    /// Number of each link of the plan; none for per-user links.
    shared: Vec<Option<u32>>,
    /// The links.
    pub links: Vec<Link<P>>,
    /// The random streams of the links that may draw.
    pub streams: Streams,
    /// For each link its index in the plan, or that of the link that it copies.
    pub planned: Vec<u32>,
    /// Routes one after another, each ended by [`Hop::ARRIVED`]. A link of the plan over a shared
    /// medium takes two hops: its medium link, and a link with the delay behind the medium.
    pub hops: Vec<Hop>,
    /// The shared media.
    pub media: SharedMedia<P>,
    /// Changes of the links so far, with time and link number. Not sorted; the caller may drain it.
    pub changes: Vec<(Time, u32, Change)>,
}

impl<'a, P: Packet> TopologyBuilder<'a, P> {
    /// The shared links of `plan` for the run with `seed`; no routes yet.
    pub fn new(plan: &'a Plan, seed: u64) -> Self {
        let mut builder = TopologyBuilder {
            plan,
            seed,
            shared: Vec::new(),
            links: Vec::new(),
            streams: Streams::default(),
            planned: Vec::new(),
            hops: Vec::new(),
            media: SharedMedia::new(plan, seed),
            changes: Vec::new(),
        };
        for (index, link) in plan.links.iter().enumerate() {
            let shared = (!link.per_user).then(|| builder.add_link(index, None));
            builder.shared.push(shared);
        }
        builder
    }

    /// Adds a route over links of the plan for `owner`, a class and the number of a user; returns
    /// its index in `hops`. Per-user links are copied once for each user.
    pub fn add_route(
        &mut self,
        links: &[usize],
        copies: &mut UserLinks,
        owner: (&str, u32),
    ) -> u32 {
        let begin = self.hops.len() as u32;
        for planned in links {
            let known = copies.iter().find(|(own, _)| own == planned).map(|(_, link)| *link);
            let link = self.shared[*planned].or(known).unwrap_or_else(|| {
                let link = self.add_link(*planned, Some(owner));
                copies.push((*planned, link));
                link
            });
            self.hops.extend(self.media.medium_link(*planned, owner.1).map(Hop::medium_link));
            self.hops.push(Hop::link(link));
        }
        self.hops.push(Hop::ARRIVED);
        begin
    }

    /// How much there is now.
    pub fn size(&self) -> Size {
        Size { links: self.links.len(), streams: self.streams.len(), hops: self.hops.len() }
    }

    /// Reserves memory for `users` more users like the one that was added since the size was
    /// `before`.
    pub fn reserve(&mut self, users: u32, before: Size) {
        let (now, users) = (self.size(), users as usize);
        let (links, hops) = (users * (now.links - before.links), users * (now.hops - before.hops));
        reserve_in_huge_pages(&mut self.links, links);
        self.streams.reserve(users * (now.streams - before.streams));
        reserve_in_huge_pages(&mut self.planned, links);
        reserve_in_huge_pages(&mut self.hops, hops);
    }

    /// Adds a link of the plan. A per-user link that may draw has a random stream for each user,
    /// named by the class, so that adding or removing a class changes no other stream.
    fn add_link(&mut self, planned: usize, user: Option<(&str, u32)>) -> u32 {
        let link = &self.plan.links[planned];
        let number = self.links.len() as u32;
        self.links.push(Link::new(link_settings(link)));
        // A change may bring loss.
        if !self.links[number as usize].is_unlimited() || !link.changes.is_empty() {
            self.streams.push(number, self.stream(&link.name, user));
        }
        self.planned.push(planned as u32);
        let changes = link.changes.iter().map(|it| (Time::from(it.at), number, link_change(it)));
        self.changes.extend(changes);
        number
    }

    /// The random stream of a link, or of a user's copy of it.
    fn stream(&self, link: &str, user: Option<(&str, u32)>) -> Stream {
        match user {
            None => Stream::new(self.seed, "link", link, 0),
            Some((class, user)) => {
                let name = format!("{link}.{class}"); // no name has a dot
                Stream::new(self.seed, "link of a user", &name, u64::from(user))
            }
        }
    }
}

/// The numbers of links, streams and hops of a [`TopologyBuilder`].
#[derive(Clone, Copy, Debug)]
pub struct Size {
    links: usize,
    streams: usize,
    hops: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkMeter, MeasuredLink};
    use network::{Offer, Rng};
    use units::Span;

    #[derive(Clone, Copy, Default)]
    struct Box1000;

    impl Packet for Box1000 {
        fn bytes(&self) -> u32 {
            1000
        }
        fn path(&self) -> u32 {
            0
        }
        fn ecn_capable(&self) -> bool {
            false
        }
        fn mark(&mut self) {}
        fn lower_effort(&self) -> bool {
            false
        }
    }

    fn plan() -> Plan {
        let text = "name = 'x'\nduration = '1 s'\n[[link]]\nname = 'own'\nrate = '8 Mb/s'\n\
                    per_user = true\n[[link.change]]\nat = '5 ms'\nup = false\n\
                    [[link]]\nname = 'all'\nrate = '8 Mb/s'\n\
                    [[flow]]\nname = 'mptcp'\ncount = 2\n[[flow.path]]\nlinks = ['own', 'all']\n\
                    [[flow.path]]\nlinks = ['own']\n";
        Plan::read(text, "x.toml", &[]).unwrap()
    }

    #[test]
    fn a_user_has_one_copy_of_its_link_for_all_of_its_paths_and_a_stream_of_its_own() {
        let plan = plan();
        let mut builder = TopologyBuilder::<Box1000>::new(&plan, 1);
        assert_eq!(builder.planned, [1, 2, 3], "the shared one, and two ways back");
        for user in 0..2 {
            let mut copies = UserLinks::new();
            for path in &plan.classes[0].paths {
                builder.add_route(&path.links, &mut copies, ("mptcp", user));
            }
        }
        assert_eq!(builder.planned, [1, 2, 3, 0, 0]);
        let (one, two) = ([[3, 0].as_slice(), &[3]], [[4, 0].as_slice(), &[4]]);
        let routes = one.into_iter().chain(two);
        let expected = routes
            .flat_map(|links| links.iter().map(|link| Hop::link(*link)).chain([Hop::ARRIVED]));
        assert_eq!(builder.hops, expected.collect::<Vec<_>>());
        let changed: Vec<_> = builder.changes.iter().map(|(at, link, _)| (*at, *link)).collect();
        let at = Time::ZERO + Span::millis(5);
        assert_eq!(changed, [(at, 3), (at, 4)]);
        assert_ne!(builder.streams.of(3).uniform(), builder.streams.of(4).uniform());
    }

    #[test]
    fn copies_of_a_link_are_one_row_and_what_happened_before_the_start_does_not_count() {
        let plan = plan();
        let mut builder = TopologyBuilder::<Box1000>::new(&plan, 1);
        for user in 0..2 {
            builder.add_route(&[0], &mut UserLinks::new(), ("mptcp", user));
        }
        let mut meter = LinkMeter::new(&plan, builder.planned);
        for link in [3, 4] {
            let offer =
                builder.links[link].offer(Time::ZERO, Box1000, builder.streams.of(link as u32));
            assert!(matches!(offer, Offer::Wake(_)));
        }
        meter.start(builder.links.iter().map(|link| link as &dyn MeasuredLink), &builder.media);
        builder.links[3].deliver();
        builder.links[4].deliver();
        let links = builder.links.iter().map(|link| link as &dyn MeasuredLink);
        let row = &meter.results(links, &builder.media, 0.01)[0];
        assert_eq!((row.copies, row.arrived_packets), (2, 0));
        assert_eq!((row.throughput_bps, row.utilisation), (1.6e6, 0.1));
    }
}
