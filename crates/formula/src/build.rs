//! Builds the graph from parsed expressions: looks up names and checks types.

use crate::collect::{Declared, GROWTH, SYMBOLS};
use crate::error::{Mistake, offer};
use crate::expression::{Expression, Kind, Operator};
use crate::graph::{Graph, Index, ME, Node, NodeId, One, Reduction, Symbol, Two};
use crate::number::constant;
use crate::prelude::{FUNCTIONS, REDUCTIONS};
use crate::tokens::subscript;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

/// The place of an expression: some symbols are known only in some places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Growth, backoff, and the definitions that they use.
    Formula,
    /// The value of a note after an ACK.
    Ack,
    /// The value of a note after a loss.
    Loss,
    /// The value of a note in the steady state.
    Steady,
    /// A number that depends only on parameters.
    Constant,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Formula => "a formula",
            Place::Ack => "an update on ack",
            Place::Loss => "an update on loss",
            Place::Steady => "a steady value",
            Place::Constant => "a constant",
        }
    }

    /// The symbols known in this place, besides parameters and definitions.
    fn symbols(self) -> &'static [&'static str] {
        match self {
            Place::Formula => &["w", "rtt", "x", "n", "w_tot"],
            Place::Ack => &["acked", "rtt", "rtt_last"],
            Place::Loss | Place::Constant => &[],
            Place::Steady => &["p", "rtt"],
        }
    }

    fn has_notes(self) -> bool {
        matches!(self, Place::Formula | Place::Ack | Place::Loss)
    }
}

/// The deepest nesting of reductions.
const DEEPEST: Index = 3;

/// Deepest nesting of expressions, definitions included.
const DEEPEST_OF_ALL: usize = 600;

/// A window or an expression within this part of the largest counts as largest.
const TIE: f64 = 1e-6;

/// The paths that an expression can name.
#[derive(Clone, Debug)]
struct Scope {
    /// The path of symbols without a letter, and of the letter `r`.
    own: Index,
    /// The letters of the enclosing reductions.
    letters: Vec<(char, Index)>,
}

impl Scope {
    fn of(own: Index) -> Self {
        Scope { own, letters: Vec::new() }
    }

    fn index(&self, letter: char) -> Option<Index> {
        if letter == 'r' {
            return Some(self.own);
        }
        self.letters.iter().find(|(own, _)| *own == letter).map(|(_, index)| *index)
    }
}

/// Builds the graph of a law.
pub(crate) struct Builder<'a> {
    text: &'a str,
    declared: &'a Declared,
    pub(crate) graph: Graph,
    /// For each node, its bytes in the text.
    pub(crate) places: Vec<Range<usize>>,
    /// Definitions for a path and a place; `None` while one is being built.
    built: BTreeMap<(usize, Index, Place), Option<NodeId>>,
    /// Depth of nesting of the expression being built.
    depth: usize,
}

type Built = Result<NodeId, Mistake>;

impl<'a> Builder<'a> {
    pub(crate) fn new(text: &'a str, declared: &'a Declared) -> Self {
        Builder {
            text,
            declared,
            graph: Graph::default(),
            places: Vec::new(),
            built: BTreeMap::new(),
            depth: 0,
        }
    }

    /// The node of an expression that is a number.
    pub(crate) fn number(&mut self, expression: &Expression, place: Place) -> Built {
        self.numeric(expression, &Scope::of(ME), place)
    }

    /// The node of the definition `index` for the path being evaluated, a number or a condition.
    pub(crate) fn definition(&mut self, index: usize, place: Place) -> Built {
        let span = self.declared.definitions[index].name.span.clone();
        self.defined(index, ME, place, &span)
    }

    /// The node of a note of the path being evaluated.
    pub(crate) fn note(&mut self, note: u8, span: &Range<usize>) -> Built {
        self.add(Node::Path(Symbol::Note(note), ME), span)
    }

    /// Whether a definition has been built for a place.
    pub(crate) fn is_built(&self, index: usize) -> bool {
        self.built.iter().any(|((own, ..), node)| *own == index && node.is_some())
    }

    fn add(&mut self, node: Node, span: &Range<usize>) -> Built {
        let node = self.folded(node);
        let full =
            || Mistake::new("the law is too large: it has more than 4096 parts", span.clone());
        let id = self.graph.add(node).ok_or_else(full)?;
        if id.place() == self.places.len() {
            self.places.push(span.clone());
        }
        Ok(id)
    }

    /// Folds an operation on numbers alone to a number.
    fn folded(&self, node: Node) -> Node {
        let value = |id: NodeId| match self.graph.node(id) {
            Node::Number(value) => Some(value),
            _ => None,
        };
        // A result that is not finite is not folded: `range::check` reports it with its expression.
        let known = match node {
            Node::One(One::Not, _) => None,
            Node::One(one, a) => value(a).map(|a| constant::one(one, a)),
            Node::Two(two, a, b) if !constant::is_condition(two) => {
                value(a).zip(value(b)).map(|(a, b)| constant::two(two, a, b))
            }
            Node::Whole(a, n) => value(a).map(|a| constant::whole(a, n)),
            _ => None,
        };
        known.filter(|value| value.is_finite()).map_or(node, Node::Number)
    }

    fn numeric(&mut self, e: &Expression, scope: &Scope, place: Place) -> Built {
        let id = self.any(e, scope, place)?;
        match self.graph.is_condition(id) {
            false => Ok(id),
            true => {
                let message = "this is a condition, and a number belongs here";
                Err(Mistake::new(message, e.span.clone()))
            }
        }
    }

    fn condition(&mut self, e: &Expression, scope: &Scope, place: Place) -> Built {
        let id = self.any(e, scope, place)?;
        match self.graph.is_condition(id) {
            true => Ok(id),
            false => {
                let message = "this is a number, and a condition such as `w > 2` belongs here";
                Err(Mistake::new(message, e.span.clone()))
            }
        }
    }

    /// The node of an expression. The depth is limited, because nested definitions recurse on the
    /// stack.
    fn any(&mut self, e: &Expression, scope: &Scope, place: Place) -> Built {
        self.depth += 1;
        if self.depth > DEEPEST_OF_ALL {
            let message = "definitions upon definitions are nested too deep here";
            return Err(Mistake::new(message, e.span.clone()));
        }
        let built = self.of_kind(e, scope, place);
        self.depth -= 1;
        built
    }

    fn of_kind(&mut self, e: &Expression, scope: &Scope, place: Place) -> Built {
        match &e.kind {
            Kind::Number(value) => self.add(Node::Number(*value), &e.span),
            Kind::Name => self.name(&e.span, scope, place),
            Kind::Call(name, arguments) => self.call(name, arguments, &e.span, scope, place),
            Kind::Negative(of) => {
                let of = self.numeric(of, scope, place)?;
                self.add(Node::One(One::Negative, of), &e.span)
            }
            Kind::Not(of) => {
                let of = self.condition(of, scope, place)?;
                self.add(Node::One(One::Not, of), &e.span)
            }
            Kind::Two(operator, left, right) => self.two(*operator, left, right, scope, place),
            Kind::If(parts) => {
                let [condition, then, other] = &**parts;
                let condition = self.condition(condition, scope, place)?;
                let (a, b) = (self.any(then, scope, place)?, self.any(other, scope, place)?);
                if self.graph.is_condition(a) != self.graph.is_condition(b) {
                    let message = "one branch is a number and the other one a condition";
                    return Err(Mistake::new(message, e.span.clone()));
                }
                self.add(Node::Choice(condition, a, b), &e.span)
            }
        }
    }

    fn two(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        scope: &Scope,
        place: Place,
    ) -> Built {
        let span = left.span.start..right.span.end;
        let logical = matches!(operator, Operator::And | Operator::Or);
        let side = |own: &mut Self, e| match logical {
            true => own.condition(e, scope, place),
            false => own.numeric(e, scope, place),
        };
        let a = side(self, left)?;
        if operator == Operator::Power
            && let Some(power) = written_whole(right)
        {
            return self.whole(a, power, &span);
        }
        let b = side(self, right)?;
        let node = match operator {
            Operator::Plus => Node::Two(Two::Plus, a, b),
            Operator::Minus => Node::Two(Two::Minus, a, b),
            Operator::Times => Node::Two(Two::Times, a, b),
            Operator::Over => Node::Two(Two::Over, a, b),
            Operator::Power => Node::Two(Two::Power, a, b),
            Operator::Less => Node::Two(Two::Less, a, b),
            Operator::LessEqual => Node::Two(Two::LessEqual, a, b),
            Operator::More => Node::Two(Two::Less, b, a),
            Operator::MoreEqual => Node::Two(Two::LessEqual, b, a),
            Operator::Equal => Node::Two(Two::Equal, a, b),
            Operator::Unequal => {
                let equal = self.add(Node::Two(Two::Equal, a, b), &span)?;
                Node::One(One::Not, equal)
            }
            Operator::And => Node::Two(Two::And, a, b),
            Operator::Or => Node::Two(Two::Or, a, b),
        };
        self.add(node, &span)
    }

    /// A power with a whole exponent in the text: products, and `1/…` for a negative exponent.
    fn whole(&mut self, base: NodeId, power: i16, span: &Range<usize>) -> Built {
        let size = power.unsigned_abs() as u8;
        let product = match size {
            0 => return self.add(Node::Number(1.0), span),
            1 => base,
            _ => self.add(Node::Whole(base, size), span)?,
        };
        if power > 0 {
            return Ok(product);
        }
        let one = self.add(Node::Number(1.0), span)?;
        self.add(Node::Two(Two::Over, one, product), span)
    }

    fn name(&mut self, span: &Range<usize>, scope: &Scope, place: Place) -> Built {
        let name = &self.text[span.clone()];
        if let Some(known) = self.plain(name, scope.own, place, span) {
            return known;
        }
        if let Some((base, letter)) = subscript(name)
            && (SYMBOLS.contains(&base) || self.declared.names().any(|own| own == base))
        {
            let Some(index) = scope.index(letter) else {
                let message = format!(
                    "no path is called `{letter}` here: `{base}` is that of the path itself, and \
                     `sum_{letter}({name})` runs over all paths"
                );
                return Err(Mistake::new(message, span.clone()));
            };
            if let Some(known) = self.plain(base, index, place, span) {
                return known;
            }
        }
        Err(self.unknown(name, span, place))
    }

    /// The node of a name without a letter, for the path `own`; `None` if the name is unknown.
    fn plain(
        &mut self,
        name: &str,
        own: Index,
        place: Place,
        span: &Range<usize>,
    ) -> Option<Built> {
        let of = |symbol| Node::Path(symbol, own);
        if place.symbols().contains(&name) {
            return Some(match name {
                "w" => self.add(of(Symbol::Window), span),
                "rtt" => self.add(of(Symbol::Rtt), span),
                "x" => self.rate(own, span),
                "n" => self.add(Node::Paths, span),
                "w_tot" => self.total_window(span),
                "acked" => self.add(of(Symbol::Acked), span),
                "rtt_last" => self.add(of(Symbol::LastRtt), span),
                _ => self.add(of(Symbol::Loss), span),
            });
        }
        let declared = self.declared;
        if let Some(parameter) = declared.parameters.iter().find(|one| one.name.text == name) {
            return Some(self.add(Node::Number(parameter.value.value), span));
        }
        if name == "inf" {
            return Some(self.add(Node::Number(f64::INFINITY), span));
        }
        let note = declared.notes.iter().position(|one| one.name.text == name);
        if let Some(note) = note.filter(|_| place.has_notes()) {
            return Some(self.add(of(Symbol::Note(note as u8)), span));
        }
        let definition = declared.definitions.iter().position(|one| one.name.text == name)?;
        Some(self.defined(definition, own, place, span))
    }

    /// `x = w / rtt`.
    fn rate(&mut self, own: Index, span: &Range<usize>) -> Built {
        let window = self.add(Node::Path(Symbol::Window, own), span)?;
        let rtt = self.add(Node::Path(Symbol::Rtt, own), span)?;
        self.add(Node::Two(Two::Over, window, rtt), span)
    }

    fn total_window(&mut self, span: &Range<usize>) -> Built {
        let window = self.add(Node::Path(Symbol::Window, 1), span)?;
        self.add(Node::Reduce(Reduction::Sum, 1, window), span)
    }

    /// A definition for the path `own`.
    fn defined(&mut self, index: usize, own: Index, place: Place, span: &Range<usize>) -> Built {
        let definition = &self.declared.definitions[index];
        match self.built.get(&(index, own, place)) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => {
                let message = format!("`{}` is defined by itself", definition.name.text);
                return Err(Mistake::new(message, span.clone()));
            }
            None => {}
        }
        self.built.insert((index, own, place), None);
        let built = self.any(&definition.value, &Scope::of(own), place);
        match &built {
            Ok(id) => self.built.insert((index, own, place), Some(*id)),
            Err(_) => self.built.remove(&(index, own, place)),
        };
        built
    }

    fn unknown(&self, name: &str, span: &Range<usize>, place: Place) -> Mistake {
        let base = subscript(name).map_or(name, |(base, _)| base);
        let known = |name: &str| {
            SYMBOLS.contains(&name) || self.declared.notes.iter().any(|own| own.name.text == name)
        };
        let message = if known(base) {
            format!("`{base}` is not known in {}", place.name())
        } else if FUNCTIONS.contains(&base) || REDUCTIONS.contains(&base) {
            format!("`{name}` is a function: `{name}(…)`")
        } else {
            let names = place.symbols().iter().copied().chain(["l", "rtt_min"]);
            let near = offer(base, names.chain(self.declared.names()).filter(|own| *own != GROWTH));
            let help = if near.is_empty() {
                format!("; in {} there are {}", place.name(), self.known(place))
            } else {
                near
            };
            format!("nothing is called `{name}`{help}")
        };
        Mistake::new(message, span.clone())
    }

    fn known(&self, place: Place) -> alloc::string::String {
        let mut all: Vec<&str> = place.symbols().to_vec();
        if place == Place::Formula {
            all.extend(["l", "rtt_min"]);
        }
        all.extend(self.declared.parameters.iter().map(|own| own.name.text.as_str()));
        if all.is_empty() { "numbers alone".into() } else { all.join(", ") }
    }

    fn call(
        &mut self,
        name: &Range<usize>,
        arguments: &[Expression],
        span: &Range<usize>,
        scope: &Scope,
        place: Place,
    ) -> Built {
        let word = &self.text[name.clone()];
        let one = match word {
            "abs" => Some(One::Magnitude),
            "sqrt" => Some(One::Root),
            "exp" => Some(One::Exponential),
            "ln" => Some(One::Logarithm),
            _ => None,
        };
        if let Some(one) = one {
            let of = self.numeric(single(word, arguments, span)?, scope, place)?;
            return self.add(Node::One(one, of), span);
        }
        match word {
            "min" => self.extreme(Two::Least, word, arguments, span, scope, place),
            "max" => self.extreme(Two::Most, word, arguments, span, scope, place),
            "is_largest" => self.outstanding(true, single(word, arguments, span)?, scope, place),
            "is_smallest" => self.outstanding(false, single(word, arguments, span)?, scope, place),
            _ => match subscript(word).filter(|(base, _)| REDUCTIONS.contains(base)) {
                Some((base, letter)) => {
                    let of = single(word, arguments, span)?;
                    self.reduction(base, letter, of, span, scope, place)
                }
                None => Err(no_function(word, name)),
            },
        }
    }

    fn extreme(
        &mut self,
        two: Two,
        word: &str,
        arguments: &[Expression],
        span: &Range<usize>,
        scope: &Scope,
        place: Place,
    ) -> Built {
        let [first, rest @ ..] = arguments else {
            return Err(Mistake::new(format!("`{word}` takes numbers"), span.clone()));
        };
        if rest.is_empty() {
            let message =
                format!("`{word}` takes two numbers or more; over all paths it is `{word}_s`");
            return Err(Mistake::new(message, span.clone()));
        }
        let mut found = self.numeric(first, scope, place)?;
        for other in rest {
            let other = self.numeric(other, scope, place)?;
            found = self.add(Node::Two(two, found, other), span)?;
        }
        Ok(found)
    }

    /// Whether an expression of the own path is the largest over all paths, or the smallest; ties
    /// count.
    fn outstanding(
        &mut self,
        largest: bool,
        of: &Expression,
        scope: &Scope,
        place: Place,
    ) -> Built {
        let span = &of.span;
        let index = self.free_index(of, scope, &['r'])?;
        let mine = self.numeric(of, scope, place)?;
        let other = Scope { own: index, letters: scope.letters.clone() };
        let each = self.numeric(of, &other, place)?;
        if self.graph.free(each) & (1 << index) == 0 {
            let message = "this is the same number for every path, so none stands out";
            return Err(Mistake::new(message, span.clone()));
        }
        let reduction = if largest { Reduction::Most } else { Reduction::Least };
        let end = self.add(Node::Reduce(reduction, index, each), span)?;
        let tolerance = if largest { 1.0 - TIE } else { 1.0 + TIE };
        let tolerance = self.add(Node::Number(tolerance), span)?;
        let bar = self.add(Node::Two(Two::Times, end, tolerance), span)?;
        let (low, high) = if largest { (bar, mine) } else { (mine, bar) };
        self.add(Node::Two(Two::LessEqual, low, high), span)
    }

    fn reduction(
        &mut self,
        word: &str,
        letter: char,
        of: &Expression,
        span: &Range<usize>,
        scope: &Scope,
        place: Place,
    ) -> Built {
        if letter == 'r' || scope.letters.iter().any(|(own, _)| *own == letter) {
            let message = format!("`{letter}` is a path already: take another letter for this one");
            return Err(Mistake::new(message, span.clone()));
        }
        let index = self.free_index(of, scope, &[letter])?;
        let mut inside = scope.clone();
        inside.letters.push((letter, index));
        let counts = matches!(word, "count" | "any" | "all");
        let body = match counts {
            true => self.condition(of, &inside, place)?,
            false => self.numeric(of, &inside, place)?,
        };
        if self.graph.free(body) & (1 << index) == 0 {
            let message = format!(
                "this does not depend on path `{letter}`: write `_{letter}` behind what does"
            );
            return Err(Mistake::new(message, of.span.clone()));
        }
        let mut reduce = |reduction, body| self.add(Node::Reduce(reduction, index, body), span);
        match word {
            "sum" => reduce(Reduction::Sum, body),
            "max" => reduce(Reduction::Most, body),
            "min" => reduce(Reduction::Least, body),
            "count" => reduce(Reduction::Count, body),
            "any" => {
                let count = reduce(Reduction::Count, body)?;
                let zero = self.add(Node::Number(0.0), span)?;
                self.add(Node::Two(Two::Less, zero, count), span)
            }
            _ => {
                let none = self.add(Node::One(One::Not, body), span)?;
                let count = self.add(Node::Reduce(Reduction::Count, index, none), span)?;
                let zero = self.add(Node::Number(0.0), span)?;
                self.add(Node::Two(Two::Equal, count, zero), span)
            }
        }
    }

    /// The least index for a reduction over `of` that makes equal reductions one node: it is above
    /// the indices of all paths named in `of`, without the `bound` letters.
    fn free_index(&self, of: &Expression, scope: &Scope, bound: &[char]) -> Result<Index, Mistake> {
        let index = 1 + self.highest(of, scope, bound);
        match index <= DEEPEST {
            true => Ok(index),
            false => {
                let message = format!("reductions are nested more than {DEEPEST} levels deep");
                Err(Mistake::new(message, of.span.clone()))
            }
        }
    }

    /// The highest index of a path named in `e`, without the `bound` letters.
    fn highest(&self, e: &Expression, scope: &Scope, bound: &[char]) -> Index {
        let own = match &e.kind {
            Kind::Name => {
                let name = &self.text[e.span.clone()];
                let letter = match subscript(name) {
                    Some((_, letter)) if !self.declared.names().any(|known| known == name) => {
                        letter
                    }
                    _ => 'r',
                };
                if bound.contains(&letter) { ME } else { scope.index(letter).unwrap_or(ME) }
            }
            _ => ME,
        };
        e.parts().into_iter().fold(own, |all, part| all.max(self.highest(part, scope, bound)))
    }
}

fn single<'e>(
    word: &str,
    arguments: &'e [Expression],
    span: &Range<usize>,
) -> Result<&'e Expression, Mistake> {
    match arguments {
        [only] => Ok(only),
        _ => {
            let message = format!("`{word}` takes one argument, and {} are here", arguments.len());
            Err(Mistake::new(message, span.clone()))
        }
    }
}

fn no_function(word: &str, span: &Range<usize>) -> Mistake {
    let base = subscript(word).map_or(word, |(base, _)| base);
    if REDUCTIONS.contains(&base) {
        let message = format!("`{word}` needs the letter of a path, as in `{base}_s(w_s)`");
        return Mistake::new(message, span.clone());
    }
    let help = match offer(word, FUNCTIONS.into_iter().chain(REDUCTIONS)) {
        none if none.is_empty() => {
            format!(
                "; there are {}, and over paths {}",
                FUNCTIONS.join(", "),
                "sum_s, max_s, min_s, count_s, any_s, all_s"
            )
        }
        near => near,
    };
    Mistake::new(format!("there is no function `{word}`{help}"), span.clone())
}

/// The exponent, if it is a whole number in the text.
fn written_whole(e: &Expression) -> Option<i16> {
    let small = |value: f64| {
        let whole = value as i16;
        (f64::from(whole) == value && whole.unsigned_abs() <= 16).then_some(whole)
    };
    match &e.kind {
        Kind::Number(value) => small(*value),
        Kind::Negative(of) => match of.kind {
            Kind::Number(value) => small(value).map(|whole| -whole),
            _ => None,
        },
        _ => None,
    }
}
