//! What the targets share: transports to be fuzzed, and any choice among a few things.

use arbitrary::{Arbitrary, Result, Unstructured};
use control::tfrc::Feedback;
use control::{AnyLaw, AnyScheme, Shell, CongestionController, Scheme, Settings, Window};
use ports::{PORTS, Ported};
use transport::{
    Coding, Idle, ModernSettings, RtoFloor, RtoSettings, Scheduler, Sender, SenderSettings, Source,
};
use units::{Bytes, Span, Time};

/// Payload bytes of a segment.
pub const SEGMENT: u32 = 1000;

/// Any congestion control that there is, over `paths` paths, with its name.
pub fn control(
    bytes: &mut Unstructured<'_>,
    settings: Settings,
    paths: usize,
) -> Result<(String, Box<dyn CongestionController>)> {
    let laws =
        ["reno", "lia", "lia:uncapped", "olia", "balia", "fully-coupled", "semicoupled", "hacker"];
    let more = [
        "ewtcp",
        "phi:0.5",
        "phi:2",
        "cubic",
        "cubic:hystart",
        "wvegas",
        "wvegas:nodrain",
        "bbr",
        "lp",
        "lp:reset",
        "multi-priority",
        "multi-priority:naive",
        "multi-priority:literal",
        "multi-priority:switching",
        "bilevel",
        "multi-priority:trial",
        "multi-priority:nice",
        "nice",
        "hacker-switching",
        "mtcp",
        "tfrc",
        "tfrc:discounting",
        "tfrc:fractional",
        "tfrc:fractional-discounting",
        "bilevel-tfrc",
        "bilevel-tfrc:discounting",
        "bilevel-tfrc:pooled",
        "couple-plus",
        "couple-plus:decode-only",
        "dwc",
        "dwc:losses",
        "cs218",
        "cs218:capped",
        "cs218:acks-0",
        "compound",
    ];
    let kind = bytes.int_in_range(0..=laws.len() + more.len() + PORTS.len() - 1)?;
    if let Some(port) = kind.checked_sub(laws.len() + more.len()) {
        let port = PORTS[port];
        return Ok((format!("kernel:{}", port.law), Box::new(Ported::new(port, settings, paths))));
    }
    let name = laws.iter().chain(&more).nth(kind).expect("it is in range").to_string();
    Ok(match name.parse::<Scheme>() {
        Ok(scheme) => (name, Box::new(AnyScheme::new(scheme, settings, paths))),
        Err(_) => {
            let law: AnyLaw = name.parse().expect("a law has its own name");
            (name, Box::new(Shell::new(law, settings, paths)))
        }
    })
}

/// Windows as a scenario may set them.
pub fn windows(bytes: &mut Unstructured<'_>) -> Result<Settings> {
    let min_window = 1.0 + f64::from(bytes.int_in_range(0..=3u8)?);
    let finite = bool::arbitrary(bytes)?;
    Ok(Settings {
        min_window,
        min_ssthresh: min_window + f64::from(bytes.int_in_range(0..=2u8)?),
        initial_window: min_window + f64::from(bytes.int_in_range(0..=20u8)?),
        initial_ssthresh: if finite {
            4.0 + f64::from(u8::arbitrary(bytes)?)
        } else {
            f64::INFINITY
        },
        carry_over: bool::arbitrary(bytes)?,
        base: 0,
    })
}

/// Any options of a sender that go together.
pub fn sender_settings(bytes: &mut Unstructured<'_>, source: Source) -> Result<SenderSettings> {
    let sack = bool::arbitrary(bytes)?;
    let modern = ModernSettings {
        rack: sack && bool::arbitrary(bytes)?,
        tlp: sack && bool::arbitrary(bytes)?,
        eifel: bool::arbitrary(bytes)?,
        dsack: sack && bool::arbitrary(bytes)?,
        frto: sack && bool::arbitrary(bytes)?,
        rate: bool::arbitrary(bytes)?,
        ecn: bool::arbitrary(bytes)?,
    };
    let opportunistic = bool::arbitrary(bytes)?;
    Ok(SenderSettings {
        segment: SEGMENT,
        sack,
        limited_transmit: bool::arbitrary(bytes)?,
        modern,
        prr: bool::arbitrary(bytes)?,
        idle: *bytes.choose(&[Idle::Keep, Idle::Restart, Idle::Decay])?,
        initial_window: 10.0,
        rto: RtoSettings {
            min: Span::millis(200),
            floor: *bytes.choose(&[RtoFloor::Variance, RtoFloor::Total])?,
            max: Span::millis(120_000),
            initial: Span::millis(1000),
        },
        receive_buffer: 1 << bytes.int_in_range(12..=20u8)?,
        handshake: bool::arbitrary(bytes)?,
        scheduler: bytes.choose(&Scheduler::examples())?.clone(),
        opportunistic,
        penalise: opportunistic && bool::arbitrary(bytes)?,
        host_limit: *bytes.choose(&[u64::MAX, 3_000])?,
        host_time: *bytes.choose(&[Span::ZERO, Span::millis(1)])?,
        datagrams: false,
        tfrc: false,
        source,
    })
}

/// A boxed control is a control.
pub struct Boxed(pub Box<dyn CongestionController>);

impl CongestionController for Boxed {
    fn on_ack(&mut self, path: usize, ack: &control::Acked) {
        self.0.on_ack(path, ack);
    }

    fn on_congestion(&mut self, path: usize, cause: control::Cause) {
        self.0.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.0.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.0.set_member(path, member);
    }

    fn undo(&mut self, path: usize) {
        self.0.undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.0.restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        self.0.window(path)
    }

    fn on_delivered(&mut self, path: usize, delivered: &control::Delivered) {
        self.0.on_delivered(path, delivered);
    }

    fn pacing(&self, path: usize) -> Option<f64> {
        self.0.pacing(path)
    }

    fn on_delay(&mut self, path: usize, delay: f64) {
        self.0.on_delay(path, delay);
    }

    fn reads_delay(&self) -> bool {
        self.0.reads_delay()
    }

    fn on_stalled(&mut self) {
        self.0.on_stalled();
    }

    fn moves_siblings(&self) -> bool {
        self.0.moves_siblings()
    }

    fn on_feedback(&mut self, path: usize, feedback: &Feedback<'_>) {
        self.0.on_feedback(path, feedback);
    }

    fn on_silence(&mut self, path: usize, now: f64, idle: bool) {
        self.0.on_silence(path, now, idle);
    }
}

/// A sender of any kind, its name and its settings.
pub fn sender(
    bytes: &mut Unstructured<'_>,
    paths: usize,
    transfer: Option<u64>,
) -> Result<(Sender<Boxed>, SenderSettings, String)> {
    let source = transfer.map_or(Source::Bulk, |bytes| Source::Transfer(Bytes(bytes)));
    let mut settings = sender_settings(bytes, source)?;
    let windows = windows(bytes)?;
    settings.initial_window = windows.initial_window;
    let (name, control) = control(bytes, windows, paths)?;
    settings.modern.rate |= name == "bbr" || name == "bilevel";
    settings.prr &= name != "bbr";
    settings.tfrc = name.contains("tfrc");
    let sender = Sender::new(settings.clone().into(), Boxed(control), paths, Time::ZERO);
    Ok((sender, settings, name))
}

/// Codes some of the paths of a sender, if they can be; says which.
pub fn code(
    bytes: &mut Unstructured<'_>,
    sender: &mut Sender<Boxed>,
    settings: &SenderSettings,
) -> Result<Vec<usize>> {
    let modern = &settings.modern;
    let no = modern.rack || modern.tlp || modern.dsack || modern.frto || modern.eifel || modern.ecn;
    if no || settings.tfrc || !bool::arbitrary(bytes)? {
        return Ok(Vec::new());
    }
    let mut coded = Vec::new();
    for path in 0..sender.paths() {
        if bool::arbitrary(bytes)? {
            let redundancy = 1.0 + f64::from(bytes.int_in_range(0..=100u8)?) / 100.0;
            let window = bytes.int_in_range(1..=255u8)?;
            sender.set_coding(path, Coding { redundancy, window });
            coded.push(path);
        }
    }
    Ok(coded)
}
