//! Queues of links and hosts: their place in the file. The kinds are in `network::queue`.

use crate::report::WrongKey;
use network::Queue;
use network::queue::DropTail;

/// Default queue of a link with a rate, and of a station.
pub(crate) const DEFAULT_QUEUE: Queue = Queue::DropTail(DropTail::of(1000));

/// Checks the parameters of a queue.
pub(crate) fn check_queue(queue: &Queue) -> Result<(), WrongKey> {
    queue.check().map_err(|wrong| wrong.inside("queue").into())
}

/// Checks the queue of a host.
pub(crate) fn check_host_queue(queue: &Queue) -> Result<(), WrongKey> {
    check_queue(queue)?;
    match queue.fits_host() {
        true => Ok(()),
        false => {
            let what = "its `queue` is of a kind that only routers have";
            Err(WrongKey::new("queue", what, Queue::for_hosts()))
        }
    }
}
