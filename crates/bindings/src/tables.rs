//! Tables as dictionaries of arrays.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::borrow::Cow;
use tables::{Column, Declared, Numbers, Scalar, Sink};

/// The declarations as tuples, for the generator of the Python types.
#[pyfunction]
#[pyo3(name = "tables")]
pub(crate) fn declared() -> Vec<(&'static str, &'static str, &'static str, Vec<[&'static str; 4]>)>
{
    let columns = |table: &Declared| {
        let columns = table.columns.iter();
        columns.map(|column| [column.kind, column.name, column.unit, column.meaning]).collect()
    };
    let tables = tables::DECLARED.iter();
    tables.map(|table| (table.name, table.place, table.about, columns(table))).collect()
}

/// A result as dictionaries, one in the other as its places are.
pub(crate) struct Dicts<'py> {
    result: Bound<'py, PyDict>,
    /// The dictionary at the current place.
    here: Bound<'py, PyDict>,
}

impl<'py> Dicts<'py> {
    /// Fills `result`.
    pub(crate) fn into(result: &Bound<'py, PyDict>) -> Self {
        Dicts { result: result.clone(), here: result.clone() }
    }

    fn set(&self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<()> {
        self.here.set_item(name, value)
    }
}

impl Sink for Dicts<'_> {
    type Error = PyErr;

    fn at(&mut self, place: &str) -> PyResult<&mut Self> {
        self.here = self.result.clone();
        for name in place.split('.').filter(|name| !name.is_empty()) {
            let inner = match self.here.get_item(name)? {
                Some(inner) => inner.cast_into()?,
                None => PyDict::new(self.here.py()),
            };
            self.here.set_item(name, &inner)?;
            self.here = inner;
        }
        Ok(self)
    }

    fn missing(&mut self, place: &'static str) -> PyResult<()> {
        self.result.set_item(place, self.result.py().None())
    }

    fn scalar(&mut self, name: &'static str, value: Scalar) -> PyResult<()> {
        match value {
            Scalar::Count(count) => self.set(name, count),
            Scalar::Number(number) => self.set(name, number),
            Scalar::Text(text) => self.set(name, text),
        }
    }

    /// Equal words are one object, as columns repeat few names millions of times.
    fn words<'a>(
        &mut self,
        column: &Column,
        values: impl ExactSizeIterator<Item = Option<Cow<'a, str>>>,
    ) -> PyResult<()> {
        let py = self.here.py();
        let words = values.map(|value| value.map(|word| PyString::intern(py, &word)));
        self.set(column.name, PyList::new(py, words)?)
    }

    fn numbers(&mut self, column: &Column, values: Numbers) -> PyResult<()> {
        let (py, name) = (self.here.py(), column.name);
        match values {
            Numbers::F64(values) => self.set(name, values.into_pyarray(py)),
            Numbers::U64(values) => self.set(name, values.into_pyarray(py)),
            Numbers::U32(values) => self.set(name, values.into_pyarray(py)),
            Numbers::I32(values) => self.set(name, values.into_pyarray(py)),
            Numbers::Bool(values) => self.set(name, values.into_pyarray(py)),
        }
    }

    fn matrix(&mut self, column: &Column, values: Cow<'_, [f64]>, rows: usize) -> PyResult<()> {
        let columns = values.len().checked_div(rows).unwrap_or(0);
        let array = values.into_owned().into_pyarray(self.here.py());
        self.set(column.name, array.reshape([rows, columns])?)
    }
}
