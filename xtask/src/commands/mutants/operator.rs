//! Changes of a function: conditions, comparisons, counts, effects, and their order. After
//! a change here, `cargo xtask mutants --all`: a fingerprint is of what is judged.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Block, Expr, ExprClosure, ExprIf, ExprMatch, ExprMethodCall, ExprWhile, Item, Lit,
    Local, Pat, Stmt, Type,
};

use super::edit::{Change, Edit, Swap, chosen};
use super::function::Function;
use super::subject::Found;
use super::syntax::{
    has_effect, is_comparison, is_condition, is_droppable, is_logical, is_shadowed_in, may_leave,
    name_of, operands_of, place_of, shown, uses,
};

/// The statements that change places are taken from runs of this length at most: each swap writes
/// the run once more.
const LONGEST_RUN: usize = 6;

/// Finds the mutants of a function.
pub(super) fn mutants(function: &Function, found: &mut Found<'_>) {
    Finder(found).body(function);
}

struct Finder<'f, 'l>(&'f mut Found<'l>);

impl Finder<'_, '_> {
    fn body(&mut self, function: &Function) {
        let answers_yes_or_no = shown(&function.signature.output) == "-> bool";
        if let Some(Stmt::Expr(tail, None)) = function.block.stmts.last() {
            use Expr::{Block, If, Match, Unsafe};
            let has_its_own = matches!(tail, If(_) | Match(_) | Block(_) | Unsafe(_));
            if answers_yes_or_no && !has_its_own && !is_condition(tail) {
                let text = shown(tail);
                self.truths(tail, text != "true", text != "false");
            }
        }
        self.visit_block(&function.block);
    }

    /// The number of a new mutant, unless it is left out.
    fn add(&mut self, kind: &str, of: &impl ToTokens) -> Option<u32> {
        self.0.add(format!("{kind}: {}", shown(of)), of)
    }

    /// Makes a condition true, or false; it is evaluated all the same.
    fn truths(&mut self, condition: &Expr, yes: bool, no: bool) {
        let yes = yes.then(|| self.add("true", condition)).flatten();
        let no = no.then(|| self.add("false", condition)).flatten();
        if let Some(no) = no {
            let before = format!("(!{} & (", chosen(no));
            self.0.wrap(condition, before, "))");
        }
        if let Some(yes) = yes {
            let before = format!("({} | (", chosen(yes));
            self.0.wrap(condition, before, "))");
        }
    }

    /// The mutants of a whole condition: of `if`, `while` or a guard, or of a logical operator
    /// elsewhere.
    fn condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Binary(of) if is_logical(&of.op) => {
                let is_and = matches!(of.op, BinOp::And(_));
                let mut operands = Vec::new();
                operands_of(condition, is_and, &mut operands);
                for (index, operand) in operands.into_iter().enumerate() {
                    // One false operand of a conjunction is as good as another.
                    let is_first = index == 0;
                    match operand {
                        Expr::Let(_) => {}
                        Expr::Binary(inner) if is_logical(&inner.op) => self.condition(operand),
                        _ if is_and => self.truths(operand, true, is_first),
                        _ => self.truths(operand, is_first, true),
                    }
                }
            }
            Expr::Let(_) | Expr::Lit(_) | Expr::Macro(_) => {}
            _ => self.truths(condition, true, true),
        }
    }

    /// A whole condition, and what is within it. A pattern does not match, whatever is there.
    fn decide(&mut self, condition: &Expr) {
        self.condition(condition);
        if let Expr::Let(pattern) = condition
            && let Some(number) = self.add("no match", &pattern.pat)
        {
            let after = format!(" && !{}", chosen(number));
            self.0.wrap(condition, "", after);
        }
        self.visit_condition(condition);
    }

    /// Visits what is within a condition whose truth has its mutants.
    fn visit_condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Paren(inner) => self.visit_condition(&inner.expr),
            Expr::Let(pattern) => self.visit_expr(&pattern.expr),
            Expr::Binary(of) if is_logical(&of.op) => {
                self.visit_condition(&of.left);
                self.visit_condition(&of.right);
            }
            Expr::Binary(of) if is_comparison(&of.op) => {
                self.compare(of, true);
                self.visit_expr(&of.left);
                self.visit_expr(&of.right);
            }
            _ => self.visit_expr(condition),
        }
    }

    fn compare(&mut self, of: &syn::ExprBinary, is_whole_condition: bool) {
        let other = match of.op {
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) if !is_whole_condition => "!=",
            BinOp::Ne(_) if !is_whole_condition => "==",
            _ => return,
        };
        let Some(number) = self.add(other, of) else {
            return;
        };
        let operator = of.op.to_token_stream().to_string();
        let operator = operator.trim();
        let chosen = chosen(number);
        let after = format!(
            ")) {{ (l, r) => if {chosen} {{ *l {other} *r }} else {{ *l {operator} *r }} }})"
        );
        self.0.wrap(of, "(match (&(", after);
        self.0.edit(&of.op, Change::Replace("), &(".to_owned()));
    }

    fn off_by_one(&mut self, expression: &Expr) {
        if let Some(number) = self.add("+ 1", expression) {
            self.0.wrap(
                expression,
                format!("::filch_sync::mutant::off({number}, "),
                ")",
            );
        }
    }

    fn literal(&mut self, expression: &Expr) {
        if matches!(expression, Expr::Lit(of) if matches!(of.lit, Lit::Int(_))) {
            self.off_by_one(expression);
        }
    }

    /// Leaves out something that gives nothing.
    fn drop(&mut self, of: &impl ToTokens) {
        if let Some(number) = self.add("drop", of) {
            let before = format!("{{ if !{} {{ ", chosen(number));
            self.0.wrap(of, before, " } }");
        }
    }

    /// Swaps neighbours in the runs of statements that have effects.
    fn swaps(&mut self, statements: &[Stmt]) {
        let is_movable = |statement: &Stmt| has_effect(statement) && !may_leave(statement);
        for run in statements.chunk_by(|one, other| is_movable(one) && is_movable(other)) {
            for run in run.chunks(LONGEST_RUN) {
                if run.len() > 1 && !run.iter().any(is_shadowed_in(run)) {
                    self.swap_run(run);
                }
            }
        }
    }

    fn swap_run(&mut self, run: &[Stmt]) {
        let mut swaps = Vec::new();
        for (index, pair) in run.windows(2).enumerate() {
            let depends = name_of(&pair[0]).is_some_and(|name| uses(&pair[1], &name));
            let both_the_same = shown(&pair[0]) == shown(&pair[1]);
            if depends || both_the_same {
                continue;
            }
            let both: TokenStream = pair.iter().map(ToTokens::to_token_stream).collect();
            swaps.extend(self.add("swap", &both).map(|number| (index, number)));
        }
        if swaps.is_empty() {
            return;
        }
        let statements: Vec<_> = run.iter().map(place_of).collect();
        let bytes = statements[0].bytes.start..statements[run.len() - 1].bytes.end;
        let change = Change::Swap(Swap { statements, swaps });
        self.0.edits.push(Edit { bytes, change });
    }
}

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    // Items in a function are functions of their own, or constants.
    fn visit_item(&mut self, _: &'ast Item) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let Some(init) = &local.init else { return };
        self.visit_expr(&init.expr);
        // What must diverge has no statement to spare.
        if let Some((_, otherwise)) = &init.diverge
            && let Expr::Block(otherwise) = &**otherwise
            && let Some((_, before)) = otherwise.block.stmts.split_last()
        {
            before.iter().for_each(|one| self.visit_stmt(one));
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.swaps(&block.stmts);
        visit::visit_block(self, block);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if is_droppable(statement) {
            self.drop(statement);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, of: &'ast ExprIf) {
        self.decide(&of.cond);
        // To leave out the only statement is to make the condition false.
        match (&of.then_branch.stmts[..], &of.else_branch) {
            ([only], None) => visit::visit_stmt(self, only),
            _ => self.visit_block(&of.then_branch),
        }
        if let Some((_, otherwise)) = &of.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, of: &'ast ExprWhile) {
        self.decide(&of.cond);
        self.visit_block(&of.body);
    }

    fn visit_expr_match(&mut self, of: &'ast ExprMatch) {
        self.visit_expr(&of.expr);
        let is_nothing =
            |arm: &syn::Arm| matches!(&*arm.body, Expr::Block(of) if of.block.stmts.is_empty());
        let gives_nothing = of.arms.iter().any(is_nothing);
        for arm in &of.arms {
            if let Some((_, guard)) = &arm.guard {
                self.decide(guard);
            }
            use Expr::{Call, MethodCall, Return};
            if gives_nothing && matches!(&*arm.body, Call(_) | MethodCall(_) | Return(_)) {
                self.drop(&arm.body);
            }
            self.visit_expr(&arm.body);
        }
    }

    fn visit_expr_binary(&mut self, of: &'ast syn::ExprBinary) {
        match of.op {
            BinOp::Add(_) | BinOp::Sub(_) | BinOp::AddAssign(_) | BinOp::SubAssign(_) => {
                let is_literal = |side: &Expr| matches!(side, Expr::Lit(_));
                let is_sum = matches!(of.op, BinOp::Add(_) | BinOp::Sub(_));
                if is_sum && !is_literal(&of.left) && !is_literal(&of.right) {
                    self.off_by_one(&Expr::Binary(of.clone()));
                }
                self.literal(&of.left);
                self.literal(&of.right);
            }
            BinOp::And(_) | BinOp::Or(_) => return self.decide(&Expr::Binary(of.clone())),
            _ => self.compare(of, false),
        }
        visit::visit_expr_binary(self, of);
    }

    fn visit_expr_method_call(&mut self, of: &'ast ExprMethodCall) {
        let closure = match of.args.first() {
            Some(Expr::Closure(closure)) if of.args.len() == 1 => Some(closure),
            _ => None,
        };
        if let Some(ExprClosure { body, .. }) = closure {
            let is_second_look = of.method == "or_else" && !matches!(&**body, Expr::Block(_));
            if is_second_look && let Some(number) = self.add("None", body) {
                let none = format!("if {} {{ Default::default() }} else {{ ", chosen(number));
                self.0.wrap(body, none, " }");
            }
            if of.method == "inspect" || of.method == "inspect_err" {
                self.drop(body);
            }
        }
        of.args.iter().for_each(|argument| self.literal(argument));
        visit::visit_expr_method_call(self, of);
    }

    fn visit_expr_call(&mut self, of: &'ast syn::ExprCall) {
        of.args.iter().for_each(|argument| self.literal(argument));
        visit::visit_expr_call(self, of);
    }

    fn visit_expr_range(&mut self, of: &'ast syn::ExprRange) {
        let ends = of.start.iter().chain(&of.end);
        ends.for_each(|end| self.literal(end));
        visit::visit_expr_range(self, of);
    }
}
