//! What the two ends tell each other in the messages of a handshake.

use crate::MAX_PATHS;

/// What an initiator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    New,
    /// New keys for the connection with this session of the responder.
    Renewal {
        of: u32,
    },
}

/// The payload of a first message: own session 4 | purpose 1 | renewed session 4 | paths 1 |
/// first path 1 | buffer 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The initiator's number of the new session.
    pub(crate) session: u32,
    pub(crate) purpose: Purpose,
    pub(crate) paths: u8,
    pub(crate) first: u8,
    pub(crate) buffer: u32,
}

impl Ask {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (purpose, of) = match self.purpose {
            Purpose::New => (0, 0),
            Purpose::Renewal { of } => (1, of),
        };
        let Ask { session, paths, first, buffer, .. } = *self;
        let [session, of, buffer] = [session, of, buffer].map(u32::to_be_bytes);
        [&session[..], &[purpose], &of, &[paths, first], &buffer].concat()
    }

    /// Reads what `encode` writes; `None` for what cannot be granted.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (session, rest) = payload.split_first_chunk()?;
        let (&kind, rest) = rest.split_first()?;
        let (of, rest) = rest.split_first_chunk()?;
        let (&[paths, first], buffer) = rest.split_first_chunk()?;
        let [session, of, buffer] =
            [*session, *of, buffer.try_into().ok()?].map(u32::from_be_bytes);
        let purpose = match (kind, of) {
            (0, 0) => Purpose::New,
            (1, of) => Purpose::Renewal { of },
            _ => return None,
        };
        let right = first < paths && usize::from(paths) <= MAX_PATHS && buffer >= 64 << 10;
        right.then_some(Ask { session, purpose, paths, first, buffer })
    }
}

/// The payload of a second message: own session 4 | buffer 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The responder's number of the new session.
    pub(crate) session: u32,
    pub(crate) buffer: u32,
}

impl Grant {
    pub(crate) fn encode(&self) -> [u8; 8] {
        (u64::from(self.session) << 32 | u64::from(self.buffer)).to_be_bytes()
    }

    /// Reads what `encode` writes.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let both = u64::from_be_bytes(payload.try_into().ok()?);
        Some(Grant { session: (both >> 32) as u32, buffer: both as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_decoded_is_what_encoding_gives(payload in prop::collection::vec(0u8..9, 0..20)) {
            if let Some(ask) = Ask::decode(&payload) {
                prop_assert_eq!(ask.encode(), payload.clone());
            }
            if let Some(grant) = Grant::decode(&payload) {
                prop_assert_eq!(&grant.encode()[..], &payload[..]);
            }
        }

        #[test]
        fn a_question_and_its_answer_come_back(
            session: u32, of in prop::option::of(any::<u32>()), paths in 1..=MAX_PATHS as u8, buffer in 65_536u32..,
        ) {
            let purpose = of.map_or(Purpose::New, |of| Purpose::Renewal { of });
            let ask = Ask { session, purpose, paths, first: paths - 1, buffer };
            prop_assert_eq!(Ask::decode(&ask.encode()), Some(ask));
            let grant = Grant { session, buffer };
            prop_assert_eq!(Grant::decode(&grant.encode()), Some(grant));
        }
    }
}
