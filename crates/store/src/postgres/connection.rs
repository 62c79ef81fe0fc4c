//! Connections: made when they are needed, a few at a time, each used by one request at a time.
//!
//! What is read from and written to their sockets is done by a thread of the store's own, so that a store may be used from any runtime, and
//! from several.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Row, Statement};

use super::address::Address;
use super::fault;
use super::tls::Tls;
use crate::error::Error;
use crate::open::Durability;

/// Requests that are answered at the same time; further ones wait.
const MOST: usize = 8;
/// How long the server may take for one statement.
const STATEMENT: Duration = Duration::from_secs(60);
/// How long a statement waits for a row that another transaction holds.
const LOCK: Duration = Duration::from_secs(10);
/// How long a transaction may wait for its process, which may have been halted: it holds rows for which others wait.
const HALTED: Duration = Duration::from_secs(3);

/// Commits. However long a synchronous standby takes, it is waited for: a server that gives up waiting has committed, and says so, though
/// the standby may be about to take its place.
pub(super) const COMMIT: &str = "SET LOCAL statement_timeout TO 0; COMMIT";

/// Values for the places of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The thread that serves the sockets.
pub(super) struct Background {
    handle: Handle,
    /// Dropped when the store is gone.
    _alive: watch::Sender<()>,
}

impl Background {
    /// Starts the thread.
    pub(super) fn start() -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault::io)?;
        let (alive, mut gone) = watch::channel(());
        let handle = runtime.handle().clone();
        let serve = move || {
            runtime.block_on(async { while gone.changed().await.is_ok() {} });
            runtime.shutdown_background();
        };
        thread::Builder::new().name("store postgres".into()).spawn(serve).map_err(fault::io)?;
        Ok(Self { handle, _alive: alive })
    }

    /// The runtime of the thread.
    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Does something there to its end, even if nobody waits for it any more.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        self.handle.spawn(work).await.unwrap_or(Err(Error::Closed))
    }

    /// Waits for something that is done there, in whatever thread.
    pub(super) fn block_on<T: Send>(&self, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        // On a thread of its own: the caller may be a task, in which nothing can be waited for.
        thread::scope(|scope| scope.spawn(|| self.handle.block_on(work)).join()).unwrap_or(Err(Error::Closed))
    }
}

/// How connections are made.
pub(super) struct Connector {
    address: Address,
    tls: Tls,
    durability: Durability,
    background: Handle,
}

/// A notification.
pub(super) struct Heard {
    pub(super) channel: Box<str>,
    pub(super) words: Arc<str>,
}

impl Connector {
    pub(super) fn new(address: Address, durability: Durability, background: &Background) -> Result<Self, Error> {
        let tls = Tls::new(address.trust())?;
        Ok(Self { address, tls, durability, background: background.handle().clone() })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> Result<Link, Error> {
        self.connect_with(None).await
    }

    /// A new connection whose notifications are sent to `heard`.
    pub(super) async fn connect_with(&self, heard: Option<mpsc::UnboundedSender<Heard>>) -> Result<Link, Error> {
        let (config, tls) = (self.address.config(), self.tls.clone());
        let connecting = async move {
            let (client, mut connection) = config.connect(tls).await?;
            tokio::spawn(async move {
                let mut messages = pin!(futures_util::stream::poll_fn(move |context| connection.poll_message(context)));
                while let Some(Ok(message)) = messages.next().await {
                    if let (AsyncMessage::Notification(notification), Some(heard)) = (message, &heard) {
                        // Nobody listens any more when the store is closed.
                        let (channel, words) = (notification.channel().into(), notification.payload().into());
                        let _ = heard.send(Heard { channel, words });
                    }
                }
            });
            Ok::<_, tokio_postgres::Error>(client)
        };
        let client = self.background.spawn(connecting).await.map_err(|_| Error::Closed)??;
        let synchronous = match self.durability {
            Durability::Full => "on",
            Durability::Normal => "off",
        };
        let settings = format!(
            "SET search_path TO {schema}; SET client_min_messages TO warning; SET statement_timeout TO {statement}; \
             SET lock_timeout TO {lock}; SET idle_in_transaction_session_timeout TO {halted}; \
             SET synchronous_commit TO {synchronous}; SET default_transaction_isolation TO 'read committed'",
            schema = super::schema::NAME,
            statement = STATEMENT.as_millis(),
            lock = LOCK.as_millis(),
            halted = HALTED.as_millis(),
        );
        client.batch_execute(&settings).await?;
        Ok(Link { client, statements: Mutex::default() })
    }
}

/// A connection, with the statements that it has prepared.
pub(super) struct Link {
    client: Client,
    statements: Mutex<HashMap<Box<str>, Statement>>,
}

impl Link {
    /// A statement, prepared once.
    pub(super) async fn statement(&self, sql: &str) -> Result<Statement, Error> {
        let known = self.statements().get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let prepared = self.client.prepare(sql).await?;
        self.statements().insert(sql.into(), prepared.clone());
        Ok(prepared)
    }

    /// The rows that a statement gives.
    pub(super) async fn query(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query(&statement, values).await?)
    }

    /// The first row that a statement gives, if it gives any.
    pub(super) async fn first(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// The row that a statement always gives.
    pub(super) async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.query_one(&statement, values).await?)
    }

    /// How many rows a statement changed.
    pub(super) async fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, Error> {
        let statement = self.statement(sql).await?;
        Ok(self.client.execute(&statement, values).await?)
    }

    /// Statements without values, which are not prepared.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// Whether it was lost.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed()
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<Box<str>, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Statements that are sent together, in order, before the first of them is answered.
#[derive(Default)]
pub(super) struct Pipeline<'a>(Vec<BoxFuture<'a, Result<Vec<Row>, Error>>>);

impl<'a> Pipeline<'a> {
    /// Adds a statement that was prepared on this connection.
    pub(super) fn add(&mut self, link: &'a Link, statement: Statement, values: Vec<Box<dyn ToSql + Sync + Send + 'a>>) {
        self.0.push(Box::pin(async move {
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
            Ok(link.client.query(&statement, &values).await?)
        }));
    }

    /// Adds a statement, or one whose answer is empty and which is not sent.
    pub(super) async fn add_if(
        &mut self,
        is_needed: bool,
        link: &'a Link,
        sql: &str,
        values: Vec<Box<dyn ToSql + Sync + Send + 'a>>,
    ) -> Result<(), Error> {
        if is_needed {
            let statement = link.statement(sql).await?;
            self.add(link, statement, values);
        } else {
            self.0.push(Box::pin(async { Ok(Vec::new()) }));
        }
        Ok(())
    }

    /// Adds statements without values.
    pub(super) fn batch(&mut self, link: &'a Link, sql: &'static str) {
        self.0.push(Box::pin(async move {
            link.client.batch_execute(sql).await?;
            Ok(Vec::new())
        }));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sends them. The answers are in order; the first failure is the answer where there is one.
    pub(super) async fn run(mut self) -> Result<Vec<Vec<Row>>, Error> {
        // What is polled first is sent first.
        let mut answers: Vec<Option<Result<Vec<Row>, Error>>> = Vec::with_capacity(self.0.len());
        for one in &mut self.0 {
            let first = poll_fn(|context| Poll::Ready(one.as_mut().poll(context))).await;
            answers.push(match first {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => None,
            });
        }
        for (one, answer) in self.0.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                *answer = Some(one.as_mut().await);
            }
        }
        answers.into_iter().map(|answer| answer.unwrap_or(Err(Error::Closed))).collect()
    }
}

/// A few connections.
pub(super) struct Pool {
    connector: Arc<Connector>,
    idle: Mutex<Option<Vec<Link>>>,
    permits: Arc<Semaphore>,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>) -> Arc<Self> {
        Arc::new(Self { connector, idle: Mutex::new(Some(Vec::new())), permits: Arc::new(Semaphore::new(MOST)) })
    }

    /// A connection for one request.
    pub(super) async fn take(self: &Arc<Self>) -> Result<Lent, Error> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| Error::Closed)?;
        loop {
            let idle = self.idle().as_mut().ok_or(Error::Closed)?.pop();
            let link = match idle {
                Some(link) if link.is_lost() => continue,
                Some(link) => link,
                None => self.connector.connect().await?,
            };
            return Ok(Lent { link: Some(link), pool: self.clone(), _permit: permit });
        }
    }

    /// Closes all that are idle; the others are closed when their requests are answered.
    pub(super) fn close(&self) {
        self.idle().take();
        self.permits.close();
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Link>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when its request is answered.
pub(super) struct Lent {
    link: Option<Link>,
    pool: Arc<Pool>,
    _permit: OwnedSemaphorePermit,
}

impl Lent {
    /// Closes the connection, because nobody knows how far it is.
    pub(super) fn discard(mut self) {
        self.link = None;
    }
}

impl Deref for Lent {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.link.as_ref().expect("it is lent until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(link), Some(idle)) = (self.link.take(), self.pool.idle().as_mut())
            && !link.is_lost()
        {
            idle.push(link);
        }
    }
}

/// Does something in one transaction, and undoes it where it fails or is refused. Undone because of others, it is tried again.
pub(super) async fn transact<T: Send>(
    pool: &Arc<Pool>,
    work: impl for<'a> Fn(&'a Link) -> BoxFuture<'a, Result<T, Error>> + Send + Sync,
) -> Result<T, Error> {
    const TRIES: u32 = 10;
    let mut tries = 0;
    loop {
        tries += 1;
        let lent = pool.take().await?;
        let done = async {
            lent.batch("BEGIN").await?;
            let value = work(&lent).await?;
            lent.batch(COMMIT).await?;
            Ok(value)
        };
        let done = done.await;
        if let Err(error) = &done {
            if lent.batch("ROLLBACK").await.is_err() {
                lent.discard();
            }
            if fault::is_undone(error) && tries < TRIES {
                continue;
            }
        }
        return done;
    }
}
