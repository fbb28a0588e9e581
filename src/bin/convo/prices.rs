//! Prices of models, for the commands that report costs.

use crate::config;
use crate::context::Context;
use crate::errors::named;
use crate::output::path_name;
use clap::Args;
use convo::filter::usage::Prices;
use std::path::PathBuf;

// No doc comment: clap would use it as the description of the command that flattens this struct.
#[derive(Args, Clone, Debug, Default)]
pub struct PriceArgs {
    /// Read prices from FILE instead of the built-in table
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    prices: Option<PathBuf>,
}

impl PriceArgs {
    /// Reads the prices and reports entries without a valid price.
    ///
    /// # Errors
    /// [`Kind::Config`](convo::error::ErrorKind::Config) for a file that cannot be read.
    pub fn read(&self, context: &Context) -> convo::Result<Prices> {
        let Some(path) = &self.prices else {
            return Prices::built_in();
        };
        let text = config::text(path)?;
        let prices = Prices::read(&text).map_err(|error| named(error, &path_name(path)))?;
        if !prices.rejected.is_empty() {
            let what = format!("no valid price: {}", prices.rejected.join(", "));
            context.output.notice("prices", &what);
        }
        Ok(prices)
    }
}
