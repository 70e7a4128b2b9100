//! References to a law in a file: `FILE.law`, followed by parameters, a slow start and `sbd`, or
//! preceded by `kernel:`.

use crate::collect::{ARITHMETIC, COUPLING, SLOW_START};
use crate::law::TextLaw;
use crate::statement::{Statement, statements};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use units::name::strip;

/// The end of a file's name.
const END: &str = ".law";

/// `my.law:beta=0.3,gamma=2+hystart+sbd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    /// The file.
    pub file: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    slow_start: Option<&'a str>,
    coupling: Option<&'a str>,
    kernel: bool,
}

/// Prefix of a law that runs with the kernel's arithmetic.
const KERNEL: &str = "kernel:";

/// Suffix of a law that couples only paths that share a bottleneck; a detector may follow it.
const SBD: &str = "sbd";

impl<'a> Reference<'a> {
    /// Parses a reference; `None` if the text does not name a law's file.
    pub fn of(text: &'a str) -> Option<Self> {
        if text.contains('\n') {
            return None;
        }
        let (kernel, text) = match text.trim().strip_prefix(KERNEL) {
            Some(law) => (true, law),
            None => (false, text.trim()),
        };
        let ends = |at: usize| {
            let behind = &text[at + END.len()..];
            behind.is_empty() || behind.starts_with([':', '+'])
        };
        let end = text.match_indices(END).map(|(at, _)| at).find(|at| *at > 0 && ends(*at))?;
        let (file, rest) = text.split_at(end + END.len());
        let mut parts = rest.split('+');
        let parameters = parts.next().unwrap_or_default();
        let (mut slow_start, mut coupling) = (None, None);
        for part in parts {
            match strip(SBD, part) {
                Some(_) => coupling = Some(part),
                None => slow_start = Some(part),
            }
        }
        let parameters = parameters.trim_start_matches(':').split(',');
        let pair = |pair: &'a str| pair.split_once('=').unwrap_or((pair, ""));
        let parameters = parameters.filter(|one| !one.trim().is_empty()).map(pair);
        Some(Reference { file, parameters: parameters.collect(), slow_start, coupling, kernel })
    }

    /// The law as a text of its own: the text of the file, with the file's name if it has no name,
    /// and with the settings of the reference. `read` gives the text of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a law with these parameters: the place in it and the
    /// reason.
    pub fn text(&self, read: &dyn Fn(&str) -> Result<String, String>) -> Result<String, String> {
        let Reference { file, parameters, slow_start, coupling, kernel } = self;
        if parameters
            .iter()
            .any(|(name, value)| [name, value].iter().any(|word| word.contains(['{', '}'])))
        {
            let what = format!("{file}: one controller belongs here, and braces list several");
            return Err(format!("{what}: `compare --controllers` and `audit` take those"));
        }
        let text = read(file).map_err(|why| format!("the law {file} cannot be read: {why}"))?;
        let mut text = String::from(text.trim_start_matches('\u{feff}'));
        let named = |statement: &Statement| matches!(statement, Statement::Law(..));
        let has_name = statements(&text).is_ok_and(|all| all.iter().any(named));
        if !has_name {
            text.push_str(&format!("\nlaw {}", stem(file)));
        }
        for (name, value) in parameters {
            text.push_str(&format!("\nwith {} = {}", name.trim(), value.trim()));
        }
        if let Some(slow_start) = slow_start {
            text.push_str(&format!("\nwith {SLOW_START} = {slow_start}"));
        }
        if let Some(coupling) = coupling {
            text.push_str(&format!("\nwith {COUPLING} = {coupling}"));
        }
        if *kernel {
            text.push_str(&format!("\nwith {ARITHMETIC} = kernel"));
        }
        TextLaw::read(&text).map(|_| ()).map_err(|wrong| wrong.in_file(file))?;
        Ok(text)
    }
}

/// The name of a law from the name of its file.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = name.strip_suffix(END).unwrap_or(name);
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = name.chars().map(fits).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("law-{name}"),
    }
}

/// Whether a controller is given by the text of a law instead of a name.
pub fn is_text(text: &str) -> bool {
    let lines = text.trim();
    lines.contains('\n')
        || lines
            .split(';')
            .any(|part| part.split_once('=').is_some_and(|(name, _)| name.trim() == "growth"))
}
