//! The cost of acknowledgements: `acks CONTROLLER COUNT PATHS` gives `COUNT` of them to the
//! controller, with a loss on each thousandth. Count its instructions with callgrind; the
//! difference of two counts is without what building costs.

use anabranch_control::{Acked, AnyController, Cause, CongestionController, Settings, Span, Time};
use std::hint::black_box;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let name = arguments.next().unwrap_or_else(|| "olia".into());
    let mut number = |or| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (count, paths): (u64, usize) = (number(1_000_000), number(2) as usize);
    let spec = name.parse().expect("a controller");
    let control = AnyController::new(&spec, Settings::default(), paths);
    let mut control = control.expect("it is not the kernel's");
    let srtt = Span::millis(20);
    for turn in 0..count {
        let path = turn as usize % paths;
        let now = Time(turn * 100_000);
        let (una, nxt) = (turn, turn + 40);
        let ack = Acked {
            segments: 1.0,
            srtt,
            cwnd_limited: true,
            now,
            rtt: srtt,
            una,
            nxt,
            ..<_>::default()
        };
        black_box(control.grow(path, || black_box(ack)));
        if turn % 1_000 == 999 {
            control.on_congestion(path, Cause::FastRetransmit);
            control.on_recovered(path);
        }
    }
    println!("{name}: {count} acknowledgements on {paths} paths, window {:?}", control.window(0));
}
