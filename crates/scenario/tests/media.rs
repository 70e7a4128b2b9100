//! Errors in a medium name the field, the value and what would be right.

use network::{DropTail, MediumSettings, Position, Queue, Standard, WifiSettings};
use scenario::{Attachment, Override, Plan};
use units::Rate;

/// Two networks, and a flow over both.
const RIGHT: &str = r#"name = "air"
duration = "10 s"

[[medium]]
name = "one"
standard = "g"
rate = "24 Mb/s"
channel = 1
radio = { exponent = 3.0 }

[[medium.station]]
name = "ap"
x = 10.0
queue = { droptail = { packets = "49 packets" } }
ring = "1 packets"

[[medium]]
name = "two"
standard = "n-2.4"
channel = 6
short_guard = true

[[link]]
name = "up"
medium = "one"
from = "client"
to = "ap"

[[link]]
name = "down"
medium = "one"
from = "ap"
to = "client"

[[link]]
name = "there"
medium = "two"
from = "client"
to = "other"

[[link]]
name = "back"
medium = "two"
from = "other"
to = "client"

[[flow]]
name = "users"
path = [{ links = ["up"], back = ["down"] }, { links = ["there"], back = ["back"] }]
"#;

fn read(text: &str, overrides: &[&str]) -> Result<Plan, String> {
    let overrides: Vec<Override> =
        overrides.iter().map(|text| text.parse().expect("an override")).collect();
    Plan::read(text, "air.toml", &overrides).map_err(|error| error.to_string())
}

fn wifi(plan: &Plan, medium: usize) -> &WifiSettings {
    match &plan.media[medium].kind {
        MediumSettings::Wifi(wifi) => wifi,
        other => panic!("{other:?}"),
    }
}

#[test]
fn stations_are_the_nodes_of_a_medium_s_links_with_what_the_file_says_of_them() {
    let plan = read(RIGHT, &[]).unwrap();
    let names: Vec<_> = plan.media[0].stations.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["client", "ap"]);
    let ap = &plan.media[0].stations[1].settings;
    assert_eq!((ap.ring, ap.position), (1, Position { x: 10.0, y: 0.0 }));
    assert_eq!(ap.queue, Queue::DropTail(DropTail::of(49)));
    assert_eq!(plan.media[0].stations[0].settings.ring, 64);
    assert_eq!(plan.links[1].attachments, [Attachment { medium: 0, from: vec![1], to: vec![0] }]);
    assert_eq!(wifi(&plan, 0).radio.unwrap().loss_at_1m_db, 40.0, "at 2.4 GHz");
    assert_eq!(wifi(&plan, 0).rate, Rate(24_000_000));
    assert_eq!(wifi(&plan, 1).rate, Rate(72_222_222), "the fastest with a short guard interval");
    let plan = read(RIGHT, &["medium.two.rate=7.2 Mb/s"]).unwrap();
    assert_eq!(wifi(&plan, 1).rate, Rate(7_222_222), "as people write it");
}

#[test]
fn rates_are_those_of_the_standard() {
    assert_eq!(Standard::B.rates(false, false, 1).last(), Some(&units::Rate(11_000_000)));
    assert_eq!(Standard::N5.rates(true, true, 4).last(), Some(&units::Rate(600_000_000)));
}

#[test]
fn what_cannot_be_of_a_medium_is_refused() {
    for (change, words) in [
        ("medium.one.standard=ax", &["standard is \"ax\"", "\"g-protected\""][..]),
        ("medium.one.rate=11 Mb/s", &["rate is 11 Mb/s", "6 Mb/s, 9 Mb/s", "54 Mb/s"]),
        ("medium.one.attempts=0", &["attempts is 0", "from 1 to 255"]),
        ("medium.one.ack_timeout=1 s", &["ack_timeout is 1 s", "10 us to 10 ms"]),
        ("medium.one.streams=2", &["standard is g", "only n-2.4 and n-5"]),
        ("medium.two.streams=5", &["streams is 5", "from 1 to 4"]),
        ("medium.two.control=ideal", &["control is ideal", "needs `radio`"]),
        ("medium.two.channel=4", &["`one` and `two`", "channels that overlap", "1, 6 and 11"]),
        ("medium.one.radio.exponent=0.5", &["radio.exponent is 0.5"]),
        ("medium.one.station.ap.x=1000.0", &["`up`", "1000 m apart", "out of range"]),
        ("medium.one.station.ap.ring=0 packets", &["ring is 0", "at least 1 packet"]),
        ("medium.one.station.ap.rate=1 Mb/s", &["rate is 1 Mb/s", "its rates are 6"]),
        (
            "medium.one.station.ap.queue={ pie = {} }",
            &["of a kind that only routers have", "fq-codel"],
        ),
        ("medium.one.station.ap.residual_loss=2.0", &["residual_loss is 2", "from 0 to 1"]),
        ("medium.one.station.ap.noise=0 s", &["noise is 0 s", "between two bursts"]),
        ("medium.one.station.ap.name=nobody", &["station `nobody`", "`client` and `ap`"]),
        ("link.up.medium=three", &["no medium `three`", "`one` and `two`"]),
        ("link.up.rate=1 Mb/s", &["`rate` is set", "the medium and its stations have rates"]),
        ("link.up.to=client", &["begins", "another station"]),
    ] {
        let error = read(RIGHT, &[change]).map(|_| ()).expect_err(change);
        for word in words {
            assert!(error.contains(word), "{change}: `{word}` is missing:\n{error}");
        }
    }
}

#[test]
fn a_medium_without_links_and_a_link_without_ends_are_refused() {
    let alone = RIGHT.replace(
        "[[link]]\nname = \"up\"",
        "[[medium]]\nname = \"x\"\nstandard = \"a\"\n[[link]]\nname = \"up\"",
    );
    let error = read(&alone, &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("medium `x` has no stations"), "{error}");
    let open = RIGHT.replacen("from = \"client\"\n", "", 1);
    let error = read(&open, &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("`medium` is set without `from` and `to`"), "{error}");
}

#[test]
fn acknowledgements_share_the_medium_so_a_path_over_it_names_its_way_back() {
    let text = RIGHT.replace(", back = [\"down\"]", "");
    let error = read(&text, &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("has no `back`") && error.contains("share the medium"), "{error}");
    assert!(
        read(
            &text,
            &[
                "flow.users.protocol=udp",
                "flow.users.app_rate=1 Mb/s",
                "flow.users.path=[{ links = [\"up\"] }]"
            ]
        )
        .is_ok()
    );
}
