//! What a client is told to fetch: the server's address, the name, and the ends of its paths.

use crate::Error;
use crate::lanes::Ends;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// HOST:PORT/NAME, looked up.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// One for each path, the first to be tried first.
    pub(crate) ends: Vec<Ends>,
}

impl Target {
    /// Reads the options. Every address is of one family, since one socket serves them all.
    pub(crate) fn read(target: &str, via: &[String], to: &[String]) -> Result<Self, Error> {
        let shape = "give HOST:PORT/NAME, as in 192.0.2.7:4433/large.iso";
        let wrong = || Error::wrong("target", format!("{target:?} names no file; {shape}"));
        let (authority, name) = target.split_once('/').ok_or_else(wrong)?;
        if name.is_empty() || !authority.contains(':') {
            return Err(wrong());
        }
        let via = via.iter().map(|text| address(text)).collect::<Result<Vec<_>, _>>()?;
        let ipv6 = via.first().map(IpAddr::is_ipv6);
        if via.iter().any(|ip| Some(ip.is_ipv6()) != ipv6) {
            return Err(Error::wrong("via", "addresses are all IPv4 or all IPv6"));
        }
        if !to.is_empty() && !via.is_empty() && to.len() != via.len() {
            let why = format!("{} addresses for {} of --via; give as many", to.len(), via.len());
            return Err(Error::wrong("to", why));
        }
        let to = match to {
            [] => vec![looked_up("target", authority, ipv6)?],
            some => some
                .iter()
                .map(|text| looked_up("to", text, ipv6))
                .collect::<Result<Vec<_>, _>>()?,
        };
        if to.iter().any(|remote| remote.is_ipv6() != to[0].is_ipv6()) {
            return Err(Error::wrong("to", "addresses are all IPv4 or all IPv6"));
        }
        let ends = (0..via.len().max(to.len()))
            .map(|number| Ends {
                local: via.get(number).copied(),
                remote: to[number.min(to.len() - 1)],
            })
            .collect();
        Ok(Self { name: name.to_owned(), ends })
    }

    /// What a socket for all paths is bound to.
    pub(crate) fn wildcard(&self, port: u16) -> SocketAddr {
        if self.ends[0].remote.is_ipv6() {
            (Ipv6Addr::UNSPECIFIED, port).into()
        } else {
            (Ipv4Addr::UNSPECIFIED, port).into()
        }
    }
}

fn address(text: &str) -> Result<IpAddr, Error> {
    let wrong = |_| Error::wrong("via", format!("{text:?} is no IP address of this machine"));
    text.parse().map_err(wrong)
}

fn looked_up(field: &'static str, text: &str, ipv6: Option<bool>) -> Result<SocketAddr, Error> {
    let shape = "give HOST:PORT, as in 192.0.2.7:4433";
    let found = text
        .to_socket_addrs()
        .map_err(|e| Error::wrong(field, format!("{text:?} is no address: {e}; {shape}")))?;
    let fits = |address: &SocketAddr| ipv6.is_none_or(|ipv6| address.is_ipv6() == ipv6);
    found.into_iter().find(fits).ok_or_else(|| {
        let family = if ipv6 == Some(true) { "IPv6" } else { "IPv4" };
        Error::wrong(field, format!("{text:?} has no {family} address, as those of --via"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: &str, via: &[&str], to: &[&str]) -> Result<Target, Error> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        Target::read(target, &owned(via), &owned(to))
    }

    #[test]
    fn each_local_address_has_a_path_to_the_server() {
        let target = read("127.0.0.1:4433/a/b", &["127.0.0.2", "127.0.0.3"], &[]).unwrap();
        assert_eq!(target.name, "a/b");
        assert_eq!(target.ends.len(), 2);
        assert!(target.ends.iter().all(|ends| ends.remote.port() == 4433));
    }

    #[test]
    fn wrong_options_are_named() {
        let cases: [(&str, &[&str], &[&str], &str); 7] = [
            ("127.0.0.1:4433", &[], &[], "target"),
            ("127.0.0.1/a", &[], &[], "target"),
            ("127.0.0.1:4433/", &[], &[], "target"),
            ("127.0.0.1:99999/a", &[], &[], "target"),
            ("127.0.0.1:4433/a", &["wlan0"], &[], "via"),
            ("127.0.0.1:4433/a", &["127.0.0.1", "::1"], &[], "via"),
            ("127.0.0.1:4433/a", &["127.0.0.1", "127.0.0.2"], &["127.0.0.1:1"], "to"),
        ];
        for (target, via, to, field) in cases {
            match read(target, via, to) {
                Err(Error::Wrong { field: named, .. }) => assert_eq!(named, field, "{target}"),
                other => panic!("{target}: {other:?}"),
            }
        }
    }
}
