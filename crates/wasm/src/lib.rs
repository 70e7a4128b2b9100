//! The engine of the explorer as a WebAssembly module without imports: `page::answer` over linear
//! memory.
//!
//! The caller writes the request into the bytes that [`reserve`] returns. [`answer`] returns where
//! the length of the answer is, 4 bytes, little-endian, with the answer behind it. [`release`]
//! frees both. A module serves one request at a time.
#![expect(unsafe_code, reason = "a name without mangling is how a module exports a function")]

use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Room for a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; length];
        request.as_mut_ptr()
    })
}

/// Answers the request; returns where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    let answer = page::answer(&String::from_utf8_lossy(&REQUEST.take()));
    let length = u32::try_from(answer.len()).unwrap_or(u32::MAX);
    ANSWER.with_borrow_mut(|kept| {
        *kept = [&length.to_le_bytes()[..], &answer].concat();
        kept.as_ptr()
    })
}

/// Frees request and answer.
#[unsafe(no_mangle)]
pub extern "C" fn release() {
    REQUEST.take();
    ANSWER.take();
}
