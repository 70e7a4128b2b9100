//! A law written as text, parsed and checked.

use crate::build::{Builder, Place};
use crate::collect::{BACKOFF, Declaration, Declared, GROWTH, Given, MIN_SSTHRESH, collect};
use crate::error::{LawError, Mistake, offer};
use crate::expression::Expression;
use crate::graph::{Graph, ME, Node, NodeId, Symbol, Two};
use crate::number::Number;
use crate::prelude;
use crate::program::{Inputs, Program};
use crate::range;
use crate::statement::{Event, Interval, Named};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Most bytes of the text of a law.
pub const MOST_BYTES: usize = 1 << 16;

/// A parameter of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its default value.
    pub default: f64,
    /// Its value.
    pub value: f64,
    /// Its allowed values.
    pub range: Interval,
    /// Its meaning.
    pub meaning: String,
}

/// A note: the law's memory of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its name.
    pub name: String,
    /// Its value when the path joins.
    pub initial: f64,
    /// Its meaning.
    pub meaning: String,
}

/// A quantity of a path that the law names, for observers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name; for a condition it begins with `in_`.
    pub name: String,
    /// Whether it is 0 or 1.
    pub condition: bool,
}

/// A law, parsed from its text and checked.
#[derive(Clone, Debug)]
pub struct TextLaw {
    text: String,
    name: String,
    summary: String,
    source: String,
    formula: String,
    parameters: Vec<Parameter>,
    notes: Vec<Note>,
    slow_start: Option<String>,
    coupling: Option<String>,
    kernel: bool,
    min_ssthresh: f64,
    graph: Graph,
    /// For each node, its bytes in the text.
    places: Vec<Range<usize>>,
    growth: NodeId,
    backoff: NodeId,
    quantities: Vec<Quantity>,
    programs: Programs,
}

/// The programs of a law; those of notes with the index of the note.
#[derive(Clone, Debug)]
struct Programs {
    growth: Program,
    backoff: Program,
    ack: Vec<(usize, Program)>,
    loss: Vec<(usize, Program)>,
    steady: Vec<(usize, Program)>,
    quantities: Program,
}

impl Programs {
    fn updates(&self, event: Event) -> &[(usize, Program)] {
        match event {
            Event::Ack => &self.ack,
            Event::Loss => &self.loss,
        }
    }
}

impl PartialEq for TextLaw {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl TextLaw {
    /// Parses a law.
    ///
    /// # Errors
    /// The first mistake in the text.
    pub fn read(text: &str) -> Result<Self, LawError> {
        if text.len() > MOST_BYTES {
            let message =
                format!("the text has {} bytes; a law has {MOST_BYTES} at most", text.len());
            return Err(LawError::new("", Mistake::new(message, 0..0)));
        }
        let with_memory = remembered(text);
        Self::checked(text, &with_memory).map_err(|mistake| LawError::new(text, mistake))
    }

    fn checked(text: &str, full: &str) -> Result<Self, Mistake> {
        let declared = collect(full, text.len())?;
        let mut builder = Builder::new(full, &declared);
        let growth = required(&mut builder, &declared, GROWTH, text.len())?;
        let backoff = required(&mut builder, &declared, BACKOFF, text.len())?;
        let min_ssthresh = min_ssthresh(&mut builder, &declared)?;
        let notes = notes(&mut builder, &declared)?;
        let (ack, loss) = updates(&mut builder, &declared)?;
        let steady = steady(&mut builder, &declared)?;
        let quantities = quantities(&mut builder, &declared)?;
        let (graph, places) = (builder.graph, builder.places);
        let names: Vec<String> = notes.iter().map(|own| own.name.clone()).collect();
        range::check(&graph, &places, &names)?;
        let program = |nodes: &[NodeId]| Program::new(&graph, nodes);
        let each = |all: Vec<(usize, NodeId)>| {
            all.into_iter().map(|(note, node)| (note, program(&[node]))).collect()
        };
        let seen: Vec<NodeId> = quantities.iter().map(|(_, node)| *node).collect();
        let programs = Programs {
            growth: program(&[growth]),
            backoff: program(&[backoff]),
            ack: each(ack),
            loss: each(loss),
            steady: each(steady),
            quantities: program(&seen),
        };
        Ok(TextLaw {
            text: text.to_owned(),
            name: declared.name.clone().unwrap_or_else(|| "law".into()),
            summary: declared.summary.clone(),
            source: declared.source.clone(),
            formula: formula(full, &declared),
            parameters: declared.parameters.iter().map(Parameter::of).collect(),
            slow_start: declared.slow_start.as_ref().map(|setting| setting.text.clone()),
            coupling: declared.coupling.as_ref().map(|setting| setting.text.clone()),
            kernel: declared.kernel,
            quantities: quantities.into_iter().map(|(quantity, _)| quantity).collect(),
            notes,
            min_ssthresh,
            graph,
            places,
            growth,
            backoff,
            programs,
        })
    }

    /// The text of the law.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One sentence about it; may be empty.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The publication; may be empty.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Its notes of each path.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The name of the slow start that it requires.
    pub fn slow_start(&self) -> Option<&str> {
        self.slow_start.as_deref()
    }

    /// How it chooses the paths that it couples: `sbd`, with a detector after a colon; otherwise it
    /// couples all.
    pub fn coupling(&self) -> Option<&str> {
        self.coupling.as_deref()
    }

    /// Whether it requires the kernel's arithmetic.
    pub fn in_kernel(&self) -> bool {
        self.kernel
    }

    /// Smallest ssthresh of a path in segments while the law sees several.
    pub fn min_ssthresh(&self) -> f64 {
        self.min_ssthresh
    }

    /// Its name with the parameters that differ from their default: `gentle:beta=0.3`.
    pub fn label(&self) -> String {
        let differs = |one: &&Parameter| one.value != one.default;
        let given = self.parameters.iter().filter(differs);
        let given: Vec<String> = given.map(|one| format!("{}={}", one.name, one.value)).collect();
        match given.is_empty() {
            true => self.name.clone(),
            false => format!("{}:{}", self.name, given.join(",")),
        }
    }

    /// Growth and backoff as written in the text, for tables.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// Whether the law differs from Reno on each path. If not, the shell is plain Reno.
    pub fn couples(&self) -> bool {
        let node = |id| self.graph.node(id);
        let window = |id| node(id) == Node::Path(Symbol::Window, ME);
        let number = |id, value| node(id) == Node::Number(value);
        let reno = match (node(self.growth), node(self.backoff)) {
            (Node::Two(Two::Over, one, w), Node::Two(Two::Over, v, two)) => {
                number(one, 1.0) && window(w) && window(v) && number(two, 2.0)
            }
            _ => false,
        };
        !reno
    }

    /// Whether growth or backoff may jump: whether they depend on a condition on the state of
    /// paths.
    pub fn jumps(&self) -> bool {
        let on_state = |id: &NodeId| {
            let of_path = |id: &NodeId| matches!(self.graph.node(*id), Node::Path(..));
            self.graph.is_condition(*id) && self.graph.below(&[*id]).iter().any(of_path)
        };
        self.graph.below(&[self.growth, self.backoff]).iter().any(on_state)
    }

    /// The graph of its formulas.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// For each node, its bytes in the text.
    pub(crate) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// The nodes of growth and of backoff.
    pub fn formulas(&self) -> [NodeId; 2] {
        [self.growth, self.backoff]
    }

    /// Segments that the window of `me` gains for one acknowledged segment.
    #[inline]
    pub fn growth<N: Number>(&self, me: usize, inputs: &impl Inputs<N>) -> N {
        self.programs.growth.value(me, inputs)
    }

    /// The window of `me`, in segments, after a congestion event.
    pub fn backoff<N: Number>(&self, me: usize, inputs: &impl Inputs<N>) -> N {
        self.programs.backoff.value(me, inputs)
    }

    /// The updates of notes by an event, in the order of the text: the index of each note, and the
    /// node of its value.
    pub fn updates(&self, event: Event) -> impl Iterator<Item = (usize, NodeId)> {
        self.programs.updates(event).iter().map(|(note, program)| (*note, program.root()))
    }

    /// Whether an ACK changes a note.
    pub fn notes_acks(&self) -> bool {
        !self.programs.ack.is_empty()
    }

    /// Updates the notes of a path in the order of the text; `inputs` reads them, as those of path
    /// 0, with the fields of the event.
    pub fn update<N: Number, I: Inputs<N>>(
        &self,
        event: Event,
        notes: &mut [N],
        inputs: impl Fn(&[N]) -> I,
    ) {
        for (note, program) in self.programs.updates(event) {
            let value = program.value(0, &inputs(notes));
            notes[*note] = value;
        }
    }

    /// The notes of a path that has just joined.
    pub fn initial<N: Number>(&self, notes: &mut [N]) {
        for (note, own) in notes.iter_mut().zip(&self.notes) {
            *note = N::real(own.initial);
        }
    }

    /// The notes in the steady state; `inputs` reads the loss probability and the round trip.
    pub fn steady<N: Number>(&self, notes: &mut [N], inputs: &impl Inputs<N>) {
        self.initial(notes);
        for (note, program) in &self.programs.steady {
            notes[*note] = program.value(0, inputs);
        }
    }

    /// The nodes of its notes in the steady state, with the index of each note.
    pub(crate) fn steady_values(&self) -> impl Iterator<Item = (usize, NodeId)> {
        self.programs.steady.iter().map(|(note, program)| (*note, program.root()))
    }

    /// Its quantities, in the order of the text.
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// The values of its quantities.
    pub fn observe<N: Number>(
        &self,
        me: usize,
        inputs: &impl Inputs<N>,
        see: impl FnMut(usize, N),
    ) {
        self.programs.quantities.values(me, inputs, see);
    }
}

impl Parameter {
    fn of(declared: &Declaration<Given>) -> Self {
        let Given { default, value, range } = declared.value;
        let (name, meaning) = (declared.name.text.clone(), declared.meaning.clone());
        Parameter { name, default, value, range, meaning }
    }
}

/// The text, followed by the definitions of its symbols with a memory.
fn remembered(text: &str) -> String {
    let mut full = text.to_owned();
    for (symbol, words) in prelude::REMEMBERED {
        if prelude::mentions(text, symbol) {
            full.push('\n');
            full.push_str(words);
        }
    }
    full
}

/// A definition that every law must have; `end` is where its text ends.
fn required(
    builder: &mut Builder<'_>,
    declared: &Declared,
    name: &str,
    end: usize,
) -> Result<NodeId, Mistake> {
    let own = declared.definitions.iter().position(|one| one.name.text == name);
    let own = own.ok_or_else(|| {
        let example = if name == GROWTH { "growth = 1/w" } else { "backoff = w/2" };
        let message = format!("the law has no `{name}`: add a line such as `{example}`");
        Mistake::new(message, end..end)
    })?;
    let node = builder.definition(own, Place::Formula)?;
    let definition = &declared.definitions[own];
    if builder.graph.is_condition(node) {
        let message = format!("`{name}` is a condition, and a number belongs here");
        return Err(Mistake::new(message, definition.value.span.clone()));
    }
    Ok(node)
}

/// Growth and backoff as written in the text, on one line.
fn formula(text: &str, declared: &Declared) -> String {
    let of = |name: &str| {
        let own = declared.definitions.iter().find(|one| one.name.text == name);
        let words = own.map(|one| &text[one.value.span.clone()]).unwrap_or_default();
        let lines = words.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        words.join(" ")
    };
    format!("growth {}, backoff {}", of(GROWTH), of(BACKOFF))
}

/// The value of a definition that uses only parameters.
fn constant(builder: &mut Builder<'_>, value: &Expression) -> Result<f64, Mistake> {
    let node = builder.number(value, Place::Constant)?;
    match builder.graph.node(node) {
        Node::Number(value) if value.is_finite() => Ok(value),
        _ => {
            let inputs = Nothing;
            let found: f64 = Program::new(&builder.graph, &[node]).value(0, &inputs);
            let message = format!("this is {found}, and a finite number belongs here");
            found
                .is_finite()
                .then_some(found)
                .ok_or_else(|| Mistake::new(message, value.span.clone()))
        }
    }
}

/// Inputs without paths.
struct Nothing;

impl<N: Number> Inputs<N> for Nothing {
    fn paths(&self) -> usize {
        0
    }

    fn usable(&self, _path: usize) -> bool {
        false
    }

    fn read(&self, _symbol: Symbol, _path: usize) -> N {
        N::real(0.0)
    }
}

/// Default floor of ssthresh in segments (RFC 5681 eq. 4).
const USUAL_MIN_SSTHRESH: f64 = 2.0;

fn min_ssthresh(builder: &mut Builder<'_>, declared: &Declared) -> Result<f64, Mistake> {
    let Some(own) = declared.definitions.iter().find(|one| one.name.text == MIN_SSTHRESH) else {
        return Ok(USUAL_MIN_SSTHRESH);
    };
    let value = constant(builder, &own.value)?;
    match value >= 1.0 {
        true => Ok(value),
        false => {
            let message = format!("{MIN_SSTHRESH} is {value}; it is 1 segment at least");
            Err(Mistake::new(message, own.value.span.clone()))
        }
    }
}

fn notes(builder: &mut Builder<'_>, declared: &Declared) -> Result<Vec<Note>, Mistake> {
    let note = |one: &Declaration<_>| {
        let initial = constant(builder, &one.value)?;
        Ok(Note { name: one.name.text.clone(), initial, meaning: one.meaning.clone() })
    };
    declared.notes.iter().map(note).collect()
}

/// The index of a note.
fn note(declared: &Declared, name: &Named) -> Result<usize, Mistake> {
    let place = declared.notes.iter().position(|one| one.name.text == name.text);
    place.ok_or_else(|| {
        let near = offer(&name.text, declared.notes.iter().map(|one| one.name.text.as_str()));
        let help = match near.is_empty() {
            true => format!(": declare it, as in `note {} = 0`", name.text),
            false => near,
        };
        Mistake::new(format!("the law has no note `{}`{help}", name.text), name.span.clone())
    })
}

/// Indices of notes, with the nodes of their values.
type Updates = Vec<(usize, NodeId)>;

/// The updates of notes by ACKs and by losses.
fn updates(builder: &mut Builder<'_>, declared: &Declared) -> Result<(Updates, Updates), Mistake> {
    let (mut ack, mut loss) = (Vec::new(), Vec::new());
    for (event, name, value) in &declared.on {
        let note = note(declared, name)?;
        match event {
            Event::Ack => ack.push((note, builder.number(value, Place::Ack)?)),
            Event::Loss => loss.push((note, builder.number(value, Place::Loss)?)),
        }
    }
    Ok((ack, loss))
}

fn steady(builder: &mut Builder<'_>, declared: &Declared) -> Result<Updates, Mistake> {
    let mut all: Updates = Vec::new();
    for (name, value) in &declared.steady {
        let note = note(declared, name)?;
        if all.iter().any(|(own, _)| *own == note) {
            let message = format!("`{}` has a steady value already", name.text);
            return Err(Mistake::new(message, name.span.clone()));
        }
        all.push((note, builder.number(value, Place::Steady)?));
    }
    Ok(all)
}

/// The law's quantities besides growth and backoff: definitions that formulas can use, and notes.
fn quantities(
    builder: &mut Builder<'_>,
    declared: &Declared,
) -> Result<Vec<(Quantity, NodeId)>, Mistake> {
    let mut all = Vec::new();
    for (index, definition) in declared.definitions.iter().enumerate() {
        let name = definition.name.text.as_str();
        if [GROWTH, BACKOFF, MIN_SSTHRESH].contains(&name) {
            continue;
        }
        match builder.definition(index, Place::Formula) {
            Ok(node) => {
                let condition = builder.graph.is_condition(node);
                let name = if condition { format!("in_{name}") } else { name.to_owned() };
                all.push((Quantity { name, condition }, node));
            }
            Err(mistake) if !builder.is_built(index) => return Err(mistake),
            Err(_) => {} // used only by an update
        }
    }
    for (note, own) in declared.notes.iter().enumerate() {
        if !prelude::NOTES.contains(&own.name.text.as_str()) {
            let node = builder.note(note as u8, &own.name.span)?;
            all.push((Quantity { name: own.name.text.clone(), condition: false }, node));
        }
    }
    Ok(all)
}
