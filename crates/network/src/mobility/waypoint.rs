//! Random waypoint in a rectangle: a node moves straight to a waypoint drawn uniformly, at a speed
//! drawn uniformly, pauses, and begins again.
//!
//! Nodes that all begin a leg at a uniform position show a transient: slow legs last longer, so
//! that more and more nodes are on one and the mean speed decays (Yoon, Liu and Noble, INFOCOM
//! 2003). Here nodes begin in the stationary regime, by perfect sampling (Navidi and Camp, IEEE
//! Trans. Mobile Computing 3(1), 2004; Le Boudec and Vojnović, INFOCOM 2005), so that no time has
//! to be discarded.

use super::{Position, Trajectory};
use crate::Rng;
use units::{Span, Time};

/// The random waypoint model in a rectangle with one corner at (0, 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// East–west side of the rectangle in metres, above 0.
    pub width: f64,
    /// North–south side in metres, above 0.
    pub height: f64,
    /// Least and largest speed of a leg in m/s; above 0, because with a least speed of 0 there is
    /// no stationary regime.
    pub speed: (f64, f64),
    /// Shortest and longest pause after a leg.
    pub pause: (Span, Span),
    /// Whether a node begins in the stationary regime. If not, it begins a leg at a position drawn
    /// uniformly.
    pub stationary: bool,
}

/// A position drawn uniformly from a rectangle of these sides in metres.
pub fn uniform_position(width: f64, height: f64, rng: &mut impl Rng) -> Position {
    Position { x: width * rng.uniform(), y: height * rng.uniform() }
}

impl RandomWaypoint {
    /// A node's trajectory until a time. It finishes the leg of that time and then stops.
    pub fn trajectory(&self, until: Time, rng: &mut impl Rng) -> Trajectory {
        if libm::hypot(self.width, self.height) == 0.0 {
            return Trajectory::fixed(Position::default()); // the rectangle is a point
        }
        let (mut path, mut now) = match self.stationary {
            true => self.stationary_start(rng),
            false => (Trajectory::fixed(self.uniform(rng)), Time::ZERO),
        };
        while now < until {
            let to = self.uniform(rng);
            let (slowest, fastest) = self.speed;
            let speed = slowest + (fastest - slowest) * rng.uniform();
            now = path.go(now, to, speed).unwrap_or(Time::NEVER);
            now = Time(now.0.saturating_add(self.pause(rng).0));
        }
        path
    }

    /// Mean speed in m/s of the stationary regime, over nodes or over time, pauses included.
    ///
    /// A cycle is a leg and a pause; the mean speed is the mean length of a leg over the mean
    /// duration of a cycle. Without pauses the length cancels: (vmax − vmin) / ln(vmax / vmin).
    pub fn mean_speed(&self) -> f64 {
        let length = mean_distance(self.width, self.height);
        if length == 0.0 {
            return 0.0;
        }
        length / (length * self.mean_inverse_speed() + self.mean_pause())
    }

    /// A node in the stationary regime: its current leg or pause, and when that ends.
    fn stationary_start(&self, rng: &mut impl Rng) -> (Trajectory, Time) {
        let (pause, leg) =
            (self.mean_pause(), mean_distance(self.width, self.height) * self.mean_inverse_speed());
        if rng.uniform() * (pause + leg) < pause {
            // A pause is at the end of a leg, which is uniform.
            let path = Trajectory::fixed(self.uniform(rng));
            return (path, Time::ZERO + self.residual_pause(rng));
        }
        let (from, to) = self.leg_ends(rng);
        let part = rng.uniform();
        let position =
            Position { x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y) };
        // The probability of being on a leg grows with its duration: the density of its speed is
        // proportional to 1/v, so ln v is uniform.
        let (slowest, fastest) = self.speed;
        let speed = slowest * libm::exp(rng.uniform() * libm::log(fastest / slowest));
        let mut path = Trajectory::fixed(position);
        let ends = path.go(Time::ZERO, to, speed).unwrap_or(Time::NEVER);
        (path, Time(ends.0.saturating_add(self.pause(rng).0)))
    }

    /// Ends of the leg that a node is on: their density is proportional to the length of the leg,
    /// by rejection.
    fn leg_ends(&self, rng: &mut impl Rng) -> (Position, Position) {
        let longest = libm::hypot(self.width, self.height);
        loop {
            // The acceptance probability is the mean distance over the diagonal: 0.33 on a line,
            // 0.37 in a square.
            let (from, to) = (self.uniform(rng), self.uniform(rng));
            if rng.uniform() * longest < from.distance(to) {
                return (from, to);
            }
        }
    }

    /// The duration of a pause.
    fn pause(&self, rng: &mut impl Rng) -> Span {
        let (shortest, longest) = (self.pause.0.seconds(), self.pause.1.seconds());
        Span::from_seconds(shortest + (longest - shortest) * rng.uniform())
    }

    /// The rest of a pause that a node is in. The density of the pause's length p is proportional
    /// to p, and the node is at a uniform point of it.
    fn residual_pause(&self, rng: &mut impl Rng) -> Span {
        let (shortest, longest) = (self.pause.0.seconds(), self.pause.1.seconds());
        let (low, high) = (shortest * shortest, longest * longest);
        let pause = libm::sqrt(low + (high - low) * rng.uniform());
        Span::from_seconds(pause * rng.uniform())
    }

    fn uniform(&self, rng: &mut impl Rng) -> Position {
        uniform_position(self.width, self.height, rng)
    }

    /// Mean pause in s.
    fn mean_pause(&self) -> f64 {
        (self.pause.0.seconds() + self.pause.1.seconds()) / 2.0
    }

    /// Mean of 1/v in s/m: ln(vmax / vmin) / (vmax − vmin).
    fn mean_inverse_speed(&self) -> f64 {
        let (slowest, fastest) = self.speed;
        match fastest > slowest {
            true => libm::log1p((fastest - slowest) / slowest) / (fastest - slowest),
            false => 1.0 / slowest,
        }
    }
}

/// Mean distance in metres between two places drawn uniformly from a rectangle (Ghosh, Bull.
/// Calcutta Math. Soc. 43, 1951; Bettstetter, Hartenstein and Pérez-Costa, Wireless Networks 10,
/// 2004). With a the longer side, t = b / a and d = √(1 + t²) it is
///
/// a/15 · (1/t² + t³ + d (3 − 1/t² − t²) + 5/2 · (t² asinh(1/t) + asinh(t)/t)),
///
/// where 1/t² − d/t² is written as −1/(1 + d), so that nothing cancels in a narrow rectangle.
fn mean_distance(width: f64, height: f64) -> f64 {
    let (long, short) = (width.max(height), width.min(height));
    if long <= 0.0 {
        return 0.0;
    }
    let t = short / long;
    if t < 1e-12 {
        return long / 3.0; // on a line
    }
    let d = libm::hypot(1.0, t);
    let across = t * t * libm::asinh(1.0 / t) + libm::asinh(t) / t;
    long / 15.0 * (t * t * t - 1.0 / (1.0 + d) + d * (3.0 - t * t) + 2.5 * across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lcg;
    use proptest::prelude::*;

    /// A square kilometre with legs of 26 s to hours.
    fn square(speed: (f64, f64), pause: (u64, u64), stationary: bool) -> RandomWaypoint {
        let pause = (Span::millis(1000 * pause.0), Span::millis(1000 * pause.1));
        RandomWaypoint { width: 1000.0, height: 1000.0, speed, pause, stationary }
    }

    fn seconds(s: f64) -> Time {
        Time::ZERO + Span::from_seconds(s)
    }

    fn nodes(model: &RandomWaypoint, count: usize, until: f64, seed: u64) -> Vec<Trajectory> {
        let mut rng = Lcg(seed);
        (0..count).map(|_| model.trajectory(seconds(until), &mut rng)).collect()
    }

    /// Speeds of the nodes at a time, in m/s.
    fn speeds(nodes: &[Trajectory], at: f64) -> Vec<f64> {
        let leg = |node: &Trajectory| {
            node.0[node.0.partition_point(|leg| leg.at <= seconds(at)) - 1].velocity
        };
        nodes.iter().map(leg).map(|(east, north)| libm::hypot(east, north)).collect()
    }

    /// Mean speed of each node over an interval, in m/s.
    fn travelled(nodes: &[Trajectory], begin: f64, end: f64) -> Vec<f64> {
        let of = |node: &Trajectory| {
            let ends = node.0.iter().skip(1).map(|leg| leg.at.seconds()).chain([f64::INFINITY]);
            let way = node.0.iter().zip(ends).map(|(leg, until)| {
                let time = (until.min(end) - leg.at.seconds().max(begin)).max(0.0);
                time * libm::hypot(leg.velocity.0, leg.velocity.1)
            });
            way.sum::<f64>() / (end - begin)
        };
        nodes.iter().map(of).collect()
    }

    /// Mean and its standard error.
    fn mean(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
        (mean, libm::sqrt(variance / n))
    }

    #[test]
    fn the_mean_distance_in_a_rectangle_is_what_an_integral_gives() {
        for (a, b) in [(1.0, 1.0), (300.0, 1500.0), (7.0, 0.01)] {
            // Differences of two uniform coordinates have triangular densities; midpoints of 1000²
            // cells.
            let steps = 1000;
            let at = |k: i32| (f64::from(k) + 0.5) / f64::from(steps);
            let cell =
                |i, j| 4.0 * (1.0 - at(i)) * (1.0 - at(j)) * libm::hypot(a * at(i), b * at(j));
            let sum: f64 = (0..steps).flat_map(|i| (0..steps).map(move |j| cell(i, j))).sum();
            let integral = sum / f64::from(steps * steps);
            assert!((mean_distance(a, b) / integral - 1.0).abs() < 1e-5, "{a} × {b}: {integral}");
            assert_eq!(mean_distance(a, b), mean_distance(b, a));
        }
        assert!((mean_distance(1.0, 1.0) - 0.521_405_433_164_721).abs() < 1e-14);
        assert!((mean_distance(9.0, 1e-8) - 3.0).abs() < 1e-12 && mean_distance(9.0, 0.0) == 3.0);
    }

    #[test]
    fn the_mean_speed_is_the_same_from_the_first_instant_on_unless_nodes_begin_the_naive_way() {
        let (slowest, fastest) = (0.1, 20.0);
        let model = square((slowest, fastest), (0, 0), true);
        let expected = (fastest - slowest) / libm::log(fastest / slowest); // 3.756 m/s
        assert!((model.mean_speed() / expected - 1.0).abs() < 1e-12);
        let found = nodes(&model, 20_000, 900.0, 1);
        for tenth in 0..10 {
            let begin = 90.0 * f64::from(tenth);
            let (speed, error) = mean(&travelled(&found, begin, begin + 90.0));
            println!("tenth {tenth}: {speed:.3} ± {error:.3} m/s, theory {expected:.3}");
            assert!((speed - expected).abs() < 4.0 * error, "tenth {tenth}: {speed} ± {error}");
        }
        let (speed, error) = mean(&speeds(&found, 0.0));
        assert!((speed - expected).abs() < 4.0 * error, "at 0: {speed} ± {error}");

        let naive = nodes(&RandomWaypoint { stationary: false, ..model }, 20_000, 900.0, 2);
        let first = mean(&travelled(&naive, 0.0, 90.0)).0;
        let last = mean(&travelled(&naive, 810.0, 900.0)).0;
        println!("naive: {first:.3} m/s in the first tenth, {last:.3} in the last");
        assert!(first > 2.0 * expected && last < 0.6 * first && last > expected);
    }

    #[test]
    fn nodes_pause_as_often_as_in_theory_and_move_at_the_mean_speed_from_the_first_instant_on() {
        let model = square((1.0, 5.0), (20, 300), true);
        // 521.4 m · ln 5 / 4 s/m = 209.8 s on legs, 160 s in pauses.
        let leg = 521.405_433 * libm::log(5.0) / 4.0;
        let paused = 160.0 / (160.0 + leg);
        assert!((model.mean_speed() - 521.405_433 / (160.0 + leg)).abs() < 1e-8);
        let found = nodes(&model, 20_000, 1000.0, 3);
        for at in [0.0, 10.0, 50.0, 150.0, 400.0, 1000.0] {
            let speeds = speeds(&found, at);
            let share = speeds.iter().filter(|speed| **speed == 0.0).count() as f64 / 20_000.0;
            let (speed, error) = mean(&speeds);
            println!(
                "at {at} s: {share:.4} pause, theory {paused:.4}; {speed:.3} ± {error:.3} m/s"
            );
            let bound = 4.0 * libm::sqrt(paused * (1.0 - paused) / 20_000.0);
            assert!((share - paused).abs() < bound, "at {at}: {share}, not {paused}");
            assert!((speed - model.mean_speed()).abs() < 4.0 * error, "at {at}: {speed} ± {error}");
        }
        let steady = square((3.0, 3.0), (0, 0), true);
        assert!((steady.mean_speed() - 3.0).abs() < 1e-12);
    }

    /// How many of 100,000 nodes are in each of 5 × 5 cells of the square kilometre at a time in s.
    fn cells(model: &RandomWaypoint, at: f64, seed: u64) -> [f64; 25] {
        let (mut cells, mut rng) = ([0.0; 25], Lcg(seed));
        for _ in 0..100_000 {
            let position = model.trajectory(seconds(at), &mut rng).at(seconds(at));
            let index = |metres: f64| ((metres / 200.0) as usize).min(4);
            cells[5 * index(position.y) + index(position.x)] += 1.0;
        }
        cells
    }

    /// The two-sample χ² of as many nodes each: about 24 if they are of one distribution, and above
    /// 51.2 once in 1000 times.
    fn difference(one: &[f64; 25], two: &[f64; 25]) -> f64 {
        one.iter().zip(two).map(|(a, b)| (a - b) * (a - b) / (a + b)).sum()
    }

    #[test]
    fn places_are_denser_in_the_middle_and_as_dense_at_the_beginning_as_later() {
        let model = square((1.0, 10.0), (0, 60), true);
        let begin = cells(&model, 0.0, 4);
        let (middle, corner) = (begin[12] / 4000.0, begin[0] / 4000.0);
        println!("{middle:.2} of uniform in the middle, {corner:.2} in a corner");
        assert!(middle > 1.5 && corner < 0.6);
        let later = [(100.0, 5), (2000.0, 6)].map(|(at, seed)| cells(&model, at, seed));
        let chi = later.map(|later| difference(&begin, &later));
        println!("χ² of 24 degrees at 100 and 2000 s: {chi:.1?}");
        assert!(chi.iter().all(|chi| *chi < 51.2), "{chi:?}");
        // Nodes without stationary start begin differently, and converge to the stationary
        // distribution.
        let naive = RandomWaypoint { stationary: false, ..model };
        let chi =
            [(0.0, 7), (6000.0, 8)].map(|(at, seed)| difference(&begin, &cells(&naive, at, seed)));
        println!("χ² of the naive way at 0 and 6000 s: {chi:.1?}");
        assert!(chi[0] > 1000.0 && chi[1] < 51.2, "{chi:?}");
    }

    #[test]
    fn the_same_chance_gives_the_same_ways_and_a_longer_run_goes_on_where_a_shorter_one_ends() {
        let model = square((1.0, 5.0), (0, 10), true);
        assert_eq!(nodes(&model, 3, 500.0, 7), nodes(&model, 3, 500.0, 7));
        assert_ne!(nodes(&model, 3, 500.0, 7), nodes(&model, 3, 500.0, 8));
        let (short, long) = (&nodes(&model, 1, 500.0, 9)[0], &nodes(&model, 1, 5000.0, 9)[0]);
        assert!((0..=500).all(|s| short.at(seconds(s.into())) == long.at(seconds(s.into()))));
    }

    #[test]
    fn a_rectangle_without_sides_and_one_that_is_a_line_are_no_trouble() {
        let point = RandomWaypoint { width: 0.0, height: 0.0, ..square((1.0, 2.0), (0, 0), true) };
        assert!(nodes(&point, 1, 100.0, 1)[0].is_fixed() && point.mean_speed() == 0.0);
        let line = RandomWaypoint { height: 0.0, ..point };
        let line = RandomWaypoint { width: 100.0, ..line };
        assert!((0..100).all(|s| nodes(&line, 1, 100.0, 1)[0].at(seconds(s.into())).y == 0.0));
    }

    proptest! {
        #[test]
        fn nodes_stay_inside_do_not_jump_and_keep_to_their_speeds(
            width in 1.0..2000.0, height in 1.0..2000.0, slowest in 0.01..10.0, more in 0.0..30.0,
            pause in 0u64..20_000, longer in 0u64..20_000, stationary: bool, seed: u64
        ) {
            let (speed, pause) = ((slowest, slowest + more), (Span::millis(pause), Span::millis(pause + longer)));
            let model = RandomWaypoint { width, height, speed, pause, stationary };
            let path = model.trajectory(seconds(300.0), &mut Lcg(seed));
            prop_assert!(path.0[0].at == Time::ZERO);
            prop_assert!(path.0.last().unwrap().velocity == (0.0, 0.0));
            for position in path.0.iter().map(|leg| leg.from) {
                prop_assert!((0.0..=width).contains(&position.x) && (0.0..=height).contains(&position.y));
            }
            for pair in path.0.windows(2) {
                prop_assert!(pair[0].at < pair[1].at);
                let span = pair[1].at.since(pair[0].at);
                let (east, north) = pair[0].velocity;
                let seconds = span.seconds();
                let end = Position { x: pair[0].from.x + east * seconds, y: pair[0].from.y + north * seconds };
                prop_assert!(end.distance(pair[1].from) < 1e-6);
                let (least, most) = (speed.0 * (seconds - 1e-9), speed.1 * (seconds + 1e-9));
                let way = pair[0].from.distance(pair[1].from);
                let paused = (east, north) == (0.0, 0.0);
                prop_assert!(paused || (least - 1e-9..=most + 1e-9).contains(&way));
                prop_assert!(!paused || pair[0].at == Time::ZERO || (pause.0..=pause.1).contains(&span));
            }
        }
    }
}
