//! Controllers by name: ours, and those that noq has itself.

use crate::Group;
use adapter::{ControllerSpec, Refused, Settings};
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// What makes the controllers of the paths of one connection.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// The factory for one connection of up to `paths` paths: a new [`Group`], or for `noq:newreno`,
/// `noq:cubic` and `noq:bbr3` noq's own, which controls each path for itself. Of the settings
/// noq's own have the initial window, in packets of `packet` bytes.
///
/// # Errors
/// As [`Group::named`].
pub fn factory(
    spec: &ControllerSpec,
    settings: Settings,
    paths: usize,
    packet: u16,
) -> Result<Factory, Refused> {
    let Some(own) = spec.noq() else {
        return Ok(Group::with_paths(spec, settings, paths)?);
    };
    let window = (settings.initial_window * f64::from(packet)) as u64;
    Ok(match own {
        "newreno" => {
            let mut config = NewRenoConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "cubic" => {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "bbr3" => {
            let mut config = Bbr3Config::default();
            config.initial_window(window);
            Arc::new(config)
        }
        _ => unreachable!("`ControllerSpec` reads no other name"),
    })
}
