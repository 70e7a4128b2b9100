//! Builds links and routes from a plan, and finds the route of a packet read from a device.

use crate::device::{Device, Side};
use crate::packet::{Header, Packet};
use crate::report::Reason;
use scenario::Plan;
use topology::{TopologyBuilder, UserLinks};

/// A route of one user in one direction of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The start of the route among the hops.
    pub(crate) hop: u32,
    /// The device to which its packets are written.
    pub(crate) exit: u32,
}

/// Settings shared by the users of a class.
#[derive(Clone, Debug)]
struct Users {
    /// Number of the first path of the first user.
    first: u32,
    paths: u32,
    count: u32,
    /// Largest IP packet, in bytes.
    packet: u32,
}

/// All routes. Paths are numbered flow by flow, as in the simulator; path `n` has route `2n` for
/// data and route `2n + 1` for ACKs.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    routes: Vec<Route>,
    classes: Vec<Users>,
    first_port: u16,
}

/// The path of a route.
pub(crate) fn path(route: u32) -> usize {
    route as usize / 2
}

/// Whether a route carries data.
pub(crate) fn is_data(route: u32) -> bool {
    route.is_multiple_of(2)
}

impl Routes {
    /// Builds all routes of `plan`; the devices have been checked.
    pub(crate) fn new(
        plan: &Plan,
        devices: &[Device],
        first_port: u16,
        builder: &mut TopologyBuilder<'_, Packet>,
    ) -> Self {
        let mut all = Routes { routes: Vec::new(), classes: Vec::new(), first_port };
        for (index, class) in plan.classes.iter().enumerate() {
            let exit = |path: usize, side: Side| {
                let own = |it: &Device| (it.class, it.path, it.side) == (index, path, side);
                devices.iter().position(own).expect("the devices were checked") as u32
            };
            all.classes.push(Users {
                first: all.routes.len() as u32 / 2,
                paths: class.paths.len() as u32,
                count: class.count,
                packet: class.transport.packet.0 as u32,
            });
            for user in 0..class.count {
                let owner = (class.name.as_str(), user);
                let mut copies = UserLinks::new();
                for (path, planned) in class.paths.iter().enumerate() {
                    let hop = builder.add_route(&planned.links, &mut copies, owner);
                    all.routes.push(Route { hop, exit: exit(path, Side::Receiver) });
                    let hop = builder.add_route(&planned.back, &mut copies, owner);
                    all.routes.push(Route { hop, exit: exit(path, Side::Sender) });
                }
            }
        }
        all
    }

    /// Number of paths of all users.
    pub(crate) fn paths(&self) -> usize {
        self.routes.len() / 2
    }

    pub(crate) fn get(&self, route: u32) -> Route {
        self.routes[route as usize]
    }

    /// The route of a packet of `bytes` that was read from `device`. The receiver's port identifies
    /// the user.
    pub(crate) fn find(&self, device: &Device, header: Header, bytes: u32) -> Result<u32, Reason> {
        let class = &self.classes[device.class];
        if header.total.max(bytes) > class.packet {
            return Err(Reason::Oversize);
        }
        if header.total > bytes {
            return Err(Reason::Foreign); // a truncated packet
        }
        let (port, back) = match device.side {
            Side::Sender => (header.destination, 0),
            Side::Receiver => (header.source, 1),
        };
        let user = port.checked_sub(self.first_port).map(u32::from);
        let user = user.filter(|user| *user < class.count).ok_or(Reason::NoSuchUser)?;
        Ok(2 * (class.first + user * class.paths + device.path as u32) + back)
    }
}
