//! Messages, tokens and calls of a session.

use super::{RowMember, RowPart, members};
use convo::check::{CheckOptions, structure};
use convo::filter::sieve::{ViewCalls, calls, fingerprint};
use convo::model::session::Session;
use convo::model::stats::Stats;
use convo::model::view::View;
use convo::tokens::usage::{GroupBy, TokenUsage, UsageGroup};

/// Messages, tokens and calls of a session.
pub struct SessionCounts {
    stats: Stats,
    total: UsageGroup,
    roles: Vec<UsageGroup>,
    tokenizer: String,
    is_exact: bool,
    calls: ViewCalls,
    errors: u64,
    warnings: u64,
    sha256: String,
}

impl SessionCounts {
    pub fn of(session: &Session, usage: &TokenUsage<'_>) -> SessionCounts {
        let view = View::replay(session);
        let options = CheckOptions {
            open_end: true,
            ..CheckOptions::default()
        };
        let findings = structure(session, &view, &options);
        let errors = findings.iter().filter(|finding| finding.is_error()).count();
        let tokenizer = usage.counter().tokenizer();
        SessionCounts {
            stats: Stats::of(session),
            total: usage.total(),
            roles: usage.groups(GroupBy::Role),
            tokenizer: tokenizer.name().to_string(),
            is_exact: tokenizer.is_exact(),
            calls: calls(session, &view),
            errors: errors as u64,
            warnings: (findings.len() - errors) as u64,
            sha256: fingerprint(session, &view),
        }
    }

    /// Messages of a role in the view.
    fn messages(&self, role: &str) -> Option<u64> {
        Some(self.stats.view.roles.get(role).copied().unwrap_or_default())
    }

    /// Tokens of a role in the view.
    fn tokens(&self, role: &str) -> Option<u64> {
        let group = self.roles.iter().find(|group| group.name == role);
        Some(group.map_or(0, |group| group.view.tokens))
    }
}

impl RowPart for SessionCounts {
    const MEMBERS: &'static [RowMember<Self>] = members! {
        "messages": Integer(|counts| Some(counts.stats.log.messages)), "messages of the log";
        "exchanges": Integer(|counts| Some(counts.stats.log.exchanges)), "exchanges of the log";
        "tokens": Integer(|counts| Some(counts.total.log.tokens)), "tokens of the log";
        "view_messages": Integer(|counts| Some(counts.stats.view.messages)),
            "messages of the view, which a model would receive";
        "view_exchanges": Integer(|counts| Some(counts.stats.view.exchanges)), "exchanges of the view";
        "view_tokens": Integer(|counts| Some(counts.total.view.tokens)), "tokens of the view";
        "messages_system": Integer(|counts| counts.messages("system")), "messages of the view with the role `system`";
        "messages_user": Integer(|counts| counts.messages("user")), "the same for `user`";
        "messages_assistant": Integer(|counts| counts.messages("assistant")), "the same for `assistant`";
        "messages_tool": Integer(|counts| counts.messages("tool")), "the same for `tool`";
        "tokens_system": Integer(|counts| counts.tokens("system")), "tokens of the view with the role `system`";
        "tokens_user": Integer(|counts| counts.tokens("user")), "the same for `user`";
        "tokens_assistant": Integer(|counts| counts.tokens("assistant")), "the same for `assistant`";
        "tokens_tool": Integer(|counts| counts.tokens("tool")), "the same for `tool`";
        "tokenizer": Text(|counts| Some(counts.tokenizer.clone())), "tokenizer of all token counts but `usage_*`";
        "exact": Boolean(|counts| Some(counts.is_exact)), "whether the counts of the tokenizer are exact";
        "calls": Integer(|counts| Some(counts.calls.all)), "tool calls of the view";
        "calls_failed": Integer(|counts| Some(counts.calls.failed)), "calls whose result is an error";
        "calls_open": Integer(|counts| Some(counts.calls.open)), "calls without a result";
        "errors": Integer(|counts| Some(counts.errors)), "violations of level error";
        "warnings": Integer(|counts| Some(counts.warnings)), "violations of level warn";
        "sha256": Text(|counts| Some(counts.sha256.clone())),
            "hash of roles, texts and calls of the view, without ids and times: equal for copies of a session";
    };
}
