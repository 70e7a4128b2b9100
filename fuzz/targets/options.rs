//! Any bytes as the options of a TCP header: what is read is written and read again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::tcp::{TcpOption, read, write};

fuzz_target!(|bytes: &[u8]| {
    let Some(options) = read(bytes) else {
        return;
    };
    // Of an option that is not known only its kind is kept, and a mapping's checksum may be none.
    if options.iter().any(|option| matches!(option, TcpOption::Other(_))) {
        return;
    }
    assert_eq!(read(&write(&options)), Some(options));
});
