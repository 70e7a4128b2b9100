//! The shipped scenarios compared with the recorded digests. This is a debug build with its
//! overflow checks; the Python tests compare the release build with the same record.

use scenario::Plan;
use simulator::{Observe, replicate};
use std::path::Path;

#[test]
fn digests_of_the_shipped_scenarios_in_a_debug_build_are_the_recorded_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let record = std::fs::read_to_string(root.join("tests/golden/digests.txt")).unwrap();
    let changed: Vec<String> = record
        .lines()
        .filter_map(|line| {
            let (name, recorded) = line.split_once(' ').unwrap();
            let file = root.join(format!("python/anabranch/scenarios/{name}.toml"));
            let text = std::fs::read_to_string(&file).unwrap();
            let plan = Plan::read(&text, name, &[]).unwrap();
            let outcome = &replicate(&plan, &[1], Observe::default(), 1, &Default::default())[0];
            let digest = format!("{:016x}", outcome.digest);
            (digest != recorded).then(|| format!("{name} {digest}, recorded {recorded}"))
        })
        .collect();
    assert!(changed.is_empty(), "{changed:#?}; tools/record_digests.py records new ones");
}
