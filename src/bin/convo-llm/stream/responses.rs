//! Assembles streamed events of the Responses API: text deltas to print, and the complete reply at the end.

use super::Step;
use crate::failure::Failure;
use crate::request::list;
use crate::said;
use convo::model::json;

/// The reply received so far.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Finished items; some services omit them from the complete reply.
    items: Vec<Vec<u8>>,
    response: Option<Vec<u8>>,
}

impl Pieces {
    /// Adds an event.
    pub fn push(&mut self, data: &[u8]) -> Result<Step, Failure> {
        let member = |name: &str| json::member(data, name);
        match member("type").and_then(json::text).unwrap_or_default().as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => return Ok(Step::of(member("delta"))),
            "response.output_item.done" => self.items.extend(member("item").map(<[u8]>::to_vec)),
            "response.completed" | "response.incomplete" => {
                self.response = member("response").map(<[u8]>::to_vec);
                return Ok(Step::done());
            }
            "response.failed" => {
                let what = member("response").and_then(said::message).unwrap_or_default();
                return Err(Failure::again(format!(
                    "the service failed: {}",
                    said::short(&what)
                )));
            }
            _ => {}
        }
        Ok(Step::default())
    }

    /// Returns the complete reply.
    pub fn body(self) -> Vec<u8> {
        let response = self.response.unwrap_or_else(|| b"{}".to_vec());
        let empty = matches!(json::member(&response, "output"), None | Some(b"[]" | b"null"));
        if !empty {
            return response;
        }
        let output = list(self.items.iter());
        json::with_members(&response, &[("output", Some(&output))]).unwrap_or(response)
    }
}
