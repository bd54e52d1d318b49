//! Answers, and errors as answers: the envelope, the two forms of one text, and the status of each trouble.

use crate::backend::BackendTrouble;
use crate::json::{Json, object};
use zeroize::Zeroizing;

/// How many seconds a client waits before it asks servers again that could not answer.
const AGAIN: u32 = 1;

/// What is sent to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    /// The status.
    pub status: u16,
    /// The body, if there is one; it ends with a newline.
    pub body: Option<Zeroizing<Vec<u8>>>,
    /// The type of the body; answers without a body have one, too.
    pub content_type: Option<&'static str>,
    /// Headers that not all answers have.
    pub headers: Vec<(&'static str, String)>,
    /// What the log says of it: why servers could not answer. No secret, and nothing of the request.
    pub note: Option<String>,
}

const TYPE: &str = "application/json";

impl ApiAnswer {
    /// A body of JSON.
    #[must_use]
    pub fn json(status: u16, body: &Json) -> ApiAnswer {
        let body = Some(body.write_line());
        ApiAnswer { status, body, content_type: Some(TYPE), headers: Vec::new(), note: None }
    }

    /// No body.
    #[must_use]
    pub const fn empty(status: u16) -> ApiAnswer {
        ApiAnswer { status, body: None, content_type: Some(TYPE), headers: Vec::new(), note: None }
    }

    /// A list of errors that is empty.
    #[must_use]
    pub fn no_text(status: u16) -> ApiAnswer {
        ApiAnswer::json(status, &object([("errors", Json::Array(Vec::new()))]))
    }

    /// One error.
    pub fn error(status: u16, text: impl Into<String>) -> ApiAnswer {
        let text: String = text.into();
        ApiAnswer::json(status, &object([("errors", Json::texts([text]))]))
    }

    /// One error in the form that upstream gives to errors of its own.
    #[must_use]
    pub fn wrapped(status: u16, text: &str) -> ApiAnswer {
        ApiAnswer::error(status, format!("1 error occurred:\n\t* {text}\n\n"))
    }

    /// A mistake of the user.
    pub fn mistake(text: impl Into<String>) -> ApiAnswer {
        ApiAnswer::error(400, text)
    }

    /// No valid token, or a request that is not for everybody.
    #[must_use]
    pub fn no_token() -> ApiAnswer {
        ApiAnswer::error(403, "permission denied")
    }

    /// A token that may not do this.
    #[must_use]
    pub fn forbidden() -> ApiAnswer {
        ApiAnswer::wrapped(403, "permission denied")
    }

    /// A path that the mount does not have.
    #[must_use]
    pub fn no_path() -> ApiAnswer {
        ApiAnswer::wrapped(404, "unsupported path")
    }

    /// A path that the mount has, with another method.
    #[must_use]
    pub fn no_operation() -> ApiAnswer {
        ApiAnswer::wrapped(405, "unsupported operation")
    }

    /// The servers cannot answer, or too many wait for them: the same request may succeed later.
    fn later(status: u16, text: &str) -> ApiAnswer {
        let mut answer = ApiAnswer::error(status, text);
        answer.headers.push(("Retry-After", AGAIN.to_string()));
        answer.note = Some(text.to_owned());
        answer
    }

    /// More requests wait than the queue holds.
    #[must_use]
    pub fn busy() -> ApiAnswer {
        ApiAnswer::later(429, "too many requests wait for the servers: try again")
    }

    /// Servers that cannot answer; a server is named by its number.
    #[must_use]
    pub fn down(party: Option<u8>, why: &str) -> ApiAnswer {
        let named = party.map(|number| format!("party {number}")).filter(|name| !why.contains(name.as_str()));
        let who = named.map(|name| format!("{name}: ")).unwrap_or_default();
        ApiAnswer::later(503, &format!("the servers cannot answer now: {who}{why}"))
    }

    /// A body without its content, as the answer to HEAD is.
    #[must_use]
    pub fn without_body(mut self) -> ApiAnswer {
        self.body = None;
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: String) -> ApiAnswer {
        self.headers.push((name, value));
        self
    }
}

impl From<BackendTrouble> for ApiAnswer {
    fn from(trouble: BackendTrouble) -> ApiAnswer {
        match trouble {
            BackendTrouble::Down(party, why) => ApiAnswer::down(party, &why),
            BackendTrouble::Forged | BackendTrouble::Refused(_) | BackendTrouble::Misuse(_) => {
                ApiAnswer::mistake(trouble.to_string())
            }
        }
    }
}

/// The content of an answer in the envelope.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The data.
    pub data: Json,
    /// The member `auth`.
    pub auth: Json,
    /// What the client should know.
    pub warnings: Vec<String>,
    /// Whether the members of the data stand beside the envelope's, too, as some answers of `sys` have it.
    pub spread: bool,
}

impl Reply {
    /// These members, with status 200.
    #[must_use]
    pub fn of<const N: usize>(members: [(&str, Json); N]) -> Reply {
        Reply::data(object(members))
    }

    /// This data, with status 200.
    #[must_use]
    pub const fn data(data: Json) -> Reply {
        Reply { status: 200, data, auth: Json::Null, warnings: Vec::new(), spread: false }
    }

    /// Nothing: 204.
    #[must_use]
    pub fn nothing() -> Reply {
        Reply { status: 204, ..Reply::data(Json::Null) }
    }

    /// The answer to the request of this id.
    #[must_use]
    pub fn answer(self, id: &str) -> ApiAnswer {
        if matches!(self.status, 204 | 304) {
            return ApiAnswer::empty(self.status);
        }
        let warnings = if self.warnings.is_empty() { Json::Null } else { Json::texts(self.warnings) };
        let mut members = match (&self.data, self.spread) {
            (Json::Object(members), true) => members.clone(),
            _ => Vec::new(),
        };
        let envelope = [
            ("request_id", Json::text(id)),
            ("lease_id", Json::text("")),
            ("renewable", Json::Bool(false)),
            ("lease_duration", Json::number(0)),
            ("data", self.data),
            ("wrap_info", Json::Null),
            ("warnings", warnings),
            ("auth", self.auth),
        ];
        members.extend(envelope.map(|(name, value)| (name.to_owned(), value)));
        ApiAnswer::json(self.status, &Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: &ApiAnswer) -> String {
        String::from_utf8(answer.body.as_ref().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn answers_have_the_recorded_form() {
        let answer = Reply::of([("valid", Json::Bool(true))]).answer("x");
        let envelope = r#"{"request_id":"x","lease_id":"","renewable":false,"lease_duration":0,"data":{"valid":true},"wrap_info":null,"warnings":null,"auth":null}"#;
        assert_eq!(text(&answer), format!("{envelope}\n"));
        assert_eq!(text(&ApiAnswer::no_text(404)), "{\"errors\":[]}\n");
        let wrapped = "{\"errors\":[\"1 error occurred:\\n\\t* unsupported path\\n\\n\"]}\n";
        assert_eq!(text(&ApiAnswer::no_path()), wrapped);
        assert_eq!(Reply::nothing().answer("x").body, None);
    }

    #[test]
    fn trouble_of_a_server_names_it_and_is_no_mistake() {
        let answer = ApiAnswer::from(BackendTrouble::Down(Some(2), "it does not run".into()));
        assert_eq!((answer.status, &answer.headers[..]), (503, &[("Retry-After", "1".to_owned())][..]));
        assert!(text(&answer).contains("party 2: it does not run"));
        let answer = ApiAnswer::from(BackendTrouble::Down(Some(2), "party 2 does not run".into()));
        assert_eq!(text(&answer).matches("party 2").count(), 1);
        assert_eq!(ApiAnswer::from(BackendTrouble::Forged).status, 400);
    }
}
