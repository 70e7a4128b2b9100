//! Two paths with equal round trips, of which the second loses four times as often: where the
//! windows are under each law after a hundred thousand acknowledgements.
//!
//! `cargo run -p anabranch-control --example two_paths`

use anabranch_control::{
    Acked, AnyController, Cause, CongestionController, Settings, Span, UnknownController,
};

fn main() -> Result<(), UnknownController> {
    println!("{:16} {:>8} {:>8}", "law", "path 0", "path 1");
    for name in ["reno", "lia", "olia", "balia", "fully-coupled"] {
        let [first, second] = mean_windows(name)?;
        println!("{name:16} {first:8.1} {second:8.1}");
    }
    Ok(())
}

/// Mean windows in segments.
fn mean_windows(name: &str) -> Result<[f64; 2], UnknownController> {
    let spec = name.parse()?;
    let mut control = AnyController::new(&spec, Settings::default(), 2).expect("a law runs here");
    let srtt = Span::millis(40);
    let ack = Acked { segments: 1.0, srtt, rtt: srtt, cwnd_limited: true, ..Acked::default() };
    let losses = [1_000, 250]; // one segment of so many
    let (mut sum, mut rounds) = ([0.0; 2], 0.0);
    let mut sent = [0.0; 2];
    for _ in 0..5_000 {
        for path in 0..2 {
            // A round trip: as many acknowledgements as the window has segments.
            for _ in 0..control.window(path).cwnd as u32 {
                control.on_ack(path, &ack);
                sent[path] += 1.0;
                if sent[path] >= f64::from(losses[path]) {
                    sent[path] = 0.0;
                    control.on_congestion(path, Cause::FastRetransmit);
                    control.on_recovered(path);
                    break;
                }
            }
            sum[path] += control.window(path).cwnd;
        }
        rounds += 1.0;
    }
    Ok(sum.map(|sum| sum / rounds))
}
