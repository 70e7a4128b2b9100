//! Which path of a group has which number, over migrations.
//!
//! A stack copies a path's controller when the path migrates to another address, and drops the
//! copy or the original, whichever loses. So a slot has holders. The newest holder speaks for the
//! path. If it is dropped before an older one, the older one speaks again, with the window that it
//! had when it spoke last. The slot is free when the last is dropped.

use crate::engine::Engine;
use crate::event::Event;
use alloc::boxed::Box;
use alloc::vec::Vec;
use control::{Cause, Span, Window};

/// One controller of a stack, which holds a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The path's number in the group.
    pub slot: usize,
    ticket: u64,
}

/// The window of a path for observers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The path's number in the group.
    pub slot: usize,
    /// Its window in segments.
    pub window: Window,
    /// Its smoothed round trip; zero before the first sample.
    pub srtt: Span,
}

/// The controller of a group of paths, and who holds its slots.
#[derive(Debug)]
pub struct Slots {
    engine: Engine,
    /// Of each slot its holders, oldest first, and the window that each had when it spoke last.
    holders: Box<[Vec<(u64, Window)>]>,
    /// Of each slot whether its controller was told of a loss, and not yet that recovery ended.
    recovering: Box<[bool]>,
    /// Tickets given so far.
    tickets: u64,
}

impl Slots {
    /// All slots are free.
    pub fn new(engine: Engine) -> Self {
        // A path that migrates has two holders.
        let holders = (0..engine.paths()).map(|_| Vec::with_capacity(2)).collect();
        let recovering = alloc::vec![false; engine.paths()].into();
        Slots { engine, holders, recovering, tickets: 0 }
    }

    /// A path joins; `None` if no slot is free.
    pub fn join(&mut self) -> Option<(Holder, Window)> {
        let slot = self.holders.iter().position(Vec::is_empty)?;
        let window = self.engine.step(slot, Event::Join);
        Some((self.hold(slot, window), window))
    }

    /// The stack copies the controller `from`, whose window is `window`: the copy speaks for the
    /// path from now on.
    pub fn copy(&mut self, from: Holder, window: Window) -> Holder {
        let now = self.engine.window(from.slot);
        let speaks = self.speaks(from);
        if let Some(newest) = self.holders[from.slot].last_mut() {
            newest.1 = now;
        }
        if !speaks {
            self.hand_over(from.slot, window);
        }
        self.hold(from.slot, window)
    }

    /// The stack dropped the controller `holder`.
    pub fn leave(&mut self, holder: Holder) {
        let spoke = self.speaks(holder);
        let own = &mut self.holders[holder.slot];
        own.retain(|(ticket, _)| *ticket != holder.ticket);
        match own.last() {
            Some((_, window)) if spoke => {
                let window = *window;
                self.hand_over(holder.slot, window);
            }
            None if spoke => {
                self.recovering[holder.slot] = false;
                self.engine.step(holder.slot, Event::Leave);
            }
            _ => {}
        }
    }

    /// What happened on the path of `holder`: its window after it. `None` if a copy speaks for the
    /// path.
    #[inline]
    pub fn step(&mut self, holder: Holder, event: Event) -> Option<Window> {
        let Holder { slot, .. } = holder;
        if !self.speaks(holder) {
            return None;
        }
        match event {
            Event::Congestion(cause) => self.recovering[slot] = cause == Cause::FastRetransmit,
            Event::Undo => self.recovering[slot] = false,
            // Of a loss that a holder counted while another one spoke, which the controller was not
            // told of: its ssthresh may be infinite.
            Event::Recovered if !core::mem::take(&mut self.recovering[slot]) => {
                return Some(self.engine.window(slot));
            }
            _ => {}
        }
        Some(self.engine.step(slot, event))
    }

    /// The window of `holder`'s path; `None` if a copy speaks for it.
    pub fn window(&self, holder: Holder) -> Option<Window> {
        self.speaks(holder).then(|| self.engine.window(holder.slot))
    }

    /// The controller at work.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The controller at work, for its log.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// The paths that are members.
    pub fn report(&self) -> Vec<Report> {
        let members = (0..self.engine.paths()).filter(|&slot| self.engine.is_member(slot));
        let (engine, window) = (&self.engine, |slot| self.engine.window(slot));
        members.map(|slot| Report { slot, window: window(slot), srtt: engine.srtt(slot) }).collect()
    }

    #[inline]
    fn speaks(&self, holder: Holder) -> bool {
        self.holders[holder.slot].last().is_some_and(|(ticket, _)| *ticket == holder.ticket)
    }

    /// Another holder speaks for the path from now on, and the recovery of the last one is over.
    fn hand_over(&mut self, slot: usize, window: Window) {
        if core::mem::take(&mut self.recovering[slot]) {
            self.engine.step(slot, Event::Recovered);
        }
        self.engine.step(slot, Event::Restart(window));
    }

    fn hold(&mut self, slot: usize, window: Window) -> Holder {
        self.tickets += 1;
        self.holders[slot].push((self.tickets, window));
        Holder { slot, ticket: self.tickets }
    }
}
