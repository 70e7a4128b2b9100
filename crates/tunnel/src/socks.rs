//! SOCKS5 (RFC 1928) as far as a proxy for TCP needs it: no authentication, CONNECT, addresses of
//! both families and names.

use crate::target::Target;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// Replies of RFC 1928 §6. The listening side sends one as the first byte of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Succeeded = 0,
    Failed = 1,
    NotAllowed = 2,
    NoNetwork = 3,
    NoHost = 4,
    Refused = 5,
    NoCommand = 7,
    NoAddress = 8,
}

impl Reply {
    /// The reply with that number; unknown ones are failures.
    pub(crate) fn of(number: u8) -> Self {
        use Reply::{Failed, NoHost, NoNetwork, NotAllowed, Refused, Succeeded};
        let all = [Succeeded, NotAllowed, NoNetwork, NoHost, Refused];
        all.into_iter().find(|reply| *reply as u8 == number).unwrap_or(Failed)
    }
}

/// Reads a request. An error if it is not one of SOCKS5, or for no method that this proxy has; what
/// it does not serve is answered before.
pub(crate) async fn request(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<Target> {
    let other = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut head = [0; 2];
    stream.read_exact(&mut head).await?;
    if head[0] != VERSION {
        return Err(other("it does not speak SOCKS5"));
    }
    let mut methods = vec![0; usize::from(head[1])];
    stream.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(other("it wants to authenticate"));
    }
    stream.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let mut head = [0; 5];
    stream.read_exact(&mut head).await?;
    let [version, command, _, kind, next] = head;
    let Some(rest) = Target::rest(kind, next).filter(|_| version == VERSION) else {
        reply(stream, Reply::NoAddress).await?;
        return Err(other("an address of an unknown kind"));
    };
    let mut bytes = vec![0; 2 + rest];
    (bytes[0], bytes[1]) = (kind, next);
    stream.read_exact(&mut bytes[2..]).await?;
    if command != CONNECT {
        reply(stream, Reply::NoCommand).await?;
        return Err(other("a command other than CONNECT"));
    }
    match Target::decode(&bytes) {
        Some(target) => Ok(target),
        None => {
            reply(stream, Reply::NoAddress).await?;
            Err(other("an address that cannot be"))
        }
    }
}

/// Answers a request. The bound address is not known here and is zero, as it is of many proxies.
pub(crate) async fn reply(stream: &mut (impl AsyncWrite + Unpin), reply: Reply) -> io::Result<()> {
    stream.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a client gets for these bytes, and the target that was read.
    fn served(bytes: &[u8]) -> (Vec<u8>, io::Result<Target>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut near, mut far) = tokio::io::duplex(4096);
            near.write_all(bytes).await.unwrap();
            near.shutdown().await.unwrap();
            let target = request(&mut far).await;
            drop(far);
            let mut answer = vec![];
            near.read_to_end(&mut answer).await.unwrap();
            (answer, target)
        })
    }

    #[test]
    fn a_client_gets_its_target_connected_by_address_or_name() {
        let ask = |rest: &[u8]| [&[5, 2, 2, 0, 5, 1, 0], rest].concat();
        let name = [&[3, 11], &b"example.org"[..], &[1, 187]].concat();
        for (rest, target) in [
            (vec![1, 192, 0, 2, 1, 0, 80], "192.0.2.1:80"),
            (name, "example.org:443"),
            ([&[4][..], &[0; 15], &[1, 0, 22]].concat(), "[::1]:22"),
        ] {
            let (answer, read) = served(&ask(&rest));
            assert_eq!((answer, read.unwrap().to_string()), (vec![5, 0], target.to_owned()));
        }
    }

    #[test]
    fn what_is_not_served_is_answered_as_the_rfc_says() {
        let (answer, read) = served(&[5, 1, 2]);
        assert!(answer == [5, 0xff] && read.is_err());
        let (answer, _) = served(&[5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80]);
        assert_eq!(answer[2..4], [5, 7], "BIND");
        let (answer, _) = served(&[5, 1, 0, 5, 1, 0, 9, 1, 1]);
        assert_eq!(answer[2..4], [5, 8], "an unknown kind of address");
        assert!(served(b"GET / HTTP/1.1\r\n").0.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_a_target_or_an_error(start in 0usize..8, rest: Vec<u8>) {
            let good = [5, 1, 0, 5, 1, 0, 3, 4];
            let (answer, _) = served(&[&good[..start], &rest].concat());
            prop_assert!(answer.len() <= 12);
        }
    }
}
