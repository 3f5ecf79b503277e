//! What is behind a target: it is looked at before anything is measured, and written when there are results.

use super::Target;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// What can be written, and how.
#[derive(Debug)]
pub(super) enum Place {
    /// A file.
    File {
        /// Where it is, even if it is removed.
        path: PathBuf,
        /// Open since something was appended to it. Not opened anew: another file there may lack what was appended.
        open: Option<File>,
    },
    /// A pipe or a device.
    Stream(File),
    /// The standard output.
    Output,
}

impl Place {
    /// What is behind `target`, once it is sure that it can be written. If it is a named pipe, this waits for its
    /// reader.
    pub(super) fn of(target: &Target) -> io::Result<Self> {
        match target {
            Target::Output => Ok(Place::Output),
            Target::File(path) if is_stream(path) => OpenOptions::new().write(true).open(path).map(Place::Stream),
            Target::File(path) => probed(path).map(|path| Place::File { path, open: None }),
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self, Place::File { .. })
    }

    /// What gets what is to be appended. A file is opened, or created, the first time.
    pub(super) fn out(&mut self) -> io::Result<Box<dyn Write + '_>> {
        match self {
            Place::File { open: Some(file), .. } | Place::Stream(file) => Ok(Box::new(file)),
            Place::File { path, open } => Ok(Box::new(open.insert(appended(path)?))),
            Place::Output => Ok(Box::new(io::stdout().lock())),
        }
    }
}

/// The error with the name of `target`, which the system's message does not have.
pub(super) fn located(target: &Target, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{target}: {why}"))
}

/// Whether `path` is a pipe or a device: it has no contents to look at or to replace.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Makes sure that the file at `path` can be written, and returns where it is. A file that did not exist is removed
/// again: what is refused later leaves nothing behind.
fn probed(path: &Path) -> io::Result<PathBuf> {
    let is_new = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_new) => true,
        // It may be a link to nothing.
        Err(why) if why.kind() == ErrorKind::AlreadyExists => !path.exists(),
        Err(why) => return Err(why),
    };
    appended(path)?;
    let place = fs::canonicalize(path)?;
    // Another program may append to the same file, and have begun.
    if is_new && fs::metadata(&place)?.len() == 0 {
        fs::remove_file(&place)?;
    }
    Ok(place)
}

/// Opens or creates the file at `path`, to append to it.
fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}
