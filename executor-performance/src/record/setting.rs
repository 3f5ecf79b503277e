use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Settings by name, in order.
pub type Settings = IndexMap<String, Value>;

/// A setting of an experiment, for machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name, with the unit.
    pub column: &'static str,
    /// Its value.
    pub value: Value,
    /// Whether it was chosen to fit into the budget. If not, it was asked for, and figures of two runs can be compared
    /// only if it is the same.
    pub fitted: bool,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A name, or a number that is too large.
    Text(String),
}

impl Setting {
    /// A setting called `column` that was asked for.
    pub fn new(column: &'static str, value: impl ToString) -> Self {
        Setting { column, value: Value::of(value.to_string()), fitted: false }
    }

    /// A setting called `column` that was chosen to fit. These come last.
    pub fn fitted(column: &'static str, value: impl ToString) -> Self {
        Setting { fitted: true, ..Setting::new(column, value) }
    }
}

impl Value {
    fn of(text: String) -> Self {
        text.parse().map_or(Value::Text(text), Value::Number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}
