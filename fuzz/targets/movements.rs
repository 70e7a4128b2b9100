//! Any text as a movement file: an error with its line, or ordered moves that are equal after
//! formatting and parsing; and a scenario with the file inside must be valid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::{Plan, format_movements, parse_movements, with_files};

const SCENARIO: &str = "name = 'x'\nduration = '10 s'\n[area]\nwidth = 100.0\nheight = 100.0\n\
    moves = { trace = { file = 'f' } }\n[[node]]\nname = 'n'\ncount = 3\n\
    [[link]]\nname = 'a'\nrate = '1 Mb/s'\n[[flow]]\nname = 'u'\npath = [{ links = ['a'] }]\n";

fuzz_target!(|text: &str| {
    let moves = match parse_movements(text) {
        Ok(moves) => moves,
        Err(bad) => {
            assert!(bad.line >= 1 && bad.line <= text.lines().count().max(1), "{bad}");
            assert!(with_files(SCENARIO, "fuzz", &|_| Ok(text.to_owned())).is_err());
            return;
        }
    };
    assert!(moves.windows(2).all(|pair| pair[0].node < pair[1].node));
    assert!(moves.iter().all(|own| own.legs.windows(2).all(|pair| pair[0].at <= pair[1].at)));
    assert_eq!(parse_movements(&format_movements(&moves)).as_ref(), Ok(&moves));
    let within = with_files(SCENARIO, "fuzz", &|_| Ok(text.to_owned())).expect("it was read");
    let within = within.expect("the scenario names a file");
    if let Ok(plan) = Plan::read(&within, "fuzz", &[]) {
        let media = topology::SharedMedia::<Nothing>::new(&plan, 1);
        for ms in (0..10_000).step_by(97) {
            let now = units::Time::ZERO + units::Span::millis(ms);
            for position in media.positions(now) {
                let inside = |metres: f64| (-1e-6..=100.0 + 1e-6).contains(&metres);
                assert!(
                    inside(position.x) && inside(position.y),
                    "{position:?} at {ms} ms: {text}"
                );
            }
        }
    }
});

/// A type of packet that is never sent.
#[derive(Clone, Copy, Default)]
struct Nothing;

impl network::Packet for Nothing {
    fn bytes(&self) -> u32 {
        0
    }
    fn path(&self) -> u32 {
        0
    }
    fn ecn_capable(&self) -> bool {
        false
    }
    fn mark(&mut self) {}
    fn lower_effort(&self) -> bool {
        false
    }
}
