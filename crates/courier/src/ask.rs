//! What an initiator asks for in its first message.

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

/// The payload of a first message: purpose 1 | renewed session 4 | paths 1 | first path 1 |
/// buffer 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
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
        let Ask { paths, first, buffer, .. } = *self;
        [&[purpose], &of.to_be_bytes()[..], &[paths, first], &buffer.to_be_bytes()].concat()
    }

    /// Reads what `encode` writes; `None` for what cannot be granted.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let &[kind, a, b, c, d, paths, first, e, f, g, h] = payload else { return None };
        let (of, buffer) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let purpose = match (kind, of) {
            (0, 0) => Purpose::New,
            (1, of) => Purpose::Renewal { of },
            _ => return None,
        };
        let right = first < paths && usize::from(paths) <= MAX_PATHS && buffer >= 64 << 10;
        right.then_some(Ask { purpose, paths, first, buffer })
    }
}
