//! Who is harmed, by the definitions of `fairness`.

use crate::ask::{Fields, wrong};
use fairness::{P1_GAIN, P1_HARM, P2_MARGIN, Share, Upgrade};
use serde_json::{Value, json};

const P1: &str = "[others before, others after, upgraded before, upgraded after], four numbers";
const P2: &str = "[multipath, single path, fair multipath, fair single path], four numbers";
const HARM: &str = "[alone, beside], two numbers of which the first is above 0";

/// Applies the one definition that the request names.
pub(crate) fn judge(mut fields: Fields) -> Result<Value, String> {
    let p1: Option<[f64; 4]> = fields.take("p1", P1)?;
    let p2: Option<[f64; 4]> = fields.take("p2", P2)?;
    let harm: Option<[f64; 2]> = fields.take("harm", HARM)?;
    fields.end()?;
    match (p1, p2, harm) {
        (Some([others, others_after, upgraded, upgraded_after]), None, None) => {
            let others = Upgrade { before: others, after: others_after };
            let upgraded = Upgrade { before: upgraded, after: upgraded_after };
            Ok(fairness::p1(others, upgraded, P1_HARM, P1_GAIN).into())
        }
        (None, Some([multipath, single_path, fair_multipath, fair_single]), None) => {
            let multipath = Share { rate: multipath, fair: fair_multipath };
            let single_path = Share { rate: single_path, fair: fair_single };
            Ok(fairness::p2(multipath, single_path, P2_MARGIN).into())
        }
        (None, None, Some([alone, beside])) => {
            let harm = fairness::harm(alone, beside);
            match alone > 0.0 && harm.is_finite() {
                true => Ok(harm.into()),
                false => Err(wrong("harm", &json!([alone, beside]), HARM)),
            }
        }
        _ => Err("a question of fairness has one of `p1`, `p2` and `harm`".into()),
    }
}
