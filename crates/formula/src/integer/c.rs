//! A law in whole numbers as a header in C.

use super::IntegerLaw;
use crate::graph::{Index, ME, Node, NodeId, One, Reduction, Symbol, Two};
use crate::integer::number::parts;
use crate::program::{Op, Program, Register};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// The header of `law`, with the lines of the text in `file` that it comes from.
pub(super) fn header(law: &IntegerLaw, file: Option<&str>) -> String {
    let relative = law.relative_bound();
    let of = match law.is_positive() {
        true => "growth",
        false => "the sum of the magnitudes of the terms of growth",
    };
    let floor = libm::ceil(law.min_ssthresh) as u32;
    let function = |formula| Function::of(law, formula, file);
    let (growth, backoff) = (function(&law.growth), function(&law.backoff));
    let (growth, backoff) = (growth.text("ab_growth"), backoff.text("ab_backoff"));
    let time = match law.scaled {
        true => "Time is in us: the law is the same in whatever unit.",
        false => "Time is in s, as a whole number of us over 10^6.",
    };
    format!(
        "/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */\n\
         /* {name}: {formula}\n \
          * Generated from the text of the law. {time}\n \
          * Error of growth: at most {relative} u of {of}, with u = 2^-31. */\n\
         #ifndef AB_LAW_H\n\
         #define AB_LAW_H\n\n\
         #include \"views.h\"\n\
         #include \"signed.h\"\n\n\
         #define AB_COUPLED {coupled} /* whether paths influence each other */\n\
         #define AB_MIN_SSTHRESH {floor} /* of coupled subflows, in segments */\n\
         #define AB_RELATIVE {relative} /* of {of}, in 2^-31 */\n\
         #define AB_OF_RENO 0 /* of 1/w, in 2^-31 */\n\
         #define AB_ABSOLUTE 1 /* 2^-32 segments */\n\n\
         {growth}\n{backoff}\n#endif\n",
        coupled = u8::from(law.couples),
        name = law.name,
        formula = law.formula.replace("*/", "* /").replace("/*", "/ *"),
    )
}

/// A formula on its way to C.
struct Function<'a> {
    law: &'a IntegerLaw,
    program: &'a Program,
    root: NodeId,
    /// The node of each register.
    nodes: Vec<NodeId>,
    body: String,
    depth: usize,
    /// The file of the text, if its lines are to be said.
    file: Option<&'a str>,
}

impl<'a> Function<'a> {
    fn of(
        law: &'a IntegerLaw,
        (root, program): &'a (NodeId, Program),
        file: Option<&'a str>,
    ) -> Self {
        let (nodes, body) = (program.nodes().to_vec(), String::new());
        Function { law, program, root: *root, nodes, body, depth: 1, file }
    }

    fn text(mut self, name: &str) -> String {
        self.operations(self.program.ops());
        let result = self.value(self.program.outputs()[0]);
        let result = match (name, self.positive(self.root)) {
            ("ab_growth", true) => format!("ab_fixed({result})"),
            ("ab_growth", false) => format!("ab_signed_fixed({result})"),
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

    /// Declarations of what the body assigns.
    fn declared(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for op in self.program.ops() {
            if let Op::Loop { .. } = op {
                continue;
            }
            let name = format!("t{}", out(op).unwrap_or_default());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let rows: Vec<String> =
            names.chunks(12).map(|row| format!("\tab_signed {};\n", row.join(", "))).collect();
        rows.concat()
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

    /// A register as an operand: a constant is written where it is used.
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
            let text = self.operation(op);
            self.say_line(op);
            self.line(&text);
        }
    }

    /// Says from which line of the text an operation comes.
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
    }

    fn operation(&self, op: &Op) -> String {
        let value = |register| self.value(register);
        let (out, text) = match *op {
            Op::Load { out, symbol, index } => (out, self.loaded(symbol, index)),
            Op::Paths { out } => (out, "ab_whole(v->paths)".to_owned()),
            Op::One { op, out, a } => (out, one(op, &value(a))),
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
        let path = if index == ME { "ab_me(v)".to_owned() } else { format!("s{index}") };
        match symbol {
            Symbol::Window => format!("ab_whole({path}->cwnd)"),
            Symbol::Note(note) => {
                format!("ab_whole({path}->{})", self.law.notes[usize::from(note)])
            }
            _ if self.law.scaled => format!("ab_whole({path}->srtt)"),
            _ => format!("ab_over(ab_whole({path}->srtt), AB_SECOND)"),
        }
    }

    fn beginning(&self, of: Reduction, node: NodeId) -> String {
        match of {
            Reduction::Most if !self.positive(node) => "AB_INFINITY | AB_SIGN".to_owned(),
            Reduction::Least => "AB_INFINITY".to_owned(),
            _ => "0".to_owned(),
        }
    }

    fn gathered(&self, of: Reduction, out: Register, a: Register) -> String {
        let (so_far, value) = (format!("t{out}"), self.value(a));
        let positive = self.both(out, a);
        match of {
            Reduction::Sum => two(Two::Plus, &so_far, &value, positive, false),
            Reduction::Most => two(Two::Most, &so_far, &value, positive, false),
            Reduction::Least => two(Two::Least, &so_far, &value, positive, false),
            Reduction::Count => format!("{value} ? ab_plus({so_far}, AB_ONE) : {so_far}"),
        }
    }
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
