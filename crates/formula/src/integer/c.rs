//! Writes a law in whole numbers as a header in C.

use super::IntegerLaw;
use crate::graph::{Index, ME, Node, NodeId, One, Reduction, Symbol, Two};
use crate::integer::number::parts;
use crate::program::{Op, Program, Register};
use crate::statement::Event;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// The functions of the formulas.
const GROWTH: &str = "ab_growth";
/// See [`GROWTH`].
const BACKOFF: &str = "ab_backoff";

/// The header of `law`; with `file`, it names the lines of the law's text.
pub(super) fn header(law: &IntegerLaw, file: Option<&str>) -> String {
    let relative = law.relative_bound();
    let of = match law.is_positive() {
        true => "growth",
        false => "the sum of the magnitudes of the terms of growth",
    };
    let floor = libm::ceil(law.min_ssthresh) as u32;
    let formula = |name, (root, program): &(NodeId, Program)| {
        Function::of(law, program, Reads::Views, file).formula(name, *root)
    };
    let (growth, backoff) = (formula(GROWTH, &law.growth), formula(BACKOFF, &law.backoff));
    let notes = notes(law, file);
    let time = match law.scaled {
        true => "Time is in us: the law is the same in whatever unit.",
        false => "Time is in s, as a whole number of us over 10^6.",
    };
    format!(
        "/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */\n\
         /* {name}: {formula}\n \
          * Generated from the text of the law. {time}\n \
          * Error of growth: at most {relative} u of {of}, with u = 2^-31, and 2^-32 segments. */\n\
         #ifndef AB_LAW_H\n\
         #define AB_LAW_H\n\n\
         {own}\
         #include \"views.h\"\n\
         #include \"signed.h\"\n\n\
         #define AB_COUPLED {coupled} /* whether paths influence each other */\n\
         #define AB_MIN_SSTHRESH {floor} /* of coupled subflows, in segments */\n\
         \n\
         {notes}\
         {growth}\n{backoff}\n#endif\n",
        own = match law.notes() {
            0 => String::new(),
            count => format!("#define AB_NOTES {count} /* what it remembers of a path */\n\n"),
        },
        coupled = u8::from(law.couples),
        name = law.name,
        formula = law.formula.replace("*/", "* /").replace("/*", "/ *"),
    )
}

/// The part before the formulas in a law with its own notes: first values, and updates by ACKs and
/// losses.
fn notes(law: &IntegerLaw, file: Option<&str>) -> String {
    if law.notes() == 0 {
        return String::new();
    }
    let own = law.notes.own().iter().enumerate();
    let first = own.map(|(place, (name, value))| {
        format!("\tn->note[{place}] = {}; /* {name} */\n", constant(*value))
    });
    let begin: String = first.collect();
    let update = |name, event| {
        let updates = law.notes.updates(event).map(|update| {
            let (_, program) = &update.value;
            Function::of(law, program, Reads::News, file).update(update.place)
        });
        format!(
            "AB_FUNCTION int {name}(struct ab_notes *n, const struct ab_news *e)\n{{\n\
             \tif (!n || !e)\n\t\treturn 0;\n{}\treturn 0;\n}}\n\n",
            updates.collect::<String>()
        )
    };
    format!(
        "static inline void ab_first_notes(struct ab_notes *n)\n{{\n{begin}}}\n\n{}{}",
        update("ab_note_ack", Event::Ack),
        update("ab_note_loss", Event::Loss),
    )
}

/// The source of an operation's loads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// The paths of the connection.
    Views,
    /// The notes of one path, and its event.
    News,
}

/// A program being written as C.
struct Function<'a> {
    law: &'a IntegerLaw,
    program: &'a Program,
    reads: Reads,
    /// The node of each register.
    nodes: Vec<NodeId>,
    body: String,
    depth: usize,
    /// Whether an operation reads each register.
    read: Vec<bool>,
    /// The file of the text, if its lines are written.
    file: Option<&'a str>,
}

impl<'a> Function<'a> {
    fn of(law: &'a IntegerLaw, program: &'a Program, reads: Reads, file: Option<&'a str>) -> Self {
        let (nodes, body) = (program.nodes().to_vec(), String::new());
        let read = alloc::vec![false; nodes.len()];
        let mut function = Function { law, program, reads, nodes, body, depth: 1, read, file };
        let mut found = program.outputs().to_vec();
        while let Some(register) = found.pop() {
            if !core::mem::replace(&mut function.read[usize::from(register)], true) {
                let writing = program.ops().iter().filter(|op| out(op) == Some(register));
                found.extend(writing.flat_map(|op| function.operands(op)));
            }
        }
        function
    }

    /// Whether the result of an operation is unused, because its readers take it from the views
    /// themselves.
    fn unread(&self, op: &Op) -> bool {
        out(op).is_some_and(|register| !self.read[usize::from(register)])
    }

    /// The registers that an operation reads in C.
    fn operands(&self, op: &Op) -> Vec<Register> {
        match *op {
            Op::Load { .. } | Op::Paths { .. } | Op::Begin { .. } | Op::Loop { .. } => Vec::new(),
            Op::One { a, .. } | Op::Whole { a, .. } => alloc::vec![a],
            Op::Two { out, .. } if self.whole(self.node(out)).is_some() => Vec::new(),
            Op::Two { a, b, .. } | Op::Compare { a, b, .. } => alloc::vec![a, b],
            Op::Choose { c, a, b, .. } => alloc::vec![c, a, b],
            Op::Gather { of, out, a } => match self.gathered_whole(of, out, a) {
                Some(_) if of != Reduction::Count => alloc::vec![out],
                _ => alloc::vec![out, a],
            },
        }
    }

    /// Growth or backoff as a function.
    fn formula(mut self, name: &str, root: NodeId) -> String {
        self.operations(self.program.ops());
        let result = self.value(self.program.outputs()[0]);
        let result = match (name, self.positive(root)) {
            (GROWTH, true) => format!("ab_fixed({result})"),
            (GROWTH, false) => format!("ab_signed_fixed({result})"),
            (_, true) => format!("ab_fixed({result}) >> 32"),
            (_, false) => format!("ab_floor({result})"),
        };
        format!(
            "AB_FUNCTION ab_s64 {name}(const struct ab_views *v)\n{{\n{declared}\n\tif (!v)\n\t\treturn 0;\n\
             {body}\treturn {result};\n}}\n",
            declared = self.declared(),
            body = self.body,
        )
    }

    /// The new value of the note `place`, as a block.
    fn update(mut self, place: usize) -> String {
        self.depth = 2;
        self.operations(self.program.ops());
        let result = self.value(self.program.outputs()[0]);
        let (declared, body) = (self.declared(), self.body);
        match declared.is_empty() {
            true => format!("\tn->note[{place}] = {result};\n"),
            false => format!("\t{{\n{declared}\n{body}\t\tn->note[{place}] = {result};\n\t}}\n"),
        }
    }

    /// Declarations of the variables that the body assigns.
    fn declared(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for op in self.program.ops() {
            let Some(register) = out(op) else { continue };
            let name = format!("t{register}");
            if !self.unread(op) && !names.contains(&name) {
                names.push(name);
            }
        }
        let tabs = "\t".repeat(self.depth);
        let rows = names.chunks(12);
        rows.map(|row| format!("{tabs}ab_signed {};\n", row.join(", "))).collect()
    }

    fn positive(&self, id: NodeId) -> bool {
        self.law.ranges[id.place()].is_positive_or_zero()
    }

    fn node(&self, register: Register) -> NodeId {
        self.nodes[usize::from(register)]
    }

    fn both(&self, a: Register, b: Register) -> bool {
        self.positive(self.node(a)) && self.positive(self.node(b))
    }

    /// A register as an operand: a constant is written inline.
    fn value(&self, register: Register) -> String {
        match self.law.graph.node(self.node(register)) {
            Node::Number(value) => constant(value),
            _ => format!("t{register}"),
        }
    }

    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            (0..self.depth).for_each(|_| self.body.push('\t'));
        }
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn operations(&mut self, ops: &[Op]) {
        let mut rest = ops;
        while let [op, behind @ ..] = rest {
            rest = behind;
            if let Op::Loop { index, length } = *op {
                let (body, behind) = rest.split_at(usize::from(length));
                self.looped(index, body);
                rest = behind;
                continue;
            }
            if self.unread(op) {
                continue;
            }
            let text = self.operation(op);
            self.say_line(op);
            self.line(&text);
        }
    }

    /// Writes the line of the text from which an operation comes.
    fn say_line(&mut self, op: &Op) {
        let line = out(op).map_or(0, |register| self.law.lines[self.node(register).place()]);
        if let Some(file) = self.file {
            writeln!(self.body, "#line {line} \"{file}\"").ok();
        }
    }

    fn looped(&mut self, index: Index, body: &[Op]) {
        self.line(&format!("for (int i{index} = 0; i{index} < AB_PATHS; i{index}++) {{"));
        self.depth += 1;
        self.line(&format!("const struct ab_view *s{index} = &v->path[i{index}];"));
        self.line("");
        self.line(&format!("if (!s{index}->srtt)"));
        self.line("\tcontinue;");
        self.operations(body);
        self.depth -= 1;
        self.line("}");
        let mut rest = body;
        while let [op, behind @ ..] = rest {
            rest = match *op {
                Op::Loop { length, .. } => &behind[usize::from(length)..], // the loop has its own
                _ => behind,
            };
            if let Op::Gather { of, out, a } = *op
                && self.gathered_whole(of, out, a).is_some()
            {
                self.line(&format!("t{out} = ab_whole(t{out});"));
            }
        }
    }

    fn operation(&self, op: &Op) -> String {
        let value = |register| self.value(register);
        let (out, text) = match *op {
            Op::Load { out, symbol, index } => (out, self.loaded(symbol, index)),
            Op::Paths { out } => (out, "ab_whole(v->paths)".to_owned()),
            Op::One { op, out, a } => (out, one(op, &value(a))),
            Op::Two { out, .. } if let Some(whole) = self.whole(self.node(out)) => {
                (out, format!("ab_whole({whole})"))
            }
            Op::Two { op, out, a, b } => {
                let condition = self.law.graph.is_condition(self.node(a));
                (out, two(op, &value(a), &value(b), self.both(a, b), condition))
            }
            Op::Compare { op, out, a, b } => {
                (out, compared(op, &value(a), &value(b), self.both(a, b)))
            }
            Op::Whole { out, a, n } => {
                let times = if self.positive(self.node(a)) { "ab_times" } else { "ab_multiply" };
                let of = |so_far: String, _| format!("{times}({so_far}, {})", value(a));
                (out, (1..n).fold(value(a), of))
            }
            Op::Choose { out, c, a, b } => {
                (out, format!("{} ? {} : {}", value(c), value(a), value(b)))
            }
            Op::Begin { out, of } => (out, self.beginning(of, self.node(out))),
            Op::Gather { of, out, a } => (out, self.gathered(of, out, a)),
            Op::Loop { .. } => return String::new(),
        };
        format!("t{out} = {text};")
    }

    fn loaded(&self, symbol: Symbol, index: Index) -> String {
        let seconds = |micros: &str| format!("ab_over(ab_whole({micros}), AB_SECOND)");
        let path = path(index);
        match (self.reads, symbol) {
            (Reads::News, Symbol::Note(note)) => match self.law.notes.field(note) {
                Some(_) => self.law.notes.text(note, "e"),
                None => self.law.notes.text(note, "n"),
            },
            (Reads::News, Symbol::Acked) => "ab_whole(e->acked)".to_owned(),
            (Reads::News, Symbol::LastRtt) => seconds("e->rtt"),
            (Reads::News, _) => seconds("e->srtt"),
            (Reads::Views, Symbol::Window) => format!("ab_whole({path}->cwnd)"),
            (Reads::Views, Symbol::Note(note)) => self.law.notes.text(note, &path),
            (Reads::Views, _) if self.law.scaled => format!("ab_whole({path}->srtt)"),
            (Reads::Views, _) => seconds(&format!("{path}->srtt")),
        }
    }

    fn beginning(&self, of: Reduction, node: NodeId) -> String {
        match of {
            Reduction::Most if !self.positive(node) => "AB_INFINITY | AB_SIGN".to_owned(),
            Reduction::Least => "AB_INFINITY".to_owned(),
            _ => "0".to_owned(),
        }
    }

    /// A whole number of the connection or a path, or the smaller or larger of two, before its
    /// conversion.
    fn whole(&self, node: NodeId) -> Option<String> {
        if self.reads == Reads::News {
            return None;
        }
        match self.law.graph.node(node) {
            Node::Two(Two::Times, a, b) if self.law.ranges[node.place()].exact => {
                Some(format!("(ab_u64){} * {}", self.leaf(a)?, self.leaf(b)?))
            }
            // Only with leaves as operands, because their text is written twice.
            Node::Two(op @ (Two::Least | Two::Most), a, b) => {
                let (a, b) = (self.leaf(a)?, self.leaf(b)?);
                let order = if op == Two::Least { '<' } else { '>' };
                Some(format!("({a} {order} {b} ? {a} : {b})"))
            }
            _ => self.leaf(node),
        }
    }

    /// A whole number of the connection or a path.
    fn leaf(&self, node: NodeId) -> Option<String> {
        match self.law.graph.node(node) {
            Node::Path(Symbol::Window, index) => Some(format!("{}->cwnd", path(index))),
            Node::Path(Symbol::Note(note), index) => {
                Some(format!("{}->{}", path(index), self.law.notes.field(note)?))
            }
            Node::Paths => Some("v->paths".to_owned()),
            _ => None,
        }
    }

    /// A reduction in whole numbers, if its body is one or it is a count: this saves a conversion
    /// for each path.
    fn gathered_whole(&self, of: Reduction, out: Register, a: Register) -> Option<String> {
        if of == Reduction::Count {
            return Some(format!("t{out} + {}", self.value(a)));
        }
        let whole = self.whole(self.node(a))?;
        match of {
            Reduction::Sum if self.law.ranges[self.node(out).place()].exact => {
                Some(format!("t{out} + {whole}"))
            }
            Reduction::Most => Some(format!("t{out} < {whole} ? {whole} : t{out}")),
            _ => None,
        }
    }

    fn gathered(&self, of: Reduction, out: Register, a: Register) -> String {
        if let Some(whole) = self.gathered_whole(of, out, a) {
            return whole;
        }
        let (so_far, value) = (format!("t{out}"), self.value(a));
        let positive = self.both(out, a);
        match of {
            Reduction::Sum => two(Two::Plus, &so_far, &value, positive, false),
            Reduction::Most => two(Two::Most, &so_far, &value, positive, false),
            Reduction::Least => two(Two::Least, &so_far, &value, positive, false),
            Reduction::Count => so_far, // whole numbers: above
        }
    }
}

/// A path in C.
fn path(index: Index) -> String {
    if index == ME { "ab_me(v)".to_owned() } else { format!("s{index}") }
}

/// The register that an operation writes.
fn out(op: &Op) -> Option<Register> {
    Some(match *op {
        Op::Load { out, .. }
        | Op::Paths { out }
        | Op::One { out, .. }
        | Op::Two { out, .. }
        | Op::Compare { out, .. }
        | Op::Whole { out, .. }
        | Op::Choose { out, .. }
        | Op::Begin { out, .. }
        | Op::Gather { out, .. } => out,
        Op::Loop { .. } => return None,
    })
}

fn constant(value: f64) -> String {
    let sign = if value < 0.0 { " | AB_SIGN" } else { "" };
    if value.is_infinite() {
        return format!("(AB_INFINITY{sign})");
    }
    let (mantissa, exponent) = parts(value);
    if mantissa == 0 {
        return "0".to_owned();
    }
    let mut text = String::new();
    write!(text, "(AB_CONSTANT({mantissa}ULL, {exponent}){sign} /* {value} */)").ok();
    text
}

fn one(op: One, a: &str) -> String {
    match op {
        One::Negative => format!("ab_negative({a})"),
        One::Magnitude => format!("ab_size({a})"),
        One::Root => format!("ab_root({a})"),
        One::Not => format!("!{a}"),
        One::Exponential | One::Logarithm => "0".to_owned(),
    }
}

fn two(op: Two, a: &str, b: &str, positive: bool, condition: bool) -> String {
    match (op, positive) {
        (Two::Least, _) if condition => format!("{a} & {b}"),
        (Two::Most, _) if condition => format!("{a} | {b}"),
        (Two::Plus, true) => format!("ab_plus({a}, {b})"),
        (Two::Plus, false) => format!("ab_add({a}, {b})"),
        (Two::Minus, _) => format!("ab_add({a}, ab_negative({b}))"),
        (Two::Times, true) => format!("ab_times({a}, {b})"),
        (Two::Times, false) => format!("ab_multiply({a}, {b})"),
        (Two::Over, true) => format!("ab_over({a}, {b})"),
        (Two::Over, false) => format!("ab_divide({a}, {b})"),
        (Two::Least, true) => format!("{a} < {b} ? {a} : {b}"),
        (Two::Least, false) => format!("ab_below({a}, {b}) ? {a} : {b}"),
        (Two::Most, true) => format!("{b} < {a} ? {a} : {b}"),
        (Two::Most, false) => format!("ab_below({b}, {a}) ? {a} : {b}"),
        _ => "0".to_owned(),
    }
}

fn compared(op: Two, a: &str, b: &str, positive: bool) -> String {
    match (op, positive) {
        (Two::Less, true) => format!("{a} < {b}"),
        (Two::Less, false) => format!("ab_below({a}, {b})"),
        (Two::LessEqual, true) => format!("{a} <= {b}"),
        (Two::LessEqual, false) => format!("!ab_below({b}, {a})"),
        _ => format!("{a} == {b}"),
    }
}
