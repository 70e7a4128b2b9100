//! Where the columns of tables go.

use std::borrow::Cow;

/// A table as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Name of its type in Python.
    pub name: &'static str,
    /// Where it is in a run, or in what it is read from.
    pub place: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
}

/// A column as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its kind, a word such as `numbers` or `matrix`.
    pub kind: &'static str,
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its unit; empty for a count, a number of something or a word.
    pub unit: &'static str,
    /// What its values are.
    pub meaning: &'static str,
}

/// Takes the parts of a result: tables by their columns, and scalars.
pub trait Sink {
    /// What can go wrong.
    type Error;

    /// What follows is at this place: `series.paths` is the table `paths` of `series`, the empty
    /// place is the result itself.
    ///
    /// # Errors
    /// Those of the sink, here and below.
    fn at(&mut self, place: &str) -> Result<&mut Self, Self::Error>;

    /// The result has nothing at this place, because nobody asked for it.
    fn missing(&mut self, place: &'static str) -> Result<(), Self::Error>;

    /// A scalar.
    fn scalar(&mut self, name: &'static str, value: Scalar) -> Result<(), Self::Error>;

    /// A column of words, `None` where one is missing.
    fn words<'a>(
        &mut self,
        column: &Column,
        values: impl ExactSizeIterator<Item = Option<Cow<'a, str>>>,
    ) -> Result<(), Self::Error>;

    /// A column of numbers.
    fn numbers(&mut self, column: &Column, values: Numbers) -> Result<(), Self::Error>;

    /// A column of vectors, all of the same length: `values` has them row by row.
    fn matrix(
        &mut self,
        column: &Column,
        values: Cow<'_, [f64]>,
        rows: usize,
    ) -> Result<(), Self::Error>;

    /// The times of the samples of all series: a column of the result's `series`.
    ///
    /// # Errors
    /// Those of the sink.
    fn times(&mut self, t_s: &[f64]) -> Result<(), Self::Error> {
        self.at("series")?.numbers(&TIMES, t_s.to_vec().into())
    }
}

/// The times of the samples of all series.
pub const TIMES: Column =
    Column { kind: "vector", name: "t_s", unit: "s", meaning: "times of the samples" };

/// A value beside the tables.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A count.
    Count(u64),
    /// A quantity.
    Number(f64),
    /// A text.
    Text(String),
}

/// Makes the enum of the types that numbers have.
macro_rules! numbers {
    ($($variant:ident($type:ty)),*) => {
        /// The numbers of a column, in the type in which they are counted.
        #[derive(Clone, Debug)]
        pub enum Numbers {
            $(#[doc = concat!("As `", stringify!($type), "`.")] $variant(Vec<$type>),)*
        }

        $(
            impl From<Vec<$type>> for Numbers {
                fn from(values: Vec<$type>) -> Self {
                    Numbers::$variant(values)
                }
            }
        )*
    };
}

numbers!(F64(f64), U64(u64), U32(u32), I32(i32), Bool(bool));
