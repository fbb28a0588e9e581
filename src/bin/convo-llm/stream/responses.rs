//! Assembles streamed events of the Responses API: text deltas to print, and the complete reply at the end.

use super::step::StreamStep;
use crate::retry::RequestFailure;
use crate::service_error;
use convo::model::json::{self, array};

/// The reply received so far.
#[derive(Debug, Default)]
pub struct ResponsesAssembler {
    /// Finished items; some services omit them from the complete reply.
    items: Vec<Vec<u8>>,
    response: Option<Vec<u8>>,
}

impl ResponsesAssembler {
    /// Adds an event.
    pub fn push(&mut self, data: &[u8]) -> Result<StreamStep, RequestFailure> {
        let member = |name: &str| json::member(data, name);
        match member("type").and_then(json::text).unwrap_or_default().as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => {
                return Ok(StreamStep::of(member("delta")));
            }
            "response.output_item.done" => self.items.extend(member("item").map(<[u8]>::to_vec)),
            "response.completed" | "response.incomplete" => {
                self.response = member("response").map(<[u8]>::to_vec);
                return Ok(StreamStep::done());
            }
            "response.failed" => {
                let what = member("response")
                    .and_then(service_error::message)
                    .unwrap_or_default();
                return Err(RequestFailure::retryable(format!(
                    "the service failed: {}",
                    service_error::short(&what)
                )));
            }
            _ => {}
        }
        Ok(StreamStep::default())
    }

    /// Returns the complete reply.
    pub fn body(self) -> Vec<u8> {
        let response = self.response.unwrap_or_else(|| b"{}".to_vec());
        let empty = matches!(json::member(&response, "output"), None | Some(b"[]" | b"null"));
        if !empty {
            return response;
        }
        let output = array(self.items.iter());
        json::with_members(&response, &[("output", Some(&output))]).unwrap_or(response)
    }
}
