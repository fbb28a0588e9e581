//! Builds the body of a request: the session's view in the format of the API, and the request parameters.

use crate::settings::LlmSettings;
use crate::tools::ToolOffer;
use convo::error::{Error, Result};
use convo::format::report::Report;
use convo::format::request::{self, Api, ProviderRequest};
use convo::model::json::{self, ObjectBuilder, array};
use convo::model::session::Session;
use convo::model::view::View;

/// Token limit of a reply for APIs that require one, if none is given; all current models support it.
const MOST_TOKENS: u64 = 8192;

pub struct RequestInput<'a> {
    pub settings: &'a LlmSettings,
    pub offers: &'a [ToolOffer],
    pub stream: bool,
    /// Whether to request encrypted reasoning; models without reasoning reject that.
    pub encrypted: bool,
}

impl RequestInput<'_> {
    /// Builds the body for a session.
    pub fn body(&self, session: &Session) -> Result<Vec<u8>> {
        let settings = self.settings;
        let view = View::replay(session);
        let request = request::elements(settings.api, session, &view, &mut Report::default())?;
        let mut body = ObjectBuilder::default();
        body.text("model", &settings.model);
        match settings.api {
            Api::Anthropic => self.messages(&request, &mut body),
            Api::OpenaiResponses => self.responses(&request, &mut body),
            _ => self.chat(&request, &mut body),
        }
        if let Some(temperature) = &settings.temperature {
            body.raw("temperature", temperature);
        }
        if self.stream {
            body.raw("stream", "true");
        }
        let changes: Vec<(&str, Option<&[u8]>)> = settings
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_deref()))
            .collect();
        json::with_members(&body.finish(), &changes)
            .map_err(|fault| Error::data(format!("cannot build the request: {}", fault.what)))
    }

    fn chat(&self, request: &ProviderRequest, body: &mut ObjectBuilder) {
        body.raw(
            "messages",
            array(request.elements.iter().map(|element| &element.raw)),
        );
        if !self.offers.is_empty() {
            body.raw("tools", array(self.offers.iter().map(ToolOffer::chat)));
        }
        if let Some(most) = self.settings.max_tokens {
            // OpenAI's newer models accept only the new name; most other services only the old one.
            let name = match self.settings.url.host() {
                Some("api.openai.com") => "max_completion_tokens",
                _ => "max_tokens",
            };
            body.raw(name, most.to_string());
        }
        if self.stream {
            body.raw("stream_options", r#"{"include_usage":true}"#);
        }
    }

    fn messages(&self, request: &ProviderRequest, body: &mut ObjectBuilder) {
        if let Some(system) = &request.system {
            body.raw("system", system);
        }
        body.raw(
            "messages",
            array(request.elements.iter().map(|element| &element.raw)),
        );
        let most = self.settings.max_tokens.unwrap_or(MOST_TOKENS);
        body.raw("max_tokens", most.to_string());
        if !self.offers.is_empty() {
            body.raw("tools", array(self.offers.iter().map(ToolOffer::anthropic)));
            return;
        }
        // A history with calls is accepted only if tools are defined.
        let called = called(request);
        if !called.is_empty() {
            let open = called.iter().map(|name| ToolOffer::open(name).anthropic());
            body.raw("tools", array(open));
            body.raw("tool_choice", r#"{"type":"none"}"#);
        }
    }

    fn responses(&self, request: &ProviderRequest, body: &mut ObjectBuilder) {
        if let Some(system) = &request.system {
            body.raw("instructions", system);
        }
        let elements = request.elements.iter().map(|element| element.raw.clone());
        if self.keeps_state() {
            body.raw("input", array(elements));
        } else {
            // Ids refer to items stored by the service, and it stores none.
            let bare = elements.map(|raw| match json::member(&raw, "type") {
                Some(br#""item_reference""#) => raw,
                _ => json::with_members(&raw, &[("id", None)]).unwrap_or(raw),
            });
            body.raw("input", array(bare)).raw("store", "false");
            if self.encrypted {
                body.raw("include", r#"["reasoning.encrypted_content"]"#);
            }
        }
        if !self.offers.is_empty() {
            body.raw("tools", array(self.offers.iter().map(ToolOffer::responses)));
        }
        if let Some(most) = self.settings.max_tokens {
            body.raw("max_output_tokens", most.to_string());
        }
    }

    /// Whether a parameter makes the service store the conversation.
    fn keeps_state(&self) -> bool {
        let store = self.settings.parameters.iter().rfind(|(name, _)| name == "store");
        store.is_some_and(|(_, value)| value.as_deref() != Some(b"false"))
    }
}

/// The distinct names of tools called in a history for the Anthropic API, in order.
fn called(request: &ProviderRequest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for element in &request.elements {
        let content = json::member(&element.raw, "content");
        for block in json::items(content) {
            let name = json::member_text(block, "name");
            let calls = json::member(block, "type") == Some(br#""tool_use""#);
            if let Some(name) = name.filter(|name| calls && !names.iter().any(|known| known == name)) {
                names.push(name.into_owned());
            }
        }
    }
    names
}
