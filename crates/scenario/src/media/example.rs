//! Tables of shared media for tests of whole worlds and for fuzz targets.

use std::fmt::Write;

/// Alternatives for lines of a table: the table has one line of each list. Lines of a nested table
/// are in the last list.
pub(crate) type Alternatives = &'static [&'static [&'static str]];

/// A medium and its links, to be put into a scenario.
///
/// The scenario has the nodes `base` and `server`, at most 30 m apart, and the groups `n` and
/// `points`, with at least two `points`.
#[derive(Clone, Debug)]
pub struct MediumExample {
    /// The key of its table.
    pub key: &'static str,
    /// Its name, unique among all examples.
    pub name: String,
    /// The other end of its links from the nodes `n`: the node `base`, or any of `points`.
    base: &'static str,
    alternatives: Alternatives,
}

impl MediumExample {
    pub(crate) fn new(
        key: &'static str,
        number: usize,
        (base, alternatives): (&'static str, Alternatives),
    ) -> Self {
        MediumExample { key, name: format!("{key}-{number}"), base, alternatives }
    }

    /// The table and its links, in the format of a scenario file. The digits of `number`, in the
    /// mixed radix of the lists of alternatives, choose the lines.
    pub fn text(&self, mut number: u64) -> String {
        let MediumExample { key, name, base, alternatives } = self;
        let mut text = format!("[[{key}]]\nname = '{name}'\n");
        for lines in *alternatives {
            let count = lines.len() as u64;
            text += lines[(number % count) as usize];
            text += "\n";
            number /= count;
        }
        let near = [("up", "n", *base), ("down", *base, "n")];
        let far = [("forth", "base", "server"), ("home", "server", "base")];
        for (link, from, to) in near.iter().chain(far.iter().filter(|_| self.reaches_base())) {
            let _ = write!(
                text,
                "[[link]]\nname = '{name}-{link}'\nmedium = '{name}'\nfrom = '{from}'\nto = '{to}'\n"
            ); // writing to a String cannot fail
        }
        text
    }

    /// Paths over links of these media: the lists `links` and `back` of each, from the nodes `n`
    /// or to them, over one medium or over two in turn.
    pub fn paths(all: &[MediumExample]) -> Vec<(String, String)> {
        let mut paths = Vec::new();
        for MediumExample { name, .. } in all {
            paths.push((format!("['{name}-up']"), format!("['{name}-down']")));
        }
        let reaching = || all.iter().filter(|medium| medium.reaches_base());
        for MediumExample { name: near, .. } in reaching() {
            for MediumExample { name: far, .. } in reaching() {
                let there = format!("['{near}-up', '{far}-forth']");
                paths.push((there, format!("['{far}-home', '{near}-down']")));
            }
        }
        let reversed: Vec<_> = paths.iter().cloned().map(|(there, back)| (back, there)).collect();
        paths.extend(reversed);
        paths
    }

    fn reaches_base(&self) -> bool {
        self.base == "base"
    }
}
