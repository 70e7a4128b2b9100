//! The paths of a group under arbitrary orders of what a QUIC stack may call, copies and drops
//! among them: each family of copies has one slot, no window is below two packets, a copy begins
//! with the window of its original or, under a controller of the delivery rate, with none that is
//! larger than all that its path's copies have, and the log replays bit for bit.
#![no_main]

use anabranch_noq::{Group, Path, Refused, replay};
use arbitrary::{Arbitrary, Result, Unstructured};
use fuzz::{controller, windows};
use libfuzzer_sys::fuzz_target;
use noq_proto::congestion::{Controller, ControllerFactory};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// An instant has no zero; only spans from this one count.
static START: LazyLock<Instant> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "the first instant of virtual time")]
    Instant::now()
});

#[derive(Arbitrary, Debug)]
enum Call {
    Build { mtu: u16 },
    Copy { of: u8 },
    Drop { of: u8 },
    Sent { of: u8, packet: u64 },
    Ack { of: u8, age_us: u32, bytes: u16, packet: u64, limited: bool, srtt_us: u32 },
    EndAcks { of: u8, in_flight: u32, limited: bool, largest: Option<u64> },
    Congestion { of: u8, age_us: u32, persistent: bool, ecn: bool, lost: u16 },
    Spurious { of: u8 },
    Lost { of: u8, bytes: u16 },
    Mtu { of: u8, mtu: u16 },
    CwndLimited { of: u8 },
    Look { of: u8 },
}

/// One controller as the stack holds it, with the number of the path that it was built for.
struct Held {
    path: Box<Path>,
    family: u64,
    mtu: u64,
}

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let (spec, settings) = (controller(bytes)?, windows(bytes)?);
    let paths = bytes.int_in_range(0..=9_usize)?;
    let group = match Group::with_paths(&spec, settings, paths) {
        Ok(group) => group,
        Err(Refused::Needs { controller, .. } | Refused::Kernel { controller }) => {
            assert_eq!(controller, spec.to_string());
            return Ok(());
        }
        Err(_) => return Ok(()),
    };
    group.record(1 << 16);
    let (mut held, mut families, mut now) = (Vec::<Held>::new(), 0, *START);
    while !bytes.is_empty() {
        now += Duration::from_micros(u16::arbitrary(bytes)?.into());
        call(bytes, &group, &mut held, &mut families, now)?;
        check(&group, &held);
    }
    drop(held);
    assert!(group.report().is_empty());
    let (steps, missed) = group.take_steps();
    if missed == 0
        && let Err(mismatch) = replay(&spec, group.settings(), paths, &steps)
    {
        panic!("{spec}: {mismatch}");
    }
    Ok(())
}

fn own(controller: Box<dyn Controller>) -> Box<Path> {
    controller.into_any().downcast().expect("groups build paths")
}

fn call(
    bytes: &mut Unstructured<'_>,
    group: &Arc<Group>,
    held: &mut Vec<Held>,
    families: &mut u64,
    now: Instant,
) -> Result<()> {
    let call = Call::arbitrary(bytes)?;
    if let Call::Build { mtu } = call {
        let path = own(Arc::clone(group).build(now, mtu));
        *families += 1;
        held.push(Held { path, family: *families, mtu: u64::from(mtu.max(1)) });
        return Ok(());
    }
    let (Call::Copy { of }
    | Call::Drop { of }
    | Call::Sent { of, .. }
    | Call::Ack { of, .. }
    | Call::EndAcks { of, .. }
    | Call::Congestion { of, .. }
    | Call::Spurious { of }
    | Call::Lost { of, .. }
    | Call::Mtu { of, .. }
    | Call::CwndLimited { of }
    | Call::Look { of }) = call
    else {
        return Ok(());
    };
    if held.is_empty() {
        return Ok(());
    }
    let of = usize::from(of) % held.len();
    let newest = held.iter().filter(|own| own.family == held[of].family);
    let most = newest.map(|own| own.path.window() / own.mtu).max();
    let Held { path, family, mtu } = &mut held[of];
    let ago = |us: u32| now.checked_sub(Duration::from_micros(us.into())).unwrap_or(now);
    match call {
        Call::Build { .. } => {}
        Call::Copy { .. } => {
            let (copy, family, mtu) = (own(path.clone_box()), *family, *mtu);
            // Controllers of the delivery rate keep their own model, and no copy enlarges it. The
            // original may be an old one, for which a newer copy speaks.
            match group.spec().needs().rates {
                true => assert!(Some(copy.window() / mtu) <= most, "{}", group.spec()),
                false => assert_eq!(copy.window(), path.window(), "{}", group.spec()),
            }
            held.push(Held { path: copy, family, mtu });
        }
        Call::Drop { .. } => drop(held.swap_remove(of)),
        Call::Sent { packet, .. } => path.on_packet_sent(now, 1, packet),
        Call::Ack { age_us, bytes, packet, limited, srtt_us, .. } => {
            let srtt = Duration::from_micros(srtt_us.into());
            path.acknowledged(now, ago(age_us), bytes.into(), packet, limited, srtt);
        }
        Call::EndAcks { in_flight, limited, largest, .. } => {
            path.on_end_acks(now, in_flight.into(), limited, largest);
        }
        Call::Congestion { age_us, persistent, ecn, lost, .. } => {
            path.on_congestion_event(now, ago(age_us), persistent, ecn, lost.into(), 0);
        }
        Call::Lost { bytes, .. } => path.on_packet_lost(bytes, 0, now),
        Call::Spurious { .. } => path.on_spurious_congestion_event(),
        Call::Mtu { mtu: new, .. } => {
            path.on_mtu_update(new);
            *mtu = u64::from(new.max(1));
        }
        Call::CwndLimited { .. } => path.on_cwnd_limited(),
        Call::Look { .. } => {
            let metrics = path.metrics();
            assert_eq!(metrics.congestion_window, path.window());
            assert!(path.initial_window() > 0);
        }
    }
    Ok(())
}

fn check(group: &Arc<Group>, held: &[Held]) {
    let mut families: Vec<u64> = held
        .iter()
        .filter(|own| Arc::ptr_eq(own.path.group(), group))
        .map(|own| own.family)
        .collect();
    families.sort_unstable();
    families.dedup();
    let report = group.report();
    assert_eq!(report.len(), families.len(), "a slot for each path");
    assert!(report.iter().all(|path| path.cwnd.is_finite()), "{}: {report:?}", group.spec());
    for own in held {
        let window = own.path.window();
        assert!(window >= 2 * own.mtu, "{window} bytes with packets of {}", own.mtu);
    }
}
