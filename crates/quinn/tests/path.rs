//! A controller of quinn without a connection.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use anabranch_quinn::Control;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::time::{Duration, Instant};

const MTU: u64 = 1200;

fn built(controller: &str) -> (Box<dyn Controller>, Instant) {
    #[expect(clippy::disallowed_methods, reason = "an instant has no zero; only spans count")]
    let now = Instant::now();
    (Control::named(controller).unwrap().build(now, MTU as u16), now)
}

#[test]
fn a_coupled_law_on_one_path_halves_as_reno_and_keeps_two_packets() {
    for controller in ["reno", "lia", "olia", "balia"] {
        let (mut path, start) = built(controller);
        for (second, packets) in (1..).zip([5, 2, 2]) {
            let now = start + Duration::from_secs(second);
            path.on_congestion_event(now, now, false, MTU);
            path.on_congestion_event(now, now, false, 0); // of the same round trip
            assert_eq!(path.window(), packets * MTU, "{controller}");
        }
    }
}

#[test]
fn a_copy_of_a_migrating_connection_has_its_window_and_goes_its_own_way() {
    for controller in ["reno", "cubic", "compound"] {
        let (mut path, start) = built(controller);
        let later = start + Duration::from_secs(1);
        path.on_congestion_event(later, later, false, MTU);
        let before = path.window();
        let mut copy = path.clone_box();
        assert_eq!(copy.window(), before);
        let later = start + Duration::from_secs(2);
        copy.on_congestion_event(later, later, true, MTU);
        assert_eq!((copy.window(), path.window()), (2 * MTU, before), "{controller}");
    }
}

#[test]
fn a_controller_that_needs_more_than_quinn_tells_is_refused_by_name() {
    for controller in ["lp", "bbr", "tfrc", "linux:cubic"] {
        let why = Control::named(controller).unwrap_err().to_string();
        assert!(why.starts_with(&format!("`{controller}`")), "{why}");
    }
}
