//! A step of a window as bytes: `struct ab_step` in `bpf/shell.h`.

use crate::words::Words;
use ports::{PATHS, Step, View, Views};

pub(crate) fn to_bytes(step: &Step) -> Vec<u8> {
    let views = &step.views;
    let mut words = vec![views.paths, views.me];
    for path in &views.path {
        words.extend([path.cwnd, path.srtt, path.since_loss, path.between_losses]);
    }
    words.extend([step.acked, step.cwnd[0], step.cwnd[1]]);
    words.extend([step.srtt, step.socket, step.breaks]);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for word in [step.credit[0], step.credit[1], step.growth, step.backoff] {
        bytes.extend(word.to_ne_bytes());
    }
    bytes
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Step {
    let mut words = Words(bytes);
    let mut views = Views { paths: words.u32(), me: words.u32(), path: [View::default(); PATHS] };
    for path in &mut views.path {
        *path = View {
            cwnd: words.u32(),
            srtt: words.u32(),
            since_loss: words.u32(),
            between_losses: words.u32(),
        };
    }
    let acked = words.u32();
    let cwnd = [words.u32(), words.u32()];
    let [srtt, socket, breaks] = [words.u32(), words.u32(), words.u32()];
    let credit = [words.i64(), words.i64()];
    let (growth, backoff) = (words.i64(), words.i64());
    Step { views, acked, cwnd, srtt, socket, breaks, credit, growth, backoff }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_survives_its_way_through_bytes() {
        let view = View { cwnd: 7, srtt: 150_000, since_loss: 3, between_losses: 40 };
        let mut views = Views { paths: 2, me: 1, ..Views::default() };
        views.path[..2].fill(view);
        let (cwnd, credit) = ([7, 8], [-1, i64::MAX]);
        let (srtt, socket, breaks) = (150_001, 0xdead_beef, 4);
        let step =
            Step { views, acked: 2, cwnd, srtt, socket, breaks, credit, growth: -5, backoff: 3 };
        assert_eq!(from_bytes(&to_bytes(&step)), step);
    }
}
