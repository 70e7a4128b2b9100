//! Unknown names of controllers in a scenario: the registry of laws gives the error.

use scenario::Plan;

const SCENARIO: &str = r#"
name = "one"
duration = "1 s"

[[link]]
name = "line"
rate = "1 Mb/s"

[[flow]]
name = "users"
controller = "CONTROLLER"

[[flow.path]]
links = ["line"]
"#;

fn read(controller: &str) -> Result<Plan, String> {
    let text = SCENARIO.replace("CONTROLLER", controller);
    Plan::read(&text, "one.toml", &[]).map_err(|error| error.to_string())
}

#[test]
fn an_unknown_controller_is_answered_with_the_name_that_is_near() {
    for (wrong, right) in
        [("oila", "olia"), ("balai", "balia"), ("fuly_coupled", "fully-coupled"), ("rno", "reno")]
    {
        let error = read(wrong).map(|_| ()).expect_err(wrong);
        assert!(error.contains(&format!("`{wrong}`")) && error.contains(right), "{error}");
        assert!(error.contains("flow `users`: controller") && error.contains("one.toml:11:14"));
    }
}

#[test]
fn an_unknown_option_of_a_controller_is_refused() {
    for wrong in ["olia:fast", "phi", "phi:0", "phi:3", "phi:x", "reno:1", "lia:", ""] {
        let error = read(wrong).map(|_| ()).expect_err(wrong);
        assert!(error.contains(&format!("`{wrong}`")), "{error}");
    }
    assert!(read("phi:0.5").is_ok() && read("olia:draft").is_ok());
}
