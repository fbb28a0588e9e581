mod different;
mod properties;
mod scenarios;
mod sessions;
