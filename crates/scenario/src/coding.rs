//! Network coding of paths: checks besides the ranges of `transport::coded::Coding`, and a warning
//! of insufficient redundancy.

use crate::protocol::Protocol;
use crate::report::WrongKey;
use transport::Options;
use transport::coded::Coding;

/// Checks the coding of a path of such a flow.
pub(crate) fn check_coding(
    coding: &Coding,
    protocol: Protocol,
    striped: bool,
    options: &Options,
) -> Result<(), WrongKey> {
    coding.check().map_err(|wrong| wrong.inside("coding"))?;
    if protocol == Protocol::Udp || striped {
        let what = if striped {
            "a path is coded, and the flow is striped"
        } else {
            "a path is coded, and the flow is UDP"
        };
        return Err(WrongKey::new("coding", what, "only paths of TCP and MPTCP can be coded"));
    }
    let needed = [
        (options.rack, "rack"),
        (options.tlp, "tlp"),
        (options.dsack, "dsack"),
        (options.frto, "frto"),
        (options.eifel, "eifel"),
        (options.ecn, "ecn"),
    ];
    match needed.iter().find(|(on, _)| *on) {
        Some((_, name)) => {
            let what = format!("a path is coded, and transport.{name} is on");
            let right = "leave it off: ACKs of a coded path carry no SACK blocks, ECN marks or \
                         reports of duplicates";
            Err(WrongKey::new("coding", what, right))
        }
        None => Ok(()),
    }
}

/// A warning if the redundancy is too low for links that lose a packet with probability `loss`.
pub(crate) fn coding_warning(coding: &Coding, loss: f64) -> Option<String> {
    let redundancy = coding.up_to.unwrap_or(coding.redundancy);
    (redundancy * (1.0 - loss) < 1.0 - 1e-9).then(|| {
        format!(
            "redundancy {redundancy} is below 1/(1 − {loss:.3}) = {:.3}: coding cannot make \
             up for the loss of its links, and TCP sees the remaining loss",
            1.0 / (1.0 - loss),
        )
    })
}
