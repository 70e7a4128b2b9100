//! Measurements on stations of shared media.

use crate::{Mean, SharedMedia};
use network::{Packet, StationCounters};

/// A station after a run, over the time since the warm-up, as a network card counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StationResult {
    /// Packets that came to its queue.
    pub offered_packets: u64,
    /// Packets for which the queue had no room.
    pub dropped_packets: u64,
    /// Transmissions; an aggregate is one.
    pub attempts: u64,
    /// Transmissions that were not acknowledged.
    pub unanswered: u64,
    /// Packets given up after the last attempt.
    pub failed_packets: u64,
    /// Packets that were acknowledged.
    pub acknowledged_packets: u64,
    /// Part of the time in which it was sending data.
    pub airtime: f64,
    /// Packets in its queue, mean over samples.
    pub queue_packets: f64,
    /// Part of the samples at which its queue was empty.
    pub empty: f64,
    /// How often it changed its access point or lost it.
    pub handovers: u64,
}

/// Matrices over stations, stored row by row, one row for each sample; counts are since the start.
#[derive(Clone, Debug, Default)]
pub struct StationSeries {
    /// Packets in the queue.
    pub queue_packets: Vec<f64>,
    /// Transmissions.
    pub attempts: Vec<f64>,
    /// Transmissions that were not acknowledged.
    pub unanswered: Vec<f64>,
    /// Packets given up.
    pub failed_packets: Vec<f64>,
}

/// Measures the stations of one run.
#[derive(Default)]
pub(crate) struct StationMeter {
    baseline: Vec<(StationCounters, u64)>,
    waiting: Vec<Mean>,
    empty: Vec<Mean>,
}

impl StationMeter {
    /// The warm-up is over.
    pub(crate) fn start<P: Packet>(&mut self, media: &SharedMedia<P>) {
        let counters = media.stations().map(|(counters, _)| counters);
        self.baseline = counters.zip(media.handovers()).collect();
        self.waiting = vec![Mean::default(); self.baseline.len()];
        self.empty = self.waiting.clone();
    }

    /// Samples the queues.
    pub(crate) fn sample<P: Packet>(&mut self, media: &SharedMedia<P>) {
        for (station, (_, waiting)) in media.stations().enumerate() {
            self.waiting[station].add(f64::from(waiting));
            self.empty[station].add(f64::from(u8::from(waiting == 0)));
        }
    }

    /// Appends a row to `series`, one column for each station of each medium.
    pub(crate) fn record<P: Packet>(series: &mut StationSeries, media: &SharedMedia<P>) {
        for (counters, waiting) in media.stations() {
            series.queue_packets.push(f64::from(waiting));
            series.attempts.push(counters.attempts as f64);
            series.unanswered.push(counters.unanswered as f64);
            series.failed_packets.push(counters.failures as f64);
        }
    }

    /// One row for each station of each medium, over the `seconds` since [`StationMeter::start`].
    pub(crate) fn results<P: Packet>(
        &self,
        media: &SharedMedia<P>,
        seconds: f64,
    ) -> Vec<StationResult> {
        let rows = media.stations().zip(media.handovers()).zip(&self.baseline).enumerate();
        let rows = rows.map(|(station, (((now, _), handovers), (then, before)))| StationResult {
            offered_packets: now.offered - then.offered,
            dropped_packets: now.queue_drops - then.queue_drops,
            attempts: now.attempts - then.attempts,
            unanswered: now.unanswered - then.unanswered,
            failed_packets: now.failures - then.failures,
            acknowledged_packets: now.acknowledged - then.acknowledged,
            airtime: (now.airtime - then.airtime).seconds() / seconds,
            queue_packets: self.waiting[station].get(),
            empty: self.empty[station].get(),
            handovers: handovers - before,
        });
        rows.collect()
    }
}
