//! Errors in nodes, movements, groups, buses and cells name the field, the value and what would be
//! right; and plans have the meaning of the file.

use network::MediumSettings;
use network::adhoc::Routing;
use scenario::{Attachment, Override, Plan, PlanMoves};

/// A valid scenario with most features.
const RIGHT: &str = r#"name = "ground"
duration = "10 s"

[area]
width = 500.0
height = 300.0
moves = { waypoint = { speed = [1.0, 5.0], pause = ["0 s", "2 s"] } }

[[node]]
name = "base"
x = 250.0
y = 150.0

[[node]]
name = "walker"
count = 3

[[node]]
name = "car"
count = 2
moves = { highway = { speed = [20.0, 30.0], gap = 40.0 } }

[[node]]
name = "point"
count = 2
places = [[100.0, 100.0], [400.0, 100.0]]

[[node]]
name = "lost"
moves = { trace = { text = '''
$node_(8) set X_ 1.0
$node_(8) set Y_ 2.0
$ns_ at 3.0 "$node_(8) setdest 4.0 5.0 6.0"
''' } }

[[medium]]
name = "air"
standard = "g"
radio = {}
routing = "aodv"
channels = 3
nodes = ["car"]

[[medium]]
name = "hot"
standard = "g"
radio = {}
routing = "association"
access = "point"

[[bus]]
name = "yard"
rate = "10 Mb/s"

[[cell]]
name = "tower"
base = "base"
snr_db = 20.0

[[link]]
name = "up"
medium = "air"
from = "walker"
to = "base"

[[link]]
name = "down"
medium = "air"
from = "base"
to = "walker"

[[link]]
name = "roam"
medium = "hot"
from = "walker"
to = "point"

[[link]]
name = "stay"
medium = "hot"
from = "point"
to = "walker"

[[link]]
name = "wire"
medium = "yard"
from = "base"
to = "server"

[[link]]
name = "eriw"
medium = "yard"
from = "server"
to = "base"

[[link]]
name = "call"
medium = "tower"
from = "walker"
to = "base"

[[link]]
name = "answer"
medium = "tower"
from = "base"
to = "walker"

[[flow]]
name = "walkers"
count = 3
controller = "lia"

[[flow.path]]
links = ["up", "wire"]
back = ["eriw", "down"]
channel = "each"

[[flow.path]]
links = ["call", "wire"]
back = ["eriw", "answer"]

[[flow]]
name = "turns"
count = 3

[[flow.path]]
links = ["up"]
back = ["down"]
channel = "turn"

[[flow]]
name = "echoes"
count = 2
protocol = "udp"
echo = true
app_rate = "1 Mb/s"

[[flow.path]]
links = ["roam"]
back = ["stay"]
"#;

fn read(text: &str, overrides: &[&str]) -> Result<Plan, String> {
    let overrides: Vec<Override> =
        overrides.iter().map(|text| text.parse().expect("an override")).collect();
    Plan::read(text, "ground.toml", &overrides).map_err(|error| error.to_string())
}

fn right() -> Plan {
    read(RIGHT, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The error after one part of the file was replaced; it says what is wrong and what would be
/// right.
fn refused(from: &str, to: &str, expected: [&str; 2]) {
    assert!(RIGHT.contains(from), "{from}");
    let error = read(&RIGHT.replacen(from, to, 1), &[]).expect_err(to);
    assert!(expected.iter().all(|part| error.contains(part)), "{expected:?} in:\n{error}");
    assert!(error.contains("help: "), "{error}");
    assert!(error.contains(" --> ground.toml:"), "{error}");
}

fn all_refused(cases: &[(&str, &str, [&str; 2])]) {
    cases.iter().for_each(|(from, to, expected)| refused(from, to, *expected));
}

#[test]
fn a_node_is_inside_an_area() {
    let of_car = "highway = { speed = [20.0, 30.0], gap = 40.0";
    all_refused(&[
        ("x = 250.0", "x = 500.5", ["`base`: x is 500.5, outside", "from 0 to 500 m"]),
        ("y = 150.0", "y = -1.0", ["`base`: y is -1, outside", "from 0 to 300 m"]),
        ("x = 250.0", "x = nan", ["x is NaN, outside", "from 0 to 500 m"]),
        ("y = 150.0", "", ["one of `x` and `y` is missing", "give both or none"]),
        ("[400.0, 100.0]", "[400.0, 301.0]", ["`point`: y is 301, outside", "0 to 300"]),
        ("[400.0, 100.0]]", "]", ["2 nodes and 1 places", "give each node a place"]),
        ("count = 3\n", "count = 3\nx = 1.0\ny = 1.0\n", ["3 nodes and 1 places", "at random"]),
        ("width = 500.0", "width = 0.5", ["area: width is 0.5", "from 1 to 1000000"]),
        ("height = 300.0", "height = inf", ["area: height is inf", "from 1 to 1000000"]),
        ("height = 300.0", "height = 300.0\nstep = '0 s'", ["step is 0 s", "from 1 ms to 10 s"]),
        (of_car, &format!("{of_car}, lane = 301.0"), ["lane is 301, outside", "0 to 300 m"]),
        (of_car, &format!("{of_car}, start = -1.0"), ["start is -1, outside", "0 to 500 m"]),
        ("setdest 4.0", "setdest 501.0", ["lead to (501, 5), outside", "500 m by 300 m"]),
        ("set X_ 1.0", "set X_ -1.0", ["lead to (-1, 2), outside", "500 m by 300 m"]),
    ]);
    let area = &RIGHT[RIGHT.find("[area]").unwrap()..RIGHT.find("[[node]]").unwrap()];
    refused(area, "", ["node `base`: there is no area", "write [area] with `width` and `height`"]);
}

#[test]
fn moves_are_possible() {
    let way = "{ speed = [1.0, 5.0], pause = [\"0 s\", \"2 s\"] }";
    let of_car = "speed = [20.0, 30.0], gap = 40.0";
    all_refused(&[
        ("[1.0, 5.0]", "[0.0, 5.0]", ["speed is [0, 5]", "above 0"]),
        ("[1.0, 5.0]", "[5.0, 1.0]", ["speed is [5, 1]", "least and greatest"]),
        ("[1.0, 5.0]", "[1.0, nan]", ["speed is [1, NaN]", "least and greatest"]),
        ("[1.0, 5.0]", "[1.0, 1001.0]", ["speed is [1, 1001]", "at most 1000"]),
        (
            way,
            "{ speed = [1.0, 5.0], pause = ['2 s', '1 s'] }",
            ["pause is [2 s, 1 s]", "the shortest"],
        ),
        ("[20.0, 30.0]", "[0.0, 30.0]", ["speed is [0, 30]", "above 0"]),
        (of_car, "speed = [1.0, 90.0], gap = 40.0", ["gap is 40", "a car overtakes"]),
        (
            of_car,
            "speed = [1.0, 2.0], gap = 300.0",
            ["2 cars with gaps of 300 m", "a road of 500 m"],
        ),
        (of_car, "speed = [1.0, 2.0], hold = '1 ms'", ["hold is 1 ms", "at least 100 ms"]),
        (
            "x = 250.0",
            "moves = 'still'\nx = 250.0",
            ["both a place and `moves`", "leave out `moves`"],
        ),
        ("(8) set Y_ 2.0", "(8) set Y_ up", ["line 2: Y_ is up", "one command on each line"]),
        ("$ns_ at 3.0", "$ns_ at -3.0", ["line 3: time is -3.0", "one command on each line"]),
        (
            "(8) set X_",
            "(9) set X_",
            ["line 2: node 8 has Y_ but no X_", "a start position has both"],
        ),
        (
            "$ns_ at 3.0 \"$node_(8)",
            "$ns_ at 3.0 \"$node_(9)",
            ["the movements include node 9", "9 nodes, numbered from 0"],
        ),
    ]);
    let text = &RIGHT[RIGHT.find("text = '''").unwrap()..RIGHT.find(" } }\n\n[[medium]]").unwrap()];
    refused(text, "file = 'moves.txt'", ["file is \"moves.txt\"", "give `text`"]);
    refused(text, "", ["`trace` has both `file` and `text`, or neither", "give one"]);
    refused(
        text,
        "text = ''",
        ["the movements set no initial position for node 8", "numbered from 0"],
    );
}

#[test]
fn names_are_those_of_one_thing() {
    all_refused(&[
        ("name = \"car\"", "name = \"walker\"", ["two nodes are called `walker`", "another name"]),
        (
            "name = \"base\"",
            "name = \"walker-2\"",
            ["two nodes are called `walker-2`", "another name"],
        ),
        ("name = \"yard\"", "name = \"air\"", ["two mediums are called `air`", "another name"]),
        ("name = \"tower\"", "name = \"air\"", ["two mediums are called `air`", "another name"]),
        ("name = \"tower\"", "name = \"yard\"", ["two mediums are called `yard`", "another name"]),
        (
            "name = \"wire\"",
            "name = \"up/2\"",
            ["`up/2` has the name that link `up` has on a channel", "another name"],
        ),
        ("count = 3\n", "count = 0\n", ["`walker`: count is 0", "at least 1"]),
        ("count = 3\n", "count = 4000000000\n", ["has 4000000006 nodes", "at most 10000"]),
    ]);
}

#[test]
fn links_lead_from_a_node_to_another_one_of_what_they_are_a_part_of() {
    all_refused(&[
        ("to = \"base\"", "to = \"car\"", ["leads from 3 nodes to 2", "both have the same number"]),
        ("to = \"base\"", "to = \"walker\"", ["ends at a station where it begins", "another"]),
        ("to = \"base\"", "to = \"walker-2\"", ["ends at a station where it begins", "another"]),
        ("to = \"base\"", "to = \"walker-4\"", ["no node `walker-4`", "`walker` has 3 nodes"]),
        (
            "medium = \"air\"",
            "medium = \"sea\"",
            ["there is no medium `sea`", "`air`, `hot`, `yard` and `tower`"],
        ),
        (
            "base = \"base\"",
            "base = \"point-1\"",
            ["neither end is the base station `point-1`", "two links"],
        ),
        ("base = \"base\"", "base = \"walker\"", ["base is `walker`, a group of 3", "one node"]),
        (
            "from = \"base\"\nto = \"server\"",
            "from = \"base\"\nto = \"base\"",
            ["where it begins", "another"],
        ),
        (
            "routing = \"aodv\"",
            "routing = \"association\"",
            ["and there is no `access`", "name the node or group"],
        ),
        ("access = \"point\"", "access = \"nobody\"", ["`nobody` is not a station", "name one"]),
        (
            "access = \"point\"",
            "access = \"walker-1\"",
            ["`roam`: neither end is an access point", "`walker-1`"],
        ),
        (
            "from = \"walker\"\nto = \"point\"",
            "from = \"point-1\"\nto = \"point\"",
            ["both ends are access points", "from or to `point`"],
        ),
        (
            "routing = \"association\"",
            "routing = \"aodv\"",
            ["`access` points, but its routing is another one", "find single nodes"],
        ),
        (
            "routing = \"association\"",
            "",
            ["it has `access` points", "\"association\" or \"oracle\""],
        ),
        (
            "medium = \"yard\"",
            "medium = \"yard\"\nrate = '1 Mb/s'",
            ["`rate` is set", "the medium and its stations have"],
        ),
    ]);
}

#[test]
fn buses_and_cells_are_possible() {
    let bus = "rate = \"10 Mb/s\"";
    let red = "red = { min = '2 packets', max = '9 packets', max_p = 0.2, limit = '30 packets' }";
    let red_bus = format!("{bus}\nqueue = {{ {red} }}");
    let red_cell = format!("snr_db = 20.0\nqueue = {{ {red} }}");
    let user = |user: &str| format!("snr_db = 20.0\nuser = [{{ {user} }}]");
    let stranger = user("name = 'car-1'");
    let fading = user("name = 'walker-1', fading = { deviation_db = 31.0, coherence = '1 s' }");
    all_refused(&[
        (bus, red_bus.as_str(), ["of a kind that only routers have", "codel, fq-codel"]),
        (
            "snr_db = 20.0",
            red_cell.as_str(),
            ["of a kind that only routers have", "codel, fq-codel"],
        ),
        ("snr_db = 20.0", "", ["user `walker-1` has no `snr_db`", "or `radio` and a [[node]]"]),
        ("snr_db = 20.0", "snr_db = 101.0", ["snr_db is 101", "from -50 to 100"]),
        ("snr_db = 20.0", "snr_db = 20.0\nblocks = 0", ["blocks is 0", "from 1 to 500"]),
        ("snr_db = 20.0", "snr_db = 20.0\noverhead = 1.0", ["overhead is 1", "to below 1"]),
        (
            "snr_db = 20.0",
            "snr_db = 20.0\naveraging = '0 s'",
            ["averaging is 0 s", "at least 1 ms"],
        ),
        (
            "snr_db = 20.0",
            stranger.as_str(),
            ["`car-1` is not a user of it", "its users are `walker-1`"],
        ),
        (
            "snr_db = 20.0",
            fading.as_str(),
            ["user.walker-1.fading.deviation_db is 31", "from 0 to 30"],
        ),
    ]);
}

#[test]
fn flows_have_the_channels_and_nodes_that_there_are() {
    all_refused(&[
        ("channel = \"each\"", "channel = 4", ["channel is 4", "channels 1 to 3"]),
        ("channel = \"each\"", "channel = 0", ["channel is 0", "channels 1 to 3"]),
        ("channels = 3", "channels = 65", ["channels is 65", "from 1 to 64"]),
        (
            "count = 3\ncontroller",
            "count = 4\ncontroller",
            ["4 users, and an end of link `up` has 3 nodes", "at most 3"],
        ),
        ("protocol = \"udp\"\necho", "echo", ["`echo` is set, but the flow is TCP", "UDP packets"]),
        ("back = [\"stay\"]", "", ["no `back`", "echoes share the medium"]),
        (
            "links = [\"roam\"]",
            "links = [\"up\"]\nchannel = \"each\"",
            ["a path on each channel", "a number"],
        ),
    ]);
}

#[test]
fn what_takes_memory_or_time_without_end_is_refused() {
    let lost = RIGHT.find("moves = { trace").unwrap()..RIGHT.find("[[medium]]").unwrap();
    let calm = RIGHT.replace(&RIGHT[lost], "\n");
    let of = |text: &str, overrides: &[&str]| read(text, overrides).expect_err("it is too much");
    // Half a metre at 1000 m/s for a year.
    let text = RIGHT.replace("[1.0, 5.0], pause = [\"0 s\", \"2 s\"]", "[1000.0, 1000.0]");
    let (from, to) = (text.find("[[node]]").unwrap(), text.find("[[medium]]").unwrap());
    let few = format!("{}[[node]]\nname = \"walker\"\ncount = 3\n{}", &text[..from], &text[to..]);
    let few = few.replace("nodes = [\"car\"]", "").replace("access = \"point\"", "access = \"ap\"");
    let few = few.replace("\"point\"", "\"ap\"");
    let error = of(&few, &["duration=31536000 s", "area.width=1", "area.height=1"]);
    assert!(error.contains("node `walker`") && error.contains("1e7 times"), "{error}");
    let text = few.replace(
        "waypoint = { speed = [1000.0, 1000.0] }",
        "highway = { speed = [9.0, 9.0], hold = '100 ms', gap = 1.0 }",
    );
    let error = of(&text, &["duration=31536000 s"]);
    assert!(error.contains("node `walker`") && error.contains("1e7 times"), "{error}");
    // 1000 nodes on 64 channels: 64 matrices of a million.
    let many =
        calm.replace("count = 3\n", "count = 990\n").replace("channels = 3", "channels = 64");
    let error = of(&many, &[]);
    assert!(
        error.contains("it has 64 channels with 993 stations") && error.contains("16,000,000"),
        "{error}"
    );
    let error = of(&calm.replace("count = 3\n", "count = 9000\n"), &[]);
    assert!(error.contains("it has 9003 stations") && error.contains("at most 1000"), "{error}");
    let bus = calm.replace("from = \"base\"\nto = \"server\"", "from = \"base\"\nto = \"crowd\"");
    let bus = bus.replace(
        "[[medium]]\nname = \"air\"",
        "[[node]]\nname = \"crowd\"\ncount = 2000\n[[medium]]\nname = \"air\"",
    );
    let error = of(&bus, &[]);
    assert!(
        error.contains("bus `yard` has 2002 stations") && error.contains("at most 1000"),
        "{error}"
    );
}

/// Quadratic work on names, or parsing a text again for each node, would take minutes here.
#[test]
fn ten_thousand_nodes_with_movements_are_read_in_no_time() {
    let mut nodes = String::new();
    let mut moves = String::new();
    for node in 0..10_000 {
        nodes += &format!("[[node]]\nname = 'n{node}'\n");
        moves += &format!("$node_({node}) set X_ 1.0\n$node_({node}) set Y_ 1.0\n");
    }
    let text = format!(
        "name = 'many'\nduration = '1 s'\n[area]\nwidth = 9.0\nheight = 9.0\n\
         moves = {{ trace = {{ text = '''\n{moves}''' }} }}\n{nodes}\
         [[medium]]\nname = 'air'\nstandard = 'g'\nrouting = 'oracle'\nnodes = [{}]\n\
         [[link]]\nname = 'a'\nmedium = 'air'\nfrom = 'n0'\nto = 'n1'\n\
         [[flow]]\nname = 'f'\npath = [{{ links = ['a'], back = ['a'] }}]\n",
        (2..1000).map(|node| format!("'n{node}',")).collect::<String>()
    );
    let plan = read(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.nodes.len(), plan.media[0].stations.len()), (10_000, 1000));
    assert_eq!(plan.media[0].stations[999].node, Some(999));
}

#[test]
fn a_plan_has_each_node_with_its_name_and_its_moves() {
    let plan = right();
    let names: Vec<_> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    let expected = [
        "base", "walker-1", "walker-2", "walker-3", "car-1", "car-2", "point-1", "point-2", "lost",
    ];
    assert_eq!(names, expected);
    let moves = |node: usize| &plan.nodes[node].moves;
    let at = |x, y| PlanMoves::At { place: (x, y) };
    assert_eq!((moves(0), moves(7)), (&at(250.0, 150.0), &at(400.0, 100.0)));
    assert!(matches!(moves(2), PlanMoves::Waypoint(own) if own.speed == (1.0, 5.0)));
    assert!(matches!(moves(5), PlanMoves::Highway(own) if own.lane == Some(150.0)));
    let PlanMoves::Trace { start, legs } = moves(8) else { panic!("{:?}", moves(8)) };
    assert_eq!((*start, legs.len(), legs[0].to, legs[0].speed), ((1.0, 2.0), 1, (4.0, 5.0), 6.0));
    assert_eq!((plan.nodes[3].group.as_str(), plan.nodes[3].member), ("walker", 2));
    let still = read(RIGHT, &["area.moves=still"]).unwrap();
    assert_eq!(still.nodes[1].moves, PlanMoves::Scattered);
}

#[test]
fn a_plan_has_a_medium_for_each_channel_and_a_link_on_each_that_is_used() {
    let plan = right();
    let names: Vec<_> = plan.media.iter().map(|medium| medium.name.as_str()).collect();
    assert_eq!(names, ["air/1", "air/2", "air/3", "hot", "yard", "tower"]);
    let stations = |medium: usize| {
        let names = plan.media[medium].stations.iter().map(|station| station.name.as_str());
        names.collect::<Vec<_>>()
    };
    let all = ["walker-1", "walker-2", "walker-3", "base", "car-1", "car-2"];
    assert_eq!((stations(0), stations(2)), (all.to_vec(), all.to_vec()));
    assert_eq!(stations(4), ["base", "server"]);
    assert_eq!(stations(5), ["base", "walker-1", "walker-2", "walker-3"]);
    let nodes: Vec<_> = plan.media[0].stations.iter().map(|station| station.node).collect();
    assert_eq!(nodes, [Some(1), Some(2), Some(3), Some(0), Some(4), Some(5)]);
    assert_eq!(plan.media[4].stations[1].node, None);
    let MediumSettings::Wifi(hot) = &plan.media[3].kind else { panic!("{:?}", plan.media[3]) };
    assert_eq!((hot.routing, hot.access.as_slice()), (Some(Routing::Association), &[3, 4][..]));
    let names: Vec<_> = plan.links.iter().map(|link| link.name.as_str()).collect();
    let own = ["roam", "stay", "wire", "eriw", "call", "answer"];
    let on_channels = ["up/1", "down/1", "up/2", "down/2", "up/3", "down/3", "up", "down"];
    assert_eq!(names, [&own[..], &on_channels[..]].concat());
}

#[test]
fn each_user_has_its_own_node_and_each_path_its_channel() {
    let plan = right();
    let link = |name: &str| plan.links.iter().find(|link| link.name == name).unwrap();
    let at = |medium, from: &[usize], to: &[usize]| Attachment {
        medium,
        from: from.into(),
        to: to.into(),
    };
    // Stations of the air: walkers 0 to 2, then the base.
    assert_eq!(link("up/3").attachments, [at(2, &[0], &[3]), at(2, &[1], &[3]), at(2, &[2], &[3])]);
    assert_eq!(link("up").attachments, [at(0, &[0], &[3]), at(1, &[1], &[3]), at(2, &[2], &[3])]);
    assert_eq!(link("down").attachments[1], at(1, &[3], &[1]));
    // Every access point is accepted.
    assert_eq!(link("roam").attachments[2], at(3, &[2], &[3, 4]));
    assert_eq!(link("stay").attachments[0], at(3, &[3, 4], &[0]));
    assert_eq!(
        (&link("wire").attachments, link("wire").per_user),
        (&vec![at(4, &[0], &[1])], false)
    );
    assert_eq!((&link("call").attachments[1], link("call").per_user), (&at(5, &[2], &[0]), true));
    let named = |links: &[usize]| {
        let names = links.iter().map(|link| plan.links[*link].name.as_str());
        names.collect::<Vec<_>>()
    };
    let walkers = plan.class("walkers").unwrap();
    let forth: Vec<_> = walkers.paths.iter().map(|path| named(&path.links)).collect();
    assert_eq!(forth, [["up/1", "wire"], ["up/2", "wire"], ["up/3", "wire"], ["call", "wire"]]);
    assert_eq!(named(&walkers.paths[1].back), ["eriw", "down/2"]);
    assert_eq!(named(&plan.class("turns").unwrap().paths[0].links), ["up"]);
    let third = read(&RIGHT.replacen("channel = \"each\"", "channel = 3", 1), &[]).unwrap();
    assert_eq!(third.class("walkers").unwrap().paths.len(), 2);
}

#[test]
fn a_link_to_a_member_of_a_group_is_as_long_as_places_say() {
    let text = |place: &str| {
        format!(
            "name = 'x'\nduration = '1 s'\narea = {{ width = 9000.0, height = 9.0 }}\n\
             [[node]]\nname = 'g'\ncount = 2\nplaces = [[0.0, 0.0], [{place}, 0.0]]\n\
             [[node]]\nname = 'b'\nx = 8000.0\ny = 0.0\n\
             [[medium]]\nname = 'air'\nstandard = 'g'\nradio = {{}}\n\
             [[link]]\nname = 'l'\nmedium = 'air'\nfrom = 'g-2'\nto = 'b'\n\
             [[flow]]\nname = 'f'\npath = [{{ links = ['l'], back = ['l'] }}]\n"
        )
    };
    assert!(read(&text("7999.0"), &[]).is_ok());
    let error = read(&text("1000.0"), &[]).unwrap_err();
    assert!(error.contains("7000 m apart, out of range"), "{error}");
}

/// Words that are valid somewhere in the file, each in the place of each value: an error or a plan,
/// and never a panic.
#[test]
fn no_change_of_a_value_makes_the_reader_panic() {
    let values = [
        "0",
        "-1",
        "1",
        "3",
        "65536",
        "4294967295",
        "1e300",
        "nan",
        "-inf",
        "''",
        "'walker'",
        "'walker-2'",
        "'base'",
        "'point'",
        "'air'",
        "'tower'",
        "'0 s'",
        "'1 ns'",
        "'365 days'",
        "[]",
        "[1.0, 2.0]",
        "{}",
        "true",
        "'aodv'",
        "'oracle'",
        "'turn'",
        "'each'",
        "'still'",
        "['up']",
        "['walker', 'base']",
        "'1 b/s'",
    ];
    let lines: Vec<_> = RIGHT.lines().collect();
    let mut read_well = 0;
    for (number, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for value in values {
            let changed = format!("{key} = {value}");
            let mut lines = lines.clone();
            lines[number] = &changed;
            let Ok(plan) = read(&lines.join("\n"), &[]) else { continue };
            read_well += 1;
            for Attachment { medium, from, to } in
                plan.links.iter().flat_map(|link| &link.attachments)
            {
                let stations = plan.media[*medium].stations.len();
                assert!(from.iter().chain(to).all(|end| *end < stations), "{changed}");
                assert!(!from.is_empty() && !to.is_empty(), "{changed}");
                assert!(from.iter().all(|end| !to.contains(end)), "{changed}");
            }
        }
    }
    assert!(read_well > 50, "{read_well}");
}
