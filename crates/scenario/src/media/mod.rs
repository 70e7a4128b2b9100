//! The registry of shared media: one line for each table of the scenario file.
//!
//! A table is a file here, with its checks and its part of the plan. Its parameters in the plan,
//! and the element that they build, are in `network::media`.

mod example;

pub use example::MediumExample;

use crate::link::Links;
use crate::name::Name;
use crate::report::{Located, WrongKey};
use crate::station::PlanStation;
use example::Alternatives;
use network::MediumSettings;
use std::iter;
use units::Described;

/// The trait of a table's file.
pub(crate) trait MediumTable {
    /// The key of its tables, a summary, and the source of the model.
    fn described() -> Described
    where
        Self: Sized;

    /// Tables for tests and fuzz targets, one or several: the other end of links from the nodes
    /// `n`, and alternatives for lines of the table. See [`MediumExample`].
    fn examples() -> &'static [(&'static str, Alternatives)]
    where
        Self: Sized;

    /// Name by which links refer to it.
    fn name(&self) -> &Name;

    /// Number of its channels: media that differ only in their numbers.
    fn channels(&self) -> u32 {
        1
    }

    /// The node or group whose members are interchangeable as an end of a link.
    fn any_of(&self) -> Option<&str> {
        None
    }

    /// Checks the members of [`MediumTable::any_of`], before the ends of links are checked.
    fn check_any_of(&self, _links: Links<'_>) -> Result<(), Located> {
        Ok(())
    }

    /// Its stations; links and the plan refer to them by their indices here.
    fn stations(&self, links: Links<'_>) -> Vec<String>;

    /// Checks the ends of a link on it, by the rules of the kind.
    fn check_ends(&self, _from: &Name, _to: &Name) -> Result<(), WrongKey> {
        Ok(())
    }

    /// Checks the table without other tables.
    fn check(&self, links: Links<'_>) -> Result<(), Located>;

    /// Checks all tables of the kind, together where they depend on each other.
    fn check_all(all: &[Self], links: Links<'_>) -> Result<(), Located>
    where
        Self: Sized,
    {
        all.iter().try_for_each(|own| own.check(links))
    }

    /// Its parameters in a plan, after its checks.
    fn expand(&self, links: Links<'_>, stations: &[String]) -> MediumSettings;

    /// The plan's station called `name`.
    fn expand_station(&self, links: Links<'_>, name: &str) -> PlanStation;
}

/// Most stations of a medium or a bus.
const MOST_STATIONS: usize = 1000;

/// Hands the registry to `$with!`, behind what is `$given`: of each table its key in the scenario
/// file, its file here and its struct there.
macro_rules! media {
    ($with:ident! { $($given:tt)* }) => {
        $with! {
            $($given)*
            medium: wifi::Medium,
            bus: bus::Bus,
            cell: cell::Cell,
        }
    };
}
pub(crate) use media;

/// Declares the files, and what all tables together can do.
macro_rules! tables {
    ($($key:ident: $file:ident::$table:ident,)*) => {
        $(mod $file; pub use $file::*;)*

        /// The tables of a scenario, by kind.
        #[derive(Clone, Copy)]
        pub(crate) struct Media<'a> {
            $(pub(crate) $key: &'a [$table],)*
        }

        impl<'a> Media<'a> {
            /// All tables, in the order of the registry and of the file.
            pub(crate) fn all(self) -> impl Iterator<Item = &'a dyn MediumTable> {
                iter::empty()$(.chain(self.$key.iter().map(|own| own as &dyn MediumTable)))*
            }

            /// Checks all tables.
            pub(crate) fn check(self, links: Links<'_>) -> Result<(), Located> {
                $(MediumTable::check_all(self.$key, links)?;)*
                Ok(())
            }
        }

        /// Every kind in the order of the registry.
        pub fn described_media() -> Vec<Described> {
            vec![$($table::described()),*]
        }

        /// Examples of every kind, in the order of the registry.
        pub fn medium_examples() -> Vec<MediumExample> {
            let all = iter::empty()
                $(.chain($table::examples().iter().map(|own| (stringify!($key), *own))))*;
            let example = |(number, (key, own))| MediumExample::new(key, number, own);
            all.enumerate().map(example).collect()
        }
    };
}
media!(tables! {});

#[cfg(test)]
mod tests {
    #[test]
    fn a_table_is_called_by_its_key() {
        macro_rules! keys {
            ($($key:ident: $file:ident::$table:ident,)*) => { [$(stringify!($key)),*] };
        }
        let keys = media!(keys! {});
        let names = super::described_media().into_iter().map(|described| described.names[0]);
        assert!(names.eq(keys));
    }
}
