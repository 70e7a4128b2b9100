//! The fields of a request. Each is taken once; fields that are left over are refused.

use crate::MOST_REQUEST;
use control::{ControllerSpec, law_file};
use scenario::{Override, Plan};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Most characters of a value in an error.
const MOST_SHOWN: usize = 60;

/// The fields that nobody has taken yet.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn read(request: &str) -> Result<Self, String> {
        if request.len() > MOST_REQUEST {
            let (has, most) = (request.len() >> 20, MOST_REQUEST >> 20);
            return Err(format!("the request has {has} MiB; it has at most {most} MiB"));
        }
        match serde_json::from_str(request) {
            Ok(Value::Object(fields)) => Ok(Fields(fields)),
            Ok(other) => Err(format!("the request is {}; it must be an object", shown(&other))),
            Err(error) => Err(format!("the request is not JSON: {error}")),
        }
    }

    /// The value of a field; `None` if it is absent or null.
    pub(crate) fn take<T: DeserializeOwned>(
        &mut self,
        key: &str,
        right: &str,
    ) -> Result<Option<T>, String> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match T::deserialize(&value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(wrong(key, &value, right)),
            },
        }
    }

    /// The value of a field that must be there.
    pub(crate) fn need<T: DeserializeOwned>(
        &mut self,
        key: &str,
        right: &str,
    ) -> Result<T, String> {
        let missing = || format!("`{key}` is missing; it must be {right}");
        self.take(key, right)?.ok_or_else(missing)
    }

    /// The fields of a scenario.
    pub(crate) fn scenario(&mut self) -> Result<Asked, String> {
        Ok(Asked {
            text: self.need("text", "the text of a scenario")?,
            name: self.take("name", "a name")?.unwrap_or_else(|| "<scenario>".into()),
            controller: self.take("controller", "null, or a controller as text")?,
            overrides: self.take("overrides", "a list of texts KEY=VALUE")?.unwrap_or_default(),
        })
    }

    /// Refuses fields that nobody has taken.
    pub(crate) fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("`{}` is no field of this request", clipped(key))),
        }
    }
}

/// The error for a field with a wrong value.
pub(crate) fn wrong(key: &str, value: &Value, right: &str) -> String {
    format!("`{key}` is {}; it must be {right}", shown(value))
}

fn shown(value: &Value) -> String {
    clipped(&value.to_string())
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A scenario and its changes.
pub(crate) struct Asked {
    text: String,
    name: String,
    controller: Option<String>,
    overrides: Vec<String>,
}

impl Asked {
    /// The plan; `rest` has no further fields.
    pub(crate) fn plan(&self, rest: Fields) -> Result<Plan, String> {
        rest.end()?;
        Plan::read(&self.text, &self.name, &self.changes()?).map_err(|error| error.to_string())
    }

    /// The text with the controller and the overrides in it; `rest` has no further fields.
    pub(crate) fn text(&self, rest: Fields) -> Result<String, String> {
        rest.end()?;
        scenario::with_overrides(&self.text, &self.name, &self.changes()?)
            .map_err(|error| error.to_string())
    }

    fn changes(&self) -> Result<Vec<Override>, String> {
        let Asked { text, name, controller, overrides } = self;
        scenario::changes(text, name, controller.as_deref(), overrides, &source, &no_file)
            .map_err(|error| error.to_string())
    }
}

/// The error for an override that names a file.
fn no_file(_: &str) -> Result<String, String> {
    Err("the explorer reads no files; give its text".into())
}

/// The text of a controller in a scenario. The page reads no files.
fn source(text: &str) -> Result<String, String> {
    if law_file(text).is_some() {
        return Err(format!(
            "`{}` is a file, and the explorer reads none; give the text of the law",
            clipped(text)
        ));
    }
    let spec: ControllerSpec =
        text.parse().map_err(|no: control::UnknownController| no.to_string())?;
    Ok(spec.source().to_owned())
}
