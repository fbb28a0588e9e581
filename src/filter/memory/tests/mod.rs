mod properties;
mod scenarios;
mod sessions;
