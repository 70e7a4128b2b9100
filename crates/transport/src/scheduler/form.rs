//! The textual forms of a scheduler: for a user its name alone, or a table of its name with its
//! parameters; in a plan a table of its kind and its parameters.

use super::{Kind, Scheduler};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::fmt;

/// Parses a scheduler in either form of a user.
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

/// Parses the parameters of the scheduler with this name.
struct Parameters<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Parameters<'_> {
    type Value = Scheduler;

    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<Scheduler, D::Error> {
        Scheduler::read(self.0, content)
    }
}

/// The forms of one scheduler. A user writes its name, if every parameter has a default, or its
/// table, if it has parameters; a plan has the parameters with their `kind`.
pub(super) fn schema<K: Kind>(generator: &mut SchemaGenerator) -> Vec<Schema> {
    let (name, summary) = (K::DESCRIBED.names[0], K::DESCRIBED.summary);
    if generator.contract().is_serialize() {
        let mut parameters = generator.subschema_for::<K>();
        parameters.insert("description".into(), summary.into());
        parameters.insert("type".into(), "object".into());
        let kind = json_schema!({ "kind": { "type": "string", "const": name } });
        parameters.insert("properties".into(), kind.into());
        parameters.insert("required".into(), vec!["kind"].into());
        return vec![parameters];
    }
    let mut forms = Vec::new();
    if Scheduler::read(name, MapDeserializer::<_, Unwritten>::new(std::iter::empty::<(&str, ())>()))
        .is_ok()
    {
        forms.push(json_schema!({ "description": summary, "type": "string", "const": name }));
    }
    if size_of::<K>() > 0 {
        forms.push(json_schema!({
            "description": summary,
            "type": "object",
            "properties": { name: generator.subschema_for::<K>() },
            "required": [name],
            "additionalProperties": false,
        }));
    }
    forms
}

/// The error of a parse whose message is discarded.
type Unwritten = serde::de::value::Error;
