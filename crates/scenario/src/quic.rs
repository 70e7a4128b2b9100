//! What a flow over QUIC can have: the stack is taken as it is published, so that what it cannot do
//! is refused by name.

use crate::path::Path;
use crate::report::WrongKey;
use control::{ControllerKind, ControllerSpec};
use transport::{OptionTable, Options, Scheduler};

/// The smallest packet: QUIC needs datagrams of 1200 bytes (RFC 9000 §14), after 28 of headers.
const MIN_PACKET: u64 = 1228;

/// Most paths of a connection: the adapter of the controllers has places for as many.
const MOST_PATHS: usize = 32;

/// Checks the paths and the transport options of a flow over QUIC. Of the paths that are written
/// there are `count`; `options` are the flow's own over those of the scenario.
pub(crate) fn check(
    written: &[Path],
    count: usize,
    own: &OptionTable,
    options: &Options,
) -> Result<(), WrongKey> {
    if written.iter().any(|path| path.coding.is_some()) {
        let right = "only paths of TCP and MPTCP can be coded";
        return Err(WrongKey::new("path", "it is QUIC, and a path is coded", right));
    }
    if count > MOST_PATHS {
        let what = format!("it is QUIC, and has {count} paths");
        return Err(WrongKey::new("path", what, "a connection has at most 32"));
    }
    if written.iter().all(Path::leaves) {
        let right = "the stack does not close its last path: leave `leave` out of one of them";
        return Err(WrongKey::new("path", "it is QUIC, and every path leaves", right));
    }
    check_own_options(own).map_err(|wrong| wrong.below("transport"))?;
    check_options(options).map_err(|wrong| wrong.below("transport"))
}

/// Options of the flow's own table that are those of TCP.
fn check_own_options(own: &OptionTable) -> Result<(), WrongKey> {
    let tcp = [
        ("payload", own.payload.is_some()),
        ("sack", own.sack.is_some()),
        ("limited_transmit", own.limited_transmit.is_some()),
        ("rack", own.rack.is_some()),
        ("tlp", own.tlp.is_some()),
        ("eifel", own.eifel.is_some()),
        ("dsack", own.dsack.is_some()),
        ("frto", own.frto.is_some()),
        ("idle", own.idle.is_some()),
        ("delayed_ack", own.delayed_ack.is_some()),
        ("rto_min", own.rto_min.is_some()),
        ("rto_floor", own.rto_floor.is_some()),
        ("rto_max", own.rto_max.is_some()),
        ("rto_initial", own.rto_initial.is_some()),
        ("handshake", own.handshake.is_some()),
    ];
    match tcp.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            let what = format!("transport.{name} is set, and the flow is QUIC");
            let right = "it is an option of TCP, and QUIC has its own way: leave it out, or set it \
                         for all flows in [transport], where QUIC does not read it";
            Err(WrongKey::new(name, what, right))
        }
        None => Ok(()),
    }
}

/// Options that would change what a flow does, wherever they are set.
fn check_options(options: &Options) -> Result<(), WrongKey> {
    if options.packet.0 < MIN_PACKET {
        let what = format!("transport.packet is {}, and the flow is QUIC", options.packet);
        let right = "QUIC needs datagrams of 1200 B: at least 1228 B with the headers";
        return Err(WrongKey::new("packet", what, right));
    }
    if options.scheduler != Scheduler::default() {
        let right = "the stack has no scheduler to choose: data takes the first path with room, in \
                     the order of the paths";
        return Err(WrongKey::new(
            "scheduler",
            "transport.scheduler is set, and the flow is QUIC",
            right,
        ));
    }
    let on = [
        ("opportunistic", options.opportunistic),
        ("penalise", options.penalise),
        ("suspend", options.suspend),
        ("autotune", options.autotune),
        ("small_queue", options.small_queue.is_some()),
        ("small_queue_time", options.small_queue_time.is_some()),
    ];
    match on.iter().find(|(_, on)| *on) {
        Some((name, _)) => {
            let what = format!("transport.{name} is on, and the flow is QUIC");
            Err(WrongKey::new(name, what, "the stack has nothing of the kind: leave it out"))
        }
        None => Ok(()),
    }
}

/// Why a flow of this protocol cannot have this controller, and what would be right.
pub(crate) fn wrong_controller(
    spec: &ControllerSpec,
    quic: bool,
) -> Option<(String, &'static str)> {
    const CHOOSE: &str = "choose a controller that needs acknowledgements alone, such as lia, or one of the stack's \
         own: noq:newreno, noq:cubic, noq:bbr3";
    if !quic {
        let name = spec.noq()?;
        let right = "give the flow `protocol = \"quic\"`, or run it with --world quic";
        return Some((format!("`noq:{name}` is the QUIC stack's own, and the flow is not"), right));
    }
    let needs = spec.needs();
    let needed = [(needs.reports, "reports of the receiver"), (needs.delays, "one-way delays")];
    if let Some((_, what)) = needed.into_iter().find(|(needed, _)| *needed) {
        return Some((format!("`{spec}` needs {what}, which QUIC does not give it"), CHOOSE));
    }
    let kernels = matches!(
        spec.kind(),
        ControllerKind::Kernel(_)
            | ControllerKind::KernelScheme(_)
            | ControllerKind::KernelWritten(_)
    );
    kernels.then(|| (format!("`{spec}` is the kernel's arithmetic, and the flow is QUIC"), CHOOSE))
}
