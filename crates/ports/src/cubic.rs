//! The formulas of `bpf/laws/coupled_cubic.h` in real numbers.

use crate::readable::Readable;
use crate::step::{View, Views};

/// Coupled CUBIC.
pub(crate) const COUPLED: Readable = Readable { name: "coupled-cubic", growth, backoff };

/// `C` in segments/s³ (RFC 9438 §5).
const C: f64 = 0.4;

/// The error of an operation of the C, relative to its result.
const U: f64 = 1.0 / (1u64 << 31) as f64;

/// The unit of growth in segments.
const FIXED: f64 = 1.0 / (1u64 << 32) as f64;

/// Units of the notes.
const ROOTS: f64 = 1.0 / (1u64 << 40) as f64;
const SEGMENTS: f64 = 1.0 / (1u64 << 32) as f64;
const LARGE: f64 = 1.0 / (1u64 << 7) as f64;

/// What path `views.me` has in growth.
fn part(views: &Views) -> f64 {
    if views.paths < 2 {
        return 1.0;
    }
    let rate = |view: &View| f64::from(view.cwnd) / f64::from(view.srtt);
    let rates = views.path.iter().filter(|view| view.srtt > 0).map(rate);
    let (total, most) = rates.fold((0.0, 0.0_f64), |(total, most), x| (total + x, most.max(x)));
    match views.path[views.me as usize] {
        view if view.srtt > 0 => rate(&view) * most / (total * total),
        _ => 0.0,
    }
}

fn cubed(x: f64) -> f64 {
    x * x * x
}

fn growth(views: &Views) -> (f64, Option<f64>) {
    let view = views.path[views.me as usize];
    let (w, part) = (f64::from(view.cwnd), part(views));
    let [y, reno, large, _] = view.notes;
    let (y, reno) = (y as i64 as f64 * ROOTS, reno as f64 * SEGMENTS);
    let w_max = f64::from(large as u32) * LARGE;
    let ahead = libm::cbrt(C * part * part) * f64::from(view.srtt) * 1e-6;
    let at = cubed(y) + w_max;
    let later = (cubed(y + ahead) + w_max).clamp(w, 1.5 * w);
    let target = if at < reno { reno.max(w) } else { later };
    let magnitude = cubed(y.abs() + ahead) + w_max + w.max(target);
    let error = 64.0 * U * magnitude / w + FIXED;
    let near = (at - reno).abs() <= 64.0 * U * (cubed(y.abs()) + w_max + reno);
    ((target - w) / w, (!near).then_some(error))
}

fn backoff(views: &Views) -> f64 {
    f64::from(views.path[views.me as usize].cwnd) * 0.7
}
