use super::*;
use crate::mptcp::Mapping;
use proptest::prelude::*;
use std::net::IpAddr;

fn mapping() -> impl Strategy<Value = Mapping> {
    let numbers = (any::<u64>(), any::<bool>(), any::<u32>(), any::<u16>(), any::<Option<u16>>());
    numbers.prop_map(|(number, wide, subflow_sequence, length, checksum)| {
        let data_sequence = if wide { number } else { number & 0xffff_ffff };
        Mapping { data_sequence, wide, subflow_sequence, length, checksum }
    })
}

fn join() -> impl Strategy<Value = Mptcp> {
    prop_oneof![
        (any::<bool>(), any::<u8>(), any::<u32>(), any::<u32>()).prop_map(
            |(backup, address, token, nonce)| Mptcp::JoinRequest { backup, address, token, nonce }
        ),
        (any::<bool>(), any::<u8>(), any::<u64>(), any::<u32>()).prop_map(
            |(backup, address, code, nonce)| Mptcp::JoinGrant { backup, address, code, nonce }
        ),
        any::<[u8; 20]>().prop_map(|code| Mptcp::JoinProof { code }),
    ]
}

fn capable() -> impl Strategy<Value = Mptcp> {
    (0..2u8, any::<u8>(), 0..5usize, any::<[u64; 2]>(), any::<[u16; 2]>()).prop_map(
        |(version, flags, parts, keys, halves)| Mptcp::Capable {
            version,
            flags,
            sender: (parts > 0).then_some(keys[0]),
            receiver: (parts > 1).then_some(keys[1]),
            length: (parts > 2).then_some(halves[0]),
            checksum: (parts > 3).then_some(halves[1]),
        },
    )
}

fn rare() -> impl Strategy<Value = Mptcp> {
    prop_oneof![
        (any::<bool>(), any::<Option<u8>>())
            .prop_map(|(backup, address)| Mptcp::Priority { backup, address }),
        any::<u64>().prop_map(|data_sequence| Mptcp::Fail { data_sequence }),
        any::<u64>().prop_map(|key| Mptcp::FastClose { key }),
        (0..16_u8, any::<u8>()).prop_map(|(flags, reason)| Mptcp::Reset { flags, reason }),
    ]
}

fn option() -> impl Strategy<Value = TcpOption> {
    let signal = (any::<Option<u32>>(), prop::option::of(mapping()), any::<bool>()).prop_map(
        |(ack, mapping, fin)| Mptcp::Data {
            ack: ack.map(|ack| (u64::from(ack), false)),
            mapping,
            fin,
        },
    );
    let address =
        (any::<bool>(), any::<u8>(), any::<IpAddr>(), any::<Option<u16>>(), any::<Option<u64>>())
            .prop_map(|(echo, id, address, port, code)| Mptcp::AddAddress {
                echo,
                id,
                address,
                port,
                code,
            });
    prop_oneof![
        any::<u16>().prop_map(TcpOption::MaxSegment),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        prop::collection::vec(any::<(u32, u32)>(), 1..4).prop_map(TcpOption::Sack),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
        prop_oneof![signal, address, capable(), join(), rare()].prop_map(TcpOption::Mptcp),
        prop::collection::vec(any::<u8>(), 1..4)
            .prop_map(|ids| TcpOption::Mptcp(Mptcp::RemoveAddress { ids })),
    ]
}

proptest! {
    #[test]
    fn options_are_read_as_they_were_written_in_whole_words(
        options in prop::collection::vec(option(), 0..4)
    ) {
        let written = write(&options);
        prop_assert_eq!(written.len() % 4, 0);
        prop_assert_eq!(read(&written), Some(options));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = read(&bytes);
    }
}

#[test]
fn a_syn_has_the_layout_that_kernels_use() {
    let options = [
        TcpOption::MaxSegment(1448),
        TcpOption::SackPermitted,
        TcpOption::Timestamps { value: 1, echo: 0 },
        TcpOption::WindowScale(7),
    ];
    let expected = [2, 4, 5, 168, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
    assert_eq!(write(&options), expected);
    let plain = [TcpOption::MaxSegment(1448), TcpOption::SackPermitted, TcpOption::WindowScale(7)];
    assert_eq!(write(&plain), [2, 4, 5, 168, 1, 1, 4, 2, 1, 3, 3, 7]);
}

#[test]
fn data_of_a_subflow_fit_with_timestamps_and_a_mapping() {
    let mapping = Mapping {
        data_sequence: 1 << 40,
        wide: true,
        subflow_sequence: 1,
        length: 1448,
        checksum: None,
    };
    let options = [
        TcpOption::Timestamps { value: 1, echo: 2 },
        TcpOption::Mptcp(Mptcp::Data { ack: Some((7, false)), mapping: Some(mapping), fin: false }),
    ];
    assert_eq!(bytes(&options), 36);
}
