//! What an argument says about where results go, and how.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A place for results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// How they are written.
    pub format: Format,
    /// Where.
    pub target: Target,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A row for each executor and run.
    Csv,
    /// A page with tables and plots.
    Html,
    /// Everything there is.
    Json,
    /// Tables.
    Markdown,
    /// Plots.
    Svg,
}

/// Where results are written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// To a file.
    File(PathBuf),
    /// To the standard output: rows when their run has ended, everything else when all runs have ended.
    Output,
}

const FORMATS: &[(&str, Format)] = &[
    ("json", Format::Json),
    ("csv", Format::Csv),
    ("md", Format::Markdown),
    ("html", Format::Html),
    ("svg", Format::Svg),
];

impl Destination {
    /// What `text` says: a file whose extension names the format (no extension means CSV), or `-`, or `FORMAT:-`.
    ///
    /// # Errors
    ///
    /// If there is no such format: a line that names all formats.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a name is missing: give that of a file, or -".to_owned());
        }
        if text == "-" {
            return Ok(Destination { format: Format::Json, target: Target::Output });
        }
        if let Some(name) = text.strip_suffix(":-") {
            return Ok(Destination { format: Format::named(name)?, target: Target::Output });
        }
        if let Some((format, name)) = text.split_once(':').filter(|(format, _)| Format::named(format).is_ok()) {
            let stem = Path::new(name).file_stem().map_or("run".into(), |stem| stem.to_string_lossy());
            return Err(format!("`{format}:` is for the standard output, {format}:-; name the file {stem}.{format}"));
        }
        if Format::named(text).is_ok() {
            return Err(format!("`{text}` is a format, not a name: give a name, such as run.{text}, or {text}:-"));
        }
        let path = Path::new(text);
        let format = match path.extension() {
            Some(extension) => Format::named(&extension.to_string_lossy())?,
            None => match path.file_name().and_then(|name| name.to_str()?.strip_prefix('.')) {
                Some(extension) if Format::named(extension).is_ok() => {
                    return Err(format!("a name is missing before .{extension}: give one, or {extension}:-"));
                }
                _ => Format::Csv,
            },
        };
        Ok(Destination { format, target: Target::File(text.into()) })
    }
}

impl Target {
    /// The same target in a form that does not depend on how it was spelled.
    pub fn resolved(&self) -> Self {
        let Target::File(path) = self else { return Target::Output };
        let real = fs::canonicalize(path).ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        });
        Target::File(real.unwrap_or_else(|| path.clone()))
    }
}

impl Format {
    fn named(name: &str) -> Result<Self, String> {
        let known = FORMATS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
            format!("no format is called `{name}`: choose from .{}", names.join(", ."))
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::File(path) => path.display().fmt(f),
            Target::Output => f.write_str("the standard output"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_names_the_format() {
        for (text, format) in [
            ("run.json", Format::Json),
            ("a.b/run.HTML", Format::Html),
            ("/dev/full", Format::Csv),
            ("x.md", Format::Markdown),
        ] {
            let expected = Destination { format, target: Target::File(text.into()) };
            assert_eq!(Destination::parse(text), Ok(expected));
        }
        assert_eq!(Destination::parse("-"), Ok(Destination { format: Format::Json, target: Target::Output }));
        assert_eq!(Destination::parse("csv:-"), Ok(Destination { format: Format::Csv, target: Target::Output }));
    }

    #[test]
    fn an_extension_without_a_name_is_refused() {
        let error = Destination::parse("results/.json").expect_err("that would be CSV");
        assert!(error.contains("before .json"), "{error}");
        assert!(Destination::parse(".results").is_ok_and(|it| it.format == Format::Csv));
    }

    #[test]
    fn a_format_before_the_name_of_a_file_is_refused() {
        for (text, name) in [("json:foo", "foo.json"), ("html:", "run.html"), ("csv:there/rows.csv", "rows.csv")] {
            let complaint = Destination::parse(text).expect_err(text);
            assert!(complaint.ends_with(&format!("name the file {name}")), "{complaint}");
        }
        assert!(Destination::parse("c:run.json").is_ok_and(|it| it.format == Format::Json));
    }

    #[test]
    fn a_format_alone_is_no_name() {
        let complaint = Destination::parse("html").expect_err("a page would be expected, and CSV written");
        assert!(complaint.contains("run.html") && complaint.contains("html:-"), "{complaint}");
        assert!(Destination::parse("./html").is_ok_and(|it| it.format == Format::Csv));
    }

    #[test]
    fn a_target_is_the_same_however_it_is_spelled() {
        let folder = std::env::temp_dir();
        let resolved = |name: &str| Target::File(folder.join(name)).resolved();
        let inside = format!(
            "../{}/no-such.json",
            folder.canonicalize().expect("a folder").file_name().expect("a name").to_string_lossy()
        );
        assert_eq!(resolved("no-such.json"), resolved(&inside));
        assert_ne!(resolved("no-such.json"), resolved("no-other.json"));
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(Target::File("x.json".into()).resolved(), Target::File(here.join("x.json")).resolved());
    }

    #[test]
    fn what_is_no_format_is_refused_with_those_that_are() {
        assert!(Destination::parse("").is_err_and(|why| why.starts_with("a name is missing")));
        for text in ["run.xml", "xml:-"] {
            let complaint = Destination::parse(text).expect_err(text);
            assert!(complaint.contains("`xml`") && complaint.contains(".json, .csv, .md, .html, .svg"), "{complaint}");
        }
    }
}
