mod properties;
mod scenarios;
