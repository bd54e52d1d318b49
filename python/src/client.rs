//! Connections with three servers, and requests over them.

use crate::buffer::{Lent, Slice};
use crate::raised::{of_client, usage};
use crate::waiting::Caught;
use crate::work::{Told, Work, handle, key_name};
use divisi_net::{Config, Identity, Machine};
use divisi_node::{ClientPool, Error, KeyEntry, KeyState, KeyType, NewKey, Purpose};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use zeroize::Zeroizing;

/// What the servers say of a key: name, type, id, length in bytes, state, maker, other clients, whether its
/// maker may export it, and when it was made.
type Entry = (String, String, String, u32, String, String, Vec<String>, bool, Option<u64>);

/// Connections of one client with three servers.
#[pyclass(frozen, module = "divisi._native")]
pub struct Connections {
    pool: RwLock<Option<Arc<ClientPool>>>,
    /// The process that made them: one that is forked from it must not use them.
    process: u32,
}

fn entry(key: KeyEntry) -> Entry {
    let state = match key.state {
        KeyState::Prepared => "prepared",
        KeyState::Active => "active",
        KeyState::Destroyed => "destroyed",
    };
    let id = key.id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (kind, state) = (key.kind.name().to_owned(), state.to_owned());
    let name = key.name.as_str().to_owned();
    (name, kind, id, key.bytes, state, key.maker, key.clients, key.exportable, key.made)
}

/// The types of keys, each with what it is for.
#[pyfunction]
pub fn key_types() -> Vec<(&'static str, &'static str)> {
    let purpose = |kind: &KeyType| match kind.purpose() {
        Purpose::Gcm => "gcm",
        Purpose::Mac => "mac",
        Purpose::Cbc => "cbc",
        Purpose::Siv => "siv",
        Purpose::Wrap => "wrap",
        _ => "other",
    };
    KeyType::ALL.iter().map(|kind| (kind.name(), purpose(kind))).collect()
}

#[pymethods]
impl Connections {
    /// Read the files; the first request connects.
    #[new]
    #[pyo3(signature = (config, identity, most, timeout, patience))]
    fn new(
        py: Python<'_>,
        config: PathBuf,
        identity: PathBuf,
        most: Option<usize>,
        timeout: Option<f64>,
        patience: Option<f64>,
    ) -> PyResult<Connections> {
        let wrong = |e: &dyn ToString| usage(py, &e.to_string());
        let mut config = Config::load(&config).map_err(|e| wrong(&e))?;
        let identity = Identity::load(&identity).map_err(|e| wrong(&e))?;
        if config.client_of(identity.fingerprint()).is_none() {
            let error = "this identity is none of the configuration's clients: give a client's file, or have the \
                         operators add it (`divisi mesh add`)";
            return Err(usage(py, error));
        }
        let seconds = |name: &str, given: f64| {
            let fits = Duration::try_from_secs_f64(given).ok().filter(|_| (0.01..=86_400.0).contains(&given));
            fits.ok_or_else(|| usage(py, &format!("{name} is {given}: give seconds from 0.01 to 86400")))
        };
        if let Some(timeout) = timeout {
            config = config.with_timeout(seconds("timeout", timeout)?);
        }
        let pool = ClientPool::new(config, Arc::new(identity), Arc::new(Machine));
        let mut pool = pool.map_err(|error| of_client(py, &error))?;
        if let Some(patience) = patience {
            pool = pool.with_patience(seconds("patience", patience)?);
        }
        if let Some(most) = most {
            if !(1..=ClientPool::MOST).contains(&most) {
                let error = format!("connections is {most}: give a number from 1 to {}", ClientPool::MOST);
                return Err(usage(py, &error));
            }
            pool = pool.with_most(most);
        }
        let pool = RwLock::new(Some(Arc::new(pool)));
        Ok(Connections { pool, process: std::process::id() })
    }

    /// Close all connections, when the calls that use them have ended.
    fn close(&self, py: Python<'_>) {
        let pool = self.pool.write().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(pool));
    }

    #[getter]
    fn closed(&self) -> bool {
        self.pool.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Do the work for one piece of data. The result goes to `out`, or is returned.
    #[pyo3(signature = (work, data, wipe, out))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        work: &Work,
        data: &Bound<'py, PyAny>,
        wipe: bool,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (pool, asked, caught) = (self.pool(py)?, &work.0, Caught::default());
        let data = lent(data, wipe)?;
        let interrupt = caught.interrupt();
        let (pool, lent_data) = (&*pool, &data);
        let done = match (out, asked.output_bytes(data.len())) {
            (Some(out), Some(bytes)) => {
                let place = Lent::writable(out, "out")?;
                if place.len() != bytes {
                    let (given, error) = (place.len(), "out has the wrong length");
                    return Err(usage(py, &format!("{error}: give {bytes} bytes instead of {given}")));
                }
                let run =
                    || pool.run_until(&interrupt, |client| asked.run(client, lent_data, &mut place.writer()));
                let done = py.detach(run);
                if done.is_err() {
                    place.wipe();
                }
                done.map(|()| None).map_err(|error| raised(py, &caught, &error))
            }
            (_, Some(bytes)) => PyBytes::new_with(py, bytes, |all| {
                let mut place = Slice { all, at: 0 };
                let run = || {
                    pool.run_until(&interrupt, |client| {
                        place.at = 0;
                        asked.run(client, lent_data, &mut place)
                    })
                };
                let done = py.detach(run);
                if done.is_err() {
                    place.wipe();
                }
                done.map_err(|error| raised(py, &caught, &error))
            })
            .map(Some),
            (_, None) => {
                let run = || {
                    pool.run_until(&interrupt, |client| {
                        let mut out = Zeroizing::new(Vec::new());
                        asked.run(client, lent_data, &mut *out)?;
                        Ok(out)
                    })
                };
                let done = py.detach(run).map_err(|error| raised(py, &caught, &error));
                done.map(|out| Some(PyBytes::new(py, &out)))
            }
        }?;
        if wipe {
            data.wipe();
        }
        Ok(done)
    }

    /// Do work for each piece of data, over several connections at a time; the results in order.
    #[pyo3(signature = (work, data, wipe))]
    fn run_all<'py>(
        &self,
        py: Python<'py>,
        work: Vec<PyRef<'py, Work>>,
        data: Vec<Bound<'py, PyAny>>,
        wipe: bool,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        if work.len() != data.len() {
            let error =
                format!("{} associated data or tags for {} texts: give one for each", work.len(), data.len());
            return Err(usage(py, &error));
        }
        let data = data.iter().map(|data| lent(data, wipe)).collect::<PyResult<Vec<Lent>>>()?;
        let items: Vec<_> = work.iter().map(|work| Arc::clone(&work.0)).zip(data).collect();
        let interrupt = caught.interrupt();
        let run = || {
            pool.map_until(&interrupt, &items, |client, (asked, data)| {
                let bytes = asked.output_bytes(data.len()).unwrap_or_default();
                let mut out = Vec::new();
                out.try_reserve_exact(bytes).map_err(|_| no_memory(bytes))?;
                let mut out = Zeroizing::new(out);
                asked.run(client, data, &mut *out)?;
                Ok(out)
            })
        };
        let done = py.detach(run).map_err(|error| raised(py, &caught, &error))?;
        if wipe {
            items.iter().for_each(|(_, data)| data.wipe());
        }
        Ok(done.iter().map(|out| PyBytes::new(py, out)).collect())
    }

    /// Have the servers make a key.
    #[pyo3(signature = (name, kind, exportable, clients))]
    fn new_key(
        &self,
        py: Python<'_>,
        name: &str,
        kind: &str,
        exportable: bool,
        clients: Vec<String>,
    ) -> PyResult<Entry> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        let new = described(py, &pool, name, kind, exportable, clients)?;
        let made = py.detach(|| pool.key_new_until(&caught.interrupt(), &new));
        made.map(entry).map_err(|error| raised(py, &caught, &error))
    }

    /// Give the servers a key in parts.
    #[pyo3(signature = (name, kind, key, exportable, clients, wipe))]
    fn import_key(
        &self,
        py: Python<'_>,
        name: &str,
        kind: &str,
        key: &Bound<'_, PyAny>,
        exportable: bool,
        clients: Vec<String>,
        wipe: bool,
    ) -> PyResult<Entry> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        let new = described(py, &pool, name, kind, exportable, clients)?;
        let place = lent(key, wipe)?;
        let raw = place.copy();
        let made = py.detach(|| pool.run_until(&caught.interrupt(), |client| client.key_import(&new, &raw)));
        let made = made.map_err(|error| raised(py, &caught, &error))?;
        if wipe {
            place.wipe();
        }
        Ok(entry(made))
    }

    /// The keys that serve this client, each with the servers that say something else of it.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<(Entry, Vec<u8>)>> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        let list = || pool.run_until(&caught.interrupt(), divisi_node::Client::key_list);
        let listed = py.detach(list).map_err(|error| raised(py, &caught, &error))?;
        let numbers = |all: Vec<divisi_net::PartyId>| all.iter().map(|party| party.number()).collect();
        Ok(listed.into_iter().map(|listed| (entry(listed.key), numbers(listed.differs))).collect())
    }

    /// One key, if it serves this client.
    fn key(&self, py: Python<'_>, name: &str) -> PyResult<Option<Entry>> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        let name = key_name(py, name)?;
        let find = || pool.run_until(&caught.interrupt(), |client| client.key_named(&name));
        let found = py.detach(find).map_err(|error| raised(py, &caught, &error))?;
        Ok(found.map(|listed| entry(listed.key)))
    }

    /// Have a key destroyed, unless its name belongs to another one by now.
    fn destroy_key(&self, py: Python<'_>, key: Told) -> PyResult<()> {
        let (pool, caught) = (self.pool(py)?, Caught::default());
        let key = handle(py, &key)?;
        let destroy = || {
            pool.run_until(&caught.interrupt(), |client| {
                client.expect_key(Some(key.id));
                client.key_destroy(&key.name)
            })
        };
        py.detach(destroy).map_err(|error| raised(py, &caught, &error))
    }
}

impl Connections {
    /// The connections, if they may be used.
    fn pool(&self, py: Python<'_>) -> PyResult<Arc<ClientPool>> {
        if self.process != std::process::id() {
            let error =
                "this client belongs to the process from which this one was forked: connect again here";
            return Err(usage(py, error));
        }
        let pool = self.pool.read().unwrap_or_else(PoisonError::into_inner).clone();
        pool.ok_or_else(|| usage(py, "this client is closed: connect again"))
    }
}

/// An argument, which can be written if it is to be wiped.
fn lent(data: &Bound<'_, PyAny>, wipe: bool) -> PyResult<Lent> {
    if wipe { Lent::writable(data, "data") } else { Lent::of(data, "data") }
}

/// The exception for the end of a call: that of a handler of signals goes first.
fn raised(py: Python<'_>, caught: &Caught, error: &Error) -> PyErr {
    caught.take().unwrap_or_else(|| of_client(py, error))
}

fn no_memory(bytes: usize) -> Error {
    let message = format!("there is no memory for {bytes} bytes: give fewer texts at a time");
    let step = "divisi_python::client/memory".into();
    Error { kind: divisi_node::ErrorKind::Usage, retry: false, peer: None, by_all: false, step, message }
}

fn described(
    py: Python<'_>,
    pool: &ClientPool,
    name: &str,
    kind: &str,
    exportable: bool,
    clients: Vec<String>,
) -> PyResult<NewKey> {
    let (name, kind) = (key_name(py, name)?, kind.parse().map_err(|why: String| usage(py, &why))?);
    Ok(pool.new_key(name, kind, exportable, clients))
}
