//! How to read an input: the options of the user, and what the command adds.

use crate::args::InputArgs;

/// The options of an input with the settings of the command.
#[derive(Clone, Copy, Debug)]
pub struct InputSettings<'a> {
    pub args: &'a InputArgs,
    /// Read branches and sidechains too.
    pub include_branches: bool,
    /// An empty input is a new session in the format of --from.
    pub creates: bool,
    /// The output is for another program, so skipped branches are lost.
    pub exports: bool,
    /// The input may be written back in its own format.
    pub returns: bool,
    /// Only the view is used, so the rest of a stored log need not be read.
    pub view_only: bool,
}

impl<'a> From<&'a InputArgs> for InputSettings<'a> {
    fn from(args: &'a InputArgs) -> Self {
        InputSettings {
            args,
            include_branches: false,
            creates: false,
            exports: false,
            returns: false,
            view_only: false,
        }
    }
}
