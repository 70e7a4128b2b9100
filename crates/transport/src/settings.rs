//! What a sender and its paths are told.

use crate::options::Options;
use crate::source::Source;
use control::Needs;

/// What all connections of a class have in common.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// What a user may set.
    pub options: Options,
    /// Delivery rates are measured, and sending is paced if control says so.
    pub rate: bool,
    /// Proportional rate reduction in recovery; without it the window alone decides, as BBR wants
    /// it.
    pub prr: bool,
    /// Where the data comes from.
    pub source: Source,
}

impl SenderSettings {
    /// Settings for a controller with these needs.
    pub fn new(options: Options, needs: Needs, source: Source) -> Self {
        SenderSettings { options, rate: needs.rates, prr: !needs.rate_based, source }
    }

    /// Payload bytes of a full segment.
    #[inline(always)] // on the way of every segment
    pub(crate) fn segment(&self) -> u32 {
        self.options.segment()
    }
}
