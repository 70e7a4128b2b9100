//! What the programs on real sockets share, `transfer` and `tunnel`: whose fault an error is, and a
//! flag that ends them.

mod error;
mod stop;

pub use error::Error;
pub use stop::Stop;
