//! Nodes, links and what stations share, as far as they know of one another.

use crate::link::Links;
use crate::schema::{Bus, Cell, Medium};

/// What paths cross.
#[derive(Clone, Copy)]
pub(crate) struct Topology<'a> {
    pub(crate) links: Links<'a>,
    pub(crate) medium: &'a [Medium],
    pub(crate) bus: &'a [Bus],
    pub(crate) cell: &'a [Cell],
}

/// A choice of one channel, or of one for each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Number(u32),
    Turn,
}
