//! The provider and model in the settings of a program, for programs whose sessions must name them.

use super::claude_code::read;
use super::home_program::HomeProgram;
use super::places::Environment;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The configured provider and model of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
}

impl Environment<'_> {
    /// Returns the provider and the model that a program uses in this project, if its settings contain them.
    pub fn choice(&self, program: &HomeProgram, project: &Path) -> ModelChoice {
        let found = match program.name {
            "codex" => self.root(program).and_then(|root| codex(&root)),
            "opencode" => self.opencode(project),
            _ => None,
        };
        found.unwrap_or_default()
    }

    /// The setting of the project, or of the user, or the most recently used model.
    fn opencode(&self, project: &Path) -> Option<ModelChoice> {
        let named = self.directory("OPENCODE_CONFIG");
        let dir = |name: &str, below: &str| {
            let dir = self.directory(name).or_else(|| Some(self.home()?.join(below)));
            dir.map(|dir| dir.join("opencode"))
        };
        let own = project.ancestors().map(Path::to_path_buf);
        let config = dir("XDG_CONFIG_HOME", ".config");
        let names = ["opencode.jsonc", "opencode.json", "config.json"];
        let files = |dir: PathBuf| names.map(|name| dir.join(name));
        let files = own
            .flat_map(files)
            .chain(named)
            .chain(config.into_iter().flat_map(files));
        let set = { files }.find_map(|file| split(read(&file)?.get("model")?.as_str()?));
        set.or_else(|| {
            let state = read(&dir("XDG_STATE_HOME", ".local/state")?.join("model.json"))?;
            let last = state.get("recent")?.get(0)?;
            let text = |name: &str| last.get(name).and_then(Value::as_str).map(str::to_string);
            Some(ModelChoice {
                provider: Some(text("providerID")?),
                model: Some(text("modelID")?),
            })
        })
    }
}

/// Splits a model with a provider prefix: `anthropic/claude-sonnet-4-5`.
pub fn split(text: &str) -> Option<ModelChoice> {
    let (provider, model) = text.split_once('/')?;
    let is_some = !provider.is_empty() && !model.is_empty();
    is_some.then(|| ModelChoice {
        provider: Some(provider.to_string()),
        model: Some(model.to_string()),
    })
}

/// Returns the provider in `config.toml`; the active profile takes precedence.
fn codex(root: &Path) -> Option<ModelChoice> {
    let text = std::fs::read_to_string(root.join("config.toml")).ok()?;
    let config: toml::Table = toml::from_str(&text).ok()?;
    let profile = config.get("profile").and_then(toml::Value::as_str);
    let profile = profile.and_then(|name| config.get("profiles")?.get(name)?.as_table());
    let provider = |table: &toml::Table| Some(table.get("model_provider")?.as_str()?.to_string());
    Some(ModelChoice {
        provider: profile.and_then(provider).or_else(|| provider(&config)),
        model: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;

    #[test]
    fn the_nearest_setting_counts() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let environment = Environment {
            variable: &|name| (name == "HOME").then(|| home.into()),
            directory: None,
        };
        let project = home.join("src/api");
        let choice = |name: &str| {
            let choice = environment.choice(program(name).unwrap(), &project);
            [choice.provider, choice.model]
                .map(Option::unwrap_or_default)
                .join("/")
        };
        let put = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!((choice("codex"), choice("opencode")), ("/".into(), "/".into()));
        put(".codex/config.toml", "model_provider = \"azure\"\n");
        assert_eq!(choice("codex"), "azure/");
        put(
            ".codex/config.toml",
            "model_provider = \"azure\"\nprofile = \"p\"\n[profiles.p]\nmodel_provider = \"local\"\n",
        );
        assert_eq!(choice("codex"), "local/");
        put(
            ".local/state/opencode/model.json",
            r#"{"recent":[{"providerID":"a","modelID":"1"}]}"#,
        );
        assert_eq!(choice("opencode"), "a/1");
        put(".config/opencode/opencode.json", r#"{"model":"b/2/x"}"#);
        assert_eq!(choice("opencode"), "b/2/x");
        put("src/opencode.json", r#"{"model":"c/3"}"#);
        assert_eq!(choice("opencode"), "c/3");
        put("src/opencode.json", r#"{"model":"c"}"#);
        assert_eq!(
            (choice("opencode"), choice("claude")),
            ("b/2/x".into(), "/".into())
        );
    }
}
