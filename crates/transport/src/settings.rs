//! Settings of senders and their paths.

use crate::options::Options;
use crate::source::Source;
use control::Needs;

/// Settings shared by all connections of a class.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// Options of the user.
    pub options: Options,
    /// Delivery rates are measured, and sending is paced if control says so.
    pub rate: bool,
    /// Proportional rate reduction in recovery; without it the window alone limits sending, as BBR
    /// needs it.
    pub prr: bool,
    /// The source of the data.
    pub source: Source,
}

impl SenderSettings {
    /// Settings for a controller with these needs.
    pub fn new(options: Options, needs: Needs, source: Source) -> Self {
        SenderSettings { options, rate: needs.rates, prr: !needs.rate_based, source }
    }

    /// Payload bytes of a full segment.
    #[inline(always)] // runs for every segment
    pub(crate) fn segment(&self) -> u32 {
        self.options.segment()
    }
}
