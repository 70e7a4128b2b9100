//! Any small valid scenario, with kinds of every registry.

use arbitrary::{Arbitrary, Result, Unstructured};
use network::Queue;
use scenario::{MediumExample, Plan, PlanLink, medium_examples};
use transport::Scheduler;

/// A scenario and its plan; `None` if the scenario combines incompatible options.
pub fn plan(bytes: &mut Unstructured<'_>) -> Option<(String, Plan)> {
    let text = scenario_text(bytes).ok()?;
    let mut plan = Plan::read(&text, "fuzz", &[]).ok()?;
    choose_queues(&mut plan, bytes).ok()?;
    Some((text, plan))
}

/// Gives each link with a transmitter, and each host before a medium, a queue of any kind.
fn choose_queues(plan: &mut Plan, bytes: &mut Unstructured<'_>) -> Result<()> {
    let for_hosts = |queue: &Queue| queue.fits_host();
    let wired = |link: &&mut PlanLink| link.rate.is_some() && link.attachments.is_empty();
    for link in plan.links.iter_mut().filter(wired) {
        link.queue = choose_queue(bytes, |_| true)?;
    }
    for station in plan.media.iter_mut().flat_map(|medium| &mut medium.stations) {
        station.settings.queue = choose_queue(bytes, for_hosts)?;
    }
    Ok(())
}

fn choose_queue(bytes: &mut Unstructured<'_>, suits: impl FnMut(&Queue) -> bool) -> Result<Queue> {
    let limit = u64::from(bytes.int_in_range(1..=60u8)?);
    let mut queues = Queue::short(limit, bool::arbitrary(bytes)?);
    queues.retain(suits);
    let kind = bytes.choose_index(queues.len())?;
    Ok(queues.swap_remove(kind))
}

fn scenario_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = "name = 'fuzz'\nduration = '400 ms'\nwarmup = '0 s'\n".to_owned();
    let links = bytes.int_in_range(1..=3u8)?;
    for link in 0..links {
        let rate = bytes.int_in_range(100..=20_000u16)?;
        let delay = bytes.int_in_range(0..=40u8)?;
        let loss = f64::from(bytes.int_in_range(0..=30u8)?) / 100.0;
        let other = *bytes.choose(&[
            "",
            "duplicate = 0.1\n",
            "reorder = { probability = 0.1, delay = '9 ms' }\n",
        ])?;
        text += &format!(
            "[[link]]\nname = '{link}'\nrate = '{rate} kb/s'\ndelay = '{delay} ms'\n\
             loss = {{ probability = {loss} }}\n{other}"
        );
        if bool::arbitrary(bytes)? {
            let (at, rate) = (bytes.int_in_range(0..=400u16)?, bytes.int_in_range(1..=9_000u16)?);
            text += &format!("[[link.change]]\nat = '{at} ms'\nrate = '{rate} kb/s'\n");
        }
    }
    for flow in 0..bytes.int_in_range(1..=3u8)? {
        text += &flow_text(bytes, flow, links)?;
    }
    if bool::arbitrary(bytes)? {
        text += &ground_text(bytes)?;
    }
    Ok(text)
}

/// The movement of a group of two nodes.
fn moves_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let (least, more) = (bytes.int_in_range(1..=200u8)?, bytes.int_in_range(0..=200u8)?);
    let most = u16::from(least) + u16::from(more);
    let pause = bytes.int_in_range(0..=100u8)?;
    Ok(match bytes.int_in_range(0..=3u8)? {
        0 => "'still'".into(),
        1 => format!(
            "{{ waypoint = {{ speed = [{least}.0, {most}.0], pause = ['0 s', '{pause} ms'], stationary = {} }} }}",
            bool::arbitrary(bytes)?
        ),
        2 => format!(
            "{{ highway = {{ speed = [{least}.0, {most}.0], hold = '100 ms', reaction = '{pause} ms', gap = 50.0 }} }}"
        ),
        _ => {
            let mut told = String::new();
            for node in 2..4u8 {
                let [x, y, to, at] = <[u8; 4]>::arbitrary(bytes)?;
                told += &format!(
                    "$node_({node}) set X_ {x}\n$node_({node}) set Y_ {y}\n\
                     $ns_ at 0.{at} \"$node_({node}) setdest {to} {y} {most}\"\n"
                );
            }
            format!("{{ trace = {{ text = \'\'\'{told}\'\'\' }} }}")
        }
    })
}

/// Nodes on the ground, a medium of every kind, and connections over one or two of them.
fn ground_text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = format!(
        "[area]\nwidth = 300.0\nheight = 300.0\nstep = '{} ms'\n",
        bytes.int_in_range(1..=99u8)?
    );
    let x = bytes.int_in_range(0..=255u8)?;
    for (name, y) in [("base", 100), ("server", 120)] {
        text += &format!("[[node]]\nname = '{name}'\nx = {x}.0\ny = {y}.0\n");
    }
    text += &format!("[[node]]\nname = 'n'\ncount = 2\nmoves = {}\n", moves_text(bytes)?);
    text += &format!("[[node]]\nname = 'points'\ncount = {}\n", bytes.int_in_range(2..=4u8)?);
    let media = medium_examples();
    for medium in &media {
        text += &medium.text(u32::arbitrary(bytes)?.into());
    }
    let paths = MediumExample::paths(&media);
    for flow in 0..bytes.int_in_range(1..=3u8)? {
        let channel = *bytes.choose(&["", "channel = 'each'\n", "channel = 'turn'\n"])?;
        let path = |bytes: &mut Unstructured<'_>| -> Result<String> {
            let (links, back) = bytes.choose(&paths)?;
            Ok(format!("[[flow.path]]\nlinks = {links}\nback = {back}\n{channel}"))
        };
        text += &format!("[[flow]]\nname = 'ground{flow}'\ncount = 2\n");
        if bool::arbitrary(bytes)? {
            let (rate, echo) = (bytes.int_in_range(1..=100u8)?, bool::arbitrary(bytes)?);
            text += &format!("protocol = 'udp'\necho = {echo}\napp_rate = '{rate}00 kb/s'\n");
            text += &path(bytes)?;
            continue;
        }
        let size = *bytes.choose(&[
            "",
            "small_queue = '8 kB'",
            "small_queue_time = '1 ms'",
            "packet = '200 B', payload = '160 B'",
        ])?;
        let controller = crate::controller(bytes)?;
        text += &format!("controller = '{controller}'\ntransport = {{ {size} }}\n");
        for _ in 0..bytes.int_in_range(1..=2u8)? {
            text += &path(bytes)?;
        }
        if bool::arbitrary(bytes)? {
            text += "[[flow.path]]\nlinks = ['0']\n";
        }
    }
    Ok(text)
}

fn flow_text(bytes: &mut Unstructured<'_>, flow: u8, links: u8) -> Result<String> {
    let controller = crate::controller(bytes)?;
    let mut options = String::new();
    for option in
        ["handshake", "ecn", "eifel", "opportunistic", "suspend", "autotune", "limited_transmit"]
    {
        options += &format!("{option} = {}, ", bool::arbitrary(bytes)?);
    }
    let sack = bool::arbitrary(bytes)?;
    for option in ["rack", "tlp", "dsack", "frto"] {
        options += &format!("{option} = {}, ", sack && bool::arbitrary(bytes)?);
    }
    let scheduler = bytes.choose(&Scheduler::examples())?.clone();
    let mut parameters = toml::Table::try_from(scheduler).expect("it is a table");
    let kind = parameters.remove("kind").expect("a plan names the kind");
    let scheduler = format!("{{ {kind} = {} }}", toml::Value::Table(parameters));
    let end = *bytes.choose(&["", "transfer = '20 kB'\n", "app_rate = '1 Mb/s'\n"])?;
    let mut text = format!(
        "[[flow]]\nname = 'f{flow}'\ncontroller = '{controller}'\n{end}\
         transport = {{ {options}sack = {sack}, scheduler = {scheduler} }}\n"
    );
    for path in 0..bytes.int_in_range(1..=3u8)? {
        let link = bytes.int_in_range(0..=links - 1)?;
        let join = bytes.int_in_range(0..=300u16)?;
        let join =
            if path > 0 && join > 100 { format!("join = '{join} ms'\n") } else { String::new() };
        let leave = bytes.int_in_range(0..=900u16)?;
        let leave = if leave > 300 && leave < 400 {
            format!("leave = '{leave} ms'\n")
        } else {
            String::new()
        };
        let coding = match bytes.int_in_range(0..=3u8)? {
            0 => format!(
                "coding = {{ redundancy = 1.2, window = {} }}\n",
                bytes.int_in_range(1..=40u8)?
            ),
            _ => String::new(), // a text that does not fit an option is not a scenario
        };
        text += &format!("[[flow.path]]\nlinks = ['{link}']\n{join}{leave}{coding}");
    }
    Ok(text)
}
