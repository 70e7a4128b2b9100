//! Cookies: a proof that a host receives at the address from which it sends (RFC 9147 §5.1). The
//! responder keeps no state for them and computes no Diffie-Hellman without one.

use crate::route::Route;
use crate::{Entropy, draw};
use blake2::Blake2sMac;
use blake2::digest::consts::U16;
use blake2::digest::{KeyInit, Mac};
use std::net::IpAddr;
use units::{Span, Time};

/// Bytes of a cookie.
pub(crate) const COOKIE_BYTES: usize = 16;

/// A cookie is valid for one to two of these.
const PERIOD: Span = Span::millis(30_000);

/// The secrets of the last two periods.
#[derive(Debug)]
pub(crate) struct Baker {
    secrets: [[u8; 32]; 2],
    renewed: Time,
}

impl Baker {
    pub(crate) fn new(now: Time, entropy: &mut dyn Entropy) -> Self {
        Baker { secrets: [draw(entropy), draw(entropy)], renewed: now }
    }

    /// Replaces the older secret, if it is time.
    pub(crate) fn renew(&mut self, now: Time, entropy: &mut dyn Entropy) {
        if now.since(self.renewed) >= PERIOD {
            self.secrets = [draw(entropy), self.secrets[0]];
            self.renewed = now;
        }
    }

    /// The cookie of the host behind `route`.
    pub(crate) fn cookie(&self, route: &Route) -> [u8; COOKIE_BYTES] {
        mac(&self.secrets[0], route).finalize().into_bytes().into()
    }

    /// Whether `cookie` is one for `route`; takes the same time for all wrong ones.
    pub(crate) fn accepts(&self, route: &Route, cookie: &[u8; COOKIE_BYTES]) -> bool {
        self.secrets.iter().any(|secret| mac(secret, route).verify_slice(cookie).is_ok())
    }
}

fn mac(secret: &[u8; 32], route: &Route) -> Blake2sMac<U16> {
    let mut mac: Blake2sMac<U16> =
        KeyInit::new_from_slice(secret).expect("BLAKE2s takes keys of 32 bytes");
    match route.remote.ip() {
        IpAddr::V4(address) => mac.update(&address.octets()),
        IpAddr::V6(address) => mac.update(&address.octets()),
    }
    mac.update(&route.remote.port().to_be_bytes());
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_for_one_address_and_for_a_while() {
        let mut count = 0;
        let mut entropy = |bytes: &mut [u8]| {
            count += 1;
            bytes.fill(count);
        };
        let mut baker = Baker::new(Time::ZERO, &mut entropy);
        let route = |text: &str| Route { local: 0, remote: text.parse().unwrap() };
        let (here, there) = (route("192.0.2.1:7"), route("192.0.2.1:8"));
        let cookie = baker.cookie(&here);
        assert!(baker.accepts(&here, &cookie) && !baker.accepts(&there, &cookie));
        baker.renew(Time::ZERO + PERIOD, &mut entropy);
        assert!(baker.accepts(&here, &cookie), "it lasts into the next period");
        baker.renew(Time::ZERO + PERIOD + PERIOD, &mut entropy);
        assert!(!baker.accepts(&here, &cookie));
    }
}
