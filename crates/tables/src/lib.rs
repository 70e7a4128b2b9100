//! The tables of runs, emulations and captures. A table is declared once, with the unit, the
//! meaning and the value of each column; a [`Sink`] makes of it what its reader needs: arrays of
//! Python, or bytes for a page.

mod declared;
mod run;
mod sink;

pub use declared::*;
pub use run::{outcome, station_names};
pub use sink::{Column, Declared, Numbers, Scalar, Sink, TIMES};
