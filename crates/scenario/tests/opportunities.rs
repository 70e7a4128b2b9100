//! Opportunities of links in a scenario: read from a file or written inline, and refused with the
//! line.

use network::Queue;
use network::queue::DropTail;
use scenario::{Plan, with_files};
use units::{Rate, Span};

const LINK: &str = "name = 'x'\nduration = '10 s'\n[[link]]\nname = 'cell'\ndelay = '20 ms'\n";
const FLOW: &str = "[[flow]]\nname = 'u'\npath = [{ links = ['cell'] }]\n";

fn read(link: &str, overrides: &[&str]) -> Result<Plan, String> {
    let text = format!("{LINK}{link}\n{FLOW}");
    let overrides: Vec<_> =
        overrides.iter().map(|text| text.parse().expect("an override")).collect();
    Plan::read(&text, "x.toml", &overrides).map_err(|it| it.to_string())
}

#[test]
fn a_plan_has_the_times_and_the_rate_that_they_are_worth() {
    let plan = read("opportunities = { times = '0 1 1 5', start = '2 s' }", &[]).unwrap();
    let link = &plan.links[0];
    let own = link.opportunities.as_ref().unwrap();
    assert_eq!((&own.times_ms[..], own.start), (&[0, 1, 1, 5][..], Span::millis(2000)));
    assert_eq!(link.rate, Some(Rate(9_600_000)));
    assert!(
        (link.mean_rate_bps(Span::millis(1), Span::millis(10)) - 6.0 * 12e3 / 9e-3).abs() < 1.0
    );
    assert_eq!(link.queue, Queue::DropTail(DropTail::of(1000)));
    let json = plan.to_json();
    let expected = serde_json::json!({ "times_ms": [0, 1, 1, 5], "start_s": 2.0 });
    assert_eq!(json["links"][0]["opportunities"], expected);
    assert_eq!(json["links"][1]["opportunities"], serde_json::Value::Null);
}

#[test]
fn overrides_reach_into_them() {
    let link = "opportunities = { times = '5' }";
    let plan = read(link, &["link.cell.opportunities.start=3 ms"]).unwrap();
    assert_eq!(plan.links[0].opportunities.as_ref().unwrap().start, Span::millis(3));
    let plan = read(link, &["link.cell.opportunities.times=\"1 2\""]).unwrap();
    assert_eq!(plan.links[0].opportunities.as_ref().unwrap().times_ms[..], [1, 2]);
    let error = read(link, &["link.cell.opportunities.times=\"2 1\""]).unwrap_err();
    assert!(error.contains("override `link.cell.opportunities.times"), "{error}");
}

#[test]
fn what_does_not_go_with_them_is_refused_and_what_would_be_right_is_said() {
    let times = "opportunities = { times = '1' }\n";
    let cases = [
        (format!("{times}rate = '1 Mb/s'"), "and so is `rate`", "leave one out"),
        (
            format!("{times}change = [{{ at = '1 s', rate = '1 Mb/s' }}]"),
            "change.0.rate is set",
            "no rate to change",
        ),
        (
            format!("{times}trace = {{ rows = \"t_s,rate_bps\\n0,1e6\" }}"),
            "its trace has rates",
            "no opportunities",
        ),
        (
            "opportunities = { start = '1 s' }".into(),
            "both `file` and `times`, or neither",
            "give one",
        ),
        (
            "opportunities = { times = '1', file = 'f' }".into(),
            "both `file` and `times`, or neither",
            "give one",
        ),
        ("opportunities = { file = 'f' }".into(), "opportunities.file is \"f\"", "give `times`"),
        (
            "opportunities = { times = \"3\\n1\" }".into(),
            "line 2: time goes back: 1 ms after 3 ms",
            "a time in milliseconds",
        ),
        (
            "opportunities = { times = '0 0' }".into(),
            "line 1: the last number is the period",
            "x.toml:6",
        ),
        ("opportunities = { every = '1 ms' }".into(), "there is no key `every`", "x.toml:6"),
    ];
    for (link, what, right) in cases {
        let error = read(&link, &[]).map(|_| ()).unwrap_err();
        assert!(error.contains(what) && error.contains(right), "{link}: {error}");
    }
    assert!(read(&format!("{times}queue = {{ codel = {{}} }}\njitter = '0 ms'"), &[]).is_ok());
    assert!(read(&format!("{times}trace = {{ rows = \"t_s,delay_s\\n0,0.01\" }}"), &[]).is_ok());
}

#[test]
fn a_file_comes_into_the_text_and_its_errors_name_it_and_the_line() {
    let text = format!("{LINK}opportunities = {{ file = 'lte.down' }}\n{FLOW}");
    let within = |content: &'static str| {
        with_files(&text, "x.toml", &|file| match file {
            "lte.down" => Ok(content.to_owned()),
            _ => Err("it is another one".into()),
        })
    };
    let embedded = within("0\n1\n1\n5\n").unwrap().unwrap();
    assert_eq!(embedded.lines().count(), text.lines().count());
    let plan = Plan::read(&embedded, "x.toml", &[]).unwrap();
    assert_eq!(plan.links[0].opportunities.as_ref().unwrap().times_ms[..], [0, 1, 1, 5]);
    let error = within("0\nx\n").unwrap_err().to_string();
    let what = "the trace lte.down is wrong in line 2: `x` is not a whole number of milliseconds";
    assert!(error.contains(what) && error.contains("such as 0 1 1 5"), "{error}");
}
