//! The devices between which packets move, and checks of a set of devices.

use scenario::Plan;
use std::fmt;
use std::os::fd::OwnedFd;

/// An end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end at which data enters.
    Sender,
    /// The end at which data leaves, and ACKs enter.
    Receiver,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        })
    }
}

/// One end of a path of a class, for all users of the class.
#[derive(Debug)]
pub struct Device {
    /// A TUN device: whole IP packets without a header before them.
    pub fd: OwnedFd,
    /// Index of the class in the plan.
    pub class: usize,
    /// Index of the path in the class.
    pub path: usize,
    /// The end of the path.
    pub side: Side,
}

/// An error in the devices or the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

/// Checks that every path of every class has one device at each end, and every class its ports.
pub(crate) fn check(plan: &Plan, devices: &[Device], first_port: u16) -> Result<(), SetupError> {
    for device in devices {
        let Device { fd, class, path, side } = device;
        if plan.classes.get(*class).is_none_or(|class| *path >= class.paths.len()) {
            let text = format!("the {side}'s device of class {class}, path {path}: no such path");
            return Err(SetupError(text));
        }
        // A blocking read would delay every other device.
        rustix::io::ioctl_fionbio(fd, true).map_err(|error| {
            let text = format!("the {side}'s device of class {class}, path {path}: {error}");
            SetupError(text)
        })?;
    }
    for (index, class) in plan.classes.iter().enumerate() {
        if u32::from(u16::MAX - first_port) + 1 < class.count {
            return Err(SetupError(format!(
                "class {} has {} users and each takes a port, but from {first_port} on there are \
                 only {}",
                class.name,
                class.count,
                u32::from(u16::MAX - first_port) + 1
            )));
        }
        for path in 0..class.paths.len() {
            for side in [Side::Sender, Side::Receiver] {
                let own =
                    devices.iter().filter(|it| (it.class, it.path, it.side) == (index, path, side));
                let count = own.count();
                if count != 1 {
                    return Err(SetupError(format!(
                        "class {}, path {path} has {count} devices on the {side}'s side; it needs 1",
                        class.name
                    )));
                }
            }
        }
    }
    Ok(())
}
