//! Answers what the page of the explorer asks, in the browser and behind `anabranch explore`: both
//! call [`answer`], so that both give the same bytes.
//!
//! A request is JSON; its field `do` says what is wanted:
//!
//! | `do` | other fields | header of the answer |
//! |---|---|---|
//! | `plan` | a scenario | `plan`: the plan |
//! | `text` | a scenario | `text`: the scenario with the controller and the overrides in it |
//! | `run` | a scenario, `seed`, `series`, `events` | `run`: scalars, and `tables` |
//! | `list` | | `controllers`, `queues`, `schedulers` |
//! | `fairness` | `p1`, `p2` or `harm` | `fairness`: whether it holds, or the harm |
//!
//! A scenario is `text`, `name`, `controller` (that of its subjects, `null` for the scenario's
//! own) and `overrides` (a list of `KEY=VALUE`). The answer to a request that cannot be
//! carried out has the header `error`. How an answer is packed is in `packing.rs`.

mod ask;
mod fair;
mod list;
mod packing;
mod run;

use ask::Fields;
use serde_json::{Value, json};
pub use simulator::Progress;

/// Most bytes of a request. Scenarios with long traces have some hundred kilobytes.
pub const MOST_REQUEST: usize = 16 << 20;

/// What can be done.
const KINDS: &str = "plan, text, run, list or fairness";

/// The answer to a request.
pub fn answer(request: &str) -> Vec<u8> {
    answer_until(request, &Progress::default())
}

/// The answer to a request; [`Progress::stop`] from another thread ends its run with an error.
pub fn answer_until(request: &str, progress: &Progress) -> Vec<u8> {
    let packed = answered(request, progress);
    packed.unwrap_or_else(|error| packing::pack(&json!({ "error": error }), &[]))
}

fn answered(request: &str, progress: &Progress) -> Result<Vec<u8>, String> {
    let mut fields = Fields::read(request)?;
    let kind: String = fields.need("do", KINDS)?;
    let header = match kind.as_str() {
        "run" => return run::run(fields, progress),
        "plan" => json!({ "plan": fields.scenario()?.plan(fields)?.to_json() }),
        "text" => json!({ "text": fields.scenario()?.text(fields)? }),
        "list" => fields.end().map(|()| list::list())?,
        "fairness" => json!({ "fairness": fair::judge(fields)? }),
        _ => return Err(ask::wrong("do", &Value::String(kind), KINDS)),
    };
    Ok(packing::pack(&header, &[]))
}
