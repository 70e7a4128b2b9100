//! The paths of a connection: their addresses, which of them work, and how that is found out.
//!
//! A path is used when the peer has answered a probe on it: then the peer receives at that address
//! (RFC 9000 §8.2). A datagram from another address makes that a candidate, and the path moves
//! when the candidate answers; meanwhile it stays where it is. Probes also keep a path alive, and
//! three without an answer mean that it does not work.

use crate::route::Route;
use crate::{Entropy, draw};
use units::{Span, Time};

/// Probes without an answer after which a path counts as dead.
const UNANSWERED: u32 = 3;
/// Time between probes that are not answered, and before the first on a path with data in flight.
const PROBE: Span = Span::millis(1_000);
/// Least time between probes of a candidate: a host that forges addresses gets no more.
const CANDIDATE: Span = Span::millis(200);

/// An address and a question to it.
#[derive(Debug)]
struct Asked {
    route: Route,
    token: u64,
    /// When it may be asked again.
    again: Time,
}

/// One path.
#[derive(Debug)]
pub(crate) struct Path {
    /// Where its datagrams go; none before its first probe was answered.
    pub(crate) route: Option<Route>,
    /// Where the next probe goes, and the token that an answer has to have.
    asked: Option<Asked>,
    /// Another address from which the peer sends.
    candidate: Option<Asked>,
    heard: Time,
    unanswered: u32,
    /// Whether it answers.
    pub(crate) works: bool,
}

/// A probe to send.
pub(crate) struct Probe {
    pub(crate) route: Route,
    pub(crate) token: u64,
}

impl Path {
    /// A path that is not in use; `route` is where it will go, if that is known.
    pub(crate) fn new(route: Option<Route>) -> Self {
        let asked = route.map(|route| Asked { route, token: 0, again: Time::ZERO });
        Path { route: None, asked, candidate: None, heard: Time::ZERO, unanswered: 0, works: false }
    }

    /// The handshake has shown that the peer receives at `route`.
    pub(crate) fn establish(&mut self, now: Time, route: Route) {
        self.route = Some(route);
        self.asked = Some(Asked { route, token: 0, again: now });
        (self.heard, self.unanswered, self.works) = (now, 0, true);
    }

    /// A datagram of the peer arrived from `route`.
    pub(crate) fn on_datagram(
        &mut self,
        now: Time,
        route: Route,
        entropy: &mut dyn Entropy,
    ) -> Option<Probe> {
        if self.route == Some(route) {
            self.heard = now;
            return None;
        }
        if self.asked.as_ref().is_some_and(|asked| asked.route == route) {
            return None; // its own probe will be answered
        }
        let waits = self.candidate.as_ref().is_some_and(|it| now < it.again);
        if waits {
            return None;
        }
        let token = u64::from_be_bytes(draw(entropy));
        self.candidate = Some(Asked { route, token, again: now + CANDIDATE });
        Some(Probe { route, token })
    }

    /// An answer arrived from `route`. Returns whether the path works from now on.
    pub(crate) fn on_answer(&mut self, now: Time, route: Route, token: u64) -> bool {
        let fits = |asked: &Asked| asked.route == route && asked.token == token && token != 0;
        if self.candidate.as_ref().is_some_and(fits) {
            self.candidate = None;
            self.establish(now, route);
            return true;
        }
        if self.asked.as_ref().is_some_and(fits) {
            self.route = Some(route);
            (self.heard, self.unanswered, self.works) = (now, 0, true);
            return true;
        }
        false
    }

    /// Forgets the answers so far: the local address has changed.
    pub(crate) fn rebind(&mut self, route: Option<Route>) {
        *self = Path::new(route);
    }

    /// When the path is probed next.
    pub(crate) fn next_probe(&self, keep_alive: Span, busy: bool) -> Time {
        let Some(asked) = &self.asked else { return Time::NEVER };
        match self.works && self.unanswered == 0 {
            true => asked.again.max(self.heard + if busy { PROBE } else { keep_alive }),
            false => asked.again,
        }
    }

    /// The probe that is due. The path may not work any more afterwards.
    pub(crate) fn probe(
        &mut self,
        now: Time,
        keep_alive: Span,
        entropy: &mut dyn Entropy,
    ) -> Option<Probe> {
        let asked = self.asked.as_mut()?;
        self.unanswered = self.unanswered.saturating_add(1);
        if self.unanswered > UNANSWERED {
            self.works = false;
        }
        let wait = if self.unanswered > 4 * UNANSWERED { keep_alive.max(PROBE) } else { PROBE };
        asked.again = now + wait;
        asked.token = u64::from_be_bytes(draw(entropy));
        Some(Probe { route: asked.route, token: asked.token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Span = Span::millis(5_000);

    fn route(port: u16) -> Route {
        Route { local: 0, remote: ([192, 0, 2, 1], port).into() }
    }

    fn counting() -> impl FnMut(&mut [u8]) {
        let mut count = 0;
        move |bytes: &mut [u8]| {
            count += 1;
            bytes.fill(count);
        }
    }

    #[test]
    fn a_path_works_when_its_probe_is_answered_from_where_it_went() {
        let mut entropy = counting();
        let mut path = Path::new(Some(route(1)));
        let Probe { route: to, token } = path.probe(Time(0), KEEP, &mut entropy).unwrap();
        assert!(
            !path.on_answer(Time(1), route(2), token) && !path.on_answer(Time(1), to, token + 1)
        );
        assert!(!path.works && path.route.is_none());
        assert!(path.on_answer(Time(1), to, token) && path.works);
    }

    #[test]
    fn three_probes_without_an_answer_end_a_path_and_a_later_answer_brings_it_back() {
        let mut entropy = counting();
        let mut path = Path::new(None);
        path.establish(Time::ZERO, route(1));
        let mut now = Time::ZERO;
        while path.works {
            now = path.next_probe(KEEP, false);
            assert!(path.probe(now, KEEP, &mut entropy).is_some());
        }
        assert_eq!(now, Time::ZERO + Span::millis(8_000));
        let Probe { token, .. } = path.probe(now, KEEP, &mut entropy).unwrap();
        assert!(path.on_answer(now, route(1), token) && path.works);
    }

    #[test]
    fn a_path_moves_when_its_new_address_answers_and_not_before() {
        let mut entropy = counting();
        let mut path = Path::new(None);
        path.establish(Time::ZERO, route(1));
        let probe = path.on_datagram(Time(1), route(2), &mut entropy).unwrap();
        assert!(path.on_datagram(Time(2), route(3), &mut entropy).is_none(), "too soon");
        assert_eq!(path.route, Some(route(1)));
        assert!(path.on_answer(Time(3), route(2), probe.token));
        assert_eq!(path.route, Some(route(2)));
    }
}
