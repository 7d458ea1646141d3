//! Installs environments in the background, while cargo builds.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::{self, JoinHandle};

use crate::Result;
use crate::process::cancel::Cancel;
use crate::setup::debian;
use crate::setup::environments::Environment;
use crate::setup::tools::Tool;
use crate::workspace::{Workspace, is_ci};

/// Environments in the making. Dropping it stops what is not done yet.
#[derive(Debug)]
pub(crate) struct Preparation {
    cancel: Cancel,
    making: BTreeMap<Environment, JoinHandle<Result<()>>>,
    made: BTreeMap<Environment, Result<()>>,
}

impl Preparation {
    /// Begins all of them at once: most of the time they wait for the network. One that two suites need is made once.
    pub(crate) fn begin(workspace: &Workspace, environments: &[Environment]) -> Self {
        let versions = find_tools(workspace, environments);
        let mut preparation = Self { cancel: Cancel::default(), making: BTreeMap::new(), made: BTreeMap::new() };
        for &environment in environments.iter().collect::<BTreeSet<_>>() {
            match &versions[&environment.tool()] {
                Err(why) => {
                    preparation.made.insert(environment, Err(why.clone()));
                }
                Ok(version) => {
                    let (workspace, version, cancel) = (workspace.clone(), version.clone(), preparation.cancel.clone());
                    let thread = thread::spawn(move || environment.prepare(&workspace, &version, &cancel));
                    preparation.making.insert(environment, thread);
                }
            }
        }
        preparation
    }

    /// Waits for some of them and leaves out the others.
    pub(crate) fn wait_for_all(&mut self, environments: &[Environment]) -> Self {
        let made = environments.iter().map(|&environment| (environment, self.wait_for(environment))).collect();
        Self { cancel: Cancel::default(), making: BTreeMap::new(), made }
    }

    /// Waits until it is ready; an error has the reason why it is not.
    pub(crate) fn wait_for(&mut self, environment: Environment) -> Result<()> {
        if let Some(thread) = self.making.remove(&environment) {
            let made = thread.join().unwrap_or_else(|_| Err("its setup panicked".to_owned()));
            self.made.insert(environment, made);
        }
        self.made.get(&environment).cloned().unwrap_or_else(|| Err("it was not set up".to_owned()))
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.cancel.set();
        for (_, thread) in std::mem::take(&mut self.making) {
            let _ = thread.join();
        }
    }
}

/// The version of every language that is wanted, or why there is none. On CI what is missing is installed.
fn find_tools(workspace: &Workspace, environments: &[Environment]) -> BTreeMap<Tool, Result<String>> {
    let ask = || environments.iter().map(|environment| environment.tool()).map(|tool| (tool, tool.version())).collect();
    let found: BTreeMap<Tool, Result<String>> = ask();
    let missing: Vec<Tool> = found.iter().filter(|(_, version)| version.is_err()).map(|(&tool, _)| tool).collect();
    if missing.is_empty() || !is_ci() {
        return found;
    }
    if let Err(why) = debian::install(workspace, &missing) {
        println!("setup: {why}");
    }
    ask()
}
