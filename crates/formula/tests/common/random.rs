//! Random laws: valid texts with every function and every kind of expression.

/// Draws a number below another one.
pub(crate) type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

/// The text of a law; every second law has no own note.
pub(crate) fn law(draw: Draw<'_>) -> String {
    let plain = draw(2) == 0;
    let text = formulas(draw);
    if plain {
        return text.replace("mine", "l").replace("spare", "w").replace("rtt_min", "rtt");
    }
    let mut notes = String::new();
    for name in ["mine", "spare"].into_iter().filter(|name| text.contains(name)) {
        notes += &format!("note {name} = {}\n", [0.0, 0.125, -2.0][draw(3)]);
        for event in ["ack", "loss"] {
            if draw(3) > 0 {
                notes += &format!("on {event}: {name} = {}\n", update(draw, 2, event, name));
            }
        }
    }
    notes + &text
}

/// Growth and backoff, and their shared definitions.
fn formulas(draw: Draw<'_>) -> String {
    let depth = 1 + draw(4);
    let quality = number(draw, 1, &[]).replace("(q)", "(l)"); // a definition must not use itself
    let growth = number(draw, depth, &[]);
    let depth = 1 + draw(2);
    let backoff = number(draw, depth, &[]);
    format!("q = w + {quality}\ngrowth = {growth}\nbackoff = {backoff}\n")
}

/// The update of a note by an event.
fn update(draw: Draw<'_>, depth: usize, event: &str, name: &str) -> String {
    if depth == 0 {
        return match event {
            "ack" => ["acked", "rtt", "rtt_last", name, "0.3", "7"][draw(6)].into(),
            _ => [name, "l", "0.5", "2"][draw(4)].into(),
        };
    }
    let mut part = || update(draw, depth - 1, event, name);
    let (a, b) = (part(), part());
    match draw(6) {
        0 => format!("({a} + {b})"),
        1 => format!("({a} - 0.25*{b})"),
        2 => format!("(0.875*{a} + 0.125*{b})"),
        3 => format!("({a} / max({b}, 0.01))"),
        4 => format!("max(min({a}, {b}), sqrt(abs({b})))"),
        _ => format!("(if {a} > {b} then {b} else {a}^2)"),
    }
}

const LETTERS: [char; 3] = ['s', 'u', 'v'];

/// A symbol of a path, or a number.
fn leaf(draw: Draw<'_>, letters: &[char]) -> String {
    let whole = ["n", "w_tot", "1", "3", "0.37", "20", "0.001"];
    let of_path = ["w", "rtt", "x", "l", "w", "rtt", "mine", "spare", "rtt_min"];
    if draw(3) == 0 {
        return whole[draw(whole.len())].into();
    }
    let symbol = of_path[draw(of_path.len())];
    match draw(letters.len() + 1) {
        0 => symbol.into(),
        k => format!("{symbol}_{}", letters[k - 1]),
    }
}

/// An expression that is a number.
fn number(draw: Draw<'_>, depth: usize, letters: &[char]) -> String {
    if depth == 0 {
        return leaf(draw, letters);
    }
    let below = depth - 1;
    let part = |draw: Draw<'_>| number(draw, below, letters);
    match draw(16) {
        0 | 1 => format!("({} + {})", part(draw), part(draw)),
        2 => format!("({} - {})", part(draw), part(draw)),
        3 | 4 => format!("({} * {})", part(draw), part(draw)),
        5 | 6 => format!("({} / max({}, 0.01))", part(draw), part(draw)),
        7 => format!("({} / {})", part(draw), ["w", "rtt", "x", "n", "w_tot", "4"][draw(6)]),
        8 => format!("min({}, {})", part(draw), part(draw)),
        9 => format!("max({}, {})", part(draw), part(draw)),
        10 => format!("abs({})", part(draw)),
        11 => format!("sqrt(abs({}))", part(draw)),
        12 => format!("({})^{}", part(draw), [2, 3][draw(2)]),
        13 => format!("max({}, 0.01)^{}", part(draw), ["0.5", "-0.75", "1.125", "-2"][draw(4)]),
        14 => {
            let condition = condition(draw, below, letters);
            format!("(if {condition} then {} else {})", part(draw), part(draw))
        }
        _ => reduced(draw, below, letters, &["sum", "max", "min"], number),
    }
}

/// An expression that is a condition.
fn condition(draw: Draw<'_>, depth: usize, letters: &[char]) -> String {
    let below = depth.saturating_sub(1);
    match draw(8) {
        0 => format!("is_largest({})", ["w", "q", "w/rtt^2"][draw(3)]),
        1 => format!("not is_smallest({})", ["w", "rtt"][draw(2)]),
        2 if depth > 0 => {
            let word = ["and", "or"][draw(2)];
            format!(
                "({} {word} {})",
                condition(draw, below, letters),
                condition(draw, below, letters)
            )
        }
        3 if depth > 0 => reduced(draw, below, letters, &["any", "all"], condition),
        _ => {
            let sign = ["<", "<=", ">", ">=", "==", "!="][draw(6)];
            format!("({} {sign} {})", number(draw, below, letters), number(draw, below, letters))
        }
    }
}

/// A reduction, whose body depends on its path.
fn reduced(
    draw: Draw<'_>,
    depth: usize,
    letters: &[char],
    words: &[&str],
    body: fn(Draw<'_>, usize, &[char]) -> String,
) -> String {
    let Some(letter) = LETTERS.get(letters.len()) else {
        return body(draw, 0, letters);
    };
    let mut inside = letters.to_vec();
    inside.push(*letter);
    let word = words[draw(words.len())];
    let of = body(draw, depth, &inside);
    match word {
        "any" | "all" => format!("{word}_{letter}({of} or w_{letter} > 3*w)"),
        _ => format!("{word}_{letter}({of} * w_{letter})"),
    }
}
