//! Network coding of paths: what is refused, and what is only unwise.

use crate::protocol::Protocol;
use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::Options;

/// Network coding of a path (Sundararajan et al. 2011; Xue et al. 2017).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// R: combinations sent for each segment. At least 1/(1 − p) makes losses of p good.
    pub redundancy: f64,
    /// W: how many segments, the newest ones, a combination covers.
    #[serde(default = "six")]
    pub window: u8,
}

fn six() -> u8 {
    6
}

/// More combinations for a segment than any loss asks for that leaves a path usable.
const MOST_REDUNDANCY: f64 = 10.0;

impl Coding {
    /// Checks the coding of a path of such a flow.
    pub(crate) fn check(
        &self,
        protocol: Protocol,
        striped: bool,
        options: &Options,
    ) -> Result<(), WrongKey> {
        if !(1.0..=MOST_REDUNDANCY).contains(&self.redundancy) {
            let what = format!("redundancy is {}", self.redundancy);
            let right = "at least 1 (each segment is sent once), at least 1/(1 − p) against a loss \
                         of p, at most 10";
            return Err(WrongKey::new("coding.redundancy", what, right));
        }
        if self.window == 0 {
            let right = "W is 1 to 255: a combination covers at least the segment for which it is \
                         sent";
            let what = "the coding window is 0 segments";
            return Err(WrongKey::new("coding.window", what, right));
        }
        if protocol == Protocol::Udp || striped {
            let what = if striped { "a striped flow is coded" } else { "a flow of UDP is coded" };
            return Err(WrongKey::new("coding", what, "paths of TCP and MPTCP can be coded"));
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
                let right = "a coded path acknowledges what was seen, without SACK, marks or \
                             copies: leave it off";
                Err(WrongKey::new("coding", what, right))
            }
            None => Ok(()),
        }
    }

    /// What is allowed and probably not meant, on links that lose a packet with probability `loss`.
    pub(crate) fn warning(&self, loss: f64) -> Option<String> {
        let redundancy = self.redundancy;
        (redundancy * (1.0 - loss) < 1.0 - 1e-9).then(|| {
            format!(
                "redundancy {redundancy} is below 1/(1 − {loss:.3}) = {:.3}: coding cannot make \
                 the loss of its links good, and TCP sees what is left of it",
                1.0 / (1.0 - loss),
            )
        })
    }
}
