//! The signals of a supervisor or a terminal: the first one stops the server cleanly, the second ends the process at once, and
//! a hang-up reads accounts and certificates again.
//!
//! The handlers are installed before anything else. A process that is the first of its container has no default ones, so a
//! stop during a long recovery would otherwise do nothing.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Notify, watch};

/// The requests that signals make.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    stop: watch::Receiver<bool>,
    reload: Arc<Notify>,
    is_serving: Arc<AtomicBool>,
}

impl Signals {
    /// Handles signals from now on. Until [`Self::serving`], a stop ends the process.
    pub(crate) fn listen() -> Result<Self, String> {
        let mut source = Source::listen().map_err(|error| format!("cannot listen for signals: {error}"))?;
        let (sender, stop) = watch::channel(false);
        let signals = Self { stop, reload: Arc::default(), is_serving: Arc::default() };
        let (reload, is_serving) = (signals.reload.clone(), signals.is_serving.clone());
        let had_terminal = has_terminal();
        tokio::spawn(async move {
            loop {
                let code = match source.next().await {
                    // A closed terminal also sends a hang-up, and no Ctrl-C reaches the server afterwards.
                    Signal::HangUp if !had_terminal || has_terminal() => {
                        reload.notify_one();
                        continue;
                    }
                    Signal::HangUp => 129,
                    Signal::Interrupt => 130,
                    Signal::Terminate => 143,
                };
                if !is_serving.load(Ordering::Acquire) {
                    // Nothing is acknowledged yet, and the next start recovers from any interruption.
                    std::process::exit(0);
                }
                if sender.send_replace(true) {
                    std::process::exit(code);
                }
            }
        });
        Ok(signals)
    }

    /// Signals of a test, which installs no handlers: they would stay for the whole process.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { stop: watch::channel(false).1, reload: Arc::default(), is_serving: Arc::default() }
    }

    /// A stop now waits for requests in progress.
    pub(crate) fn serving(&self) {
        self.is_serving.store(true, Ordering::Release);
    }

    /// Waits for the signal to stop.
    pub(crate) async fn stopped(&mut self) {
        // Fails only if the task has ended, which it does not.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }

    /// Waits for the next signal to read files again.
    pub(crate) async fn reload_requested(&self) {
        self.reload.notified().await;
    }
}

fn has_terminal() -> bool {
    std::io::stderr().is_terminal()
}

enum Signal {
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has no hang-up"))]
    HangUp,
    Interrupt,
    Terminate,
}

#[cfg(unix)]
struct Source {
    hang_up: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Source {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.hang_up.recv() => Signal::HangUp,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}

#[cfg(windows)]
struct Source {
    interrupt: tokio::signal::windows::CtrlC,
    shutdown: tokio::signal::windows::CtrlShutdown,
    terminate: tokio::signal::windows::CtrlBreak,
}

#[cfg(windows)]
impl Source {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_shutdown};
        Ok(Self { interrupt: ctrl_c()?, shutdown: ctrl_shutdown()?, terminate: ctrl_break()? })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.shutdown.recv() => Signal::Terminate,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}
