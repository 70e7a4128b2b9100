//! Segments as they travel through the links: 48 plain bytes, moved by value.

use network::Frame;
use units::Time;
use wire::{Ack, Data, Sacks, sack_option_bytes};

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    seq: u64,
    dsn: u64,
    stamp: Time,
    /// Payload bytes of data; bytes of receive window beyond `dsn` of an ACK.
    amount: u32,
    /// Which entry of the [`SackStore`] holds its SACK blocks, plus one; zero for none.
    sacks: u32,
    /// Where it is on its route: an index into the world's hops.
    pub(crate) cursor: u32,
    /// The path it belongs to.
    pub(crate) path: u32,
    bytes: u32,
    pub(crate) is_ack: bool,
}

impl Frame for Parcel {
    fn bytes(&self) -> u32 {
        self.bytes
    }
}

impl Parcel {
    pub(crate) fn data(data: &Data, header: u32, path: u32, cursor: u32) -> Self {
        Parcel {
            seq: data.seq,
            dsn: data.dsn,
            stamp: data.stamp,
            amount: data.len,
            sacks: 0,
            cursor,
            path,
            bytes: data.len + header,
            is_ack: false,
        }
    }

    pub(crate) fn ack(
        ack: &Ack,
        header: u32,
        path: u32,
        cursor: u32,
        store: &mut SackStore,
    ) -> Self {
        Parcel {
            seq: ack.ack,
            dsn: ack.data_ack,
            stamp: ack.echo,
            amount: u32::try_from(ack.window_edge - ack.data_ack).unwrap_or(u32::MAX),
            sacks: store.put(&ack.sacks),
            cursor,
            path,
            bytes: header + sack_option_bytes(ack.sacks.blocks().len()),
            is_ack: true,
        }
    }

    pub(crate) fn as_data(&self) -> Data {
        Data { seq: self.seq, dsn: self.dsn, len: self.amount, stamp: self.stamp }
    }

    /// The ACK; its SACK blocks leave the store.
    pub(crate) fn into_ack(self, store: &mut SackStore) -> Ack {
        Ack {
            ack: self.seq,
            data_ack: self.dsn,
            window_edge: self.dsn + u64::from(self.amount),
            echo: self.stamp,
            sacks: store.take(self.sacks),
        }
    }

    /// The parcel will not arrive: what the store holds for it is released.
    pub(crate) fn discard(self, store: &mut SackStore) {
        store.take(self.sacks);
    }
}

/// SACK blocks of the ACKs on their way; most ACKs have none.
#[derive(Default)]
pub(crate) struct SackStore {
    entries: Vec<Sacks>,
    free: Vec<u32>,
}

impl SackStore {
    fn put(&mut self, sacks: &Sacks) -> u32 {
        if sacks.is_empty() {
            return 0;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Sacks::default());
            self.entries.len() as u32 - 1
        });
        self.entries[index as usize] = *sacks;
        index + 1
    }

    fn take(&mut self, place: u32) -> Sacks {
        let Some(index) = place.checked_sub(1) else {
            return Sacks::default();
        };
        self.free.push(index);
        self.entries[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Range;

    #[test]
    fn an_ack_comes_out_as_it_went_in_and_the_store_is_empty_again() {
        let mut store = SackStore::default();
        let ack = Ack {
            ack: 5000,
            data_ack: 9000,
            window_edge: 9000 + 65_000,
            echo: Time(17),
            sacks: Sacks::new([Range { start: 6000, end: 7000 }]),
        };
        let parcel = Parcel::ack(&ack, 52, 0, 0, &mut store);
        assert_eq!(parcel.bytes(), 64);
        assert_eq!(parcel.into_ack(&mut store), ack);
        assert_eq!(store.free.len(), store.entries.len());
    }

    #[test]
    fn a_parcel_and_its_two_times_fill_one_cache_line() {
        assert_eq!(size_of::<Parcel>() + 2 * size_of::<Time>(), 64);
    }
}
