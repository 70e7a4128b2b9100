//! Event sources: links, endpoints, the script and media. The order of their numbers is the order
//! of simultaneous events, and part of every digest.

/// Number of an event source on the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventSource(pub(crate) u32);

impl EventSource {
    /// Its index among all sources.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The meaning of an [`EventSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The link with this number: a packet comes out of it.
    Link(u32),
    /// The sender of the flow with this number.
    Sender(u32),
    /// The receiver of the flow with this number.
    Receiver(u32),
    /// The next action of the script.
    Script,
    /// The shared medium with this number.
    Medium(u32),
}

/// The numbering of event sources: links, senders, receivers, the script, media.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbering {
    links: u32,
    flows: u32,
}

impl Numbering {
    pub(crate) fn new(links: usize, flows: usize) -> Self {
        Numbering { links: links as u32, flows: flows as u32 }
    }

    /// Number of sources with this many media.
    pub(crate) fn count(self, media: u32) -> usize {
        self.source(Wake::Medium(media)).0 as usize
    }

    /// The number of a source.
    #[inline(always)] // runs for every segment
    pub(crate) fn source(self, wake: Wake) -> EventSource {
        let Numbering { links, flows } = self;
        EventSource(match wake {
            Wake::Link(link) => link,
            Wake::Sender(flow) => links + flow,
            Wake::Receiver(flow) => links + flows + flow,
            Wake::Script => links + 2 * flows,
            Wake::Medium(medium) => links + 2 * flows + 1 + medium,
        })
    }

    /// The source with a number.
    #[inline(always)] // runs for every event
    pub(crate) fn wake(self, source: EventSource) -> Wake {
        match source.0 {
            link if link < self.links => Wake::Link(link),
            other => self.beyond_links(other - self.links),
        }
    }

    fn beyond_links(self, number: u32) -> Wake {
        let flows = self.flows;
        match number {
            _ if number > 2 * flows => Wake::Medium(number - 2 * flows - 1), // most often woken
            _ if number < flows => Wake::Sender(number),
            _ if number < 2 * flows => Wake::Receiver(number - flows),
            _ => Wake::Script,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_one_source_in_the_order_that_digests_have() {
        let numbering = Numbering::new(2, 3);
        let all: Vec<Wake> =
            (0..numbering.count(2) as u32).map(|n| numbering.wake(EventSource(n))).collect();
        let expected = [
            Wake::Link(0),
            Wake::Link(1),
            Wake::Sender(0),
            Wake::Sender(1),
            Wake::Sender(2),
            Wake::Receiver(0),
            Wake::Receiver(1),
            Wake::Receiver(2),
            Wake::Script,
            Wake::Medium(0),
            Wake::Medium(1),
        ];
        assert_eq!(all, expected);
        for (number, wake) in (0..).zip(expected) {
            assert_eq!(numbering.source(wake), EventSource(number));
        }
    }
}
