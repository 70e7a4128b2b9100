//! Tests of movement files, by hand and at random.

use super::*;
use proptest::prelude::*;

const FILE: &str = r#"# nodes: 2, pause: 0.00, max x: 500.00
set opt(seed) 3
set val(x) 500.0
set god_ [God instance]
$node_(3) set X_ 150.000000000000
$node_(3) set Y_ 100.0
$node_(3) set Z_ 0.000000000000
$god_ set-dist 1 3 2

$ns_ at 9.5 "$node_(3) setdest 0.5 -1e2 0.00"
$ns_ at 2.000000000001 "$node_(3) setdest 180.0 140.0 5.0"; # 50 m in 10 s
	$ns_  at 2.0   " $node_(1) setdest 7 8 9 "
$ns_ at 2.5 "$god_ set-dist 1 3 1"
$ns_ at 2.0 "$node_(1) setdest 10 11 12"
"#;

#[test]
fn a_file_gives_the_moves_that_it_tells_in_order_of_node_and_time() {
    let leg = |ms, to, speed| Move { at: Span::millis(ms), to, speed };
    let one = vec![leg(2000, (7.0, 8.0), 9.0), leg(2000, (10.0, 11.0), 12.0)];
    let three = vec![leg(2000, (180.0, 140.0), 5.0), leg(9500, (0.5, -100.0), 0.0)];
    let expected = vec![
        Moves { node: 1, start: None, legs: one },
        Moves { node: 3, start: Some((150.0, 100.0)), legs: three },
    ];
    assert_eq!(parse(FILE), Ok(expected.clone()));
    assert_eq!(parse(&FILE.replace('\n', "\r\n")), Ok(expected));
    assert_eq!(parse("\u{feff}# nothing\n"), Ok(vec![]));
}

#[test]
fn moves_are_written_as_ns_2_has_them() {
    let leg = Move { at: Span(2_000_000_001), to: (200.0, -0.5), speed: 5.0 };
    let moves = [Moves { node: 3, start: Some((150.0, 0.25)), legs: vec![leg] }];
    let expected = "$node_(3) set X_ 150\n$node_(3) set Y_ 0.25\n$node_(3) set Z_ 0\n\
        $ns_ at 2.000000001 \"$node_(3) setdest 200 -0.5 5\"\n";
    assert_eq!(format(&moves), expected);
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_number_its_value_and_what_is_right() {
    let goes = |rest: &str| format!("# a\n\n$ns_ at 2.0 \"$node_(0) setdest {rest}\"\n");
    let at = |time: &str| format!("$ns_ at {time} \"$node_(0) setdest 1 2 3\"");
    let long = "x".repeat(1000);
    let cases = [
        (goes("1 2 -3"), 3, "speed is -3; it is a number of m/s, not below 0"),
        (goes("1 2 NaN"), 3, "speed is NaN; it is a number of m/s, not below 0"),
        (goes("1 2 3e9"), 3, "speed is 3e9; it is at most 3e8 m/s"),
        (goes("inf 2 3"), 3, "x is inf; it is a number of metres"),
        (goes("1 -1e10 3"), 3, "y is -1e10; it lies from -1e9 to 1e9 m"),
        (goes("1 2"), 3, "setdest has 2 values; it has 3: x, y and a speed"),
        (goes("1 2 3 4"), 3, "setdest has 4 values; it has 3"),
        (at("-1"), 1, "time is -1; it is a number of seconds, not below 0"),
        (at("1e400"), 1, "time is 1e400; it is a number of seconds"),
        (at("1e8"), 1, "time is 1e8; it is at most 31622400 s"),
        (at("soon"), 1, "time is soon; it is a number of seconds"),
        ("$ns_ at 1 $node_(0)".into(), 1, "`1 $node_(0)` is not a time and a command in quotes"),
        ("$ns_ at 1 \"$node_(0) start\"".into(), 1, "`start` is not a setdest"),
        ("$ns_ at 1 \"$g(0) stop\"".into(), 1, "`$g(0) stop` does not move a node"),
        ("$node_(0) set X_ 1\n$node_(0) set Z_ 5".into(), 2, "Z_ is 5; nodes move on a plane"),
        ("$node_(0) set W_ 1".into(), 1, "`W_` is not a coordinate; it is X_, Y_ or Z_"),
        ("$node_(0) set X_".into(), 1, "`$node_(0) set X_` does not set a start position"),
        ("$node_(0) set X_ a".into(), 1, "X_ is a; it is a number of metres"),
        ("$node_(0) set X_ 1\n\n".into(), 1, "node 0 has X_ but no Y_; a start position has both"),
        ("\n$node_(0) set Y_ 1".into(), 2, "node 0 has Y_ but no X_; a start position has both"),
        ("$node_(7) set X_ 1\n$node_(7) set X_ 1".into(), 2, "X_ of node 7 is set again; line 1"),
        ("$node_(-1) set X_ 1".into(), 1, "node is `-1`; it is a whole number from 0 to 65535"),
        ("$node_(65536) set X_ 1".into(), 1, "node is `65536`; it is a whole number"),
        ("$node_() set X_ 1".into(), 1, "node is ``; it is a whole number"),
        (
            "$node_(0 set X_ 1".into(),
            1,
            "`$node_(0 set X_ 1` does not move a node; a line is `$node_(3)",
        ),
        ("set opt(x) 1; $node_(0) set X_ 1".into(), 1, "is more than one command; a line has one"),
        (
            "set x 1".into(),
            1,
            "`set x 1` does not move a node; a line is `$node_(3) set X_ 150.0` or",
        ),
        (long, 1, "xxxx…` does not move a node"),
    ];
    for (text, line, what) in cases {
        let error = parse(&text).unwrap_err();
        assert!(error.line == line && error.what.contains(what), "{text}: {error}");
    }
    let error = parse(&goes("1 2 -3")).unwrap_err().to_string();
    assert_eq!(error, "line 3: speed is -3; it is a number of m/s, not below 0");
}

fn moves() -> impl Strategy<Value = Vec<Moves>> {
    let place = || (-FARTHEST_M..FARTHEST_M, -10.0..10.0);
    let at = 0..LONGEST_S as u64 * NANOS;
    let leg =
        (at, place(), 0.0..100.0).prop_map(|(at, to, speed)| Move { at: Span(at), to, speed });
    let node = (prop::option::of(place()), prop::collection::vec(leg, 0..5));
    let order = |(node, (start, mut legs)): (usize, (_, Vec<Move>))| {
        legs.sort_by_key(|leg| leg.at);
        Moves { node, start, legs }
    };
    prop::collection::btree_map(0..=LAST_NODE, node, 0..5).prop_map(move |nodes| {
        let moves = nodes.into_iter().map(order);
        moves.filter(|moves| moves.start.is_some() || !moves.legs.is_empty()).collect()
    })
}

/// Texts that are almost valid.
const NEAR: &str = concat!(
    r#"((\$ns_ at [-0-9.e]{0,6} "|)\$node_\([0-9]{0,6}\) (set [XYZ]_|setdest)"#,
    r#"( [-+0-9.einf]{0,4}){0,3}"?[;#\n]?){0,4}"#
);

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same_moves(moves in moves()) {
        prop_assert_eq!(parse(&format(&moves)), Ok(moves));
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        text in "\\PC*",
        near in NEAR
    ) {
        let _ = parse(&text);
        if let Ok(moves) = parse(&near) {
            prop_assert!(moves.iter().all(|moves| moves.legs.is_sorted_by_key(|leg| leg.at)));
            prop_assert_eq!(parse(&format(&moves)), Ok(moves));
        }
    }
}
