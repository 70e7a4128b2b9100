//! Cells of base stations.

use super::MediumTable;
use super::example::Alternatives;
use crate::error::{Error, list};
use crate::link::Links;
use crate::name::Name;
use crate::queue::check_host_queue;
use crate::radio::Radio;
use crate::report::{Located, WrongKey, unique};
use crate::station::PlanStation;
use network::{CellSettings, DropTail, Fading, MediumSettings, Queue, Scheduler};
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Described, InvalidParameter, Span, ValidRange};

/// A cellular network with one base station. In each direction a scheduler allocates resource
/// blocks to users every millisecond, as in LTE; every user has its own queue. The stations of the
/// cell are the nodes at the ends of its links.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Name by which links refer to it, as their `medium`.
    pub name: Name,
    /// The node of the base station, which is one end of every link of the cell.
    pub base: Name,
    /// Resource blocks of 180 kHz from the base station to users: 50 are 10 MHz.
    #[serde(default = "blocks")]
    #[schemars(extend("range" = BLOCKS.right))]
    pub blocks: u32,
    /// Resource blocks from users to the base station; by default as many as `blocks`.
    #[serde(default)]
    #[schemars(extend("range" = BLOCKS.right))]
    pub blocks_up: Option<u32>,
    /// How the base station allocates resource blocks to users.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Averaging time of the rates of users, for proportional fair.
    #[serde(default = "averaging")]
    #[schemars(extend("range" = AVERAGING.right))]
    pub averaging: Span,
    /// Fraction of the blocks that carries control and reference signals instead of data.
    #[serde(default = "overhead")]
    #[schemars(extend("range" = OVERHEAD.right))]
    pub overhead: f64,
    /// Mean signal-to-noise ratio of users, in dB; without it, computed from `radio` and positions.
    #[serde(default)]
    #[schemars(extend("range" = SNR.right))]
    pub snr_db: Option<f64>,
    /// Fading: how users' signals vary around their mean.
    #[serde(default)]
    pub fading: Option<Fading>,
    /// Propagation between the base station and users.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// The queue of each user in each direction; by default drop-tail of 300 packets.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// Users that differ from the others.
    #[serde(default)]
    pub user: Vec<CellUser>,
}

const BLOCKS: ValidRange<u32> = ValidRange {
    holds: |blocks| (1..=500).contains(blocks),
    right: "it lies from 1 to 500; 100 are 20 MHz",
};

const AVERAGING: ValidRange<Span> =
    ValidRange { holds: |time| *time >= Span::millis(1), right: "it is at least 1 ms" };

const OVERHEAD: ValidRange<f64> = ValidRange {
    holds: |part| (0.0..1.0).contains(part),
    right: "it is a fraction, from 0 to below 1",
};

const SNR: ValidRange<f64> =
    ValidRange { holds: |snr| (-50.0..=100.0).contains(snr), right: "dB, from -50 to 100" };

fn blocks() -> u32 {
    50
}

fn averaging() -> Span {
    Span::millis(1_000)
}

fn overhead() -> f64 {
    0.25
}

/// A user of a cell whose settings differ from those of the cell.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellUser {
    /// Name of its node.
    pub name: Name,
    /// Mean signal-to-noise ratio in dB.
    #[serde(default)]
    #[schemars(extend("range" = SNR.right))]
    pub snr_db: Option<f64>,
    /// Fading: how its signal varies around its mean.
    #[serde(default)]
    pub fading: Option<Fading>,
    /// Its queue in each direction.
    #[serde(default)]
    pub queue: Option<Queue>,
}

/// The queue of a user of a cell.
const CELL_QUEUE: Queue = Queue::DropTail(DropTail::of(300));

/// Path loss at one metre in dB: free space at 2 GHz.
const LOSS_AT_1M_DB: f64 = 38.5;

/// Most users of a cell.
const MOST_USERS: usize = 1000;

impl MediumTable for Cell {
    fn described() -> Described {
        Described {
            names: &["cell"],
            summary: "Cellular networks, each with one base station.",
            source: "3GPP TS 36.211 and TS 36.213",
        }
    }

    fn examples() -> &'static [(&'static str, Alternatives)] {
        &[(
            "base",
            &[
                &["base = 'base'"],
                &["", "blocks = 6", "blocks = 25\nblocks_up = 1"],
                &[
                    "scheduler = 'proportional-fair'",
                    "scheduler = 'round-robin'",
                    "scheduler = 'max-rate'",
                ],
                &[
                    "snr_db = 12.0",
                    "snr_db = -20.0",
                    "radio = {}",
                    "radio = {}\nuser = [{ name = 'server', snr_db = -9.0 }]",
                ],
                &["", "fading = { deviation_db = 6.0, coherence = '20 ms' }"],
            ],
        )]
    }

    fn name(&self) -> &Name {
        &self.name
    }

    /// Its stations: the base station, then its users.
    fn stations(&self, links: Links<'_>) -> Vec<String> {
        let mut all = links.stations(&self.name.text, &[]);
        all.retain(|station| *station != self.base.text);
        all.insert(0, self.base.text.clone());
        all
    }

    fn check_ends(&self, from: &Name, to: &Name) -> Result<(), WrongKey> {
        if from.text == self.base.text || to.text == self.base.text {
            return Ok(());
        }
        let what = format!("neither end is the base station `{}`", self.base.text);
        let right = "users reach each other through the base station: write two links";
        Err(WrongKey::new("from", what, right))
    }

    fn check(&self, links: Links<'_>) -> Result<(), Located> {
        let name = &self.name.text;
        let placed = |wrong: WrongKey| wrong.of("cell", name);
        let group = links.nodes.members(&self.base.text).len();
        if group != 1 {
            let what = format!("`{}`, a group of {group}", self.base.text);
            let right = "it is one node: a cell has one base station";
            return Err(placed(WrongKey::value("base", what, right)));
        }
        let users = links.stations(name, &[]);
        if users.len() < 2 || users.len() > MOST_USERS {
            let error = Error::new(format!("cell `{name}` has {} stations", users.len()));
            let help = format!(
                "write links with `medium = \"{name}\"` between `base` and at most 999 users"
            );
            return Err(Located::at(&self.name, error.help(help)));
        }
        self.check_numbers().map_err(|wrong| placed(wrong.into()))?;
        self.check_users(&users)?;
        check_signal(self.snr_db, self.fading, self.queue.as_ref()).map_err(placed)?;
        self.check_told(links, &users).map_err(placed)
    }

    fn expand(&self, _links: Links<'_>, stations: &[String]) -> MediumSettings {
        let user = |name: &String| {
            let own = self.own(name);
            network::CellUser {
                snr_db: own.and_then(|own| own.snr_db).or(self.snr_db),
                fading: own.and_then(|own| own.fading).or(self.fading),
            }
        };
        MediumSettings::Cell(CellSettings {
            blocks: self.blocks,
            blocks_up: self.blocks_up.unwrap_or(self.blocks),
            scheduler: self.scheduler,
            averaging: self.averaging,
            overhead: self.overhead,
            radio: self.radio.map(|radio| radio.expand(LOSS_AT_1M_DB)),
            users: stations.iter().skip(1).map(user).collect(),
        })
    }

    fn expand_station(&self, links: Links<'_>, name: &str) -> PlanStation {
        let queue = self.own(name).and_then(|own| own.queue.as_ref()).or(self.queue.as_ref());
        PlanStation::bare(links, name, queue.unwrap_or(&CELL_QUEUE).clone())
    }
}

impl Cell {
    fn check_numbers(&self) -> Result<(), InvalidParameter> {
        BLOCKS.check("blocks", &self.blocks)?;
        BLOCKS.check("blocks_up", &self.blocks_up)?;
        OVERHEAD.check("overhead", &self.overhead)?;
        AVERAGING.check("averaging", &self.averaging)?;
        self.radio.as_ref().map_or(Ok(()), Radio::check)
    }

    fn check_users(&self, users: &[String]) -> Result<(), Located> {
        let name = &self.name.text;
        unique("user", self.user.iter().map(|user| &user.name))?;
        for user in &self.user {
            if user.name.text == self.base.text || !users.contains(&user.name.text) {
                let what = format!("cell `{name}`: `{}` is not a user of it", user.name.text);
                let all = users.iter().filter(|user| **user != self.base.text);
                let help = format!("its users are {}", list(all.map(String::as_str)));
                return Err(Located::at(&user.name, Error::new(what).help(help)));
            }
        }
        for user in &self.user {
            let of = format!("user.{}.", user.name.text);
            check_signal(user.snr_db, user.fading, user.queue.as_ref())
                .map_err(|wrong| wrong.prefixed(&of).of("cell", name))?;
        }
        Ok(())
    }

    /// Checks that the signal of each user is known.
    fn check_told(&self, links: Links<'_>, users: &[String]) -> Result<(), WrongKey> {
        let told = |user: &String| {
            self.snr_db.is_some() || self.own(user).is_some_and(|own| own.snr_db.is_some())
        };
        let placed = |name: &String| links.nodes.names().any(|node| node == *name);
        let by_place =
            |user: &String| self.radio.is_some() && placed(user) && placed(&self.base.text);
        let mut unknown = users.iter().filter(|user| **user != self.base.text && !told(user));
        match unknown.next().filter(|user| !by_place(user)) {
            Some(user) => {
                let right = "give `snr_db`, for all or for this user, or `radio` and a [[node]] \
                             for it and the base";
                Err(WrongKey::new("snr_db", format!("user `{user}` has no `snr_db`"), right))
            }
            None => Ok(()),
        }
    }

    /// The table of one user.
    fn own(&self, name: &str) -> Option<&CellUser> {
        self.user.iter().find(|user| user.name.text == name)
    }
}

fn check_signal(
    snr_db: Option<f64>,
    fading: Option<Fading>,
    queue: Option<&Queue>,
) -> Result<(), WrongKey> {
    SNR.check("snr_db", &snr_db)?;
    fading.map_or(Ok(()), |fading| fading.check().map_err(|wrong| wrong.inside("fading")))?;
    queue.map_or(Ok(()), check_host_queue)
}
