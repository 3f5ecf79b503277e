//! Files that are written anew whenever there is more to write.

use super::{
    Sink, Target, error,
    place::{Place, located},
};
use crate::record::Record;
use std::{
    fmt,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A file, a pipe or a device, or the standard output, that shows the whole of something.
pub struct Document<T = Record> {
    target: Target,
    place: Place,
    render: Box<dyn Fn(&T) -> String>,
}

impl<T> Document<T> {
    /// Makes sure that `target` can be written. Its text will be what `render` makes of the whole. A file that did not
    /// exist is removed again, so that a reader who finds a file finds a complete one. If it is a named pipe, this
    /// waits for its reader.
    ///
    /// # Errors
    ///
    /// If it cannot be written: a line that says why.
    pub fn open(target: &Target, render: impl Fn(&T) -> String + 'static) -> Result<Self, String> {
        let place = Place::of(target).map_err(|error| format!("cannot write {target}: {error}"))?;
        Ok(Document { target: target.clone(), place, render: Box::new(render) })
    }

    /// Writes `whole`, in place of what was written before.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, whole: &T) -> io::Result<()> {
        let text = (self.render)(whole);
        let written = match &self.place {
            Place::File { path, .. } => replace(path, &text),
            Place::Stream(stream) => (&*stream).write_all(text.as_bytes()),
            Place::Output => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
        };
        written.map_err(|why| located(&self.target, &why))
    }
}

impl Document {
    /// As [`write`](Self::write), but does nothing for what can be written only once, nor while there are no results:
    /// a file from an earlier run is worth more.
    fn write_so_far(&self, record: &Record) -> io::Result<()> {
        if self.place.is_file() && record.has_results() { self.write(record) } else { Ok(()) }
    }
}

impl<T> fmt::Debug for Document<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Sink for Document {
    fn begin(&mut self, record: &Record) -> io::Result<()> {
        self.write_so_far(record)
    }

    fn update(&mut self, record: &Record) -> io::Result<()> {
        self.write_so_far(record)
    }

    fn end(&mut self, record: &Record) -> io::Result<()> {
        self.write_so_far(record)
    }

    fn finish(&mut self, record: &Record) -> io::Result<()> {
        if self.place.is_file() && !record.has_results() {
            error(&format!("{} was not written, as there are no results", self.target));
            return Ok(());
        }
        self.write(record)
    }

    /// The last record that it would get is the whole one.
    fn retell(&mut self, whole: &Record) -> io::Result<()> {
        self.write(whole)
    }
}

/// A reader of the file finds all of the old text or all of the new one, even during this or after a crash: unless no
/// file can be beside it. It keeps its permissions, but not its owner.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = beside(path);
    let write = || {
        let mut file = File::create(&new)?;
        // Before there is anything to read. There may be no old one.
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())
    };
    let replaced = write().and_then(|()| fs::rename(&new, path));
    replaced.or_else(|why| {
        let _ = fs::remove_file(&new);
        match why.kind() {
            // The folder is not to be written, or the name of the new file would be too long.
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::InvalidFilename
            // The file is a mount of its own, as in a container.
            | io::ErrorKind::ResourceBusy => fs::write(path, text),
            _ => Err(why),
        }
    })
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::mock::record;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("document-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("created");
        folder
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = folder("replaced");
        let path = folder.join("run.json");
        fs::write(&path, "old").expect("written");
        let mut document = Document::open(&Target::File(path.clone()), Record::to_json).expect("it can be written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
        document.update(&record()).expect("written");
        assert!(Record::read(&path).is_ok_and(|read| read == record()));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_record_without_results_replaces_nothing() {
        let folder = folder("spared");
        let path = folder.join("run.json");
        fs::write(&path, "old").expect("written");
        let mut empty = record();
        empty.runs.iter_mut().for_each(|run| run.rows.clear());
        let mut document = Document::open(&Target::File(path.clone()), Record::to_json).expect("it can be written");
        for step in [Document::begin, Document::update, Document::end, Document::finish] {
            step(&mut document, &empty).expect("nothing is written");
            assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
        }
        document.end(&record()).expect("written");
        assert!(Record::read(&path).is_ok_and(|read| read == record()));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("permissions");
        let path = folder.join("run.json");
        fs::write(&path, "old").expect("written");
        for mode in [0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permitted");
            let document = Document::open(&Target::File(path.clone()), Record::to_json).expect("it can be written");
            document.write(&record()).expect("written");
            assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, mode);
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_beside_which_no_other_can_be_is_written_in_place() {
        let folder = folder("long");
        let path = folder.join(format!("{}.json", "x".repeat(240)));
        let mut document = Document::open(&Target::File(path.clone()), Record::to_json).expect("it can be written");
        document.update(&record()).expect("written");
        assert!(Record::read(&path).is_ok_and(|read| read == record()));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_file_that_is_not_there_is_written_when_there_is_something() {
        let folder = folder("new");
        let path = folder.join("run.json");
        let mut document = Document::open(&Target::File(path.clone()), Record::to_json).expect("it can be written");
        assert!(!path.exists());
        for _ in 0..2 {
            document.update(&record()).expect("written");
            fs::remove_file(&path).expect("it was there");
        }
        fs::remove_dir_all(&folder).expect("removed");
        let why = document.update(&record()).expect_err("the folder is gone").to_string();
        assert!(why.starts_with(&format!("{}: ", path.display())), "{why}");
    }

    #[cfg(unix)]
    #[test]
    fn where_a_link_leads_the_file_is_replaced() {
        let folder = folder("linked");
        let (path, link) = (folder.join("run.json"), folder.join("link.json"));
        std::os::unix::fs::symlink("run.json", &link).expect("linked");
        for _ in 0..2 {
            let mut document = Document::open(&Target::File(link.clone()), Record::to_json).expect("it can be written");
            document.update(&record()).expect("written");
            assert!(link.is_symlink() && Record::read(&path).is_ok_and(|read| read == record()));
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_gets_the_whole_once() {
        let folder = folder("pipe");
        let path = folder.join("run.json");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()));
        let reading = std::thread::spawn({
            let path = path.clone();
            move || fs::read_to_string(path)
        });
        let mut document = Document::open(&Target::File(path), Record::to_json).expect("it can be written");
        document.update(&record()).expect("nothing is written yet");
        document.finish(&record()).expect("written");
        drop(document);
        assert_eq!(reading.join().expect("no panic").expect("read"), record().to_json());
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let complaint = Document::<Record>::open(&Target::File("/no/such/folder/x.md".into()), |_| String::new());
        assert!(complaint.expect_err("no folder").contains("/no/such/folder/x.md"));
    }
}
