//! A thread that keeps a processor from sleeping.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::{io, mem};

/// A thread that spins while this value lives. The caller must bind it to a processor and give it
/// the lowest priority, by its number in the kernel.
#[derive(Debug)]
pub struct Spinner {
    thread_id: i32,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot create another thread.
    pub fn start() -> io::Result<Spinner> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let (tell, told) = channel();
        let thread = Builder::new().name("spinner".into()).spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).ok();
            while !seen.load(Ordering::Relaxed) {
                spin_loop();
            }
        })?;
        let thread_id = told.recv().map_err(io::Error::other)?;
        Ok(Spinner { thread_id, stop, thread: Some(thread) })
    }

    /// Its number in the kernel.
    pub fn thread_id(&self) -> i32 {
        self.thread_id
    }

    /// Ends the thread; it has exited when this returns.
    pub fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = mem::take(&mut self.thread) {
            thread.join().ok();
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_thread_is_there_until_it_is_stopped() {
        let mut spinner = Spinner::start().unwrap();
        let task: PathBuf = format!("/proc/self/task/{}", spinner.thread_id()).into();
        assert!(task.exists());
        spinner.stop();
        spinner.stop();
        // The kernel wakes a joining thread before it removes the joined one from /proc.
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            !task.exists()
        });
        assert!(gone);
    }
}
