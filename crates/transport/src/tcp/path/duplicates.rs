//! Duplicate ACKs in a recovery without SACK: all but the first few ACKs of a window with a loss.
//!
//! They take the steps that [`Path::on_ack`] takes for any ACK, without its questions.

use super::{Path, Progress};
use crate::settings::SenderSettings;
use control::{CongestionController, Phase};

impl Path {
    /// Whether `ack` is a duplicate in a recovery without SACK, on a path that is not tracked.
    #[inline(always)] // runs for every ACK that is not usual
    pub(in crate::tcp) fn repairs_at(&self, ack: u64) -> bool {
        self.recovery.phase == Phase::Recovery
            && ack == self.board.una
            && self.board.outstanding() > 0
            && !self.recovery.sack
            && self.tracking.is_none()
            && self.standing.member
    }

    /// Such an ACK arrived: one more segment has left the network (RFC 6582 §3.2 step 3).
    #[inline(always)] // it has one caller
    pub(in crate::tcp) fn on_duplicate(
        &mut self,
        settings: &SenderSettings,
        control: &impl CongestionController,
        me: usize,
    ) {
        let segment = u64::from(settings.segment());
        self.recovery.dupacks += 1;
        self.board.on_duplicate(segment);
        self.allow(Progress { delivered: segment, ..Progress::default() }, segment, control, me);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::source::Source;
    use control::{AnyController, Needs, Settings};
    use units::{Span, Time};
    use wire::{Ack, Flags, Sacks};

    /// The state of a path, all of it, after this many duplicate ACKs, of which the last ones take
    /// the short way.
    fn after_duplicates(duplicates: u64, short: u64) -> String {
        let options = Options { sack: false, ..Options::default() };
        let settings = SenderSettings::new(options, Needs::NONE, Source::Bulk);
        let law = "reno".parse().unwrap();
        let mut control = AnyController::new(&law, Settings::default(), 1).unwrap();
        let mut path = Path::new(false, &settings);
        path.board.nxt = 20 * u64::from(settings.segment());
        let ack = Ack {
            ack: 0,
            data_ack: 0,
            window_edge: u64::MAX,
            echo: Time::ZERO,
            transit: Span::ZERO,
            sacks: Sacks::default(),
            flags: Flags::NONE,
        };
        for number in 0..duplicates {
            match number + short < duplicates {
                true => path.on_ack(Time(number), &ack, &settings, &mut control, 0),
                false => {
                    assert!(path.repairs_at(0), "it is for recoveries");
                    path.on_duplicate(&settings, &control, 0);
                }
            }
        }
        format!("{path:?}")
    }

    #[test]
    fn a_duplicate_leaves_the_same_path_on_the_short_way_as_on_the_long_one() {
        for duplicates in 4..30 {
            assert_eq!(
                after_duplicates(duplicates, duplicates - 3),
                after_duplicates(duplicates, 0)
            );
        }
        assert_ne!(after_duplicates(4, 1), after_duplicates(5, 2), "nothing was counted");
    }
}
