//! The kernel's shell: windows in whole segments, as in `bpf/shell.h` and the kernel's Reno.

use crate::port::Port;
use crate::step::{View, Views};
use control::{Acked, Cause, CongestionController, Phase, Settings, Span, Time, Window};
use formula::Event;
use formula::integer::News;

/// The threshold before the first congestion event.
const INFINITE: u32 = 0x7fff_ffff;

/// Floor of ssthresh for an uncoupled path (RFC 5681 eq. 4).
const SINGLE_PATH_SSTHRESH: u32 = 2;

/// A time of day in µs, modulo 2^32.
fn clock(time: Time) -> u32 {
    (time.0 / 1000) as u32
}

/// A time in whole µs.
fn micros(time: Span) -> u32 {
    (time.seconds() * 1e6).round() as u32
}

/// One law in C over all paths of a connection, with the kernel's code around it.
#[derive(Clone, Debug)]
pub struct Ported {
    port: Port,
    settings: Settings,
    paths: Box<[Path]>,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    cwnd: u32,
    ssthresh: u32,
    /// Gain beyond `cwnd` under the law, in 2^-32 segments.
    credit: i64,
    /// Gain beyond `cwnd` as plain Reno, in segments (`snd_cwnd_cnt`).
    count: u32,
    /// Segments acknowledged beyond the last whole one.
    partial: f64,
    view: View,
    /// Window and threshold before the last congestion event.
    before: (u32, u32),
}

impl Path {
    fn new(port: &Port, settings: &Settings) -> Self {
        let ssthresh = settings.initial_ssthresh.min(f64::from(INFINITE)) as u32;
        let cwnd = (settings.initial_window as u32).max(1);
        let view = View { notes: port.first_notes(), ..View::default() };
        let before = (cwnd, ssthresh);
        Path { cwnd, ssthresh, credit: 0, count: 0, partial: 0.0, view, before }
    }

    /// Slow start up to the threshold; returns the segments left over.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        self.credit = 0; // a window below the threshold by a fraction would gain a whole segment
        left
    }

    /// One segment in a window (`tcp_cong_avoid_ai` in net/ipv4/tcp_cong.c).
    fn additive_increase(&mut self, acked: u32) {
        let w = self.cwnd;
        if self.count >= w {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= w {
            self.cwnd += self.count / w;
            self.count %= w;
        }
    }
}

impl Ported {
    /// `paths` paths under `port`. All are members, and no path has a round-trip sample yet.
    pub fn new(port: Port, settings: Settings, paths: usize) -> Self {
        let paths = vec![Path::new(&port, &settings); paths].into();
        Ported { port, paths, settings }
    }

    /// The law's view, if the law decides. A path is alone while it is the only one, or if there
    /// are too many.
    fn views(&self, me: usize) -> Option<Views> {
        if self.paths[me].view.srtt == 0 {
            return None;
        }
        let coupled = self.port.coupled() && self.paths.len() <= self.port.most_paths();
        let mut views = Views { me: me as u32, ..Views::default() };
        if coupled {
            for (place, path) in views.path.iter_mut().zip(&self.paths) {
                if path.view.srtt > 0 {
                    *place = View { cwnd: path.cwnd, ..path.view };
                    views.paths += 1;
                }
            }
        }
        if views.paths < 2 {
            let path = &self.paths[me];
            views = Views { paths: 1, ..Views::default() };
            views.path[0] = View { cwnd: path.cwnd, ..path.view };
        }
        (views.paths as usize >= self.port.least_paths()).then_some(views)
    }

    fn backoff(&self, me: usize) -> u32 {
        let floor =
            self.settings.min_ssthresh.map_or(self.port.min_ssthresh(), |asked| asked as u32);
        match self.views(me) {
            Some(views) => self.port.backoff(&views).max(floor.max(1).into()) as u32,
            None => (self.paths[me].cwnd / 2).max(SINGLE_PATH_SSTHRESH),
        }
    }

    fn grow(&mut self, me: usize, acked: u32, now: u32) {
        let views = self.views(me);
        let path = &mut self.paths[me];
        match views {
            Some(mut views) => {
                let news = News { acked, cwnd: path.cwnd, now, ..News::default() };
                path.view.notes = self.port.noted_growth(&views, news);
                views.path[views.me as usize].notes = path.view.notes;
                let growth = self.port.growth(&views);
                (path.cwnd, path.credit) = Port::grow(path.cwnd, path.credit, growth, acked);
            }
            None => path.additive_increase(acked),
        }
    }
}

impl CongestionController for Ported {
    fn on_ack(&mut self, me: usize, ack: &Acked) {
        let path = &mut self.paths[me];
        path.view.srtt = micros(ack.srtt);
        path.partial += ack.segments;
        let mut acked = path.partial as u32;
        path.partial -= f64::from(acked);
        if self.port.notes() > 0 && acked > 0 {
            let news = News {
                acked,
                rtt: micros(ack.rtt),
                cwnd: path.cwnd,
                now: clock(ack.now),
                slow: ack.phase != Phase::Recovery && path.cwnd < path.ssthresh,
            };
            path.view.notes = self.port.noted(Event::Ack, path.view, news);
        }
        path.view.since_loss = path.view.since_loss.saturating_add(acked);
        if ack.phase == Phase::Recovery || !ack.cwnd_limited || acked == 0 {
            return;
        }
        if self.settings.growth_per_ack {
            acked = 1;
        }
        if path.cwnd < path.ssthresh {
            acked = path.slow_start(acked);
        }
        if acked > 0 {
            self.grow(me, acked, clock(ack.now));
        }
    }

    fn on_congestion(&mut self, me: usize, cause: Cause) {
        if cause != Cause::TimeoutAgain {
            self.paths[me].before = (self.paths[me].cwnd, self.paths[me].ssthresh);
            let cwnd = self.paths[me].cwnd;
            let view = &mut self.paths[me].view;
            let news = News { cwnd, ..News::default() };
            view.notes = self.port.noted(Event::Loss, *view, news);
            if view.since_loss > 0 {
                (view.between_losses, view.since_loss) = (view.since_loss, 0);
            }
            self.paths[me].ssthresh = self.backoff(me);
        }
        let path = &mut self.paths[me];
        (path.credit, path.count) = (0, 0);
        path.cwnd = match cause {
            // After a loss, the window at the end of recovery.
            Cause::FastRetransmit | Cause::Mark => path.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => 1,
        };
    }

    fn on_recovered(&mut self, me: usize) {
        self.paths[me].cwnd = self.paths[me].ssthresh;
    }

    /// `tcp_reno_undo_cwnd` and `tcp_undo_cwnd_reduction`.
    fn undo(&mut self, me: usize) {
        let path = &mut self.paths[me];
        let (cwnd, ssthresh) = path.before;
        path.cwnd = path.cwnd.max(cwnd);
        path.ssthresh = path.ssthresh.max(ssthresh);
    }

    fn restart(&mut self, me: usize, window: Window) {
        let path = &mut self.paths[me];
        path.cwnd = (window.cwnd as u32).max(1);
        path.ssthresh = window.ssthresh.min(f64::from(INFINITE)) as u32;
        (path.credit, path.count) = (0, 0);
    }

    fn set_member(&mut self, me: usize, _member: bool) {
        self.paths[me] = Path::new(&self.port, &self.settings);
    }

    fn window(&self, me: usize) -> Window {
        let Path { cwnd, ssthresh, .. } = self.paths[me];
        let ssthresh = if ssthresh == INFINITE { f64::INFINITY } else { f64::from(ssthresh) };
        Window { cwnd: f64::from(cwnd), ssthresh }
    }
}
