//! Files that were damaged, torn, removed or half made behind the store's back: what was kept is there, or it is said
//! that it is not and what can be done about it. Never is less there without a word.
//!
//! The store is filled by its own conformance checks and by inputs. What a crash leaves is a copy of files that are in
//! use: nothing was closed.

use std::error::Error as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use agent::{InputId, Outside, ThreadId, Time};
use majordomo_store::{
    Durability, Error, Location, Options, Process, Record, Store, ThreadQuery, ThreadRow, conformance,
};
use rusqlite::Connection;
use tempfile::TempDir;

const NOW: Time = Time(1_768_471_200_000);
const PAGE: usize = 4096;
const FRAME: usize = 24 + PAGE;
const WAL_HEADER: usize = 32;
/// The files of a database, by what their names end with.
const DATABASE: &str = "";
const LOG: &str = "-wal";
const INDEX: &str = "-shm";

/// A folder with a database in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A copy of these files, as a crash would leave them.
    fn copy(&self, files: &[&str]) -> Self {
        let copy = Self::new();
        for file in files {
            fs::copy(self.file(file), copy.file(file)).unwrap();
        }
        copy
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.0.path().join(format!("majordomo.db{ending}"))
    }

    fn bytes(&self, ending: &str) -> Vec<u8> {
        fs::read(self.file(ending)).unwrap()
    }

    fn open(&self) -> Result<Arc<dyn Store>, Error> {
        // What is lost with the power is not the matter here, and there are many to open.
        majordomo_store::open(
            &Location::folder(self.0.path()),
            &Options { durability: Durability::Normal, ..Options::default() },
        )
    }

    /// A store with a family in it and a dozen commits of one input each.
    async fn filled(&self) -> Arc<dyn Store> {
        let store = self.open().unwrap();
        conformance::log::a_commit_is_numbered_in_its_three_orders(store.clone()).await;
        let root = ThreadId::new("20260115-k3f9");
        for number in 0..12 {
            let input = Outside::said(format!("letter {number}"));
            store.arrive(&root, InputId::new(format!("in-{number}")), input, NOW, false).await.unwrap();
        }
        store
    }
}

async fn everything(store: &Arc<dyn Store>) -> Result<(Vec<Record>, Vec<ThreadRow>), Error> {
    Ok((store.all(0, 10_000).await?, store.threads(ThreadQuery::default()).await?))
}

/// An error together with what lies beneath it.
fn told(error: &Error) -> String {
    format!("{error}: {}", error.source().map(ToString::to_string).unwrap_or_default())
}

// F6
#[tokio::test]
async fn a_flipped_byte_in_the_log_takes_no_commit_away_in_silence() {
    let place = Place::new();
    let store = place.filled().await;
    let (whole, _) = everything(&store).await.unwrap();
    let log = place.bytes(LOG);
    let frames = (log.len() - WAL_HEADER) / FRAME;
    // The page's number, the mark of a commit, the salt, the checksum, the page itself.
    let in_frame = |frame: usize| WAL_HEADER + frame * FRAME + [0, 7, 8, 16, 24 + 100][frame % 5];
    let in_header = [0, 4, 10, 12, 17, 31];
    let (mut opened, mut refused) = (0, 0);
    for at in in_header.into_iter().chain((0..frames).step_by(2).map(in_frame)) {
        let copy = place.copy(&[DATABASE]);
        let mut bytes = log.clone();
        bytes[at] ^= 0x40;
        fs::write(copy.file(LOG), &bytes).unwrap();
        let before = copy.bytes(DATABASE);
        match copy.open() {
            Ok(store) => {
                opened += 1;
                let (found, _) = everything(&store).await.unwrap();
                assert_eq!(found, whole[..found.len()], "flipped at {at}");
                // The last commit may have been cut off by a crash, and so may one whose own mark is the damage.
                assert!(found.len() + 2 >= whole.len(), "flipped at {at}: {} of {}", found.len(), whole.len());
            }
            Err(error) => {
                refused += 1;
                assert!(matches!(error, Error::Corrupt(_)), "flipped at {at}: {error:?}");
                assert!(told(&error).contains("majordomo.db-wal cannot be read from byte"), "{}", told(&error));
                assert_eq!((copy.bytes(DATABASE), copy.bytes(LOG)), (before, bytes), "nothing is touched");
            }
        }
    }
    assert!(refused > in_header.len() && opened > 0, "{refused} refused, {opened} opened");
}

// F6
#[tokio::test]
async fn a_log_that_was_cut_where_the_refusal_says_is_gone_on_with() {
    let place = Place::new();
    let store = place.filled().await;
    let (whole, _) = everything(&store).await.unwrap();
    let mut log = place.bytes(LOG);
    let at = log.len() - 9 * FRAME;
    log[at + 30] ^= 1;
    let copy = place.copy(&[DATABASE]);
    fs::write(copy.file(LOG), &log).unwrap();
    let refusal = told(&copy.open().unwrap_err());
    let cut: usize =
        refusal.split("from byte ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    assert_eq!(cut, at);
    fs::write(copy.file(LOG), &log[..cut]).unwrap();
    let store = copy.open().unwrap();
    let (found, _) = everything(&store).await.unwrap();
    assert!(!found.is_empty() && found.len() < whole.len());
    assert_eq!(found, whole[..found.len()]);
}

// F6
#[tokio::test]
async fn an_index_that_was_removed_is_made_again_and_a_log_that_was_removed_is_missed() {
    let place = Place::new();
    let store = place.filled().await;
    let whole = everything(&store).await.unwrap();
    assert_eq!(everything(&place.copy(&[DATABASE, LOG]).open().unwrap()).await.unwrap(), whole);

    let without_log = place.copy(&[DATABASE, INDEX]);
    let before = without_log.bytes(DATABASE);
    let refusal = without_log.open().unwrap_err();
    assert!(matches!(refusal, Error::Corrupt(_)), "{refusal:?}");
    assert!(told(&refusal).contains("majordomo.db-wal is gone"), "{}", told(&refusal));
    assert_eq!(without_log.bytes(DATABASE), before);
    assert!(!without_log.file(LOG).exists());

    fs::copy(place.file(LOG), without_log.file(LOG)).unwrap();
    assert_eq!(everything(&without_log.open().unwrap()).await.unwrap(), whole, "put back, it is all there");
}

// F6, F7
#[tokio::test]
async fn a_page_of_zeros_is_noticed_wherever_it_is_read_and_then_nothing_is_written() {
    let place = Place::new();
    let store = place.filled().await;
    let whole = everything(&store).await.unwrap();
    store.close().await;
    let database = place.bytes(DATABASE);
    assert!(!place.file(LOG).exists(), "everything is in the one file");
    let mut noticed = 0;
    for page in 0..database.len() / PAGE {
        let copy = Place::new();
        let mut bytes = database.clone();
        bytes[page * PAGE..][..PAGE].fill(0);
        fs::write(copy.file(DATABASE), &bytes).unwrap();
        let (found, store) = match copy.open() {
            Ok(store) => (everything(&store).await, Some(store)),
            Err(error) => (Err(error), None),
        };
        match found {
            Ok(found) => assert_eq!(found, whole, "page {page}"),
            Err(error) => {
                noticed += 1;
                assert!(matches!(error, Error::Corrupt(_)), "page {page}: {error:?}");
                if let Some(store) = store {
                    let refused = store.register(Process::current(), NOW).await;
                    assert!(matches!(refused, Err(Error::Corrupt(_))), "page {page}: {refused:?}");
                    store.close().await;
                }
                assert_eq!(copy.bytes(DATABASE), bytes, "page {page}");
            }
        }
    }
    assert!(noticed >= 4, "the schema, the events, the threads: {noticed}");
}

// F11
#[tokio::test]
async fn a_schema_whose_making_was_cut_off_anywhere_is_made_again() {
    let place = Place::new();
    let _store = place.open().unwrap();
    let log = place.bytes(LOG);
    let frames = (log.len() - WAL_HEADER) / FRAME;
    assert!(frames > 10, "the schema is made in the log: {frames}");
    for cut in (0..=frames).map(|frame| WAL_HEADER + frame * FRAME).flat_map(|at| [at, at - 1]) {
        let copy = place.copy(&[DATABASE]);
        fs::write(copy.file(LOG), &log[..cut]).unwrap();
        let store = copy.open().unwrap_or_else(|error| panic!("cut at {cut}: {}", told(&error)));
        if cut % 5 == 0 || cut == log.len() {
            conformance::log::a_commit_is_numbered_in_its_three_orders(store).await;
        }
    }
}

// F11
#[test]
fn tables_that_no_version_of_ours_left_behind_are_refused_as_they_are() {
    let place = Place::new();
    let schema = || -> Vec<String> {
        let db = Connection::open(place.file(DATABASE)).unwrap();
        let mut names = db.prepare("SELECT name FROM sqlite_schema ORDER BY name").unwrap();
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let db = Connection::open(place.file(DATABASE)).unwrap();
    db.execute_batch("CREATE TABLE processes (key INTEGER); CREATE TABLE usage (thread INTEGER)").unwrap();
    drop(db);
    let before = schema();
    let refusal = place.open().unwrap_err();
    assert!(told(&refusal).contains("processes"), "{}", told(&refusal));
    assert_eq!(schema(), before, "half of a schema is not made");
}
