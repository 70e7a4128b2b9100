//! Congestion-control laws as text.
//!
//! A [`TextLaw`] is parsed from a few lines, such as
//!
//! ```text
//! law gentle: linked increases, and a smaller decrease the more paths there are
//! param beta = 0.5 in (0, 1]: a loss costs beta/n of the window of its path
//!
//! growth  = 2*beta / (n^2 * w_tot)
//! backoff = w * (1 - beta/n)
//! ```
//!
//! It becomes a typed [`Graph`] in which equal parts are one node, and from that [`Program`]s. They
//! are evaluated without allocation over any [`Number`]: real numbers in simulation, numbers with
//! their derivatives in theory, enclosures in proofs. `docs/reference/law-language.md` has the
//! grammar.
#![no_std]

extern crate alloc;

mod build;
mod collect;
mod dual;
mod enclosure;
mod error;
mod expression;
mod graph;
pub mod integer;
mod law;
mod number;
mod prelude;
mod program;
mod range;
mod reference;
mod statement;
mod steady;
mod tape;
mod tokens;

pub use collect::MOST_NOTES;
pub use dual::Dual;
pub use enclosure::Enclosure;
pub use error::LawError;
pub use graph::{Graph, Index, ME, Node, NodeId, One, Reduction, Symbol, Two};
pub use law::{MOST_BYTES, Note, Parameter, Quantity, TextLaw};
pub use number::Number;
pub use program::{Inputs, Op, Program, Register};
pub use reference::{Reference, is_text};
pub use statement::{Event, Interval};
pub use steady::Slopes;
pub use tape::{FormulaSlots, PathSlots, Slot, Step, Tape};
