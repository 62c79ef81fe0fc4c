//! Calls that a tool makes on behalf of its own call, such as the checks of a task: judged as if the thread had made them.
//!
//! A person cannot be asked in the middle of a call. What would need consent is therefore not made, unless a person wrote the call and
//! no rule forbids it.

use std::sync::Arc;

use agent::Json;
use agent::permission::{Action, Asked, Layer, Rule, judge};
use agent::tools::{Assessment, Reach, ToolResult};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tool::{Nested, PriorConsent, Registry, ToolContext};

use crate::facts::Gatherer;

/// Makes calls for one call of a thread.
pub struct NestedCalls {
    tools: Arc<Registry>,
    facts: Gatherer,
    /// The thread and all above it.
    chain: Arc<[Layer]>,
    rules: Arc<[Rule]>,
    /// What a person has allowed for this thread.
    granted: Arc<[Rule]>,
    context: ToolContext,
}

impl NestedCalls {
    pub fn new(
        tools: Arc<Registry>,
        facts: Gatherer,
        chain: Vec<Layer>,
        rules: Arc<[Rule]>,
        granted: Vec<Rule>,
        context: &ToolContext,
    ) -> Self {
        let context = ToolContext { is_approved: false, nested: None, ..context.clone() };
        Self { tools, facts, chain: chain.into(), rules, granted: granted.into(), context }
    }
}

impl Nested for NestedCalls {
    fn call(&self, name: &str, input: Json, consent: PriorConsent) -> BoxFuture<'static, ToolResult> {
        let Some(tool) = self.tools.get(name).cloned() else {
            let missing = ToolResult::error(format!("{name} is not available in this process"));
            return async move { missing }.boxed();
        };
        let (tools, facts, chain) = (self.tools.clone(), self.facts.clone(), self.chain.clone());
        let (rules, granted, mut context) = (self.rules.clone(), self.granted.clone(), self.context.clone());
        async move {
            let folder = context.workspace.root().display().to_string();
            let assessment = facts.assess(tools, folder, tool.info().clone(), input.clone()).await;
            // A request that a tool makes may carry out what the tool has read.
            let foreign = context.foreign || assessment.reach == Reach::Network;
            let asked = Asked { tool: &tool.info().name, assessment: &assessment, foreign, asks: None };
            let judgement = judge(&chain, &rules, &granted, &asked);
            match judgement.action {
                Action::Allow => {}
                Action::Ask if is_covered(&consent, &assessment) => {}
                Action::Ask if matches!(consent, PriorConsent::Allowed { .. }) => {
                    return ToolResult::error(format!(
                        "not run: it is not what a person allowed any more, for a file that it names has changed since. Call {} with it, so \
                         that a person sees it as it is ({})",
                        tool.info().name,
                        judgement.by
                    ));
                }
                Action::Ask => {
                    let (name, by) = (&tool.info().name, &judgement.by);
                    let pattern = assessment.standing.as_ref().map(|pattern| format!(", pattern = \"{pattern}\""));
                    return ToolResult::error(format!(
                        "not run: it needs a person's consent ({by}); the rule {{tool = \"{name}\"{}, action = \"allow\"}} would allow it",
                        pattern.unwrap_or_default()
                    ));
                }
                Action::Deny => return ToolResult::error(format!("not run: it is not permitted ({})", judgement.by)),
            }
            context.reach = Some(assessment.reach);
            tool.run(&input, &context).await
        }
        .boxed()
    }
}

/// Whether what a person has said before covers a call as it is now. What a sandbox around the workspace bounds may lead to something else by
/// then: a check is there for what its agent has changed. Anything else is only what the person saw.
fn is_covered(consent: &PriorConsent, assessment: &Assessment) -> bool {
    let is_as_seen = match consent {
        PriorConsent::None => false,
        PriorConsent::Written => true,
        PriorConsent::Allowed { digest } => assessment.reach <= Reach::Workspace || assessment.digest == *digest,
    };
    is_as_seen && assessment.protected.is_empty()
}
