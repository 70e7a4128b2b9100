//! How an answer is packed.
//!
//! The first 4 bytes, little-endian, are the length H of the header. The header is JSON, and spaces
//! behind it make 4 + H a multiple of 8. The rest is data: numbers of 64 bits, little-endian.
//!
//! A table in the header has its number of `rows`, and `columns` with `name`, `kind` and `unit`. A
//! column of words has `values`. A column of numbers has the `offset` of its first number in the
//! data and its `length`, both counted in numbers. A matrix lies there row by row, with `width`
//! numbers in a row.

use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::convert::Infallible;
use tables::{Column, Numbers, Scalar, Sink, TIMES};

/// Bytes of a number.
const NUMBER: usize = 8;

/// Puts header and data together.
pub(crate) fn pack(header: &Value, data: &[u8]) -> Vec<u8> {
    let mut text = header.to_string();
    let end = (4 + text.len()).next_multiple_of(NUMBER);
    text.extend(std::iter::repeat_n(' ', end - 4 - text.len()));
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut all = Vec::with_capacity(end + data.len());
    all.extend_from_slice(&length.to_le_bytes());
    all.extend_from_slice(text.as_bytes());
    all.extend_from_slice(data);
    all
}

/// A result as it is packed.
#[derive(Default)]
pub(crate) struct Packing {
    /// Scalars of the result and of its parts.
    scalars: Map<String, Value>,
    tables: Map<String, Value>,
    data: Vec<u8>,
    place: String,
}

impl Packing {
    /// The answer.
    pub(crate) fn finish(self) -> Vec<u8> {
        let Packing { scalars: mut run, tables, data, .. } = self;
        run.insert("tables".into(), Value::Object(tables));
        pack(&json!({ "run": run }), &data)
    }

    /// Adds a column to the table at the current place.
    fn column(&mut self, column: &Column, rows: usize, more: Value) {
        let Column { kind, name, unit, .. } = *column;
        let mut own = json!({ "name": name, "kind": kind, "unit": unit });
        if let (Value::Object(own), Value::Object(more)) = (&mut own, more) {
            own.extend(more);
        }
        let table = self.tables.entry(self.place.as_str());
        let table = table.or_insert_with(|| json!({ "rows": rows, "columns": [] }));
        if let Some(columns) = table["columns"].as_array_mut() {
            columns.push(own);
        }
    }

    /// Writes numbers behind the data; returns the offset of the first. Every NaN is the same, as
    /// processors differ in which of them they make.
    fn put(&mut self, values: impl ExactSizeIterator<Item = f64>) -> usize {
        let offset = self.data.len() / NUMBER;
        self.data.reserve(values.len() * NUMBER);
        for value in values {
            let value = if value.is_nan() { f64::NAN } else { value };
            self.data.extend_from_slice(&value.to_le_bytes());
        }
        offset
    }

    fn vector(&mut self, column: &Column, values: impl ExactSizeIterator<Item = f64>) {
        let length = values.len();
        let offset = self.put(values);
        self.column(column, length, json!({ "offset": offset, "length": length }));
    }
}

impl Sink for Packing {
    type Error = Infallible;

    fn at(&mut self, place: &str) -> Result<&mut Self, Infallible> {
        place.clone_into(&mut self.place);
        Ok(self)
    }

    fn missing(&mut self, _place: &'static str) -> Result<(), Infallible> {
        Ok(())
    }

    fn scalar(&mut self, name: &'static str, value: Scalar) -> Result<(), Infallible> {
        let value = match value {
            Scalar::Count(count) => count.into(),
            Scalar::Number(number) => number.into(),
            Scalar::Text(text) => text.into(),
        };
        if self.place.is_empty() {
            self.scalars.insert(name.into(), value);
        } else {
            self.scalars.entry(self.place.as_str()).or_insert_with(|| json!({}))[name] = value;
        }
        Ok(())
    }

    fn words<'a>(
        &mut self,
        column: &Column,
        values: impl ExactSizeIterator<Item = Option<Cow<'a, str>>>,
    ) -> Result<(), Infallible> {
        let words: Vec<Option<Cow<'a, str>>> = values.collect();
        self.column(column, words.len(), json!({ "values": words }));
        Ok(())
    }

    fn numbers(&mut self, column: &Column, values: Numbers) -> Result<(), Infallible> {
        match values {
            Numbers::F64(values) => self.vector(column, values.into_iter()),
            Numbers::U64(values) => self.vector(column, values.into_iter().map(|n| n as f64)),
            Numbers::U32(values) => self.vector(column, values.into_iter().map(f64::from)),
            Numbers::I32(values) => self.vector(column, values.into_iter().map(f64::from)),
            Numbers::Bool(values) => self.vector(column, values.into_iter().map(f64::from)),
        }
        Ok(())
    }

    fn matrix(
        &mut self,
        column: &Column,
        values: Cow<'_, [f64]>,
        rows: usize,
    ) -> Result<(), Infallible> {
        let width = values.len().checked_div(rows).unwrap_or(0);
        let offset = self.put(values.iter().copied());
        let place = json!({ "offset": offset, "length": values.len(), "width": width });
        self.column(column, rows, place);
        Ok(())
    }

    /// A table of its own, as all columns of a table here are of one.
    fn times(&mut self, t_s: &[f64]) -> Result<(), Infallible> {
        self.at("series.t_s")?.numbers(&TIMES, t_s.to_vec().into())
    }
}
