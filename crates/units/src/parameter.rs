//! Names and parameters of kinds, and errors in them.

use core::fmt;
use serde::{Serialize, Serializer};

/// Names and description of a kind of queue, scheduler or medium.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its names, the preferred one first.
    pub names: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
    /// The publication.
    pub source: &'static str,
}

impl Described {
    /// Writes the parameters of this kind, with its name as `kind`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn write<K: Serialize, S: Serializer>(self, own: &K, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged<'a, K> {
            kind: &'static str,
            #[serde(flatten)]
            own: &'a K,
        }
        Tagged { kind: self.names[0], own }.serialize(to)
    }
}

/// A parameter whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    /// Its key, dotted below the table that is checked; empty for the table as a whole.
    pub key: String,
    /// The given value.
    pub value: String,
    /// What would be right.
    pub right: &'static str,
}

impl InvalidParameter {
    /// The same error as seen from the table around `table`.
    pub fn inside(mut self, table: &str) -> Self {
        self.key = match self.key.as_str() {
            "" => table.into(),
            key => format!("{table}.{key}"),
        };
        self
    }
}

/// Refuses the value of `key` unless it is `valid`.
///
/// # Errors
/// The parameter, its value and what would be right.
pub fn ensure(
    valid: bool,
    key: &str,
    value: impl fmt::Display,
    right: &'static str,
) -> Result<(), InvalidParameter> {
    match valid {
        true => Ok(()),
        false => Err(InvalidParameter { key: key.into(), value: value.to_string(), right }),
    }
}

/// The accepted values of a parameter.
#[derive(Debug)]
pub struct ValidRange<T> {
    /// Whether it accepts a value.
    pub holds: fn(&T) -> bool,
    /// The range in words: the help of an error, and `"range"` in the schema.
    pub right: &'static str,
}

/// The range of a probability.
pub const PROBABILITY: ValidRange<f64> =
    ValidRange { holds: |value| (0.0..=1.0).contains(value), right: "it lies from 0 to 1" };

impl<T: fmt::Display> ValidRange<T> {
    /// Refuses a value of `key` outside the range. A missing parameter is accepted.
    ///
    /// # Errors
    /// The parameter, its value and what would be right.
    pub fn check<'a>(
        &self,
        key: &str,
        value: impl Into<Option<&'a T>>,
    ) -> Result<(), InvalidParameter>
    where
        T: 'a,
    {
        match value.into() {
            Some(value) => ensure((self.holds)(value), key, value, self.right),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_dotted_and_a_table_as_a_whole_is_its_name() {
        let key = |key| ensure(false, key, 0, "").unwrap_err().inside("red").inside("queue").key;
        assert_eq!([key("max"), key("")], ["queue.red.max", "queue.red"]);
    }

    #[test]
    fn a_range_refuses_what_lies_outside_and_not_what_is_left_out() {
        let right = "it lies from 0 to 1";
        let wrong = InvalidParameter { key: "part".into(), value: "1.5".into(), right };
        assert_eq!(PROBABILITY.check("part", &1.5), Err(wrong));
        assert_eq!(PROBABILITY.check("part", &1.0), Ok(()));
        assert_eq!(PROBABILITY.check("part", &None), Ok(()));
    }
}
