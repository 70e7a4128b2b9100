//! What the language of laws says, and what it refuses.

use formula::TextLaw;

#[test]
fn x() {
    for text in [
        "q = l\ngrowth = if is_largest(q) then 1 else 2\nbackoff = 1",
        "q = w\ngrowth = if is_largest(q) then 1 else 2\nbackoff = 1",
        "growth = if is_largest(w) then 1 else 2\nbackoff = 1",
    ] {
        match TextLaw::read(text) {
            Ok(l) => println!("{:?}", l.graph().nodes()),
            Err(e) => println!("{e}"),
        }
    }
}
