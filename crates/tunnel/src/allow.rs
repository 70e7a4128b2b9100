//! Which targets the listening side connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// One entry of the list: a network, or all public addresses, and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    network: Network,
    /// First and last port.
    ports: (u16, u16),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Network {
    Public,
    /// An address and the length of the prefix.
    Prefix(IpAddr, u8),
}

/// The targets that are allowed: those of any entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Vec<Rule>);

/// Every public address, and no other.
impl Default for Allowed {
    fn default() -> Self {
        Allowed(vec![Rule { network: Network::Public, ports: ALL }])
    }
}

const ALL: (u16, u16) = (1, u16::MAX);
const RIGHT: &str = "give public, ADDRESS or ADDRESS/PREFIX, with ,PORT or ,FIRST-LAST after it, as \
                     in public,443 or 10.1.0.0/16 or ::1,8000-8080";

impl Allowed {
    /// The list of these entries; without any the default.
    ///
    /// # Errors
    /// The entry that is wrong, and what would be right.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let rules: Vec<Rule> = entries.into_iter().map(str::parse).collect::<Result<_, _>>()?;
        Ok(if rules.is_empty() { Allowed::default() } else { Allowed(rules) })
    }

    /// Whether a connection to `target` is allowed.
    pub fn permits(&self, target: SocketAddr) -> bool {
        let address = target.ip().to_canonical(); // ::ffff:127.0.0.1 is 127.0.0.1
        self.0.iter().any(|rule| {
            let (first, last) = rule.ports;
            (first..=last).contains(&target.port()) && rule.network.holds(address)
        })
    }
}

impl Network {
    fn holds(&self, address: IpAddr) -> bool {
        match (self, address) {
            (Network::Public, IpAddr::V4(address)) => is_public_v4(address),
            (Network::Public, IpAddr::V6(address)) => is_public_v6(address),
            (Network::Prefix(IpAddr::V4(network), len), IpAddr::V4(address)) => {
                let differ = u32::from(*network) ^ u32::from(address);
                differ.checked_shr(32 - u32::from(*len)).unwrap_or(0) == 0
            }
            (Network::Prefix(IpAddr::V6(network), len), IpAddr::V6(address)) => {
                let differ = u128::from(*network) ^ u128::from(address);
                differ.checked_shr(128 - u32::from(*len)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// Not of the special-purpose registry of IANA (RFC 6890), as far as it is not global.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b); // RFC 6598
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmark = a == 198 && (18..20).contains(&b); // RFC 2544
    !(a == 0
        || a >= 240
        || shared
        || protocols
        || benchmark
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

/// Of 2000::/3, without documentation, Teredo, ORCHID and benchmarks, and 6to4 of IPv4 that is not
/// public; and NAT64 of IPv4 that is public.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, .., g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    if (a, b) == (0x64, 0xff9b) && address.segments()[2..6] == [0; 4] {
        return is_public_v4(v4(g, h));
    }
    if a == 0x2002 {
        return is_public_v4(v4(b, c));
    }
    let special = (a == 0x2001 && b < 0x0200) || (a, b) == (0x2001, 0x0db8);
    let documentation = a == 0x3fff && b < 0x1000;
    a & 0xe000 == 0x2000 && !special && !documentation
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no set of targets; {RIGHT}");
        let (network, ports) = match text.split_once(',') {
            None => (text, ALL),
            Some((network, ports)) => {
                let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
                let port = |text: &str| text.parse::<u16>().map_err(|_| wrong());
                (network, (port(first)?, port(last)?))
            }
        };
        let (network, len) = match network.split_once('/') {
            None if network == "public" => return Ok(Rule { network: Network::Public, ports }),
            None => (network, None),
            Some((network, len)) => (network, Some(len.parse::<u8>().map_err(|_| wrong())?)),
        };
        let address: IpAddr = network.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let len = len.unwrap_or(most);
        if len > most || ports.0 > ports.1 {
            return Err(wrong());
        }
        Ok(Rule { network: Network::Prefix(address, len), ports })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(entries: &[&str], target: &str) -> bool {
        Allowed::new(entries.iter().copied()).unwrap().permits(target.parse().unwrap())
    }

    #[test]
    fn without_a_list_public_addresses_are_allowed_and_no_others() {
        for public in ["1.1.1.1:53", "100.128.0.1:1", "[2606:4700::1]:443", "[2002:101:101::]:1"] {
            assert!(permits(&[], public), "{public}");
        }
        for other in [
            "127.0.0.1:80",
            "10.1.2.3:80",
            "172.16.0.1:1",
            "192.168.1.1:1",
            "169.254.169.254:80",
            "100.64.0.1:1",
            "0.0.0.0:1",
            "224.0.0.1:1",
            "255.255.255.255:1",
            "198.18.0.1:1",
            "192.0.2.1:1",
            "[::1]:80",
            "[::]:80",
            "[fe80::1]:1",
            "[fc00::1]:1",
            "[ff02::1]:1",
            "[::ffff:127.0.0.1]:80",
            "[::ffff:10.0.0.1]:1",
            "[64:ff9b::7f00:1]:1",
            "[2002:7f00:1::]:1",
            "[2001:db8::1]:1",
            "[2001::1]:1",
        ] {
            assert!(!permits(&[], other), "{other}");
        }
    }

    #[test]
    fn a_list_allows_its_networks_and_ports_and_nothing_else() {
        let list = ["10.1.0.0/16,80", "::1,8000-8080", "public,443"];
        for right in ["10.1.9.9:80", "[::1]:8050", "1.1.1.1:443"] {
            assert!(permits(&list, right), "{right}");
        }
        for other in ["10.1.9.9:81", "10.2.0.1:80", "[::1]:8081", "1.1.1.1:80", "[::2]:8050"] {
            assert!(!permits(&list, other), "{other}");
        }
        assert!(permits(&["0.0.0.0/0"], "127.0.0.1:1") && permits(&["::/0"], "[::1]:1"));
    }

    #[test]
    fn an_entry_that_is_wrong_is_refused_with_what_would_be_right() {
        for wrong in ["", "private", "10.0.0.0/33", "10.0.0.0/8,", "::1,9-8", "x/8", "1.1.1.1:80"] {
            let error = Allowed::new([wrong]).unwrap_err();
            assert!(error.contains(wrong) && error.contains("ADDRESS/PREFIX"), "{error}");
        }
    }
}
