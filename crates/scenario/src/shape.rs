//! Errors in the shape of a scenario: unknown or missing keys, and values of another type. They are
//! found with the schema of the file, which also gives right values. Words with another spelling
//! than in the schema are respelled.

use crate::error::{Error, list};
use core::ops::Range;
use schemars::Schema;
use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};
use units::name::{find, offer};

/// A document held against the schema.
#[derive(Default)]
pub(crate) struct Shape {
    /// What is wrong, in the order of the schema and of the document.
    pub(crate) mistakes: Vec<Mistake>,
    /// Words to be spelled otherwise.
    respelled: Vec<(Range<usize>, String)>,
}

/// Something wrong, and where.
pub(crate) struct Mistake {
    pub(crate) error: Error,
    pub(crate) span: Range<usize>,
}

/// Where a value is, as people call it.
#[derive(Clone, Default)]
struct Place {
    /// Such as "link `left`: ", or nothing.
    table: String,
    /// The dotted key below it.
    key: String,
    /// The headers around it, such as "flow.path", for tables that are lists.
    header: String,
}

impl Place {
    fn below(&self, key: &str) -> Place {
        let dotted = |before: &str| match before {
            "" => key.to_owned(),
            before => format!("{before}.{key}"),
        };
        Place { table: self.table.clone(), key: dotted(&self.key), header: dotted(&self.header) }
    }

    /// An entry of a list: by its name, if it is a table with a name.
    fn entry(&self, index: usize, item: &Item) -> Place {
        let name = item.as_table_like().and_then(|table| table.get("name")).and_then(Item::as_str);
        match name.filter(|_| self.table.is_empty()) {
            Some(name) => Place {
                table: format!("{} `{name}`: ", self.key),
                key: String::new(),
                header: self.header.clone(),
            },
            None => Place { key: format!("{}.{index}", self.key), ..self.clone() },
        }
    }

    /// The value itself, as the subject of a sentence.
    fn subject(&self) -> String {
        format!("{}{}", self.table, if self.key.is_empty() { "it" } else { &self.key })
    }

    /// The beginning of a sentence about its keys.
    fn inside(&self) -> String {
        match self.key.as_str() {
            "" => self.table.clone(),
            key => format!("{}{key}: ", self.table),
        }
    }
}

impl Shape {
    /// Compares `text` with the schema of a scenario; text that is not TOML has no shape.
    pub(crate) fn of(text: &str, schema: &Schema) -> Shape {
        let mut shape = Shape::default();
        let (Ok(document), Some(root)) = (Document::parse(text), schema.as_object()) else {
            return shape;
        };
        let walk = Walk { root };
        walk.value(document.as_item(), root, &Place::default(), 0..0, &mut shape);
        shape
    }

    /// The text with every word in the schema's spelling; `None` if nothing changes.
    pub(crate) fn respell(&mut self, text: &str) -> Option<String> {
        self.respelled.sort_by_key(|(span, _)| span.start);
        let mut right = text.to_owned();
        for (span, word) in self.respelled.iter().rev() {
            right.replace_range(span.clone(), word);
        }
        (!self.respelled.is_empty()).then_some(right)
    }

    /// The mistake at these bytes.
    pub(crate) fn at(self, span: &Range<usize>) -> Option<Mistake> {
        let near = |own: &Mistake| own.span.start <= span.end && span.start <= own.span.end;
        self.mistakes.into_iter().find(near)
    }
}

/// Walks through a document and its schema together.
struct Walk<'a> {
    root: &'a Map<String, Value>,
}

impl<'a> Walk<'a> {
    /// The definition that a schema refers to, or the schema itself.
    fn resolve(&self, schema: &'a Map<String, Value>) -> &'a Map<String, Value> {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.rsplit('/').next());
        let known = name.and_then(|name| self.root.get("$defs")?.get(name)?.as_object());
        known.unwrap_or(schema)
    }

    /// The alternative forms of a value.
    fn forms(&self, schema: &'a Map<String, Value>) -> Vec<&'a Map<String, Value>> {
        let schema = self.resolve(schema);
        let several = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
        let Some(several) = several else {
            return vec![schema];
        };
        let forms = several.iter().filter_map(Value::as_object);
        forms.flat_map(|form| self.forms(form)).filter(|form| !is(form, "null")).collect()
    }

    fn value(
        &self,
        item: &Item,
        schema: &'a Map<String, Value>,
        place: &Place,
        span: Range<usize>,
        shape: &mut Shape,
    ) {
        let forms = self.forms(schema);
        let span = item.span().unwrap_or(span);
        // Checked before other forms: a key with words may also take a time, and a time is any text
        // here.
        let words = forms.iter().filter_map(|form| constant(form));
        if let Some(table) = item.as_table_like() {
            let tables: Vec<_> = forms.iter().copied().filter(|form| is(form, "object")).collect();
            match tables.as_slice() {
                [] => {}
                [own] if is_struct(own) => return self.table(table, own, place, span, shape),
                several => return self.variant(table, &forms, several, place, span, shape),
            }
        } else if let Some(list) = forms.iter().find(|form| is(form, "array"))
            && self.entries(item, list, place, &span, shape)
        {
            return;
        } else if let Some(text) = item.as_str()
            && let Some(word) = find(text, words.clone())
        {
            if word != text {
                shape.respelled.push((span, format!("{word:?}")));
            }
            return;
        } else if forms.iter().any(|form| fits(item, form)) {
            return;
        } else if let Some(text) = item.as_str()
            && words.clone().next().is_some()
        {
            let what = format!("{} is {text:?}{}", place.subject(), offer(text, words));
            let error = Error::new(what).help(self.right(schema, place));
            return shape.mistakes.push(Mistake { error, span });
        }
        let what = format!("{} is {}", place.subject(), described(item));
        let error = Error::new(what).help(self.right(schema, place));
        shape.mistakes.push(Mistake { error, span });
    }

    /// Walks through the entries of a list; returns whether it is a list of the right length.
    fn entries(
        &self,
        item: &Item,
        schema: &'a Map<String, Value>,
        place: &Place,
        span: &Range<usize>,
        shape: &mut Shape,
    ) -> bool {
        let entries: Vec<Item> = match (item.as_array_of_tables(), item.as_array()) {
            (Some(tables), _) => tables.iter().map(|table| Item::Table(table.clone())).collect(),
            (None, Some(array)) => array.iter().map(|value| Item::Value(value.clone())).collect(),
            (None, None) => return false,
        };
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        if fixed.is_some_and(|fixed| fixed.len() != entries.len()) {
            return false;
        }
        let each = schema.get("items").and_then(Value::as_object);
        for (index, entry) in entries.iter().enumerate() {
            let own = fixed.and_then(|fixed| fixed.get(index)).and_then(Value::as_object).or(each);
            if let Some(own) = own {
                self.value(entry, own, &place.entry(index, entry), span.clone(), shape);
            }
        }
        true
    }

    /// A table with keys of its own.
    fn table(
        &self,
        table: &dyn TableLike,
        schema: &'a Map<String, Value>,
        place: &Place,
        span: Range<usize>,
        shape: &mut Shape,
    ) {
        let Some(known) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        for (key, item) in table.iter() {
            let own = table.key(key).and_then(|key| key.span());
            match known.get(key).and_then(Value::as_object) {
                Some(schema) => {
                    let around = own.unwrap_or(span.clone());
                    self.value(item, schema, &place.below(key), around, shape);
                }
                None => {
                    let offer = offer(key, known.keys().map(String::as_str));
                    let what = format!("{}there is no key `{key}`{offer}", place.inside());
                    let right = format!("the keys are {}", list(known.keys().map(String::as_str)));
                    let span = own.unwrap_or(span.clone());
                    shape.mistakes.push(Mistake { error: Error::new(what).help(right), span });
                }
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for key in required.filter_map(Value::as_str).filter(|key| !table.contains_key(key)) {
            let own = known.get(key).and_then(Value::as_object);
            let meaning = own.and_then(|own| own.get("description")).and_then(Value::as_str);
            let what = format!("{}the key `{key}` is missing", place.inside());
            let meaning = meaning.unwrap_or_default().replace('\n', " ");
            let right = own.map_or(String::new(), |own| self.right(own, &place.below(key)));
            let error = Error::new(what).help(format!("{key}: {meaning} {right}"));
            shape.mistakes.push(Mistake { error, span: span.clone() });
        }
    }

    /// A table with one key, which names the kind of its value.
    fn variant(
        &self,
        table: &dyn TableLike,
        forms: &[&'a Map<String, Value>],
        tables: &[&'a Map<String, Value>],
        place: &Place,
        span: Range<usize>,
        shape: &mut Shape,
    ) {
        let kinds =
            || tables.iter().filter_map(|form| form.get("properties")?.as_object()?.iter().next());
        let mut wrong = |what: String, span| {
            let error = Error::new(what).help(format!("it is {}", self.words(forms, place)));
            shape.mistakes.push(Mistake { error, span });
        };
        let (Some((key, item)), 1) = (table.iter().next(), table.len()) else {
            return wrong(format!("{} has {} keys", place.subject(), table.len()), span);
        };
        let own = table.key(key).and_then(|key| key.span()).unwrap_or(span);
        let names = kinds().map(|(name, _)| name.as_str());
        let Some(name) = find(key, names.clone()) else {
            let offer = offer(key, names);
            return wrong(format!("{} has no kind `{key}`{offer}", place.subject()), own);
        };
        if name != key {
            shape.respelled.push((own.clone(), name.to_owned()));
        }
        let schema = kinds().find(|(kind, _)| *kind == name).and_then(|(_, it)| it.as_object());
        if let Some(schema) = schema {
            self.value(item, schema, &place.below(name), own, shape);
        }
    }

    /// Help for a wrong value.
    fn right(&self, schema: &'a Map<String, Value>, place: &Place) -> String {
        let words = self.words(&self.forms(schema), place);
        match schema.get("range").and_then(Value::as_str) {
            Some(range) if range.contains(&words) => range.to_owned(),
            Some(range) => format!("it is {words}; {range}"),
            None => format!("it is {words}"),
        }
    }

    /// The forms in words.
    fn words(&self, forms: &[&'a Map<String, Value>], place: &Place) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut kinds = Vec::new();
        for form in forms {
            let properties = form.get("properties").and_then(Value::as_object);
            if let Some(word) = constant(form) {
                words.push(format!("{word:?}"));
            } else if let (false, Some(properties)) = (is_struct(form), properties) {
                kinds.extend(properties.keys().map(String::as_str));
            } else {
                words.push(self.word(form, place));
            }
        }
        if !kinds.is_empty() {
            words.push(format!("a table with one of the keys {}", list(kinds.into_iter())));
        }
        match words.as_slice() {
            [] => "another value".into(),
            [one] => one.clone(),
            [most @ .., last] => format!("{} or {last}", most.join(", ")),
        }
    }

    /// A form in words.
    fn word(&self, form: &'a Map<String, Value>, place: &Place) -> String {
        let about = form.get("description").and_then(Value::as_str);
        if let (true, Some(about)) = (form.contains_key("units"), about) {
            return about.to_owned();
        }
        if is(form, "object") {
            let keys = form.get("properties").and_then(Value::as_object);
            let keys = keys.map_or(String::new(), |own| list(own.keys().map(String::as_str)));
            return format!("a table with the keys {keys}");
        }
        if is(form, "array") {
            return self.list(form, place);
        }
        let simple = [
            ("string", "a text in quotes"),
            ("integer", "a whole number"),
            ("number", "a number"),
            ("boolean", "true or false"),
        ];
        let word = simple.into_iter().find(|(name, _)| is(form, name)).map_or("", |(_, word)| word);
        match bounds(form) {
            Some((least, most)) => format!("{word} from {least} to {most}"),
            None => word.into(),
        }
    }

    /// A list in words.
    fn list(&self, form: &'a Map<String, Value>, place: &Place) -> String {
        if let Some(fixed) = form.get("prefixItems").and_then(Value::as_array) {
            let each = fixed.iter().filter_map(Value::as_object);
            let each: Vec<String> = each.map(|own| self.words(&self.forms(own), place)).collect();
            return format!("a list of {} entries: {}", fixed.len(), each.join(", "));
        }
        match form.get("items").and_then(Value::as_object) {
            Some(own) if self.forms(own).iter().any(|own| is_struct(own)) => {
                format!("a list of tables, each with the header [[{}]]", place.header)
            }
            Some(own) => {
                format!("a list whose entries are each {}", self.words(&self.forms(own), place))
            }
            None => "a list".into(),
        }
    }
}

/// Whether `kind` is a type of a schema.
fn is(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(several)) => several.iter().any(|own| own == kind),
        _ => false,
    }
}

/// Whether a table has keys of its own, rather than the one key of a kind.
fn is_struct(schema: &Map<String, Value>) -> bool {
    let (keys, required) = (schema.get("properties"), schema.get("required"));
    let keys = keys.and_then(Value::as_object).map_or(0, Map::len);
    let required = required.and_then(Value::as_array).map_or(0, Vec::len);
    let kind = keys == 1 && required == 1 && schema.contains_key("description");
    is(schema, "object") && !kind
}

/// The constant word of a form.
fn constant(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("const").and_then(Value::as_str)
}

/// The range of a whole number by its type in Rust.
fn bounds(schema: &Map<String, Value>) -> Option<(i64, i64)> {
    match schema.get("format").and_then(Value::as_str)? {
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "uint64" => Some((0, i64::MAX)),
        _ => None,
    }
}

/// Whether a value that is neither a table nor a list has a form.
fn fits(item: &Item, form: &Map<String, Value>) -> bool {
    if let Some(text) = item.as_str() {
        return is(form, "string") && constant(form).is_none_or(|word| word == text);
    }
    if let Some(number) = item.as_integer() {
        let within = bounds(form).is_none_or(|(least, most)| (least..=most).contains(&number));
        return is(form, "number") || (is(form, "integer") && within);
    }
    (item.is_float() && is(form, "number")) || (item.is_bool() && is(form, "boolean"))
}

/// Most characters of a text that an error repeats.
const MOST_REPEATED: usize = 40;

/// A value in the words of an error.
fn described(item: &Item) -> String {
    if let Some(text) = item.as_str() {
        return match text.chars().count() <= MOST_REPEATED {
            true => format!("the text {text:?}"),
            false => {
                let begin: String = text.chars().take(MOST_REPEATED).collect();
                format!("a text that begins with {begin:?}")
            }
        };
    }
    if let Some(number) = item.as_integer() {
        return format!("the whole number {number}");
    }
    if let Some(number) = item.as_float() {
        return format!("the number {number}");
    }
    match (item.as_bool(), item.is_datetime(), item.is_table_like()) {
        (Some(truth), ..) => truth.to_string(),
        (_, true, _) => "a date".into(),
        (.., true) => "a table".into(),
        _ => "a list".into(),
    }
}
