//! Network coding of paths: its keys, its checks, and a warning of too little redundancy.

use crate::protocol::Protocol;
use crate::report::WrongKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::Options;
use units::ValidRange;

/// Network coding of a path (Sundararajan et al. 2011; Xue et al. 2017).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// R: combinations sent for each segment. At least 1/(1 − p) makes losses of p good.
    #[schemars(extend("range" = REDUNDANCY.right))]
    pub redundancy: f64,
    /// W: how many segments, the newest ones, a combination covers.
    #[serde(default = "six")]
    #[schemars(extend("range" = WINDOW.right))]
    pub window: u8,
}

fn six() -> u8 {
    6
}

/// No loss that leaves a path usable asks for more than 10.
const REDUNDANCY: ValidRange<f64> = ValidRange {
    holds: |redundancy| (1.0..=10.0).contains(redundancy),
    right: "at least 1 (each segment is sent once), at least 1/(1 − p) against a loss of p, at most \
            10",
};

const WINDOW: ValidRange<u8> = ValidRange {
    holds: |window| *window > 0,
    right: "W is 1 to 255: a combination covers at least the segment for which it is sent",
};

impl Coding {
    /// Checks the coding of a path of such a flow.
    pub(crate) fn check(
        &self,
        protocol: Protocol,
        striped: bool,
        options: &Options,
    ) -> Result<(), WrongKey> {
        REDUNDANCY.check("coding.redundancy", &self.redundancy)?;
        WINDOW.check("coding.window", &self.window)?;
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

    /// A warning if the redundancy is too low for links that lose a packet with probability `loss`.
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
