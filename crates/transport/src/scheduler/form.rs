//! How a scheduler is written: its name alone, or a table of its name with its parameters.

use super::{Kind, Scheduler};
use schemars::SchemaGenerator;
use serde::Serializer;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, json};
use std::fmt;

/// Reads a scheduler in either form.
pub(super) struct Content;

impl<'de> Visitor<'de> for Content {
    type Value = Scheduler;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a scheduler, or a table of its name with its parameters")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Scheduler, E> {
        let nothing = std::iter::empty::<(&str, ())>();
        Scheduler::read(name, MapDeserializer::new(nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scheduler, A::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Err(Error::invalid_length(0, &self));
        };
        let scheduler = map.next_value_seed(Parameters(&name))?;
        match map.next_key::<String>()? {
            None => Ok(scheduler),
            Some(_) => Err(Error::invalid_length(2, &self)),
        }
    }
}

/// Reads the parameters of the scheduler with this name.
struct Parameters<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Parameters<'_> {
    type Value = Scheduler;

    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<Scheduler, D::Error> {
        Scheduler::read(self.0, content)
    }
}

/// Writes a scheduler: one without parameters is its name.
pub(super) fn write<K: Kind, S: Serializer>(kind: &K, serializer: S) -> Result<S::Ok, S::Error> {
    let name = K::DESCRIBED.names[0];
    match size_of::<K>() {
        0 => serializer.serialize_str(name),
        _ => serializer.collect_map([(name, kind)]),
    }
}

/// The forms of one scheduler: its name if every parameter has a default, and its table if it has
/// parameters.
pub(super) fn schema<K: Kind>(generator: &mut SchemaGenerator) -> Vec<Value> {
    let (name, summary) = (K::DESCRIBED.names[0], K::DESCRIBED.summary);
    let mut forms = Vec::new();
    if Scheduler::read(name, MapDeserializer::<_, Unwritten>::new(std::iter::empty::<(&str, ())>()))
        .is_ok()
    {
        forms.push(json!({ "description": summary, "type": "string", "const": name }));
    }
    if size_of::<K>() > 0 {
        forms.push(json!({
            "description": summary,
            "type": "object",
            "properties": { name: generator.subschema_for::<K>() },
            "required": [name],
            "additionalProperties": false,
        }));
    }
    forms
}

/// Why a scheduler cannot be read, where nobody asks.
type Unwritten = serde::de::value::Error;
