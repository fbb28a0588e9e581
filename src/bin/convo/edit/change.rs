//! Plans and applies a change of each session. Plans may be made on several threads while further sessions are read; the
//! changes are applied in the order of the sessions.

use super::destination::{Destination, ParallelPlanFn, Planner};
use super::event_ids::{EventIds, LineDestination};
use crate::context::Context;
use convo::filter::Plan;
use convo::model::session::Session;
use convo::model::threads::cores;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

/// Plans and applies a change of each session of a destination.
pub fn change(
    context: &Context,
    destination: &mut dyn Destination,
    planner: &mut Planner<'_>,
) -> anyhow::Result<()> {
    if let Some(parallel) = planner.parallel
        && destination.read_ahead()
    {
        change_in_parallel(context, destination, planner, parallel)?;
        return destination.finish();
    }
    while let Some(session) = destination.next()? {
        let event_ids = EventIds::new(context, &session, destination.place()).of_input(destination.label());
        let planned = (planner.plan)(&session, &event_ids, None);
        destination.accept(session, planned)?;
    }
    destination.finish()
}

/// Bytes of sessions from which no further one is read ahead. Plans take a multiple of this memory.
const READ_AHEAD_BYTES: usize = 1 << 20;

/// Bytes of sessions that a thread gets at once, so that threads seldom wait for each other.
const TOGETHER: usize = 1 << 15;

/// A plan, or the panic of planning.
type PlanResult = std::thread::Result<convo::Result<Plan>>;

/// Consecutive sessions with their numbers.
type NumberedSessions = Vec<(usize, Session)>;

/// Sessions with their numbers and plans.
type PlannedSessions = Vec<(usize, Session, PlanResult)>;

/// Plans sessions on any thread.
struct PlanTask<'p> {
    context: &'p Context,
    place: LineDestination,
    plan: ParallelPlanFn<'p>,
}

impl PlanTask<'_> {
    fn plan(&self, session: &Session) -> PlanResult {
        let event_ids = EventIds::new(self.context, session, self.place);
        catch_unwind(AssertUnwindSafe(|| (self.plan)(session, &event_ids)))
    }
}

/// The sessions that were read and not changed yet, each with its number.
struct SessionQueue<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    task: &'e PlanTask<'e>,
    /// The newest sessions. The only one is planned on this thread if no other session follows.
    held: NumberedSessions,
    sender: Sender<NumberedSessions>,
    /// The sessions for the threads, which share it.
    waiting: &'e Mutex<Receiver<NumberedSessions>>,
    has_started: bool,
    planned: (Sender<PlannedSessions>, Receiver<PlannedSessions>),
    /// Plans that were completed before an earlier one.
    early: BTreeMap<usize, (Session, PlanResult)>,
    /// The number of the next session to change, and of the next one to read.
    due: usize,
    next: usize,
    /// Size of all sessions in the queue.
    bytes: usize,
}

impl SessionQueue<'_, '_> {
    fn add(&mut self, session: Session) {
        self.bytes += session.size();
        let held: usize = self.held.iter().map(|(_, session)| session.size()).sum();
        if held + session.size() > TOGETHER {
            self.send_held();
        }
        self.held.push((self.next, session));
        self.next += 1;
    }

    /// Passes the newest sessions to the threads.
    fn send_held(&mut self) {
        if self.held.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.has_started, true) {
            for _ in 0..cores() {
                let (task, waiting, planned) = (self.task, self.waiting, self.planned.0.clone());
                self.scope.spawn(move || {
                    loop {
                        let job = Mutex::lock(waiting)
                            .unwrap_or_else(PoisonError::into_inner)
                            .recv();
                        let Ok(sessions) = job else { return };
                        let plan = |(nth, session)| {
                            let plan = task.plan(&session);
                            (nth, session, plan)
                        };
                        if planned.send(sessions.into_iter().map(plan).collect()).is_err() {
                            return;
                        }
                    }
                });
            }
        }
        // The receiver lives as long as the queue.
        let _ = self.sender.send(std::mem::take(&mut self.held));
    }

    /// The next session in order with its plan; without `blocks` only if it is planned. None if the queue is empty.
    fn take(&mut self, blocks: bool) -> Option<(Session, convo::Result<Plan>)> {
        if self.due == self.next {
            return None;
        }
        let is_held = self.held.first().is_some_and(|(nth, _)| *nth == self.due);
        let only = match is_held && blocks && self.held.len() == 1 {
            true => self.held.pop(),
            false => None,
        };
        let (session, plan) = match only {
            Some((_, session)) => {
                let plan = self.task.plan(&session);
                (session, plan)
            }
            None => {
                if is_held && blocks {
                    self.send_held();
                }
                loop {
                    if let Some(done) = self.early.remove(&self.due) {
                        break done;
                    }
                    let planned = match blocks {
                        true => self.planned.1.recv().ok()?,
                        false => self.planned.1.try_recv().ok()?,
                    };
                    let planned = planned.into_iter();
                    self.early
                        .extend(planned.map(|(nth, session, plan)| (nth, (session, plan))));
                }
            }
        };
        self.due += 1;
        self.bytes -= session.size();
        Some((session, plan.unwrap_or_else(|panic| resume_unwind(panic))))
    }
}

/// Changes each session of a destination as [`change`] does, but plans several at once.
fn change_in_parallel(
    context: &Context,
    destination: &mut dyn Destination,
    planner: &mut Planner<'_>,
    plan: ParallelPlanFn<'_>,
) -> anyhow::Result<()> {
    let place = destination.place();
    let task = PlanTask { context, place, plan };
    let (sender, receiver) = channel();
    let waiting = Mutex::new(receiver);
    let read = std::thread::scope(|scope| {
        let mut queue = SessionQueue {
            scope,
            task: &task,
            held: Vec::new(),
            sender,
            waiting: &waiting,
            has_started: false,
            planned: channel(),
            early: BTreeMap::new(),
            due: 0,
            next: 0,
            bytes: 0,
        };
        let mut read = Ok(true);
        while matches!(read, Ok(true)) {
            read = destination
                .next()
                .map(|session| session.map(|session| queue.add(session)).is_some());
            while let Some((session, plan)) =
                queue.take(!matches!(read, Ok(true)) || queue.bytes >= READ_AHEAD_BYTES)
            {
                destination.begin();
                let event_ids = EventIds::new(context, &session, place).of_input(destination.label());
                let planned = (planner.plan)(&session, &event_ids, Some(plan));
                destination.accept(session, planned)?;
            }
        }
        Ok(read.map(drop))
    });
    let read: anyhow::Result<anyhow::Result<()>> = read;
    destination.end_reading(read?)
}
