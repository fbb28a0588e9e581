//! From operands to inputs: names of stored sessions and of sessions in the homes of other programs, files, `-`.

use crate::args::{ALL, InputLocation};
use crate::context::Context;
use crate::homes::names;
use crate::programs::database;
use convo::error::Result;
use convo::store::EXACTLY;
use std::path::{Path, PathBuf};

/// Classifies an operand. The name of another program's session is resolved to its file.
pub fn input(context: &Context, operand: &str) -> Result<InputLocation> {
    let input = InputLocation::of(operand);
    if matches!(&input, InputLocation::Path(path) if path.exists()) {
        return Ok(input);
    }
    let Some(meant) = names::resolve(context, operand)? else {
        return Ok(input);
    };
    if let Some(id) = meant.row {
        return Ok(InputLocation::Row(operand.to_string(), meant.path, id));
    }
    if meant.mark.is_some() || meant.is_archived {
        context.note_running(meant.path.clone(), meant.mark);
    }
    if !meant.is_archived {
        context.note_in_home(meant.path.clone());
    }
    Ok(InputLocation::Path(meant.path))
}

/// Classifies operands; without any, returns standard input.
pub fn each_input(context: &Context, operands: &[String]) -> Result<Vec<InputLocation>> {
    match operands {
        [] => Ok(vec![InputLocation::Stdin]),
        operands => operands.iter().map(|operand| input(context, operand)).collect(),
    }
}

/// Resolves a path. The name of another program's session becomes its file, or a temporary file with its database
/// records.
pub fn path(context: &Context, path: &Path) -> Result<PathBuf> {
    match path
        .to_str()
        .filter(|_| !path.exists())
        .map(|name| input(context, name))
    {
        Some(Ok(InputLocation::Path(path))) => Ok(path),
        Some(Ok(InputLocation::Row(_, database, id))) => {
            context.scratch.file(&id, &database::records(&database, &id)?)
        }
        Some(Err(error)) => Err(error),
        _ => Ok(path.to_path_buf()),
    }
}

/// Classifies operands; without any, returns standard input; `@all` becomes every stored session.
pub fn inputs(context: &Context, operands: &[String]) -> Result<Vec<InputLocation>> {
    let mut inputs = Vec::new();
    if operands.is_empty() {
        return Ok(vec![InputLocation::Stdin]);
    }
    for operand in operands {
        match input(context, operand)? {
            InputLocation::Name(name) if name == ALL => {
                let store = context.store()?;
                let mut ids: Vec<String> = store.ids()?.into_iter().map(|entry| entry.id).collect();
                ids.sort();
                for id in ids {
                    // An id that is also the key of a chain would resolve to its newest session.
                    let is_own = store.exactly(&id).is_ok_and(|own| own.as_ref() == Some(&id));
                    inputs.push(InputLocation::Name(if is_own {
                        id
                    } else {
                        format!("{EXACTLY}{id}")
                    }));
                }
            }
            input => inputs.push(input),
        }
    }
    Ok(inputs)
}
