//! A kernel as a litmus test: in C11, and as LLVM's code for Arm, with LSE and RCPC or without.

use super::kernel::{Kernel, Step, Thread};

pub(super) fn c(kernel: &Kernel<'_>) -> String {
    let (mut start, mut threads) = (String::new(), String::new());
    for (number, thread) in kernel.threads.iter().enumerate() {
        let places = thread.places.iter();
        let mut given: Vec<_> = places.map(|place| format!("int* {place}")).collect();
        let registers = thread.registers.iter();
        let mut body: String = registers
            .map(|name| format!("int {name} = 99;\n"))
            .collect();
        for (index, step) in thread.steps.iter().enumerate() {
            // The value that an exchange expects is behind a pointer.
            let expected = format!("e{number}_{index}");
            if step.method == "compare_exchange" {
                let (value, _) = step.arguments.split_once(',').unwrap_or_default();
                start += &format!("{expected} = {value}; ");
                given.push(format!("int* {expected}"));
            }
            let to = if step.register.is_empty() { "" } else { " = " };
            let line = format!("{}{to}{}", step.register, call(step, &expected));
            body += &match step.guard {
                "" => format!("{line};\n"),
                guard => format!("if ({}) {{ {line}; }}\n", guard.replace("&&", ") if (")),
            };
        }
        threads += &format!("P{number} ({}) {{\n{body}}}\n\n", given.join(", "));
    }
    let (outcome, words) = (kernel.outcome(|_, name| name.to_owned()), kernel.start);
    format!("C kernel\n\n{{ {start}{words} }}\n\n{threads}exists ({outcome})\n")
}

fn call(step: &Step<'_>, expected: &str) -> String {
    let mut arguments = step.arguments.to_owned();
    for name in ["Relaxed", "Acquire", "Release", "Acq_Rel", "Seq_Cst"] {
        let in_c = format!("memory_order_{}", name.to_lowercase());
        arguments = arguments.replace(&name.replace('_', ""), &in_c);
    }
    let place = step.place;
    match step.method {
        "fence" => format!("atomic_thread_fence({arguments})"),
        "read" => format!("*{place}"),
        "write" => format!("*{place} = {arguments}"),
        "swap" => format!("atomic_exchange_explicit({place}, {arguments})"),
        "compare_exchange" => {
            let (_, arguments) = arguments.split_once(',').unwrap_or_default();
            format!("atomic_compare_exchange_strong_explicit({place}, {expected},{arguments})")
        }
        method => format!("atomic_{method}_explicit({place}, {arguments})"),
    }
}

/// The kernel's registers are those from 0 on; addresses are in those from 12 on. On an `old`
/// processor a read-modify-write is one turn of a loop, whose success is in one from 20 on.
pub(super) fn arm(kernel: &Kernel<'_>, old: bool) -> String {
    let (mut start, mut columns, mut succeeds) = (String::new(), Vec::new(), String::new());
    for (number, thread) in kernel.threads.iter().enumerate() {
        let registers = thread.registers.iter().map(|_| "99").zip(0..);
        let places = thread.places.iter().copied().zip(12..);
        for (value, register) in registers.chain(places) {
            start += &format!("{number}:X{register}={value}; ");
        }
        let mut lines = vec![format!("P{number}")];
        for (index, step) in thread.steps.iter().enumerate() {
            let guards = step.guard.split(" && ");
            for (name, value) in guards.filter_map(|guard| guard.split_once(" == ")) {
                lines.push(format!("CMP W{},#{value}", register(thread, name)));
                lines.push(format!("B.NE L{number}{index}"));
            }
            let (end, status) = (format!("L{number}{index}"), 20 + index);
            lines.extend(instructions(thread, step, old.then_some((&end, status))));
            lines.push(end + ":");
            succeeds += &format!(" /\\ {number}:X{status}=0");
        }
        columns.push(lines);
    }
    let mut table = String::new();
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or_default() {
        let cell = |lines: &Vec<String>| lines.get(row).cloned().unwrap_or_default();
        table += &(columns.iter().map(cell).collect::<Vec<_>>().join(" | ") + " ;\n");
    }
    let outcome = kernel.outcome(|thread, name| format!("X{}", register(thread, name)));
    let words = kernel.start;
    format!("AArch64 kernel\n{{ {start}{words} }}\n{table}exists (({outcome}){succeeds})\n")
}

fn register(thread: &Thread<'_>, name: &str) -> usize {
    let mut registers = thread.registers.iter();
    registers.position(|own| *own == name).unwrap_or(9)
}

/// The instructions of a step; `old` are the label behind them, and the register of their success.
fn instructions(thread: &Thread<'_>, step: &Step<'_>, old: Option<(&str, usize)>) -> Vec<String> {
    let to = register(thread, step.register);
    let place = thread.places.iter().position(|own| *own == step.place);
    let at = format!("[X{}]", 12 + place.unwrap_or_default());
    let words: Vec<_> = step.arguments.split(", ").collect();
    let has = |of: &[&str]| words.iter().any(|word| of.contains(word));
    let a = ["", "A"][usize::from(has(&["Acquire", "AcqRel", "SeqCst"]))];
    let l = ["", "L"][usize::from(has(&["Release", "AcqRel", "SeqCst"]))];
    let value = words[0];
    // The new value is made in W10 of the old one, or is what one instruction does with an operand.
    let update = |make: &str, instruction: &str, operand: &str| match old {
        Some((_, status)) => format!("LD{a}XR W{to},{at}; {make}; ST{l}XR W{status},W10,{at}"),
        None => format!("MOV W10,#{operand}; {instruction}{a}{l} W10,W{to},{at}"),
    };
    let (given, negated) = (format!("MOV W10,#{value}"), format!("-{value}"));
    let code = match step.method {
        "fence" if l.is_empty() => "DMB ISHLD".to_owned(),
        "fence" => "DMB ISH".to_owned(),
        "load" if a == "A" && old.is_some() => format!("LDAR W{to},{at}"),
        "load" if a == "A" => format!("LDAPR W{to},{at}"),
        "read" | "load" => format!("LDR W{to},{at}"),
        "write" | "store" => format!("{given}; ST{l}R W10,{at}"),
        "swap" => update(&given, "SWP", value),
        "fetch_add" => update(&format!("ADD W10,W{to},#{value}"), "LDADD", value),
        "fetch_sub" => update(&format!("SUB W10,W{to},#{value}"), "LDADD", &negated),
        "fetch_or" => update(&format!("{given}; ORR W10,W10,W{to}"), "LDSET", value),
        "compare_exchange" => match (words[1], old) {
            (new, Some((end, status))) => format!(
                "MOV W{to},#0; LD{a}XR W10,{at}; CMP W10,#{value}; B.NE {end}; \
                 MOV W10,#{new}; ST{l}XR W{status},W10,{at}; MOV W{to},#1"
            ),
            (new, None) => format!(
                "{given}; MOV W11,#{new}; CAS{a}{l} W10,W11,{at}; CMP W10,#{value}; CSET W{to},EQ"
            ),
        },
        // herd7 refuses it.
        method => method.to_owned(),
    };
    code.split("; ").map(str::to_owned).collect()
}
