//! The prelude: definitions that every law has, written in the language itself.

/// Names of functions; reductions end in the letter of a path, as in `sum_s`.
pub(crate) const FUNCTIONS: [&str; 8] =
    ["min", "max", "abs", "sqrt", "exp", "ln", "is_largest", "is_smallest"];

/// Names of reductions.
pub(crate) const REDUCTIONS: [&str; 6] = ["sum", "max", "min", "count", "any", "all"];

/// The notes of these symbols.
pub(crate) const NOTES: [&str; 3] = ["since_loss", "between_losses", "least_rtt"];

/// Symbols with a memory: their notes and updates are added to a law that uses them.
pub(crate) const REMEMBERED: [(&str, &str); 2] = [("l", LOSS_INTERVAL), ("rtt_min", LEAST_RTT)];

/// `l`: segments acknowledged since the last loss or between the last two, whichever is more
/// (Khalili et al., CoNEXT 2012, `l_r`).
const LOSS_INTERVAL: &str = "
note since_loss = 0: segments acknowledged since the last loss
note between_losses = 0: segments acknowledged between the last two losses
on ack: since_loss = since_loss + acked
on loss: between_losses = if since_loss > 0 then since_loss else between_losses
on loss: since_loss = 0
steady between_losses = 1/p
l = max(since_loss, between_losses)
";

/// `rtt_min`: the smallest round-trip sample of the path, in seconds. Theory takes the round trip
/// itself, as if no packet were waiting.
const LEAST_RTT: &str = "
note least_rtt = 1e9: the smallest round-trip sample in seconds
on ack: least_rtt = if rtt_last > 0 then min(least_rtt, rtt_last) else least_rtt
steady least_rtt = rtt
rtt_min = min(least_rtt, rtt)
";

/// Whether a text has the symbol as a separate word, for any path. A word in a comment counts too;
/// that only costs a note.
pub(crate) fn mentions(text: &str, symbol: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text.split(|c: char| !word(c));
    words.any(|own| {
        own == symbol || crate::tokens::subscript(own).is_some_and(|(base, _)| base == symbol)
    })
}

/// The first place of the symbol in a text, for any path; the end of the text without one.
pub(crate) fn mention(text: &str, symbol: &str) -> core::ops::Range<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = text.match_indices(symbol).map(|(at, _)| at);
    let ends = |behind: &str| {
        let rest = behind.trim_start_matches(word);
        let more = &behind[..behind.len() - rest.len()];
        more.is_empty() || more.starts_with('_') && more.chars().count() == 2
    };
    let alone = |at: &usize| !text[..*at].ends_with(word) && ends(&text[*at + symbol.len()..]);
    let start = found.find(alone).unwrap_or(text.len());
    let length = text[start..].find(|c| !word(c)).unwrap_or(text.len() - start);
    start..start + length
}
