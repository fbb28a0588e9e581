//! Properties that hold for every filter.

mod agreement;
mod histories;
mod reshaping;
