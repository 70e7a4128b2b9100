//! Expressions as a tree with places in the text, and their parser.
//!
//! ```text
//! expression := "if" expression "then" expression "else" expression | or
//! or         := and ("or" and)*
//! and        := not ("and" not)*
//! not        := "not" not | comparison
//! comparison := sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//! sum        := product (("+" | "-") product)*
//! product    := sign (("*" | "/") sign)*
//! sign       := "-" sign | power
//! power      := atom ["^" sign]
//! atom       := NUMBER | NAME | NAME "(" expression ("," expression)* ")" | "(" expression ")"
//! ```

use crate::error::Mistake;
use crate::tokens::{Placed, Token, tokens};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;

/// An expression and its place.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Number(f64),
    /// Its letters are at the span.
    Name,
    /// The name of the function is at the range.
    Call(Range<usize>, Vec<Expression>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Two(Operator, Box<Expression>, Box<Expression>),
    If(Box<[Expression; 3]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Less,
    LessEqual,
    More,
    MoreEqual,
    Equal,
    Unequal,
    And,
    Or,
}

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

/// Most tokens of an expression: functions that walk over its tree are recursive.
const MOST_TOKENS: usize = 500;

/// Words that cannot be names.
pub(crate) const KEYWORDS: [&str; 6] = ["if", "then", "else", "and", "or", "not"];

/// The expression at `text[range]`.
pub(crate) fn expression(text: &str, range: Range<usize>) -> Result<Expression, Mistake> {
    let tokens = tokens(text, range)?;
    if let Some(first) = tokens.get(MOST_TOKENS) {
        let what = format!("the expression has more than {MOST_TOKENS} words and signs");
        return Err(Mistake::new(format!("{what}: name parts of it"), first.span.clone()));
    }
    let mut parser = Parser { text, tokens: &tokens, at: 0, depth: 0 };
    let found = parser.expression()?;
    match parser.token() {
        Token::End => Ok(found),
        _ => Err(parser.unexpected("an operator or the end of the expression")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Placed],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at].token
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    fn word(&self) -> &str {
        match self.token() {
            Token::Name => &self.text[self.span()],
            _ => "",
        }
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, token: Token) -> bool {
        let found = self.token() == token;
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        self.at += usize::from(found);
        found
    }

    fn demand_word(&mut self, word: &str) -> Result<(), Mistake> {
        match self.take_word(word) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    fn unexpected(&self, wanted: &str) -> Mistake {
        let found = match self.token() {
            Token::End => "the end of the expression".into(),
            _ => format!("`{}`", &self.text[self.span()]),
        };
        Mistake::new(format!("{found} stands where {wanted} should"), self.span())
    }

    /// Runs `parse` one level deeper.
    fn deeper(
        &mut self,
        parse: fn(&mut Self) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format!("the expression is nested more than {DEEPEST} levels deep");
            return Err(Mistake::new(format!("{what}: name parts of it"), self.span()));
        }
        let found = parse(self);
        self.depth -= 1;
        found
    }

    fn expression(&mut self) -> Result<Expression, Mistake> {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Result<Expression, Mistake> {
        let start = self.span().start;
        if !self.take_word("if") {
            return self.either();
        }
        let condition = self.expression()?;
        self.demand_word("then")?;
        let then = self.expression()?;
        self.demand_word("else")?;
        let other = self.expression()?;
        let span = start..other.span.end;
        Ok(Expression { kind: Kind::If(Box::new([condition, then, other])), span })
    }

    fn either(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.both()?;
        while self.take_word("or") {
            left = two(Operator::Or, left, self.both()?);
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.negation()?;
        while self.take_word("and") {
            left = two(Operator::And, left, self.negation()?);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Mistake> {
        let start = self.span().start;
        if !self.take_word("not") {
            return self.comparison();
        }
        let of = self.deeper(Self::negation)?;
        let span = start..of.span.end;
        Ok(Expression { kind: Kind::Not(Box::new(of)), span })
    }

    fn comparison(&mut self) -> Result<Expression, Mistake> {
        let left = self.sum()?;
        let Some(operator) = comparison(self.token()) else {
            return Ok(left);
        };
        self.at += 1;
        let right = self.sum()?;
        if comparison(self.token()).is_some() {
            let message = "comparisons do not chain: write `a < b and b < c`";
            return Err(Mistake::new(message, self.span()));
        }
        Ok(two(operator, left, right))
    }

    fn sum(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.product()?;
        loop {
            let operator = match self.token() {
                Token::Plus => Operator::Plus,
                Token::Minus => Operator::Minus,
                _ => return Ok(left),
            };
            self.at += 1;
            left = two(operator, left, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, Mistake> {
        let mut left = self.sign()?;
        loop {
            let operator = match self.token() {
                Token::Times => Operator::Times,
                Token::Over => Operator::Over,
                _ => return Ok(left),
            };
            self.at += 1;
            left = two(operator, left, self.sign()?);
        }
    }

    fn sign(&mut self) -> Result<Expression, Mistake> {
        let start = self.span().start;
        if !self.take(Token::Minus) {
            return self.power();
        }
        let of = self.deeper(Self::sign)?;
        let span = start..of.span.end;
        Ok(Expression { kind: Kind::Negative(Box::new(of)), span })
    }

    fn power(&mut self) -> Result<Expression, Mistake> {
        let base = self.atom()?;
        match self.take(Token::Power) {
            true => Ok(two(Operator::Power, base, self.deeper(Self::sign)?)),
            false => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Expression, Mistake> {
        let span = self.span();
        match self.token() {
            Token::Number(value) => {
                self.at += 1;
                Ok(Expression { kind: Kind::Number(value), span })
            }
            Token::Name if !KEYWORDS.contains(&self.word()) => {
                self.at += 1;
                match self.take(Token::Open) {
                    true => self.call(span),
                    false => Ok(Expression { kind: Kind::Name, span }),
                }
            }
            Token::Open => {
                self.at += 1;
                let inside = self.expression()?;
                let end = self.span().end;
                match self.take(Token::Close) {
                    // The caller reads the name again from its place.
                    true if matches!(inside.kind, Kind::Name) => Ok(inside),
                    true => Ok(Expression { span: span.start..end, ..inside }),
                    false => Err(self.unexpected("an operator or `)`")),
                }
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    /// The arguments of a function; its name and bracket have been parsed.
    fn call(&mut self, name: Range<usize>) -> Result<Expression, Mistake> {
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expression()?);
            if self.take(Token::Comma) {
                continue;
            }
            let end = self.span().end;
            return match self.take(Token::Close) {
                true => {
                    let span = name.start..end;
                    Ok(Expression { kind: Kind::Call(name, arguments), span })
                }
                false => Err(self.unexpected("an operator, `,` or `)`")),
            };
        }
    }
}

fn comparison(token: Token) -> Option<Operator> {
    Some(match token {
        Token::Less => Operator::Less,
        Token::LessEqual => Operator::LessEqual,
        Token::More => Operator::More,
        Token::MoreEqual => Operator::MoreEqual,
        Token::Equal => Operator::Equal,
        Token::Unequal => Operator::Unequal,
        _ => return None,
    })
}

fn two(operator: Operator, left: Expression, right: Expression) -> Expression {
    let span = left.span.start..right.span.end;
    Expression { kind: Kind::Two(operator, Box::new(left), Box::new(right)), span }
}

impl Expression {
    /// The direct subexpressions.
    pub(crate) fn parts(&self) -> Vec<&Expression> {
        match &self.kind {
            Kind::Number(_) | Kind::Name => Vec::new(),
            Kind::Call(_, arguments) => arguments.iter().collect(),
            Kind::Negative(of) | Kind::Not(of) => alloc::vec![&**of],
            Kind::Two(_, left, right) => alloc::vec![&**left, &**right],
            Kind::If(parts) => parts.iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// The expression with all its brackets.
    fn shown(text: &str) -> Result<String, String> {
        fn show(text: &str, e: &Expression) -> String {
            let show = |e: &Expression| show(text, e);
            match &e.kind {
                Kind::Number(_) | Kind::Name => text[e.span.clone()].into(),
                Kind::Call(name, of) => {
                    let all: Vec<String> = of.iter().map(show).collect();
                    format!("{}({})", &text[name.clone()], all.join(", "))
                }
                Kind::Negative(of) => format!("(-{})", show(of)),
                Kind::Not(of) => format!("(not {})", show(of)),
                Kind::Two(operator, a, b) => format!("({} {operator:?} {})", show(a), show(b)),
                Kind::If(parts) => {
                    let [c, t, e] = &**parts;
                    format!("(if {} then {} else {})", show(c), show(t), show(e))
                }
            }
        }
        let found = expression(text, 0..text.len());
        found.map(|e| show(text, &e)).map_err(|mistake| mistake.message)
    }

    #[test]
    fn powers_bind_before_signs_signs_before_products_and_sums_before_comparisons() {
        for (text, expected) in [
            ("-w^2", "(-(w Power 2))"),
            ("2^-w^3", "(2 Power (-(w Power 3)))"),
            ("a - b - c", "((a Minus b) Minus c)"),
            ("a/b*c", "((a Over b) Times c)"),
            ("a + b < c and not d or e", "((((a Plus b) Less c) And (not d)) Or e)"),
            ("if a < b then c else d + 1", "(if (a Less b) then c else (d Plus 1))"),
            ("min(a, max_s(b_s))", "min(a, max_s(b_s))"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, expected) in [
            ("1 +", "the end of the expression stands where a number, a name or `(` should"),
            ("(1", "the end of the expression stands where an operator or `)` should"),
            ("1 2", "`2` stands where an operator or the end of the expression should"),
            ("if a then b", "the end of the expression stands where `else` should"),
            ("f(1 2)", "`2` stands where an operator, `,` or `)` should"),
            ("a < b < c", "comparisons do not chain: write `a < b and b < c`"),
        ] {
            assert_eq!(shown(text), Err(expected.into()));
        }
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        for sign in ["(", "-", "not ", "2^"] {
            let why = shown(&sign.repeat(200)).unwrap_err();
            assert!(why.contains("nested more than 64 levels"), "{why}");
            let why = shown(&sign.repeat(100_000)).unwrap_err();
            assert!(why.contains("more than 500 words"), "{why}");
        }
    }
}
