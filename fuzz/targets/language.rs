//! Any text as a law: an error with its place, or a law that can be evaluated in every arithmetic
//! without a panic, and that its own text reproduces.
#![no_main]

use control::{AnyController, Cause, CongestionController, ControllerSpec, Settings};
use formula::integer::{News, View};
use formula::{Event, TextLaw};
use libfuzzer_sys::fuzz_target;
use units::Span;

fuzz_target!(|text: &str| {
    let law = match TextLaw::read(text) {
        Ok(law) => law,
        Err(wrong) => {
            assert!(wrong.line >= 1 && wrong.column >= 1);
            assert!(wrong.in_file("x").lines().count() == 3, "{wrong}");
            return;
        }
    };
    let slopes = law.slopes(&[10.0, 20.0], &[0.1, 0.2], &[0.01, 0.02]);
    assert_eq!(slopes.growth.len(), 2);
    if let Ok(integer) = law.integer() {
        let views = [(10, 100_000), (3, 5_000), (1, 0)].map(|(cwnd, srtt)| View {
            cwnd,
            srtt,
            since_loss: 7,
            between_losses: 0,
            ..View::default()
        });
        for me in 0..2 {
            integer.growth(me, &views);
            integer.backoff(me, &views);
            let news = News { acked: 2, rtt: 90_000, ..News::default() };
            let notes = integer.update(Event::Ack, views[me], news);
            integer.update(Event::Loss, View { notes, ..views[me] }, News::default());
        }
        assert!(integer.c().contains("ab_growth"));
    }
    if let Ok(spec) = text.parse::<ControllerSpec>() {
        assert_eq!(spec.source().parse(), Ok(spec.clone()));
        moved(&spec);
    }
});

/// Windows stay finite for every law.
fn moved(spec: &ControllerSpec) {
    let Some(mut control) = AnyController::new(spec, Settings::default(), 2) else {
        return;
    };
    let acked = |milliseconds| control::Acked {
        segments: 1.5,
        srtt: Span::millis(milliseconds),
        rtt: Span::millis(milliseconds + 1),
        cwnd_limited: true,
        ..control::Acked::default()
    };
    for turn in 0..40 {
        let path = turn % 2;
        control.on_ack(path, &acked(20 + turn as u64));
        if turn % 7 == 6 {
            control.on_congestion(path, Cause::FastRetransmit);
            control.on_recovered(path);
        }
        assert!(control.window(path).cwnd.is_finite() && control.window(path).cwnd >= 1.0);
    }
}
