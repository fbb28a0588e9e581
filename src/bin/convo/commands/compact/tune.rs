//! Replaces keys of `--tune` that are options with these options.

use super::table::{SettingOption, begins_with_key, option};
use std::ffi::OsString;

/// Replaces the keys that are options with these; `None` if there are none.
pub fn expanded(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let mut out: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut found = false;
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        if argument == "--" {
            out.push(argument.clone());
            break;
        }
        let joined = argument.to_str().and_then(|text| text.strip_prefix("--tune="));
        let text = match joined {
            Some(text) => Some(text),
            None if argument == "--tune" => given.clone().next().and_then(|value| value.to_str()),
            None => None,
        };
        let Some((options, rest)) = text.and_then(split) else {
            out.push(argument.clone());
            continue;
        };
        if joined.is_none() {
            given.next();
        }
        found = true;
        out.extend(options.into_iter().map(OsString::from));
        if !rest.is_empty() {
            out.push(format!("--tune={rest}").into());
        }
    }
    out.extend(given.cloned());
    found.then_some(out)
}

/// Whether a command line may have settings; without them, it is neither parsed twice nor copied.
pub fn names_tune(arguments: &[OsString]) -> bool {
    let is_tune = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"--tune");
    arguments.iter().any(is_tune)
}

/// Splits `KEY=VALUE,...` into options and the other keys; `None` without an option, or with a semicolon before a key.
fn split(text: &str) -> Option<(Vec<String>, String)> {
    let is_key = |text: &str| begins_with_key(text, |of| of == SettingOption::Tune);
    if text.match_indices(';').any(|(at, _)| is_key(&text[at + 1..])) {
        return None;
    }
    let (mut options, mut rest): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut continues = false;
    for part in text.split(',') {
        match options.last_mut() {
            _ if option(part).is_some() => {
                options.extend(option(part));
                continues = part.contains('=');
            }
            Some(option) if continues && !is_key(part) => {
                option.push(',');
                option.push_str(part);
            }
            _ => {
                rest.push(part);
                continues = false;
            }
        }
    }
    // Each tool of a list is an option of its own.
    let several = |option: String| match option.strip_prefix("--exclude-tool=") {
        Some(tools) => tools
            .split([',', ';'])
            .map(|tool| format!("--exclude-tool={tool}"))
            .collect(),
        None => vec![option],
    };
    let options: Vec<String> = options.into_iter().flat_map(several).collect();
    (!options.is_empty()).then(|| (options, rest.join(",")))
}

#[cfg(test)]
mod tests {
    use super::super::table::OPTIONS;
    use super::*;

    fn given(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn every_key_becomes_its_option() {
        for (key, option, valued) in OPTIONS {
            let (key, option) = match valued {
                true => (format!("{key}=1"), format!("--{option}=1")),
                false => (key.to_string(), format!("--{option}")),
            };
            let expected = Some(given(&["compact", &option, "chat"]));
            assert_eq!(expanded(&given(&["compact", "--tune", &key, "chat"])), expected);
            assert_eq!(
                expanded(&given(&["compact", &format!("--tune={key}"), "chat"])),
                expected
            );
        }
    }

    #[test]
    fn other_keys_and_values_stay() {
        for (words, expected) in [
            (
                &["--tune", "mask.protect=1,min-gain=5%,drop.order=dialog,context"][..],
                Some(&["--min-gain=5%", "--tune=mask.protect=1,drop.order=dialog,context"][..]),
            ),
            (
                &["--tune", "exclude-tool=a,b;c,dates=off"],
                Some(&[
                    "--exclude-tool=a", "--exclude-tool=b", "--exclude-tool=c", "--dates=off",
                ]),
            ),
            (&["--tune", "mask.protect=1"], None),
            (&["--tune", "min-gain"], None),
            (&["--tune", "min-gain=1%;dates=off"], None),
            (&["--", "--tune", "min-gain=1%"], None),
            (&["--tune"], None),
        ] {
            assert_eq!(expanded(&given(words)), expected.map(given), "{words:?}");
        }
    }
}
