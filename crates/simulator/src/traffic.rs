//! Traffic of the users of a class: sizes and pauses, drawn for each user.

use network::Rng;
use scenario::{Class, schema};
use std::sync::Arc;
use topology::Stream;
use transport::{Source, WritePeriods};
use units::{Bytes, Span};

/// The data source of `user` of `class` in a run of `duration` with `seed`.
pub(crate) fn source(class: &Class, user: u32, seed: u64, duration: Span) -> Source {
    let mut stream = Stream::new(seed, "traffic", &class.name, u64::from(user));
    match (class.transfer, class.app_rate) {
        (Some(mean), _) => Source::Transfer(match class.sizes {
            None => mean,
            Some(sizes) => Bytes(size(sizes, mean.0 as f64, &mut stream).round().max(1.0) as u64),
        }),
        (None, Some(rate)) => match class.pauses {
            None => Source::Paced(rate),
            Some(pauses) => {
                Source::Intermittent(rate, Arc::new(write_periods(pauses, duration, &mut stream)))
            }
        },
        (None, None) => Source::Bulk,
    }
}

/// Whether each user of `class` draws its own traffic.
pub(crate) fn differs(class: &Class) -> bool {
    class.sizes.is_some() || class.pauses.is_some_and(|pauses| pauses.random)
}

/// A size with this mean; values near the largest double exceed any stream.
fn size(sizes: schema::Sizes, mean: f64, rng: &mut impl Rng) -> f64 {
    match sizes {
        schema::Sizes::Exponential => exponential(mean, rng),
        schema::Sizes::Pareto(shape) => {
            let least = mean * (shape - 1.0) / shape;
            least * libm::pow(1.0 - rng.uniform(), -1.0 / shape)
        }
        schema::Sizes::Lognormal(sigma) => {
            let mu = libm::log(mean) - sigma * sigma / 2.0;
            libm::exp(mu + sigma * normal(rng))
        }
    }
}

fn exponential(mean: f64, rng: &mut impl Rng) -> f64 {
    -mean * libm::log(1.0 - rng.uniform())
}

/// Box and Muller 1958.
fn normal(rng: &mut impl Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.uniform()));
    radius * libm::cos(2.0 * core::f64::consts::PI * rng.uniform())
}

/// Periods of writing, with pauses between them, that last at least for `duration`.
fn write_periods(pauses: schema::Pauses, duration: Span, rng: &mut impl Rng) -> WritePeriods {
    let mut length = |mean: Span| match pauses.random {
        true => Span::from_seconds(exponential(mean.seconds(), rng)).max(Span(1)),
        false => mean,
    };
    let (mut lengths, mut at) = (Vec::new(), Span::ZERO);
    while at < duration {
        let (on, off) = (length(pauses.on), length(pauses.off));
        at = at + on + off;
        lengths.push((on, off));
    }
    WritePeriods::new(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_median(sizes: schema::Sizes) -> (f64, f64) {
        let mut stream = Stream::new(1, "traffic", "x", 0);
        let mut drawn: Vec<f64> = (0..200_000).map(|_| size(sizes, 1000.0, &mut stream)).collect();
        drawn.sort_by(f64::total_cmp);
        (drawn.iter().sum::<f64>() / 2e5, drawn[100_000])
    }

    #[test]
    fn sizes_have_the_mean_that_was_asked_for_and_the_median_of_their_law() {
        let (mean, median) = mean_and_median(schema::Sizes::Exponential);
        assert!((mean - 1000.0).abs() < 10.0 && (median - 693.1).abs() < 10.0, "{mean} {median}");
        let (mean, median) = mean_and_median(schema::Sizes::Pareto(2.5));
        let expected = 600.0 * libm::pow(2.0, 0.4);
        assert!(
            (mean - 1000.0).abs() < 20.0 && (median - expected).abs() < 10.0,
            "{mean} {median}"
        );
        let (mean, median) = mean_and_median(schema::Sizes::Lognormal(1.0));
        assert!((mean - 1000.0).abs() < 20.0 && (median - 606.5).abs() < 10.0, "{mean} {median}");
    }
}
