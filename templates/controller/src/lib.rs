//! A controller of your own: one TCP window for the connection; each path has a part of it in
//! proportion to `1/srtt`.

use control::{Acked, Cause, CongestionController, Needs, Outside, Phase, Settings, Window};

/// A factory that builds a controller for each connection.
#[derive(Debug)]
pub struct OneWindow {
    /// Growth of the whole window in segments for each window of ACKs; TCP has 1.
    pub gain: f64,
}

impl Outside for OneWindow {
    fn name(&self) -> &str {
        "one-window"
    }

    /// An event of one path moves the windows of all.
    fn needs(&self) -> Needs {
        Needs { siblings: true, ..Needs::NONE }
    }

    fn control(&self, settings: Settings, paths: usize) -> Box<dyn CongestionController + Send> {
        let whole = Window { cwnd: settings.initial_window, ssthresh: settings.initial_ssthresh };
        let paths = vec![Path { srtt: 0.0, member: true }; paths];
        Box::new(Connection {
            gain: self.gain,
            least: settings.min_window,
            whole,
            before: whole,
            paths,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Path {
    /// Seconds; zero before the first sample.
    srtt: f64,
    member: bool,
}

/// The controller of one connection.
#[derive(Debug)]
struct Connection {
    gain: f64,
    /// The smallest window of a path in segments.
    least: f64,
    whole: Window,
    /// The whole window before its last reduction.
    before: Window,
    paths: Vec<Path>,
}

impl Connection {
    /// The path's part of the whole window: equal parts until every path has a sample.
    fn part(&self, me: usize) -> f64 {
        let members = || self.paths.iter().filter(|path| path.member);
        if members().any(|path| path.srtt == 0.0) || self.paths[me].srtt == 0.0 {
            return 1.0 / members().count().max(1) as f64;
        }
        1.0 / self.paths[me].srtt / members().map(|path| 1.0 / path.srtt).sum::<f64>()
    }
}

impl CongestionController for Connection {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.paths[path].srtt = ack.srtt.seconds();
        if !ack.cwnd_limited || ack.phase == Phase::Recovery {
            return;
        }
        let Window { cwnd, ssthresh } = self.whole;
        let acked = ack.segments.min(2.0); // RFC 3465
        self.whole.cwnd += if cwnd < ssthresh { acked } else { self.gain * acked / cwnd };
    }

    fn on_congestion(&mut self, _path: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.before = self.whole;
            let half = (self.whole.cwnd / 2.0).max(2.0);
            self.whole = Window { cwnd: half, ssthresh: half };
        }
    }

    fn on_recovered(&mut self, _path: usize) {}

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path { srtt: 0.0, member };
    }

    fn undo(&mut self, _path: usize) {
        if self.before.cwnd > self.whole.cwnd {
            self.whole = self.before;
        }
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.whole.cwnd = (window.cwnd / self.part(path)).clamp(self.least, self.whole.cwnd);
    }

    fn window(&self, path: usize) -> Window {
        let cwnd = (self.whole.cwnd * self.part(path)).max(self.least);
        Window { cwnd, ssthresh: cwnd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{AnyController, ControllerSpec, Span};
    use std::sync::Arc;

    #[test]
    fn the_shorter_path_has_the_larger_part_and_a_loss_halves_both() {
        let spec = ControllerSpec::outside(Arc::new(OneWindow { gain: 1.0 }));
        let settings =
            Settings { initial_window: 30.0, initial_ssthresh: 1.0, ..Settings::default() };
        let mut control = AnyController::new(&spec, settings, 2).unwrap();
        for (path, srtt) in [(0, 50), (1, 100)] {
            control.on_ack(path, &Acked { srtt: Span::millis(srtt), ..Acked::default() });
        }
        assert!((control.window(0).cwnd - 20.0).abs() < 1e-9);
        control.on_congestion(1, Cause::FastRetransmit);
        assert!((control.window(0).cwnd - 10.0).abs() < 1e-9);
    }
}
