//! Kinds of code, and the text that shows a piece of it.

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Local, Pat, Stmt};

use super::edit::{Binding, Statement};
use crate::support::code::{any_token, before_word};

/// The most characters of code in a mutant's name.
const SHOWN: usize = 60;

pub(super) fn is_logical(operator: &BinOp) -> bool {
    matches!(operator, BinOp::And(_) | BinOp::Or(_))
}

pub(super) fn is_comparison(operator: &BinOp) -> bool {
    use BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(operator, Lt(_) | Le(_) | Gt(_) | Ge(_) | Eq(_) | Ne(_))
}

pub(super) fn is_condition(expression: &Expr) -> bool {
    matches!(expression, Expr::Binary(of) if is_logical(&of.op) || is_comparison(&of.op))
}

pub(super) fn operands_of<'e>(expression: &'e Expr, is_and: bool, operands: &mut Vec<&'e Expr>) {
    match expression {
        Expr::Binary(of) if is_logical(&of.op) && matches!(of.op, BinOp::And(_)) == is_and => {
            operands_of(&of.left, is_and, operands);
            operands_of(&of.right, is_and, operands);
        }
        _ => operands.push(expression),
    }
}

pub(super) fn is_droppable(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(expression, Some(_)) => match expression {
            Expr::Binary(of) => !is_logical(&of.op) && !is_comparison(&of.op),
            Expr::Assign(_) | Expr::Break(_) | Expr::Call(_) | Expr::Continue(_) => true,
            Expr::MethodCall(_) | Expr::Return(_) | Expr::Try(_) | Expr::Unsafe(_) => true,
            _ => false,
        },
        Stmt::Local(local) => matches!(local.pat, Pat::Wild(_)) && local.init.is_some(),
        _ => false,
    }
}

/// True if a statement does something that another thread or a later statement may notice, and can
/// be moved as text.
pub(super) fn has_effect(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), _) => false,
        Stmt::Expr(..) => is_droppable(statement),
        Stmt::Local(local) => {
            let Some(init) = &local.init else {
                return false;
            };
            let is_plain = name_of(statement).is_some();
            let calls = init.expr.to_token_stream().to_string().contains('(');
            let is_reference = matches!(&*init.expr, Expr::Reference(_) | Expr::Closure(_));
            is_plain && calls && !is_reference && init.diverge.is_none() && local.attrs.is_empty()
        }
        _ => false,
    }
}

/// True if a statement may end the function, or the turn of a loop.
pub(super) fn may_leave(statement: &Stmt) -> bool {
    let words = ["return", "break", "continue"];
    any_token(statement.to_token_stream(), &|token| match token {
        TokenTree::Ident(word) => words.contains(&word.to_string().as_str()),
        TokenTree::Punct(mark) => mark.as_char() == '?',
        _ => false,
    })
}

/// The name that a statement declares.
pub(super) fn name_of(statement: &Stmt) -> Option<String> {
    let Stmt::Local(local) = statement else {
        return None;
    };
    let pattern = match &local.pat {
        Pat::Type(of) => &*of.pat,
        pattern => pattern,
    };
    match pattern {
        Pat::Ident(of) => Some(of.ident.to_string()),
        _ => None,
    }
}

/// True if `tokens` name a variable of this name: not a field or a method.
pub(super) fn uses(tokens: &impl ToTokens, name: &str) -> bool {
    let text = tokens.to_token_stream().to_string();
    before_word(&text, name).any(|before| {
        let before = before.trim_end();
        !before.ends_with('.') || before.ends_with("..")
    })
}

/// Tells whether a declaration takes the place of a name that its own run uses.
pub(super) fn is_shadowed_in(run: &[Stmt]) -> impl Fn(&Stmt) -> bool {
    move |statement| {
        let Stmt::Local(Local {
            init: Some(init), ..
        }) = statement
        else {
            return false;
        };
        let is_other = |other: &&Stmt| !std::ptr::eq(*other, statement);
        let mut before = run.iter().take_while(is_other);
        name_of(statement)
            .is_some_and(|name| uses(&init.expr, &name) || before.any(|other| uses(other, &name)))
    }
}

pub(super) fn place_of(statement: &Stmt) -> Statement {
    let bytes = statement.span().byte_range();
    let binding = |name| match statement {
        Stmt::Local(Local { pat, init, .. }) => Some(Binding {
            declaration: format!("let {};", pat.to_token_stream()),
            name,
            value: init.as_ref()?.expr.span().byte_range().start,
        }),
        _ => None,
    };
    let binding = name_of(statement).and_then(binding);
    Statement { bytes, binding }
}

/// The code, on one line, cut to a readable length.
pub(super) fn shown(of: &impl ToTokens) -> String {
    let text = of.to_token_stream().to_string();
    let mut text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for spaced in [
        " . ", " (", "( ", " )", " ;", " ,", " :: ", "& ", " ?", "* ", "! ",
    ] {
        text = text.replace(spaced, spaced.trim());
    }
    let text = text.trim_end_matches(';').replace('`', "'");
    if text.chars().count() > SHOWN {
        text.chars().take(SHOWN - 1).chain(['…']).collect()
    } else {
        text
    }
}
