//! An engine for JavaScript with the page's pure modules in it, and the scripts of these tests beside them.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Module, Object, Runtime};

/// The modules that touch neither document nor network, each after those it needs.
const MODULES: [&str; 16] = [
    "page/sse.js",
    "page/address.js",
    "page/inline.js",
    "page/prose.js",
    "page/picture.js",
    "page/figures.js",
    "page/shape.js",
    "page/spans.js",
    "page/items.js",
    "page/family.js",
    "page/reduce.js",
    "page/word.js",
    "page/words.js",
    "page/edits.js",
    "page/exact.js",
    "page/lanes.js",
];

/// What the tests themselves bring.
const SCRIPT: &str = "tests/fold/script.js";

pub struct Engine {
    context: Context,
    /// How often the engine has looked up from its work: once in so many calls and turns of a loop.
    ticks: Rc<Cell<u64>>,
}

impl Engine {
    pub fn new() -> Self {
        let runtime = Runtime::new().expect("an engine");
        let ticks = Rc::new(Cell::new(0));
        let counter = ticks.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counter.set(counter.get() + 1);
            false
        })));
        let context = Context::full(&runtime).expect("a context");
        context.with(|ctx| {
            for name in MODULES {
                Module::declare(ctx.clone(), name, source(name)).catch(&ctx).expect(name);
            }
            let script = Module::declare(ctx.clone(), SCRIPT, source(SCRIPT)).catch(&ctx).expect(SCRIPT);
            let (script, evaluated) = script.eval().catch(&ctx).expect(SCRIPT);
            evaluated.finish::<()>().catch(&ctx).expect(SCRIPT);
            let exported = script.namespace().expect("a module has a namespace");
            ctx.globals().set("script", exported).expect("a free name");
        });
        Self { context, ticks }
    }

    /// What a function of the script answers.
    pub fn call(&self, function: &str, arguments: &[&str]) -> String {
        let call = |ctx: Ctx<'_>| {
            let script: Object<'_> = ctx.globals().get("script")?;
            let function: Function<'_> = script.get(function)?;
            function.call((Rest(arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>()),))
        };
        self.context.with(|ctx| call(ctx.clone()).catch(&ctx).unwrap_or_else(|error| panic!("{function}: {error}")))
    }

    /// How much a function of the script has to do, in ticks: the same on every machine.
    pub fn work(&self, function: &str, arguments: &[&str]) -> u64 {
        let before = self.ticks.get();
        self.call(function, arguments);
        self.ticks.get() - before
    }
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}
