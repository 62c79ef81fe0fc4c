//! The household of a staff: opened where one is configured, or the sample one; otherwise none, and nothing here has any effect.
//!
//! What is in it and what its tools do is the business of the crate `household`; here it is only found and handed around.

use std::sync::Arc;

use agent::delegation::Preference;
use household::preferences::Log;
use household::{CheckedPart, Error, Household, Now, Options, demo};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use provider::Providers;
use rules_engine::RulesEngine;
use store::Store;
use tool::Registry;

use crate::config::{Config, HouseholdConfig};
use crate::decisions::Decisions;

/// The name of a household's own file in the folder for state.
const INDEX: &str = "household.db";

/// The name by which a log knows the sample household.
pub const SAMPLE: &str = "demo";

/// The household, if there is one.
#[derive(Clone)]
pub(crate) struct Home {
    household: Option<Arc<Household>>,
    is_sample: bool,
}

impl Home {
    /// Opens what is configured. Where nothing is kept, its index is not either; where there is a memory, habits are learnt from
    /// what is in it. A clock that is given is that of the configured household.
    pub(crate) fn open(
        config: &Config,
        in_memory: bool,
        memory: Option<&Arc<dyn Store>>,
        clock: Option<Now>,
    ) -> Result<Self, Error> {
        let options = match (config.demo, &config.household) {
            (true, _) => Some(sample(config)?),
            (false, Some(named)) => Some(configured(named, config, clock)),
            (false, None) => None,
        };
        let name = config.demo.then(|| SAMPLE.into());
        let log = memory.map(|memory| Arc::new(Decisions::new(Arc::clone(memory), name)) as Arc<dyn Log>);
        let options = options.map(|options| Options { index: options.index.filter(|_| !in_memory), log, ..options });
        Ok(Self { household: options.map(Household::open).transpose()?, is_sample: config.demo })
    }

    /// The tools of the workspace, and those of the household.
    pub(crate) fn tools(&self, registry: Registry) -> Registry {
        match &self.household {
            Some(household) => household.tools(registry),
            None => registry,
        }
    }

    /// The configured providers, and the rules engine, which knows the household's clock and people.
    pub(crate) fn providers(&self, providers: Providers) -> Providers {
        let rules = match &self.household {
            Some(household) => RulesEngine::for_household(household),
            None => RulesEngine::new(Arc::new(Timestamp::now), crate::zone::local()),
        };
        providers.with_resident(&format!("builtin/{}", rules_engine::NAME), Arc::new(rules))
    }

    /// Whether a prompt is plainly about this household.
    pub(crate) fn is_asked_for(&self, prompt: &str) -> bool {
        self.household.as_ref().is_some_and(|household| {
            let context = rules_engine::Context::new(household.now(), household.people());
            rules_engine::is_household_request(prompt, &context)
        })
    }

    /// What lies in its folders; none where no household is configured.
    pub(crate) fn check(&self) -> Option<Vec<CheckedPart>> {
        self.household.as_ref().map(|household| household.check())
    }

    /// The day in the household.
    pub(crate) fn today(&self) -> Option<Date> {
        self.household.as_ref().map(|household| household.now().date())
    }

    /// The preferences that an agent should heed. What cannot be read is heeded by nobody.
    pub(crate) fn preferences(&self, agent: &str) -> Vec<Preference> {
        let known = self.household.as_ref().and_then(|household| household.preferences_for(agent).ok());
        known.unwrap_or_default()
    }

    /// The name by which a log knows it, where that is not the configured one.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.is_sample.then(|| SAMPLE.into())
    }
}

/// The sample household, laid into the folder for state once for each version of it: what was done in it stays.
fn sample(config: &Config) -> Result<Options, Error> {
    let folder = config.data.join(SAMPLE).join(demo::version());
    demo::write(&folder)?;
    Ok(Options { index: Some(folder.with_extension("db")), ..demo::options(&folder) })
}

fn configured(named: &HouseholdConfig, config: &Config, clock: Option<Now>) -> Options {
    let whole = named.folder.as_deref().map(Options::in_folder).unwrap_or_default();
    let zone = named.timezone.as_deref().and_then(|name| TimeZone::get(name).ok());
    Options {
        folder: whole.folder,
        mail: named.mail.clone().or(whole.mail),
        calendars: named.calendars.clone().or(whole.calendars),
        notes: named.notes.clone().or(whole.notes),
        contacts: named.contacts.clone().or(whole.contacts),
        decisions: whole.decisions,
        log: None,
        index: Some(config.data.join(INDEX)),
        me: named.me.clone(),
        zone: zone.unwrap_or(whole.zone),
        now: clock.unwrap_or(whole.now),
    }
}
