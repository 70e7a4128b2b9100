//! Parameters that a user gives, and what is wrong with one.

use core::fmt;

/// A parameter whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    /// Its key, dotted below the table that is checked; empty for the table as a whole.
    pub key: String,
    /// The value that was given.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_dotted_and_a_table_as_a_whole_is_its_name() {
        let key = |key| ensure(false, key, 0, "").unwrap_err().inside("red").inside("queue").key;
        assert_eq!([key("max"), key("")], ["queue.red.max", "queue.red"]);
    }
}
